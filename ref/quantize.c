/* SPDX-License-Identifier: MIT
 *
 * The table of quantizers, and those with binary32 scales.
 */
#include "assay/quantize.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/tile.h"
#include "bits.h"
#include "quantize_blocks.h"

enum { PREPARE_NONE = -1 };

static const struct assay_scale_kind scales[] = {
#define ASSAY_SCALE(id, name, kernel, about) \
    { ASSAY_SCALE_##id, name, kernel, about },
#include "assay/scale.def"
#undef ASSAY_SCALE
};

static const struct assay_f32_rule f32_rules[] = {
#define ASSAY_F32_RULE(id, name, of, least, apply, about)                        \
    {                                                                            \
        ASSAY_F32_RULE_##id, name, ASSAY_OF_##of, least, ASSAY_OF_##apply, about \
    },
#include "assay/f32_rule.def"
#undef ASSAY_F32_RULE
};

/* The rule that a row does not name is not looked at. */
#define F32(id) ASSAY_F32_RULE_##id, ASSAY_SCALE_RULE_FLOOR
#define E8M0(id) ASSAY_F32_RULE_DIVIDE, ASSAY_SCALE_RULE_##id
#define ASSAY_ROTATION_NONE PREPARE_NONE

static const struct assay_quantizer quantizers[] = {
#define ASSAY_QUANTIZER(id, name, operands, format, scale, rule, prepare, \
                        overflow, tail, about)                            \
    { ASSAY_QUANTIZER_##id,                                               \
      name,                                                               \
      operands,                                                           \
      ASSAY_##format,                                                     \
      ASSAY_SCALE_##scale,                                                \
      rule,                                                               \
      (int)ASSAY_ROTATION_##prepare != PREPARE_NONE,                      \
      (enum assay_rotation_order_id)ASSAY_ROTATION_##prepare,             \
      ASSAY_##overflow,                                                   \
      ASSAY_TAIL_##tail,                                                  \
      about },
#include "assay/quantizer.def"
#undef ASSAY_QUANTIZER
};

const struct assay_scale_kind *assay_scale_get(enum assay_scale id)
{
    return &scales[id];
}

const struct assay_f32_rule *assay_f32_rule_get(enum assay_f32_rule_id id)
{
    return &f32_rules[id];
}

static struct assay_quantizer
    added[ASSAY_QUANTIZERS_MAX - ASSAY_QUANTIZERS - 1];
static int n_added;

const struct assay_quantizer *assay_quantizer_get(enum assay_quantizer_id id)
{
    return id < ASSAY_QUANTIZERS ? &quantizers[id]
                                 : &added[id - ASSAY_QUANTIZERS - 1];
}

const struct assay_quantizer *assay_quantizer_find(const char *name)
{
    for (size_t i = 0; i < ASSAY_QUANTIZERS; i++)
        if (strcmp(quantizers[i].name, name) == 0)
            return &quantizers[i];
    for (int i = 0; i < n_added; i++)
        if (strcmp(added[i].name, name) == 0)
            return &added[i];
    return NULL;
}

bool assay_quantizer_is_added(const struct assay_quantizer *q)
{
    return q->id > ASSAY_QUANTIZERS;
}

/* Only what matters for the kind of scales, and for preparation. */
static bool same(const struct assay_quantizer *a,
                 const struct assay_quantizer *b)
{
    return a->format == b->format && a->scale == b->scale &&
           strcmp(assay_quantizer_rule_name(a), assay_quantizer_rule_name(b)) ==
               0 &&
           a->prepares == b->prepares &&
           (!a->prepares || a->prepare == b->prepare) &&
           a->overflow == b->overflow && a->tail == b->tail &&
           strcmp(a->operands, b->operands) == 0;
}

enum assay_status assay_quantizer_add(const struct assay_quantizer *quantizer,
                                      const struct assay_quantizer **out,
                                      struct assay_error *err)
{
    enum assay_status st = assay_quantizer_valid(quantizer, err);
    if (st != ASSAY_OK)
        return st;
    *out = assay_quantizer_find(quantizer->name);
    if (*out && same(*out, quantizer))
        return ASSAY_OK;
    if (*out)
        return assay_fail(err, ASSAY_USAGE,
                          "quantizer %s is another one already; give it "
                          "another name",
                          quantizer->name);
    if (n_added == sizeof added / sizeof *added)
        return assay_fail(err, ASSAY_USAGE,
                          "%d quantizers have been added, there is no room "
                          "for %s",
                          n_added, quantizer->name);
    struct assay_quantizer *own = &added[n_added];
    *own = *quantizer;
    own->id = (enum assay_quantizer_id)(ASSAY_QUANTIZERS + 1 + n_added);
    own->name = strdup(quantizer->name);
    own->operands = strdup(quantizer->operands);
    own->about = strdup(quantizer->about ? quantizer->about : "");
    if (!own->name || !own->operands || !own->about)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a quantizer");
    n_added++;
    *out = own;
    return ASSAY_OK;
}

