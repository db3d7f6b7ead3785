/* SPDX-License-Identifier: MIT
 *
 * HARNESS FILE...: gives each file to a harness, in place of libFuzzer. A file
 * that is not read ends it with 99; what a harness finds ends it by a signal,
 * after the file's name.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

static uint8_t *read_file(const char *path, size_t *size)
{
    enum { MOST = 1 << 24 };
    FILE *in = fopen(path, "rb");
    uint8_t *data = in ? malloc(MOST) : NULL;
    if (!data) {
        perror(path);
        exit(99);
    }
    *size = fread(data, 1, MOST, in);
    fclose(in);
    /* no room behind, so that a sanitizer sees a byte too many */
    uint8_t *tight = realloc(data, *size + !*size);
    return tight ? tight : data;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 99;
    for (int i = 1; i < argc; i++) {
        size_t size;
        uint8_t *data = read_file(argv[i], &size);
        fprintf(stderr, "%s\n", argv[i]);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}
