/* SPDX-License-Identifier: MIT
 *
 * ref/recipe_valid.c: columns that contradict each other are refused, each by
 * its sentence; and rows that are added to the tables of ref/recipe.c and
 * ref/quantize.c.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/recipe.h"
#include "check_assay.h"

static struct assay_error err;

static void recipe_is(const struct assay_recipe *r, const char *says)
{
    const struct assay_recipe *out;
    const int count = assay_recipe_count();
    printf("# %s\n", says ? says : "valid");
    fflush(stdout);
    err.text[0] = '\0';
    if (!says) {
        ck_assert_int_eq(assay_recipe_valid(r, &err), ASSAY_OK);
        return;
    }
    ck_assert_int_eq(assay_recipe_valid(r, &err), ASSAY_USAGE);
    ck_assert_msg(strstr(err.text, says), "%s", err.text);
    ck_assert_int_eq(assay_recipe_add(r, &out, &err), ASSAY_USAGE);
    ck_assert_int_eq(assay_recipe_count(), count);
}

static void quantizer_is(const struct assay_quantizer *q, const char *says)
{
    const struct assay_quantizer *out;
    printf("# %s\n", says ? says : "valid");
    fflush(stdout);
    err.text[0] = '\0';
    if (!says) {
        ck_assert_int_eq(assay_quantizer_valid(q, &err), ASSAY_OK);
        return;
    }
    ck_assert_int_eq(assay_quantizer_valid(q, &err), ASSAY_USAGE);
    ck_assert_msg(strstr(err.text, says), "%s", err.text);
    ck_assert_int_eq(assay_quantizer_add(q, &out, &err), ASSAY_USAGE);
}

/* A row with some columns changed. */
#define RECIPE(like, says, change)                        \
    do {                                                  \
        struct assay_recipe r = *assay_recipe_find(like); \
        r.name = "own";                                   \
        change;                                           \
        recipe_is(&r, says);                              \
    } while (0)
#define QUANTIZER(like, says, change)                           \
    do {                                                        \
        struct assay_quantizer q = *assay_quantizer_find(like); \
        q.name = "own";                                         \
        change;                                                 \
        quantizer_is(&q, says);                                 \
    } while (0)

START_TEST(names)
{
    RECIPE("fp8", NULL, r.name = "A-Z_0.9");
    RECIPE("fp8", NULL, r.name = "0123456789012345678901234567890");
    RECIPE("fp8", "1 to 31", r.name = "01234567890123456789012345678901");
    RECIPE("fp8", "has no name", r.name = "");
    RECIPE("fp8", "has no name", r.name = NULL);
    RECIPE("fp8", "no name of a recipe", r.name = "a/b");
    RECIPE("fp8", "no name of a recipe", r.name = "a@nominal");
    RECIPE("fp8", "no name of a recipe", r.name = "a,b");
    RECIPE("fp8", "no name of a recipe", r.name = "..");
    RECIPE("fp8", "no name of a recipe", r.name = "all");
    QUANTIZER("fp8", NULL, q.name = "a.b");
    QUANTIZER("fp8", "no name of a quantizer", q.name = "a b");
    QUANTIZER("fp8", "has no name", q.name = NULL);
}
END_TEST

START_TEST(numbers)
{
    static const char unknown[] = "unknown number";
    RECIPE("fp8", unknown, r.q = ASSAY_QUANTIZERS);
    RECIPE("fp8", unknown,
           r.k = (enum assay_quantizer_id)(ASSAY_QUANTIZERS + 1));
    RECIPE("fp8", unknown, r.v = ASSAY_QUANTIZERS_MAX);
    RECIPE("fp8", unknown, r.order = ASSAY_TOKEN_ORDERS);
    RECIPE("fp8", unknown, r.smooth = (enum assay_smooth)3);
    RECIPE("fp8", unknown, r.scale_applied = (enum assay_applied)2);
    RECIPE("fp8", unknown, r.p_format = ASSAY_FORMATS);
    RECIPE("fp8", unknown, r.out_format = ASSAY_FORMATS);
    RECIPE("fp8", unknown, r.softmax = ASSAY_SOFTMAXES);
    RECIPE("fp8", unknown, r.promise = ASSAY_PROMISES);
    QUANTIZER("fp8", unknown, q.format = ASSAY_FORMATS);
    QUANTIZER("fp8", unknown, q.scale = ASSAY_SCALES);
    QUANTIZER("fp8", unknown, q.f32_rule = ASSAY_F32_RULES);
    QUANTIZER("fp8", unknown, q.scale_rule = ASSAY_SCALE_RULES);
    QUANTIZER("fp8", unknown, q.overflow = ASSAY_OVERFLOWS);
    QUANTIZER("fp8", unknown, q.tail = ASSAY_TAILS);
    QUANTIZER("fp8rot", unknown, q.prepare = ASSAY_ROTATION_ORDERS);
}
END_TEST

