/* SPDX-License-Identifier: MIT
 *
 * make_heads FILE [WORD...]: writes a safetensors file of one or more heads,
 * good or bad on purpose, for the shell tests. Words, in any order:
 *
 *   x=HQ,HK,NQ,NK,DK,DV  a head x.q, x.k, x.v with these sizes, or x.q alone
 *                        if x ends in '!'
 *   key:value            metadata
 *   dtype@T              element type by name, for all; default BF16
 *   nan@N                word N of all the data is a NaN
 *   short@N / long@N     N bytes too few or too many
 */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *dtype = "BF16";
static long nan_at = -1, change;
static int64_t bytes;

static size_t width(void)
{
    return strcmp(dtype, "F32") == 0 || strcmp(dtype, "I32") == 0 ? 4 : 2;
}

static void add(json_t *header, const char *name, const char *part, long h,
                long s, long d)
{
    char full[512];
    int64_t end = bytes + (int64_t)width() * h * s * d;
    snprintf(full, sizeof full, "%s.%s", name, part);
    json_object_set_new(header, full,
                        json_pack("{s:s, s:[i,i,i], s:[I,I]}", "dtype", dtype,
                                  "shape", (int)h, (int)s, (int)d,
                                  "data_offsets", (json_int_t)bytes,
                                  (json_int_t)end));
    bytes = end;
}

static void head(json_t *header, char *word, char *sizes)
{
    long n[6];
    size_t last = strlen(word) - 1;
    for (int i = 0; i < 6; i++)
        n[i] = strtol(sizes, &sizes, 10), sizes += *sizes == ',';
    int alone = word[last] == '!';
    if (alone)
        word[last] = '\0';
    add(header, word, "q", n[0], n[2], n[4]);
    if (alone)
        return;
    add(header, word, "k", n[1], n[3], n[4]);
    add(header, word, "v", n[1], n[3], n[5]);
}

/* Words of moderate size: the top byte of each is that of 0.25 to 1.9. */
static void put_data(FILE *out)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < bytes / (int64_t)width(); i++) {
        unsigned char word[4];
        state = state * 6364136223846793005u + 1442695040888963407u;
        for (size_t j = 0; j < width(); j++)
            word[j] = (unsigned char)(state >> (33 + 8 * j));
        word[width() - 1] = (unsigned char)(0x3f | (state >> 63 << 7));
        if (i == nan_at)
            memset(word, 0xff, sizeof word);
        fwrite(word, 1, width(), out);
    }
}

int main(int argc, char **argv)
{
    json_t *header = json_object(), *metadata = json_object();
    FILE *out = argc > 1 ? fopen(argv[1], "wb") : NULL;
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], "dtype@", 6) == 0)
            dtype = argv[i] + 6;
    for (int i = 2; i < argc; i++) {
        char *at = argv[i] + strcspn(argv[i], "=:@"), kind = *at;
        if (kind)
            *at++ = '\0';
        if (kind == ':')
            json_object_set_new(metadata, argv[i], json_string(at));
        else if (kind == '=')
            head(header, argv[i], at);
        else if (strcmp(argv[i], "nan") == 0)
            nan_at = atol(at);
        else if (strcmp(argv[i], "dtype") != 0)
            change = strcmp(argv[i], "short") == 0 ? -atol(at) : atol(at);
    }
    json_object_set_new(header, "__metadata__", metadata);
    char *text = json_dumps(header, JSON_COMPACT);
    if (!out || !text)
        return 99;
    for (int i = 0; i < 8; i++)
        fputc((int)(strlen(text) >> 8 * i & 255), out);
    fputs(text, out);
    put_data(out);
    for (long i = 0; i < change; i++)
        fputc(0, out);
    free(text);
    json_decref(header);
    long end = fflush(out) == 0 ? ftell(out) : -1;
    if (end < 0 || (change < 0 && ftruncate(fileno(out), end + change) != 0))
        return 99;
    return fclose(out) == 0 ? 0 : 99;
}
