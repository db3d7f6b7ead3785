/* SPDX-License-Identifier: MIT
 *
 * Quantized transport of Q, K and V in Ulysses parallelism: every rank holds
 * some tokens of all heads, and receives all tokens of some heads. Codecs are
 * rows of transport.def, in two modes:
 *   native  E8M0 blocks of 32 channels on the wire, decoded to bf16 on arrival
 *   packed  what arrives is the operand of MHA v4: its attention kernel needs
 *           no second quantization. Scales of more than a token are those of
 *           the tensor that arrives, from all ranks' tokens, not those of what
 *           one rank sends.
 * Source: ROCm/aiter attention_a2a_intranode.py and its kernel.
 *
 * One sequence at a time, 128 channels. All ranks are simulated in one place:
 * the tensor [token, head, channel] of the whole sequence is the ranks' own
 * tensors one after another.
 */
#ifndef ASSAY_TRANSPORT_H
#define ASSAY_TRANSPORT_H

#include <stdbool.h>

#include "assay/pack.h"
#include "assay/quantize.h"
#include "assay/tile.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ASSAY_TRANSPORT_WIDTH = 128 };

enum assay_transport_codec_id {
#define ASSAY_TRANSPORT_CODEC(id, ...) ASSAY_TRANSPORT_##id,
#include "assay/transport.def"
#undef ASSAY_TRANSPORT_CODEC
    ASSAY_TRANSPORT_CODECS
};

enum assay_transport_profile_id {
#define ASSAY_TRANSPORT_PROFILE(id, ...) ASSAY_TRANSPORT_PROFILE_##id,
#include "assay/transport_profile.def"
#undef ASSAY_TRANSPORT_PROFILE
    ASSAY_TRANSPORT_PROFILES
};

enum assay_role { ASSAY_ROLE_Q, ASSAY_ROLE_K, ASSAY_ROLE_V, ASSAY_ROLES };

/* Where Q and K are rotated: BEFORE the transport, which then gets rotated
 * words, or WITHIN it, where native transport rounds nothing and packed as the
 * quantizer's row says. With a folded softmax scale the two differ by a
 * rounding to words. */
enum assay_rotated {
    ASSAY_ROTATED_NEVER,
    ASSAY_ROTATED_BEFORE,
    ASSAY_ROTATED_WITHIN,
    ASSAY_ROTATEDS
};

/* A form that a codec does not have: ASSAY_QUANTIZERS, ASSAY_PACKINGS,
 * ASSAY_TILES. */
struct assay_transport_codec {
    enum assay_transport_codec_id id;
    const char *name;
    enum assay_quantizer_id native;
    enum assay_packing_id native_rows;
    enum assay_quantizer_id qk;
    enum assay_packing_id qk_rows;
    enum assay_tile_id k_tile;
    enum assay_quantizer_id v;
    enum assay_tile_id v_tile;
    const char *about;
};

struct assay_transport_profile {
    enum assay_transport_profile_id id;
    const char *name;
    enum assay_transport_codec_id qk, v;
    enum assay_token_order order;
    int64_t multiple;
    enum assay_rotated rotated;
    const char *recipe;
};

/* Rows; static. find returns NULL for an unknown name. */
ASSAY_API const struct assay_transport_codec *
assay_transport_codec_get(enum assay_transport_codec_id id);
ASSAY_API const struct assay_transport_codec *
assay_transport_codec_find(const char *name);
ASSAY_API const struct assay_transport_profile *
assay_transport_profile_get(enum assay_transport_profile_id id);
ASSAY_API const struct assay_transport_profile *
assay_transport_profile_find(const char *name);

/* ---- the exchange alone ---- */

/* Rows of any kind, `row` bytes a token and head: `tokens` tokens of `heads`
 * heads are spread over the ranks, rank_tokens each; the last ranks may have
 * fewer, and hold zeros for the rest. heads is a multiple of ranks, tokens at
 * most ranks * rank_tokens. */
struct assay_exchange {
    int ranks;
    int64_t tokens, rank_tokens, heads;
    size_t row;
};