START_TEST(recipes)
{
    RECIPE("fp8", NULL, r.smooth = ASSAY_SMOOTH_F32);
    RECIPE("fp8", "fp8rot is for qk, not for v", r.v = ASSAY_QUANTIZER_FP8ROT);
    RECIPE("fp8", "mxfp4-v is for v, not for k", r.k = ASSAY_QUANTIZER_MXFP4_V);
    RECIPE("fp8", "k prepares nothing", r.k = ASSAY_QUANTIZER_FP8);
    RECIPE("mxfp8", "q prepares nothing", r.q = ASSAY_QUANTIZER_FP8);
    RECIPE("fp8", "P cannot be int8", r.p_format = ASSAY_INT8);
    RECIPE("fp8", "P cannot be e8m0", r.p_format = ASSAY_E8M0);
    RECIPE("fp8", NULL, r.p_format = ASSAY_E2M1);
    RECIPE("fp8", NULL, (r.p_format = ASSAY_E5M2, r.p_blocks = true));
    RECIPE("bf16", "P's blocks have at most 8 bits, bf16 has 16",
           r.p_blocks = true);
    RECIPE("fp8", "token order fp6p", r.order = ASSAY_TOKENS_FP6P);
    RECIPE("f8f6", NULL, r.order = ASSAY_TOKENS_CANONICAL);
    RECIPE("fp8", "not e4m3fn", r.out_format = ASSAY_E4M3FN);
    RECIPE("fp8", NULL, r.out_format = ASSAY_F32);
    RECIPE("fp8", "promised to the bit", r.promise = ASSAY_PROMISE_BITS);
}
END_TEST

/* The forms that fix P have it one way; all rows of the table are valid in
 * all forms, as assay_recipe_in_form() gives them. */
START_TEST(forms)
{
    for (int i = 0; i < ASSAY_RECIPES * ASSAY_SOFTMAXES; i++)
        recipe_is(
            assay_recipe_in_form(
                assay_recipe_get((enum assay_recipe_id)(i / ASSAY_SOFTMAXES)),
                (enum assay_softmax)(i % ASSAY_SOFTMAXES)),
            NULL);
    RECIPE("fp8", NULL, r.softmax = ASSAY_SOFTMAX_GFX950_BYTE);
    RECIPE("bf16", "gfx950-u32 has P in e4m3fn, without blocks",
           r.softmax = ASSAY_SOFTMAX_GFX950_U32);
    RECIPE("fp8", "p_blocks true",
           (r.softmax = ASSAY_SOFTMAX_GFX950_U32, r.p_blocks = true));
    RECIPE("f8f6", "v_tokens fp6p",
           (r.softmax = ASSAY_SOFTMAX_GFX950_BYTE, r.p_blocks = false,
            r.p_format = ASSAY_E4M3FN));
    RECIPE("f8f6", NULL, r.softmax = ASSAY_SOFTMAX_FP6P);
}
END_TEST

START_TEST(quantizers)
{
    QUANTIZER("fp8", NULL, q.operands = "kv");
    QUANTIZER("fp8", "operands \"\"", q.operands = "");
    QUANTIZER("fp8", "operands \"\"", q.operands = NULL);
    QUANTIZER("fp8", "operands \"qx\"", q.operands = "qx");
    QUANTIZER("fp8", "operands \"qkvq\"", q.operands = "qkvq");
    QUANTIZER("fp8", "e8m0 is for scales", q.format = ASSAY_E8M0);
    QUANTIZER("fp8", "bf16 has the range", q.format = ASSAY_BF16);
    QUANTIZER("fp8", "f32 has the range", q.format = ASSAY_F32);
    QUANTIZER("fp8cast", NULL, q.format = ASSAY_F32);
    QUANTIZER("fp8", NULL, q.format = ASSAY_F16);
    QUANTIZER("mxfp8", "at most 8 bits, f16 has 16", q.format = ASSAY_F16);
    QUANTIZER("mxfp6-v", "at most 8 bits, f16 has 16", q.format = ASSAY_F16);
    QUANTIZER("mxfp6-v", "blocks of tokens are for v, not for qv",
              q.operands = "qv");
    QUANTIZER("fp8rot", "only q and k are prepared", q.operands = "qkv");
    QUANTIZER("fp8", "scale tensor has none", q.tail = ASSAY_TAIL_REPEAT_LAST);
}
END_TEST

/* What gets by the tables must not write past its arrays either. */
START_TEST(wide_blocks)
{
    static const float x[128];
    const struct assay_tensor t = { 1, 4, 1, 32, ASSAY_TOKENS_CANONICAL, 0 };
    for (int i = 0; i < 2; i++) {
        struct assay_payload out;
        struct assay_quantizer q =
            *assay_quantizer_find(i ? "mxfp4-v" : "mxfp4");
        q.format = ASSAY_F16;
        ck_assert_int_eq(assay_quantize(&q, &t, x, &out, &err), ASSAY_USAGE);
        assay_payload_free(&out);
    }
}
END_TEST