const char *assay_quantizer_rule_name(const struct assay_quantizer *q)
{
    switch (q->scale) {
    case ASSAY_SCALE_NONE: return "-";
    case ASSAY_SCALE_BLOCK:
    case ASSAY_SCALE_BLOCK_TOKENS:
        return assay_scale_rule_get(q->scale_rule)->name;
    default: return f32_rules[q->f32_rule].name;
    }
}

/* ---- binary32 scales ---- */

/* How far apart the scales of neighbours along each axis are. */
struct strides {
    int64_t b, s, h, d, count;
};

static struct strides strides_of(enum assay_scale scale,
                                 const struct assay_tensor *t)
{
    switch (scale) {
    case ASSAY_SCALE_HEAD:
        return (struct strides){ t->h, 0, 1, 0, t->b * t->h };
    case ASSAY_SCALE_TOKEN:
        return (struct strides){ t->s * t->h, t->h, 1, 0, t->b * t->s * t->h };
    case ASSAY_SCALE_CHANNEL:
        return (struct strides){ t->h * t->d, 0, t->d, 1, t->b * t->h * t->d };
    default: return (struct strides){ 0, 0, 0, 0, 1 };
    }
}

/* Calls for every row of d elements: the row, and the scale of its first. */
#define EACH_ROW(t, st, row, scale)                                 \
    for (int64_t bi = 0, row = 0; bi < (t)->b; bi++)                \
        for (int64_t si = 0; si < (t)->s; si++)                     \
            for (int64_t hi = 0, scale = bi * (st).b + si * (st).s; \
                 hi < (t)->h; hi++, row++, scale += (st).h)

static void find_amax(const struct assay_tensor *t, struct strides st,
                      const float *x, float *amax)
{
    memset(amax, 0, (size_t)st.count * sizeof *amax);
    EACH_ROW(t, st, row, scale)
    for (int64_t c = 0; c < t->d; c++) {
        float size = fabsf(x[row * t->d + c]);
        float *top = &amax[scale + c * st.d];
        *top = size > *top ? size : *top;
    }
}

/* amax becomes the scale. */
static void find_scales(const struct assay_f32_rule *rule, float max, int64_t n,
                        float *scale)
{
    for (int64_t i = 0; i < n; i++) {
        float a = scale[i] > rule->least ? scale[i] : rule->least;
        a = rule->of == ASSAY_OF_DIVIDED ? a / max : a * (1 / max);
        scale[i] = a > 0 ? a : 1;
    }
}

static void encode_rows(const struct assay_quantizer *how,
                        const struct assay_tensor *t, struct strides st,
                        const float *factors, const float *x, float *scaled,
                        const struct assay_format *format, char *codes)
{
    const bool times =
        assay_f32_rule_get(how->f32_rule)->apply == ASSAY_OF_TIMES;
    const size_t row_bytes = (size_t)t->d * assay_format_bytes(format);
    EACH_ROW(t, st, row, scale)
    {
        for (int64_t c = 0; c < t->d; c++) {
            float v = x[row * t->d + c], by = factors[scale + c * st.d];
            scaled[c] = times ? v * (1 / by) : v / by;
        }
        assay_format_encode(format, ASSAY_NEAREST_EVEN, how->overflow,
                            (size_t)t->d, scaled,
                            codes + (size_t)row * row_bytes);
    }
}

static enum assay_status quantize_f32(const struct assay_quantizer *how,
                                      const float *x, struct assay_payload *out,
                                      struct assay_error *err)
{
    const struct assay_tensor *t = &out->tensor;
    const struct strides st = strides_of(how->scale, t);
    const float max = assay_format_max(out->format);
    float *scaled;
    enum assay_status status;
    out->n_scales = st.count;
    if ((status = assay_alloc("scales", st.count, sizeof *out->scales,
                              &out->scales, err)) != ASSAY_OK ||
        (status = assay_alloc("a scaled row", t->d, sizeof *scaled, &scaled,
                              err)) != ASSAY_OK)
        return status;
    find_amax(t, st, x, out->scales);
    find_scales(assay_f32_rule_get(how->f32_rule),
                t->clip > 0 ? (float)(max / t->clip) : max, st.count,
                out->scales);
    encode_rows(how, t, st, out->scales, x, scaled, out->format, out->codes);
    assay_free(scaled);
    return ASSAY_OK;
}

static void values_f32(const struct assay_payload *p, float *values)
{
    const struct assay_tensor *t = &p->tensor;
    const struct strides st = strides_of(p->scale, t);
    EACH_ROW(t, st, row, scale)
    for (int64_t c = 0; c < t->d; c++)
        values[row * t->d + c] *= p->scales[scale + c * st.d];
}

/* ---- any ---- */

