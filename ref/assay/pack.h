/* SPDX-License-Identifier: MIT
 *
 * Packing of narrow codes into bytes. A code is the low bits of a uint8_t; the
 * bits above are ignored when packing and 0 after unpacking. Rows of a tensor
 * are packed one by one: no byte holds codes of two rows.
 * Source: OCP Microscaling Formats 1.0 (nibbles); ROCm/aiter
 * csrc/kernels/mha_v4_quant.cu (interleaved6: what the hardware's conversion
 * of two times 16 values gives).
 */
#ifndef ASSAY_PACK_H
#define ASSAY_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum assay_packing_id {
#define ASSAY_PACKING(id, ...) ASSAY_PACKING_##id,
#include "assay/packing.def"
#undef ASSAY_PACKING
    ASSAY_PACKINGS
};

struct assay_packing {
    enum assay_packing_id id;
    const char *name;
    int bits, group;
    bool whole; /* the last group is filled up with zero codes */
    const char *about;
};

/* The row of a packing; static. find returns NULL for an unknown name. */
ASSAY_API const struct assay_packing *
assay_packing_get(enum assay_packing_id id);
ASSAY_API const struct assay_packing *assay_packing_find(const char *name);

/* Bytes that n codes take. */
ASSAY_API size_t assay_packing_bytes(const struct assay_packing *packing,
                                     size_t n);

/* n codes to assay_packing_bytes(packing, n) bytes, unused bits 0, and back.
 * No overlap between in and out. */
ASSAY_API void assay_pack(const struct assay_packing *packing, size_t n,
                          const uint8_t *codes, uint8_t *bytes);
ASSAY_API void assay_unpack(const struct assay_packing *packing, size_t n,
                            const uint8_t *bytes, uint8_t *codes);

/* The same for codes [rows, width]: bytes [rows, assay_packing_bytes(packing,
 * width)]. */
ASSAY_API void assay_pack_rows(const struct assay_packing *packing, size_t rows,
                               size_t width, const uint8_t *codes,
                               uint8_t *bytes);
ASSAY_API void assay_unpack_rows(const struct assay_packing *packing,
                                 size_t rows, size_t width,
                                 const uint8_t *bytes, uint8_t *codes);

#ifdef __cplusplus
}
#endif
#endif
