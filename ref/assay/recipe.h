/* SPDX-License-Identifier: MIT
 *
 * Recipes, their quantizers, and their emulation: what a perfect kernel of
 * the recipe and softmax form gives, and how far other legal kernels may be.
 * Source: ROCm/aiter MHA v4 (sage_attention_quant.py, mha_v4_per_tensor_*);
 * HACKING.md, "Recipes".
 */
#ifndef ASSAY_RECIPE_H
#define ASSAY_RECIPE_H

#include <stdbool.h>

#include "assay/attention.h"
#include "assay/format.h"
#include "assay/quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

enum assay_recipe_id {
#define ASSAY_RECIPE(id, ...) ASSAY_RECIPE_##id,
#include "assay/recipe.def"
#undef ASSAY_RECIPE
    ASSAY_RECIPES,
    ASSAY_RECIPES_MAX = ASSAY_RECIPES + 64 /* with those that are added */
};

enum assay_softmax {
#define ASSAY_SOFTMAX(id, ...) ASSAY_SOFTMAX_##id,
#include "assay/softmax.def"
#undef ASSAY_SOFTMAX
    ASSAY_SOFTMAXES
};

enum assay_applied { ASSAY_APPLIED_KERNEL, ASSAY_APPLIED_Q };
enum assay_smooth { ASSAY_SMOOTH_NO, ASSAY_SMOOTH_WORDS, ASSAY_SMOOTH_F32 };
enum assay_promise {
#define ASSAY_PROMISE(id, ...) ASSAY_PROMISE_##id,
#include "assay/promise.def"
#undef ASSAY_PROMISE
    ASSAY_PROMISES
};

enum assay_softmax_kind {
    ASSAY_KIND_ONLINE,
    ASSAY_KIND_FROZEN,
    ASSAY_KIND_U32,
    ASSAY_KIND_BYTE
};

/* The order of key tiles. In PARTS a kernel cuts the keys where it likes, walks
 * each part in an order of its own, and merges what they leave. */
enum assay_walk { ASSAY_WALK_UP, ASSAY_WALK_DOWN, ASSAY_WALK_PARTS };

struct assay_softmax_form {
    enum assay_softmax id;
    const char *name;
    enum assay_softmax_kind kind;
    int64_t key_tile;
    enum assay_walk walk;
    bool whole_sum;
    enum assay_format_id p_format; /* ASSAY_FORMATS: the recipe's */
    bool nearest;
    enum assay_promise promise;
    const char *about;
};

struct assay_recipe {
    enum assay_recipe_id id;
    const char *name;
    enum assay_quantizer_id q, k, v;
    enum assay_token_order order;
    enum assay_smooth smooth;
    enum assay_applied scale_applied;
    enum assay_format_id p_format;
    bool p_blocks;
    enum assay_format_id out_format;
    enum assay_softmax softmax;
    enum assay_promise promise; /* of P; see assay_recipe_promise() */
    const char *about;
};

/* Rows; static. find returns NULL for an unknown name. Ids are those of
 * recipe.def, then those of added recipes, count in all. */
ASSAY_API int assay_recipe_count(void);
ASSAY_API const struct assay_recipe *assay_recipe_get(enum assay_recipe_id id);
ASSAY_API const struct assay_recipe *assay_recipe_find(const char *name);
ASSAY_API const struct assay_softmax_form *
assay_softmax_get(enum assay_softmax id);
ASSAY_API const struct assay_softmax_form *assay_softmax_find(const char *name);
ASSAY_API const struct assay_way *assay_promise_get(enum assay_promise promise);

/* What O and LSE of the recipe in its form promise, by name: the weaker of the
 * form's promise and, unless the form fixes P's format, of the recipe's. */
ASSAY_API enum assay_promise
assay_recipe_promise(const struct assay_recipe *recipe);
ASSAY_API const char *
assay_recipe_promise_name(const struct assay_recipe *recipe);

/* "no", "words" or "f32" */
ASSAY_API const char *assay_smooth_name(enum assay_smooth smooth);

/* The format that the K mean's part of a recipe's LSE is rounded to, `word`
 * being that of the inputs. */
ASSAY_API const struct assay_format *
assay_recipe_lse_word(const struct assay_recipe *recipe,
                      const struct assay_format *word);

/* The recipe in another softmax form; static. A form that fixes P's format
 * has no blocks in P, and then V's are in canonical order. */
ASSAY_API const struct assay_recipe *
assay_recipe_in_form(const struct assay_recipe *recipe,
                     enum assay_softmax form);

/* ASSAY_USAGE with a sentence where columns contradict each other: a quantizer
 * that is not for its operand, or rotates one of Q and K; a mean taken off or a
 * scale folded in where the quantizer prepares nothing; token order fp6p
 * without blocks of V; P in a format without fractions, or in blocks of more
 * than 8 bits; a form that fixes P with another P; an unknown number; a name
 * that is empty, longer than 31, "all", or not of letters, digits, '.', '_' and
 * '-'. */
