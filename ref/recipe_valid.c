/* SPDX-License-Identifier: MIT
 *
 * Which columns of recipes and quantizers go together.
 */
#include <string.h>

#include "assay/recipe.h"

enum { LONGEST_NAME = 31 };

/* Names are those of groups in golden sets, and words of lists. */
static enum assay_status check_name(const char *what, const char *name,
                                    struct assay_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t n = name ? strlen(name) : 0;
    if (n == 0)
        return assay_fail(err, ASSAY_USAGE, "a %s has no name", what);
    if (n > LONGEST_NAME || strspn(name, letters) != n || name[0] == '.' ||
        strcmp(name, "all") == 0)
        return assay_fail(err, ASSAY_USAGE,
                          "\"%.40s\" is no name of a %s: 1 to %d letters, "
                          "digits, '.', '_', '-', no point first, not all",
                          name, what, LONGEST_NAME);
    return ASSAY_OK;
}

/* ---- quantizers ---- */

static bool is_block(enum assay_scale scale)
{
    return scale == ASSAY_SCALE_BLOCK || scale == ASSAY_SCALE_BLOCK_TOKENS;
}

/* Scales would take values far out of binary32, or below it. */
static bool is_wide(enum assay_format_id format)
{
    return assay_format_get(format)->exp_bits >= 8;
}

static bool operands_fit(const char *operands)
{
    const size_t n = operands ? strlen(operands) : 0;
    return n > 0 && n <= 3 && strspn(operands, "qkv") == n;
}

static bool numbers_fit(const struct assay_quantizer *q)
{
    return q->format < ASSAY_FORMATS && q->scale < ASSAY_SCALES &&
           q->f32_rule < ASSAY_F32_RULES && q->scale_rule < ASSAY_SCALE_RULES &&
           q->overflow < ASSAY_OVERFLOWS && q->tail < ASSAY_TAILS &&
           (!q->prepares || q->prepare < ASSAY_ROTATION_ORDERS);
}

static enum assay_status check_scale(const struct assay_quantizer *q,
                                     struct assay_error *err)
{
    if (q->scale != ASSAY_SCALE_NONE && is_wide(q->format))
        return assay_fail(err, ASSAY_USAGE,
                          "quantizer %s: %s has the range of binary32 and "
                          "takes no scales, but scale is %s",
                          q->name, assay_format_get(q->format)->name,
                          assay_scale_get(q->scale)->name);
    if (is_block(q->scale) && assay_format_get(q->format)->bits > 8)
        return assay_fail(err, ASSAY_USAGE,
                          "quantizer %s: elements of blocks have at most 8 "
                          "bits, %s has %d",
                          q->name, assay_format_get(q->format)->name,
                          assay_format_get(q->format)->bits);
    if (q->scale == ASSAY_SCALE_BLOCK_TOKENS && strcmp(q->operands, "v") != 0)
        return assay_fail(err, ASSAY_USAGE,
                          "quantizer %s: blocks of tokens are for v, not for "
                          "%s",
                          q->name, q->operands);
    if (q->tail != ASSAY_TAIL_ZERO && q->scale != ASSAY_SCALE_BLOCK_TOKENS)
        return assay_fail(err, ASSAY_USAGE,
                          "quantizer %s: only blocks of tokens have a tail, "
                          "scale %s has none",
                          q->name, assay_scale_get(q->scale)->name);
    return ASSAY_OK;
}

enum assay_status assay_quantizer_valid(const struct assay_quantizer *q,
                                        struct assay_error *err)
{
    enum assay_status st = check_name("quantizer", q->name, err);
    if (st != ASSAY_OK)
        return st;
    if (!operands_fit(q->operands))
        return assay_fail(err, ASSAY_USAGE,
                          "quantizer %s: operands \"%.20s\" are not of q, k "
                          "and v",
                          q->name, q->operands ? q->operands : "");
    if (!numbers_fit(q))
        return assay_fail(err, ASSAY_USAGE,
                          "quantizer %s: a column has an unknown number",
                          q->name);
    if (q->format == ASSAY_E8M0)
        return assay_fail(err, ASSAY_USAGE,
                          "quantizer %s: e8m0 is for scales, not for elements",
                          q->name);
    if (q->prepares && strchr(q->operands, 'v'))
        return assay_fail(err, ASSAY_USAGE,
                          "quantizer %s: only q and k are prepared, not %s",
                          q->name, q->operands);
    return check_scale(q, err);
}

/* ---- recipes ---- */

/* Those of the table, and those that were added. */
static bool is_quantizer(enum assay_quantizer_id id)
{
    return id < ASSAY_QUANTIZERS ||
           (id > ASSAY_QUANTIZERS && id < ASSAY_QUANTIZERS_MAX &&
            assay_quantizer_get(id)->name);
}

static bool quantizer_fits(enum assay_quantizer_id id, char operand)
{
    return strchr(assay_quantizer_get(id)->operands, operand) != NULL;
}

static bool rotates(enum assay_quantizer_id id)
{
    const struct assay_quantizer *q = assay_quantizer_get(id);
    return q->prepares && assay_rotation_order_get(q->prepare)->rotate;
}