enum assay_status assay_tensor_check(const struct assay_tensor *t,
                                     struct assay_error *err)
{
    int64_t n, padded;
    if (t->b < 1 || t->s < 0 || t->h < 1 || t->d < 1)
        return assay_fail(err, ASSAY_SHAPE,
                          "a tensor of %" PRId64 " x %" PRId64 " x %" PRId64
                          " x %" PRId64 " is not possible",
                          t->b, t->s, t->h, t->d);
    if (__builtin_mul_overflow(t->b, t->h, &n) ||
        __builtin_mul_overflow(n, t->d, &n) ||
        __builtin_add_overflow(t->s, ASSAY_TILE_TOKENS - 1, &padded) ||
        __builtin_mul_overflow(n, padded, &n) ||
        n > INT64_MAX / (int64_t)sizeof(float))
        return assay_fail(err, ASSAY_SHAPE,
                          "a tensor of %" PRId64 " x %" PRId64 " x %" PRId64
                          " x %" PRId64 " is too large",
                          t->b, t->s, t->h, t->d);
    return ASSAY_OK;
}

/* Axes of a tensor's scales, each a size of it. */
int assay_scale_sizes(enum assay_scale scale, const struct assay_tensor *t,
                      int64_t sizes[ASSAY_SCALE_AXES])
{
    const int64_t blocks =
        (t->d + ASSAY_BLOCK_CHANNELS - 1) / ASSAY_BLOCK_CHANNELS;
    const int64_t of_tokens =
        (t->s + ASSAY_TILE_TOKENS - 1) / ASSAY_TILE_TOKENS * ASSAY_TILE_BLOCKS;
    const struct {
        int n;
        int64_t sizes[ASSAY_SCALE_AXES];
    } axes[] = {
        [ASSAY_SCALE_NONE] = { 0, { 0 } },
        [ASSAY_SCALE_TENSOR] = { 1, { 1 } },
        [ASSAY_SCALE_HEAD] = { 2, { t->b, t->h } },
        [ASSAY_SCALE_TOKEN] = { 3, { t->b, t->s, t->h } },
        [ASSAY_SCALE_CHANNEL] = { 3, { t->b, t->h, t->d } },
        [ASSAY_SCALE_BLOCK] = { 4, { t->b, t->s, t->h, blocks } },
        [ASSAY_SCALE_BLOCK_TOKENS] = { 4, { t->b, t->h, of_tokens, t->d } },
    };
    memcpy(sizes, axes[scale].sizes, sizeof axes[scale].sizes);
    return axes[scale].n;
}

int64_t assay_scale_count(enum assay_scale scale, const struct assay_tensor *t)
{
    int64_t sizes[ASSAY_SCALE_AXES], n = 1;
    const int axes = assay_scale_sizes(scale, t, sizes);
    for (int i = 0; i < axes; i++)
        n *= sizes[i];
    return axes > 0 ? n : 0;
}

enum assay_status assay_quantize(const struct assay_quantizer *how,
                                 const struct assay_tensor *tensor,
                                 const float *x, struct assay_payload *out,
                                 struct assay_error *err)
{
    enum assay_status st;
    *out = (struct assay_payload){ .format = assay_format_get(how->format),
                                   .scale = how->scale,
                                   .tensor = *tensor };
    if ((st = assay_tensor_check(tensor, err)) != ASSAY_OK)
        return st;
    out->count = tensor->b * tensor->s * tensor->h * tensor->d;
    if ((st = assay_alloc("a payload", out->count,
                          assay_format_bytes(out->format), &out->codes, err)) !=
        ASSAY_OK)
        return st;
    switch (how->scale) {
    case ASSAY_SCALE_NONE:
        assay_format_encode(out->format, ASSAY_NEAREST_EVEN, how->overflow,
                            (size_t)out->count, x, out->codes);
        return ASSAY_OK;
    case ASSAY_SCALE_BLOCK: return quantize_channels(how, x, out, err);
    case ASSAY_SCALE_BLOCK_TOKENS: return quantize_tokens(how, x, out, err);
    default: return quantize_f32(how, x, out, err);
    }
}

void assay_payload_values(const struct assay_payload *payload, float *values)
{
    switch (payload->scale) {
    case ASSAY_SCALE_BLOCK: values_channels(payload, values); return;
    case ASSAY_SCALE_BLOCK_TOKENS: values_tokens(payload, values); return;
    default: break;
    }
    assay_format_decode(payload->format, (size_t)payload->count, payload->codes,
                        values);
    if (payload->scale != ASSAY_SCALE_NONE)
        values_f32(payload, values);
}

void assay_payload_free(struct assay_payload *payload)
{
    assay_free(payload->codes);
    assay_free(payload->scales);
    assay_free(payload->e8m0);
    assay_free(payload->past);
    *payload = (struct assay_payload){ 0 };
}
