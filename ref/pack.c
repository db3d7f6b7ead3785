/* SPDX-License-Identifier: MIT
 *
 * Every packing is a little-endian bit stream of fields; they differ in the
 * width of a field and in which element it holds.
 */
#include "assay/pack.h"

#include <string.h>

enum { RAGGED, WHOLE };

static const struct assay_packing packings[] = {
#define ASSAY_PACKING(id, name, bits, group, last, about) \
    { ASSAY_PACKING_##id, name, bits, group, last, about },
#include "assay/packing.def"
#undef ASSAY_PACKING
};

#define ASSAY_PACKING(id, name, bits, group, last, about) \
    _Static_assert((bits) <= 8 && (bits) * (group) % 8 == 0, name);
#include "assay/packing.def"
#undef ASSAY_PACKING

const struct assay_packing *assay_packing_get(enum assay_packing_id id)
{
    return &packings[id];
}

const struct assay_packing *assay_packing_find(const char *name)
{
    for (size_t i = 0; i < ASSAY_PACKINGS; i++)
        if (strcmp(packings[i].name, name) == 0)
            return &packings[i];
    return NULL;
}

size_t assay_packing_bytes(const struct assay_packing *packing, size_t n)
{
    size_t group = (size_t)packing->group, bits = (size_t)packing->bits;
    size_t rest = n % group;
    if (packing->whole && rest > 0)
        rest = group;
    return n / group * (group * bits / 8) + (rest * bits + 7) / 8;
}

/* The field that holds element i. */
static size_t field_of(const struct assay_packing *packing, size_t i)
{
    if (packing->id != ASSAY_PACKING_INTERLEAVED6)
        return i;
    size_t e = i % 32;
    return i - e + (e < 16 ? 2 * e : 2 * (e - 16) + 1);
}

/* Eight fields fill `bits` bytes, so a bit's number is never needed in full:
 * it could pass SIZE_MAX. */
static size_t byte_of(size_t field, size_t bits)
{
    return field / 8 * bits + field % 8 * bits / 8;
}

void assay_pack(const struct assay_packing *packing, size_t n,
                const uint8_t *codes, uint8_t *bytes)
{
    const size_t bits = (size_t)packing->bits;
    const unsigned mask = (1u << bits) - 1;
    memset(bytes, 0, assay_packing_bytes(packing, n));
    for (size_t i = 0; i < n; i++) {
        size_t field = field_of(packing, i), at = byte_of(field, bits);
        unsigned word = (codes[i] & mask) << field * bits % 8;
        bytes[at] |= (uint8_t)word;
        if (word >> 8 != 0)
            bytes[at + 1] |= (uint8_t)(word >> 8);
    }
}

void assay_unpack(const struct assay_packing *packing, size_t n,
                  const uint8_t *bytes, uint8_t *codes)
{
    const size_t bits = (size_t)packing->bits;
    const unsigned mask = (1u << bits) - 1;
    for (size_t i = 0; i < n; i++) {
        size_t field = field_of(packing, i), at = byte_of(field, bits);
        size_t shift = field * bits % 8;
        unsigned word = bytes[at];
        if (shift + bits > 8)
            word |= (unsigned)bytes[at + 1] << 8;
        codes[i] = (uint8_t)(word >> shift & mask);
    }
}

void assay_pack_rows(const struct assay_packing *packing, size_t rows,
                     size_t width, const uint8_t *codes, uint8_t *bytes)
{
    const size_t step = assay_packing_bytes(packing, width);
    for (size_t i = 0; i < rows; i++)
        assay_pack(packing, width, codes + i * width, bytes + i * step);
}

void assay_unpack_rows(const struct assay_packing *packing, size_t rows,
                       size_t width, const uint8_t *bytes, uint8_t *codes)
{
    const size_t step = assay_packing_bytes(packing, width);
    for (size_t i = 0; i < rows; i++)
        assay_unpack(packing, width, bytes + i * step, codes + i * width);
}