static enum assay_status check_operands(const struct assay_recipe *r,
                                        struct assay_error *err)
{
    const struct {
        char operand;
        enum assay_quantizer_id id;
    } each[] = { { 'q', r->q }, { 'k', r->k }, { 'v', r->v } };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        if (!quantizer_fits(each[i].id, each[i].operand))
            return assay_fail(err, ASSAY_USAGE,
                              "recipe %s: quantizer %s is for %s, not for %c",
                              r->name, assay_quantizer_get(each[i].id)->name,
                              assay_quantizer_get(each[i].id)->operands,
                              each[i].operand);
    if (r->smooth && !assay_quantizer_get(r->k)->prepares)
        return assay_fail(err, ASSAY_USAGE,
                          "recipe %s: quantizer %s of k prepares nothing, so "
                          "no mean can be taken off",
                          r->name, assay_quantizer_get(r->k)->name);
    if (r->scale_applied == ASSAY_APPLIED_Q &&
        !assay_quantizer_get(r->q)->prepares)
        return assay_fail(err, ASSAY_USAGE,
                          "recipe %s: quantizer %s of q prepares nothing, so "
                          "no scale can be folded in",
                          r->name, assay_quantizer_get(r->q)->name);
    if (rotates(r->q) != rotates(r->k))
        return assay_fail(
            err, ASSAY_USAGE,
            "recipe %s: quantizer %s of %c is rotated and %s of "
            "%c is not, so their product means nothing",
            r->name, assay_quantizer_get(rotates(r->q) ? r->q : r->k)->name,
            rotates(r->q) ? 'q' : 'k',
            assay_quantizer_get(rotates(r->q) ? r->k : r->q)->name,
            rotates(r->q) ? 'k' : 'q');
    return ASSAY_OK;
}

/* P lies from 0 to 1 before it is scaled, and must not all become 0. */
static bool holds_p(enum assay_format_id format)
{
    const struct assay_format *f = assay_format_get(format);
    return f->top != ASSAY_TOP_INTEGER && format != ASSAY_E8M0 && f->sign &&
           assay_format_max(f) >= 1;
}

/* A form that makes P's bits has it in one format, as it comes. */
static enum assay_status check_form(const struct assay_recipe *r,
                                    struct assay_error *err)
{
    const struct assay_softmax_form *form = assay_softmax_get(r->softmax);
    if (form->p_format == ASSAY_FORMATS ||
        (form->p_format == r->p_format && !r->p_blocks &&
         r->order == ASSAY_TOKENS_CANONICAL))
        return ASSAY_OK;
    return assay_fail(
        err, ASSAY_USAGE,
        "recipe %s: form %s has P in %s, without blocks, and V "
        "in canonical order; not p %s, p_blocks %s, v_tokens %s",
        r->name, form->name, assay_format_get(form->p_format)->name,
        assay_format_get(r->p_format)->name, r->p_blocks ? "true" : "false",
        assay_token_order_name(r->order));
}

static enum assay_status check_p(const struct assay_recipe *r,
                                 struct assay_error *err)
{
    const bool v_blocks =
        assay_quantizer_get(r->v)->scale == ASSAY_SCALE_BLOCK_TOKENS;
    if (!holds_p(r->p_format))
        return assay_fail(err, ASSAY_USAGE,
                          "recipe %s: P cannot be %s, which has no fractions "
                          "of 1",
                          r->name, assay_format_get(r->p_format)->name);
    if (r->p_blocks && assay_format_get(r->p_format)->bits > 8)
        return assay_fail(err, ASSAY_USAGE,
                          "recipe %s: elements of P's blocks have at most 8 "
                          "bits, %s has %d",
                          r->name, assay_format_get(r->p_format)->name,
                          assay_format_get(r->p_format)->bits);
    if (r->order == ASSAY_TOKENS_FP6P && !v_blocks)
        return assay_fail(err, ASSAY_USAGE,
                          "recipe %s: token order fp6p is for blocks of V, "
                          "quantizer %s has none",
                          r->name, assay_quantizer_get(r->v)->name);
    return ASSAY_OK;
}

enum assay_status assay_recipe_valid(const struct assay_recipe *r,
                                     struct assay_error *err)
{
    enum assay_status st = check_name("recipe", r->name, err);
    if (st != ASSAY_OK)
        return st;
    if (!is_quantizer(r->q) || !is_quantizer(r->k) || !is_quantizer(r->v) ||
        r->order >= ASSAY_TOKEN_ORDERS || r->p_format >= ASSAY_FORMATS ||
        r->out_format >= ASSAY_FORMATS || r->softmax >= ASSAY_SOFTMAXES ||
        r->smooth > ASSAY_SMOOTH_F32 || r->scale_applied > ASSAY_APPLIED_Q ||
        r->promise >= ASSAY_PROMISES)
        return assay_fail(err, ASSAY_USAGE,
                          "recipe %s: a column has an unknown number", r->name);
    if (r->promise == ASSAY_PROMISE_BITS)
        return assay_fail(err, ASSAY_USAGE,
                          "recipe %s: an answer cannot be promised to the bit, "
                          "the order of sums is open",
                          r->name);
    if (r->out_format != ASSAY_BF16 && r->out_format != ASSAY_F16 &&
        r->out_format != ASSAY_F32)
        return assay_fail(err, ASSAY_USAGE,
                          "recipe %s: output is bf16, f16 or f32, not %s",
                          r->name, assay_format_get(r->out_format)->name);
    if ((st = check_operands(r, err)) != ASSAY_OK ||
        (st = check_form(r, err)) != ASSAY_OK)
        return st;
    return check_p(r, err);
}
