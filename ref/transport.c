/* SPDX-License-Identifier: MIT
 *
 * The tables of transport codecs and profiles, what is allowed, and the
 * exchange.
 */
#include "assay/transport.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ASSAY_QUANTIZER_NONE ASSAY_QUANTIZERS
#define ASSAY_PACKING_NONE ASSAY_PACKINGS
#define ASSAY_TILE_NONE ASSAY_TILES

static const struct assay_transport_codec codecs[] = {
#define ASSAY_TRANSPORT_CODEC(id, name, native, native_rows, qk, qk_rows, \
                              k_tile, v, v_tile, about)                   \
    { ASSAY_TRANSPORT_##id,     name,                                     \
      ASSAY_QUANTIZER_##native, ASSAY_PACKING_##native_rows,              \
      ASSAY_QUANTIZER_##qk,     ASSAY_PACKING_##qk_rows,                  \
      ASSAY_TILE_##k_tile,      ASSAY_QUANTIZER_##v,                      \
      ASSAY_TILE_##v_tile,      about },
#include "assay/transport.def"
#undef ASSAY_TRANSPORT_CODEC
};

static const struct assay_transport_profile profiles[] = {
#define ASSAY_TRANSPORT_PROFILE(id, name, qk, v, order, multiple, rotated, \
                                recipe)                                    \
    { ASSAY_TRANSPORT_PROFILE_##id, name,                                  \
      ASSAY_TRANSPORT_##qk,         ASSAY_TRANSPORT_##v,                   \
      ASSAY_TOKENS_##order,         multiple,                              \
      ASSAY_ROTATED_##rotated,      recipe },
#include "assay/transport_profile.def"
#undef ASSAY_TRANSPORT_PROFILE
};

const struct assay_transport_codec *
assay_transport_codec_get(enum assay_transport_codec_id id)
{
    return &codecs[id];
}

const struct assay_transport_codec *assay_transport_codec_find(const char *name)
{
    for (size_t i = 0; i < ASSAY_TRANSPORT_CODECS; i++)
        if (strcmp(codecs[i].name, name) == 0)
            return &codecs[i];
    return NULL;
}

const struct assay_transport_profile *
assay_transport_profile_get(enum assay_transport_profile_id id)
{
    return &profiles[id];
}

const struct assay_transport_profile *
assay_transport_profile_find(const char *name)
{
    for (size_t i = 0; i < ASSAY_TRANSPORT_PROFILES; i++)
        if (strcmp(profiles[i].name, name) == 0)
            return &profiles[i];
    return NULL;
}

struct assay_transport
assay_transport_of(const struct assay_transport_profile *profile, int ranks,
                   double softmax_scale)
{
    return (struct assay_transport){ .qk = profile->qk,
                                     .v = profile->v,
                                     .packed = true,
                                     .ranks = ranks,
                                     .multiple = profile->multiple,
                                     .order = profile->order,
                                     .rotated = profile->rotated,
                                     .softmax_scale = softmax_scale };
}

/* ---- what is allowed ---- */

const struct assay_quantizer *
assay_transport_quantizer(const struct assay_transport *t, enum assay_role role)
{
    const struct assay_transport_codec *codec =
        &codecs[role == ASSAY_ROLE_V ? t->v : t->qk];
    const enum assay_quantizer_id id = !t->packed             ? codec->native
                                       : role == ASSAY_ROLE_V ? codec->v
                                                              : codec->qk;
    return id == ASSAY_QUANTIZERS ? NULL : assay_quantizer_get(id);
}

double assay_transport_bits(const struct assay_transport *t,
                            enum assay_role role)
{
    const struct assay_quantizer *how = assay_transport_quantizer(t, role);
    const int bits = assay_format_get(how->format)->bits;
    const bool blocks = how->scale == ASSAY_SCALE_BLOCK ||
                        how->scale == ASSAY_SCALE_BLOCK_TOKENS;
    return blocks ? bits + 8. / 32 : bits;
}

int64_t assay_transport_rank_tokens(const struct assay_transport *t,
                                    int64_t tokens)
{
    const int64_t own = tokens / t->ranks + (tokens % t->ranks != 0);
    const int64_t groups = own / t->multiple + (own % t->multiple != 0);
    int64_t n, all;
    return __builtin_mul_overflow(groups, t->multiple, &n) ||
                   __builtin_mul_overflow(n, (int64_t)t->ranks, &all)
               ? 0
               : n;
}