ASSAY_API enum assay_status
assay_recipe_valid(const struct assay_recipe *recipe, struct assay_error *err);

/* Whether all columns but id, name and about are the same. */
ASSAY_API bool assay_recipe_same(const struct assay_recipe *a,
                                 const struct assay_recipe *b);

/* Adds a valid recipe to the table for good; its id is not looked at, texts
 * are copied. The same recipe again gives the row there is; another one of the
 * same name is ASSAY_USAGE. Not while other threads use recipes. */
ASSAY_API enum assay_status assay_recipe_add(const struct assay_recipe *recipe,
                                             const struct assay_recipe **out,
                                             struct assay_error *err);

struct assay_payloads {
    struct assay_payload q, k, v;
    float *k_mean;    /* [b, hk, dk]; NULL where the recipe does not smooth */
    float *lse_shift; /* [b, hq, nq], what that took off the LSE; or NULL */
};

/* What a recipe quantizes. */
enum assay_input { ASSAY_INPUT_Q, ASSAY_INPUT_K, ASSAY_INPUT_V, ASSAY_INPUTS };

/* "q", "k" or "v"; static. */
ASSAY_API const char *assay_input_name(enum assay_input input);
ASSAY_API struct assay_payload *
assay_payloads_at(struct assay_payloads *payloads, enum assay_input input);

/* Whom a recipe gives an operand to, and that operand's sizes. */
ASSAY_API const struct assay_quantizer *
assay_recipe_quantizer(const struct assay_recipe *recipe,
                       enum assay_input input);
ASSAY_API struct assay_tensor
assay_recipe_tensor(const struct assay_recipe *recipe,
                    const struct assay_problem *p, enum assay_input input);

/* ASSAY_SHAPE with a sentence where the recipe is not defined for the problem:
 * a rotation needs a head width that is a power of two. */
ASSAY_API enum assay_status
assay_recipe_check(const struct assay_recipe *recipe,
                   const struct assay_problem *p, struct assay_error *err);

/* Quantizes q, k and v as the recipe says, each by its quantizer after what
 * that asks for: K mean off, rotation, softmax scale folded into Q. `word` is
 * the format that prepared values are rounded to, that of the inputs; NULL is
 * bf16. k_mean [b, hk, dk] is taken as it is, NULL has it computed. Free with
 * assay_payloads_free, also after a failure. */
ASSAY_API enum assay_status
assay_recipe_quantize(const struct assay_recipe *recipe,
                      const struct assay_problem *p,
                      const struct assay_format *word, const float *k_mean,
                      const float *q, const float *k, const float *v,
                      struct assay_payloads *out, struct assay_error *err);
/* What the quantizer of one operand x sees, into y (or x itself): prepared as
 * its row of quantizer.def asks, with k_mean as in the payloads (NULL: none). */
ASSAY_API enum assay_status assay_recipe_prepare(
    const struct assay_recipe *recipe, const struct assay_problem *p,
    const struct assay_format *word, const float *k_mean,
    enum assay_input input, const float *x, float *y, struct assay_error *err);
ASSAY_API void assay_payloads_free(struct assay_payloads *payloads);

/* What a legal kernel of the same recipe and form may differ by, per row
 * (b, h, i): o is an L2 distance of the row, lse is in nats. Both are of
 * typical size: the larger of a model of what the form and binary32 leave open
 * (derived in ref/jitter.c) and of what a few other kernels did. gain is per
 * (b, h): the largest relative change of the head's norm seen. bound is the
 * worst case, element by element (NULL: not asked for): no legal kernel's O is
 * further from the emulated one before O is rounded; a bf16 number. */
struct assay_jitter {
    float *o, *lse;
    float *gain;
    float *bound; /* [b, nq, hq, dv] */
};

/* How many jitters an honest kernel is off at most. Measured, all recipes and
 * forms: 1.93 of O, 3.55 of LSE (HACKING.md, "Jitter and the gates"). */
#define ASSAY_JITTERS_O 2.0
#define ASSAY_JITTERS_LSE 4.0

/* The emulated answer before the output is rounded: o [b, nq, hq, dv], lse
 * [b, hq, nq]. jitter may be NULL; its arrays are the caller's. */
ASSAY_API enum assay_status
assay_recipe_emulate(const struct assay_recipe *recipe,
                     const struct assay_problem *p,
                     const struct assay_payloads *payloads, float *o,
                     double *lse, const struct assay_jitter *jitter,
                     const struct assay_run *run, struct assay_error *err);

/* The same with a key tile of one's own and no jitter: an honest variant. */
ASSAY_API enum assay_status assay_recipe_emulate_tile(
    const struct assay_recipe *recipe, const struct assay_problem *p,
    const struct assay_payloads *payloads, int64_t key_tile, float *o,
    double *lse, const struct assay_run *run, struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