/* Texts are copied, ids follow, forms are there; the same again is the row
 * there is, another of the name is refused, and so is one too many. */
START_TEST(added)
{
    char name[8] = "own", about[8] = "mine";
    const struct assay_quantizer *q;
    const struct assay_recipe *r, *again;
    struct assay_quantizer mine = *assay_quantizer_find("mxfp8");
    struct assay_recipe x = *assay_recipe_find("mxfp8");
    mine.name = x.name = name;
    mine.about = x.about = about;
    mine.scale_rule = ASSAY_SCALE_RULE_FLOOR;
    ck_assert_int_eq(assay_quantizer_add(&mine, &q, &err), ASSAY_OK);
    ck_assert(assay_quantizer_is_added(q) && q->id > ASSAY_QUANTIZERS);
    ck_assert(!assay_quantizer_is_added(assay_quantizer_find("mxfp8")));
    x.q = x.k = q->id;
    ck_assert_int_eq(assay_recipe_add(&x, &r, &err), ASSAY_OK);
    memset(name, 'x', 3);
    memset(about, 'x', 4);
    ck_assert_ptr_eq(assay_quantizer_find("own"), q);
    ck_assert_ptr_eq(assay_quantizer_get(q->id), q);
    ck_assert_ptr_eq(assay_recipe_find("own"), r);
    ck_assert_ptr_eq(assay_recipe_get(r->id), r);
    ck_assert_int_eq(r->id, ASSAY_RECIPES);
    ck_assert_str_eq(r->about, "mine");
    ck_assert_str_eq(q->about, "mine");
    const struct assay_recipe *form =
        assay_recipe_in_form(r, ASSAY_SOFTMAX_GFX950_U32);
    ck_assert(form->id == r->id && form->q == q->id &&
              form->softmax == ASSAY_SOFTMAX_GFX950_U32);
    ck_assert_ptr_eq(assay_recipe_in_form(form, r->softmax), r);

    strcpy(name, "own");
    ck_assert_int_eq(assay_recipe_add(&x, &again, &err), ASSAY_OK);
    ck_assert_ptr_eq(again, r);
    ck_assert_int_eq(assay_recipe_count(), ASSAY_RECIPES + 1);
    mine.scale_rule = ASSAY_SCALE_RULE_EVEN;
    ck_assert_int_eq(assay_quantizer_add(&mine, &q, &err), ASSAY_USAGE);
    x.p_format = ASSAY_E5M2;
    ck_assert_int_eq(assay_recipe_add(&x, &again, &err), ASSAY_USAGE);
    ck_assert(strstr(err.text, "own is another one already"));
    x.name = "fp8";
    ck_assert_int_eq(assay_recipe_add(&x, &again, &err), ASSAY_USAGE);
}
END_TEST

START_TEST(one_too_many)
{
    char name[16];
    const struct assay_quantizer *q;
    const struct assay_recipe *r;
    struct assay_quantizer mine = *assay_quantizer_find("mxfp8");
    struct assay_recipe x = *assay_recipe_find("fp8");
    mine.name = x.name = name;
    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof name, "own%d", i);
        ck_assert_int_eq(assay_quantizer_add(&mine, &q, &err), ASSAY_OK);
        ck_assert_int_eq(assay_recipe_add(&x, &r, &err), ASSAY_OK);
        ck_assert(r->id < ASSAY_RECIPES_MAX && q->id < ASSAY_QUANTIZERS_MAX);
    }
    strcpy(name, "last");
    ck_assert_int_eq(assay_quantizer_add(&mine, &q, &err), ASSAY_USAGE);
    ck_assert(strstr(err.text, "64 quantizers have been added"));
    ck_assert_int_eq(assay_recipe_add(&x, &r, &err), ASSAY_USAGE);
    ck_assert(strstr(err.text, "64 recipes have been added"));
    ck_assert_ptr_null(assay_recipe_find("last"));
    ck_assert_str_eq(assay_recipe_find("own0")->name, "own0");
    ck_assert_str_eq(assay_quantizer_find("own63")->name, "own63");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recipe_valid");
    TCase *c = tcase_create("refused");
    tcase_add_test(c, names);
    tcase_add_test(c, numbers);
    tcase_add_test(c, recipes);
    tcase_add_test(c, forms);
    tcase_add_test(c, quantizers);
    tcase_add_test(c, wide_blocks);
    suite_add_tcase(suite, c);
    c = tcase_create("added");
    tcase_add_test(c, added);
    tcase_add_test(c, one_too_many);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