static enum assay_status check_codecs(const struct assay_transport *t,
                                      struct assay_error *err)
{
    static const char roles[] = "QKV";
    if (t->qk >= ASSAY_TRANSPORT_CODECS || t->v >= ASSAY_TRANSPORT_CODECS)
        return assay_fail(err, ASSAY_USAGE,
                          "transport codec %d or %d is not known", (int)t->qk,
                          (int)t->v);
    for (int role = 0; role < ASSAY_ROLES; role++)
        if (!assay_transport_quantizer(t, (enum assay_role)role))
            return assay_fail(err, ASSAY_USAGE,
                              "transport codec %s has no %s form of %c",
                              codecs[role == ASSAY_ROLE_V ? t->v : t->qk].name,
                              t->packed ? "packed" : "native", roles[role]);
    return ASSAY_OK;
}

/* What only a packed transport can have or must have. */
static enum assay_status check_packed(const struct assay_transport *t,
                                      struct assay_error *err)
{
    const struct assay_transport_codec *v = &codecs[t->v];
    const bool fp6p = t->order == ASSAY_TOKENS_FP6P;
    if (fp6p && (!t->packed || v->v_tile == ASSAY_TILES))
        return assay_fail(err, ASSAY_USAGE,
                          "token order fp6p is for packed V in tiles, which "
                          "%s %s is not",
                          t->packed ? "packed" : "native", v->name);
    if (t->v == ASSAY_TRANSPORT_MXFP6_P && !fp6p)
        return assay_fail(err, ASSAY_USAGE,
                          "mxfp6_p needs token order fp6p, not %s",
                          assay_token_order_name(t->order));
    if (!t->packed)
        return ASSAY_OK;
    if (t->qk == ASSAY_TRANSPORT_INT8 && t->rotated == ASSAY_ROTATED_WITHIN)
        return assay_fail(err, ASSAY_USAGE,
                          "int8 is not rotated within a packed transport");
    if (t->multiple % ASSAY_BLOCK_TOKENS != 0 &&
        t->v != ASSAY_TRANSPORT_E4M3_PC)
        return assay_fail(err, ASSAY_USAGE,
                          "packed V in %s needs padding to a multiple of 32 "
                          "tokens, not of %" PRId64,
                          v->name, t->multiple);
    if (!(t->softmax_scale > 0 && isfinite(t->softmax_scale)))
        return assay_fail(err, ASSAY_USAGE,
                          "softmax scale is %g, a packed transport needs a "
                          "positive finite one",
                          t->softmax_scale);
    return ASSAY_OK;
}

enum assay_status assay_transport_check(const struct assay_transport *t,
                                        struct assay_error *err)
{
    enum assay_status st = check_codecs(t, err);
    if (st != ASSAY_OK)
        return st;
    if (t->ranks != 1 && t->ranks != 2 && t->ranks != 4 && t->ranks != 8)
        return assay_fail(err, ASSAY_USAGE,
                          "transport is between 2, 4 or 8 ranks, or 1; not %d",
                          t->ranks);
    if (t->multiple < 1)
        return assay_fail(err, ASSAY_USAGE,
                          "tokens cannot be padded to a multiple of %" PRId64,
                          t->multiple);
    if (t->order >= ASSAY_TOKEN_ORDERS || t->rotated >= ASSAY_ROTATEDS)
        return assay_fail(err, ASSAY_USAGE,
                          "token order %d or rotation %d is not known",
                          (int)t->order, (int)t->rotated);
    return check_packed(t, err);
}

/* ---- the exchange ---- */

void assay_exchange_receive(const struct assay_exchange *x, int rank,
                            const void *all, void *out)
{
    const int64_t heads = x->heads / x->ranks;
    const size_t run =
        (size_t)heads * x->row; /* heads of a rank are together */
    const char *from = all;
    char *to = out;
    from += (size_t)rank * run;
    for (int64_t t = 0; t < x->tokens; t++)
        memcpy(to + (size_t)t * run, from + (size_t)t * run * (size_t)x->ranks,
               run);
    memset(to + (size_t)x->tokens * run, 0,
           (size_t)(x->ranks * x->rank_tokens - x->tokens) * run);
}

void assay_exchange_return(const struct assay_exchange *x, int rank,
                           const void *held, void *all)
{
    const int64_t heads = x->heads / x->ranks;
    const size_t run = (size_t)heads * x->row;
    const char *from = held;
    char *to = all;
    to += (size_t)rank * run;
    for (int64_t t = 0; t < x->tokens; t++)
        memcpy(to + (size_t)t * run * (size_t)x->ranks, from + (size_t)t * run,
               run);
}
