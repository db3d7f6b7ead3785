/* SPDX-License-Identifier: MIT
 *
 * Changes an HDF5 file in place, where it is not empty: most of one is zeros,
 * and a byte too many or too few moves all that is behind it. libFuzzer finds
 * this by its name.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned seed);

static uint64_t state;

/* Knuth's MMIX generator. */
static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

/* Some place, or the next one that holds something. */
static size_t pick(const uint8_t *data, size_t size)
{
    size_t at = (size_t)draw(size);
    for (size_t n = 0; n < size && data[at] == 0; n++)
        at = (at + 1) % size;
    return at;
}

/* Sizes, counts and places that readers trip over. */
static void put_word(uint8_t *data, size_t size, size_t at)
{
    static const uint64_t odd[] = { 0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    UINT64_MAX,
                                    INT64_MAX,
                                    (uint64_t)INT64_MIN,
                                    UINT32_MAX,
                                    INT32_MAX,
                                    (uint64_t)1 << 32,
                                    (uint64_t)1 << 61,
                                    1 << 20,
                                    0x3ff0000000000000,   /* 1.0 */
                                    0xbff0000000000000,   /* -1.0 */
                                    0x7ff0000000000000,   /* infinity */
                                    0x7ff8000000000000,   /* NaN */
                                    0x43f0000000000000 }; /* 2^64 */
    const uint64_t word = odd[draw(sizeof odd / sizeof *odd)];
    const size_t bytes = (size_t)1 << draw(4);
    if (at + bytes <= size)
        memcpy(data + at, &word, bytes);
}

static void copy_piece(uint8_t *data, size_t size, size_t to)
{
    const size_t from = pick(data, size);
    size_t bytes = 1 + (size_t)draw(24);
    if (bytes > size - (from > to ? from : to))
        bytes = size - (from > to ? from : to);
    memmove(data + to, data + from, bytes);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned seed)
{
    state = seed;
    if (size == 0)
        return most ? (*data = 0x89, 1) : 0;
    for (uint64_t n = 1 + draw(4); n > 0; n--) {
        const size_t at = pick(data, size);
        switch (draw(6)) {
        case 0: data[at] = (uint8_t)draw(256); break;
        case 1: data[at] ^= (uint8_t)(1 << draw(8)); break;
        case 2: data[at] = (uint8_t)(data[at] + 1 - 2 * draw(2)); break;
        case 3: copy_piece(data, size, at); break;
        default: put_word(data, size, at); break;
        }
    }
    return draw(64) ? size : 1 + (size_t)draw(size);
}
