/* SPDX-License-Identifier: MIT
 *
 * change_set SET.h5 damage DATASET: flips one bit and no hash.
 * change_set SET.h5 replace DATASET WORD: puts a WORD ("nan", "inf" or a factor) in
 * the middle of a dataset of floats, or for a factor multiplies all of it, and
 * makes every hash right again: a lie that only remaking the answer can see.
 * change_set SET.h5 scale CASE X: its softmax scale, and no hash.
 * These make the content hash right again:
 * change_set SET.h5 define GROUP FROM TO: changes the text of the attribute
 * "definition" of a recipe, wherever FROM stands in it.
 * change_set FILE.h5 integer GROUP KEY N [KEY N]...: attributes of a group.
 * change_set FILE.h5 real GROUP KEY X: an attribute of a group.
 * change_set FILE.h5 text GROUP KEY TEXT: an attribute of a group.
 */
#include <hdf5.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "golden/h5.h"

static void put_text(hid_t at, const char *name, const char *text)
{
    struct assay_error err;
    H5Adelete(at, name);
    if (h5_write_text("", at, name, text, &err) != ASSAY_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(99);
    }
}

/* What a file says of its content is what it has. */
static int close_rehashed(hid_t file, const char *path)
{
    struct assay_error err;
    char hex[H5_HASH_CHARS + 1];
    const char *members =
        H5Lexists(file, "cases", H5P_DEFAULT) > 0 ? "cases" : "results";
    if (h5_content_hash(path, file, members, hex, &err) != ASSAY_OK)
        return 99;
    put_text(file, "content_hash", hex);
    return H5Fclose(file) < 0 ? 99 : 0;
}

static void multiply(void *data, size_t n, bool wide, double factor)
{
    for (size_t i = 0; i < n; i++)
        if (wide)
            ((double *)data)[i] *= factor;
        else
            ((float *)data)[i] *= (float)factor;
}

static void put_word(void *data, size_t n, bool wide, double word)
{
    if (wide)
        ((double *)data)[n / 2] = word;
    else
        ((float *)data)[n / 2] = (float)word;
}

static int define(const char *path, char **words)
{
    const char *from = words[1], *to = words[2];
    struct assay_error err;
    char *text, out[8192] = "";
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
          group = H5Gopen2(file, words[0], H5P_DEFAULT);
    if (h5_read_text(path, group, "definition", &text, &err) != ASSAY_OK ||
        !strstr(text, from))
        return 99;
    for (const char *at = text, *next; *at; at = next ? next : "") {
        next = strstr(at, from);
        snprintf(out + strlen(out), sizeof out - strlen(out), "%.*s%s",
                 (int)(next ? (size_t)(next - at) : strlen(at)), at,
                 next ? to : "");
        next = next ? next + strlen(from) : NULL;
    }
    put_text(group, "definition", out);
    free(text);
    H5Gclose(group);
    return close_rehashed(file, path);
}

static int put_scale(const char *path, const char *in, double scale)
{
    struct assay_error err;
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
          group = H5Gopen2(file, in, H5P_DEFAULT);
    if (H5Adelete(group, "softmax_scale") < 0 ||
        h5_write_real(path, group, "softmax_scale", scale, &err) != ASSAY_OK)
        return 99;
    H5Gclose(group);
    return H5Fclose(file) < 0 ? 99 : 0;
}

static int put_integers(const char *path, char **words)
{
    struct assay_error err;
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
          group = H5Gopen2(file, words[0], H5P_DEFAULT);
    for (char **word = words + 1; word[0] && word[1]; word += 2)
        if (H5Adelete(group, word[0]) < 0 ||
            h5_write_int(path, group, word[0], strtoll(word[1], NULL, 10),
                         &err) != ASSAY_OK)
            return 99;
    H5Gclose(group);
    return close_rehashed(file, path);
}

static int put_real(const char *path, char **words)
{
    struct assay_error err;
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
          group = H5Gopen2(file, words[0], H5P_DEFAULT);
    if (H5Adelete(group, words[1]) < 0 ||
        h5_write_real(path, group, words[1], atof(words[2]), &err) != ASSAY_OK)
        return 99;
    H5Gclose(group);
    return close_rehashed(file, path);
}

static int put_group_text(const char *path, char **words)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
          group = H5Gopen2(file, words[0], H5P_DEFAULT);
    put_text(group, words[1], words[2]);
    H5Gclose(group);
    return close_rehashed(file, path);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 99;
    const bool lie = strcmp(argv[2], "replace") == 0;
    char hex[H5_HASH_CHARS + 1];
    h5_init();
    if (argc == 5 && strcmp(argv[2], "scale") == 0)
        return put_scale(argv[1], argv[3], atof(argv[4]));
    if (argc >= 6 && strcmp(argv[2], "integer") == 0)
        return put_integers(argv[1], argv + 3);
    if (argc == 6 && strcmp(argv[2], "real") == 0)
        return put_real(argv[1], argv + 3);
    if (argc == 6 && strcmp(argv[2], "text") == 0)
        return put_group_text(argv[1], argv + 3);
    if (argc == 6 && strcmp(argv[2], "define") == 0)
        return define(argv[1], argv + 3);
    hid_t file = H5Fopen(argv[1], H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, argv[3], H5P_DEFAULT);
    hid_t type = H5Dget_type(set);
    size_t bytes = (size_t)H5Dget_storage_size(set), width = H5Tget_size(type);
    unsigned char *data = malloc(bytes + 1);
    if (set < 0 || bytes == 0 ||
        H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
        return 99;
    if (!lie || H5Tget_class(type) != H5T_FLOAT)
        data[bytes / 2] ^= 1;
    else if (!isfinite(atof(argv[4])))
        put_word(data, bytes / width, width == 8, atof(argv[4]));
    else
        multiply(data, bytes / width, width == 8, atof(argv[4]));
    if (H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
        return 99;
    if (lie) {
        XXH128_hash_t hash = XXH3_128bits(data, bytes);
        snprintf(hex, sizeof hex, "%016llx%016llx",
                 (unsigned long long)hash.high64,
                 (unsigned long long)hash.low64);
        put_text(set, "xxh3_128", hex);
    }
    free(data);
    H5Tclose(type);
    H5Dclose(set);
    return lie ? close_rehashed(file, argv[1]) : H5Fclose(file) < 0 ? 99 : 0;
}