/* What a rank receives: from all [tokens, heads] to out [ranks * rank_tokens,
 * heads / ranks], heads from rank * heads / ranks on. */
ASSAY_API void assay_exchange_receive(const struct assay_exchange *x, int rank,
                                      const void *all, void *out);

/* The way back, that of O: puts the heads that a rank holds into all. */
ASSAY_API void assay_exchange_return(const struct assay_exchange *x, int rank,
                                     const void *held, void *all);

/* ---- transport ---- */

struct assay_transport {
    enum assay_transport_codec_id qk, v;
    bool packed;
    int ranks;        /* 2, 4 or 8; 1 quantizes and exchanges nothing */
    int64_t multiple; /* a rank's tokens are padded to one of these */
    enum assay_token_order order; /* of V's blocks, packed */
    enum assay_rotated rotated;
    double softmax_scale; /* packed: folded into a Q with block scales */
    bool compact;         /* packed: K and V are cut to the tokens there are */
};

/* The packed transport of a profile, not compact. */
ASSAY_API struct assay_transport
assay_transport_of(const struct assay_transport_profile *profile, int ranks,
                   double softmax_scale);

/* ASSAY_USAGE with a sentence if a codec lacks the form asked for (e4m3_pc and
 * mxfp6_p are packed V alone; packed V is e4m3, e4m3_pc, mxfp4 or mxfp6_p), or
 * the kernels would refuse: ranks; FP6P order without packed mxfp4 or mxfp6_p
 * V, mxfp6_p without it; packed, tokens of a rank that are no multiple of 32
 * unless V is e4m3_pc; a softmax scale that is not positive and finite. int8
 * is never rotated within a packed transport. */
ASSAY_API enum assay_status
assay_transport_check(const struct assay_transport *t, struct assay_error *err);

/* The quantizer of a role, NULL if there is none. */
ASSAY_API const struct assay_quantizer *
assay_transport_quantizer(const struct assay_transport *t,
                          enum assay_role role);

/* Bits on the wire for one element: code, and block scale by 32. A token of h
 * heads takes 16 h times as many bytes; of all tokens a rank keeps its own,
 * 1 / ranks. Left out: binary32 scales and the exchange of their amax, and
 * k-mxfp6's second and third copy of a scale. Without transport: 16. */
ASSAY_API double assay_transport_bits(const struct assay_transport *t,
                                      enum assay_role role);

/* Tokens of one rank, padding included: tokens / ranks, rounded up, and up to
 * the multiple. Padding is at the end of the sequence. 0: too many to count. */
ASSAY_API int64_t assay_transport_rank_tokens(const struct assay_transport *t,
                                              int64_t tokens);

/* What one rank has received of one role. */
struct assay_arrival {
    struct assay_payload payload; /* [1, tokens, heads / ranks, 128] */
    int64_t payload_bytes, scale_bytes;
    /* As they lie there. Native: [head, token, packed row], [head, token, 4].
     * Packed: rows [token, head], or a tile's two buffers (assay/tile.h);
     * binary32 scales in native byte order. */
    uint8_t *payload_buffer, *scale_buffer;
    float *values; /* native: bf16 values, in the payload's order; else NULL */
};

/* Sends x [tokens, heads, 128], values of bf16 words, and gives what `rank`
 * receives. Padding is zeros here (upstream: what the padded rows hold), and
 * part of what is quantized also where K and V are compact: a block that is
 * partly padding has zeros for it, where a quantizer of the compact tensor
 * may repeat the last token. K's mean is the caller's to take off. out is made
 * new; free it with assay_arrival_free, also after a failure. ASSAY_SHAPE
 * unless tokens and heads are at least 1, heads a multiple of the ranks, rank
 * one of them, and all can be addressed. */
ASSAY_API enum assay_status
assay_transport_send(const struct assay_transport *t, enum assay_role role,
                     int rank, int64_t tokens, int64_t heads, const float *x,
                     struct assay_arrival *out, struct assay_error *err);
ASSAY_API void assay_arrival_free(struct assay_arrival *arrival);

#ifdef __cplusplus
}
#endif
#endif
