/* SPDX-License-Identifier: MIT
 *
 * Tokens of V in frames of 64: the two MX blocks of a frame hold 32 each, in
 * an order that the kernel's operand layout needs. Block number along a
 * sequence: 2 * frame + parity.
 * Source: ROCm/aiter csrc/kernels/mha_v4_quant.cu (fp6_p_v_token) and
 * op_tests/test_mha_v4.py.
 */
#ifndef ASSAY_TOKENS_H
#define ASSAY_TOKENS_H

#include "assay/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ASSAY_FRAME = 64, ASSAY_BLOCK_TOKENS = 32 };

enum assay_token_order {
#define ASSAY_TOKEN_ORDER(id, ...) ASSAY_TOKENS_##id,
#include "assay/token_order.def"
#undef ASSAY_TOKEN_ORDER
    ASSAY_TOKEN_ORDERS
};

enum assay_tail {
#define ASSAY_TAIL(id, ...) ASSAY_TAIL_##id,
#include "assay/tail.def"
#undef ASSAY_TAIL
    ASSAY_TAILS
};

/* Token 0..63 of the frame that field 0..31 of the block of parity 0 or 1
 * holds, and back: 32 * parity + field of a token. */
ASSAY_API int assay_token(enum assay_token_order order, int parity, int field);
ASSAY_API int assay_token_slot(enum assay_token_order order, int token);

/* Name, and back; ASSAY_TOKEN_ORDERS or ASSAY_TAILS for an unknown name. */
ASSAY_API const char *assay_token_order_name(enum assay_token_order order);
ASSAY_API enum assay_token_order assay_token_order_find(const char *name);
ASSAY_API const char *assay_tail_name(enum assay_tail tail);
ASSAY_API enum assay_tail assay_tail_find(const char *name);

/* What they mean, in a sentence. */
ASSAY_API const char *assay_token_order_about(enum assay_token_order order);
ASSAY_API const char *assay_tail_about(enum assay_tail tail);

#ifdef __cplusplus
}
#endif
#endif
