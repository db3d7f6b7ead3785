/* SPDX-License-Identifier: MIT
 *
 * Golden sets: writing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "assay/blas.h"
#include "assay/memory.h"
#include "config.h"
#include "golden/h5.h"
#include "golden/provenance.h"
#include "golden/recipe_file.h"
#include "golden/set.h"
#include "golden/set_layout.h"
#include "golden/temp_file.h"

struct assay_set_writer {
    struct temp_file file;
    hid_t id, cases;
    int64_t count;
};

/* Kept open across a failure, an id would keep the file's blocks. */
static void close_writer(struct assay_set_writer *w)
{
    h5_close_group(&w->cases);
    if (w->id >= 0)
        H5Fclose(w->id);
    w->id = -1;
}

void assay_set_abandon(struct assay_set_writer *w)
{
    if (!w)
        return;
    close_writer(w);
    temp_file_abandon(&w->file);
    free(w);
}

static enum assay_status write_provenance(const char *path, hid_t file,
                                          const struct assay_provenance *from,
                                          struct assay_error *err)
{
    char date[32], cpu[128];
    hid_t group;
    provenance_date(date, sizeof date);
    provenance_cpu(cpu, sizeof cpu);
    const struct {
        const char *key, *value;
    } facts[] = {
        { "generator", PACKAGE_NAME },
        { "version", PACKAGE_VERSION },
        { "command", from->command },
        { "blas", assay_blas_name() },
        { "blas_core", assay_blas_core() },
        { "blas_threads", "1" },
        { "cpu", cpu },
        { "compiler", ASSAY_CC },
        { "flags", ASSAY_CFLAGS },
        { "date", date },
    };
    enum assay_status st =
        h5_create_group(path, file, "provenance", &group, err);
    for (size_t i = 0; st == ASSAY_OK && i < sizeof facts / sizeof *facts; i++)
        st = h5_write_text(path, group, facts[i].key, facts[i].value, err);
    h5_close_group(&group);
    return st;
}

enum assay_status assay_set_create(const char *path,
                                   const struct assay_provenance *provenance,
                                   struct assay_set_writer **out,
                                   struct assay_error *err)
{
    *out = NULL;
    struct assay_set_writer *w = calloc(1, sizeof *w);
    if (!w)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a set");
    w->id = w->cases = -1;
    h5_init();
    enum assay_status st = temp_file_begin(path, &w->file, err);
    if (st != ASSAY_OK) {
        free(w);
        return st;
    }
    if ((st = h5_create_file(w->file.path, &w->id, err)) != ASSAY_OK ||
        (st = h5_write_text(path, w->id, "format", SET_FORMAT, err)) !=
            ASSAY_OK ||
        (st = h5_write_int(path, w->id, "format_version", SET_VERSION, err)) !=
            ASSAY_OK ||
        (st = write_provenance(path, w->id, provenance, err)) != ASSAY_OK ||
        (st = h5_create_group(path, w->id, "cases", &w->cases, err)) !=
            ASSAY_OK ||
        (provenance->limits &&
         (st = h5_write_text(path, w->cases, "limits", provenance->limits,
                             err)) != ASSAY_OK)) {
        assay_set_abandon(w);
        return st;
    }
    *out = w;
    return ASSAY_OK;
}

static enum assay_status write_attributes(const char *path, hid_t group,
                                          const struct assay_case *c,
                                          struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    char *line = assay_case_line(p);
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = {
#define SET_SIZE(key, field) { key, p->field },
#include "golden/set_size.def"
#undef SET_SIZE
    };
    if (!line)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a case line");
    const struct {
        const char *key, *value;
    } texts[] = {
        { "workload", "dense" },
        { "layout", "BSHD" },
        { "mask", assay_mask_name(p->mask) },
        { "source", c->source },
        { "line", line },
    };
    enum assay_status st =
        h5_write_real(path, group, "softmax_scale", p->softmax_scale, err);
    for (size_t i = 0; st == ASSAY_OK && i < sizeof sizes / sizeof *sizes; i++)
        st = h5_write_int(path, group, sizes[i].key, sizes[i].value, err);
    for (size_t i = 0; st == ASSAY_OK && i < sizeof texts / sizeof *texts; i++)
        st = h5_write_text(path, group, texts[i].key, texts[i].value, err);
    free(line);
    return st;
}

static enum assay_status write_exact(const char *path, hid_t group,
                                     const struct assay_problem *p,
                                     const struct assay_exact *e,
                                     struct assay_error *err)
{
    struct h5_shape o = shape_o(p), lse = shape_rows(p), bar = shape_heads(p);
    const void *data = e->o64 ? (const void *)e->o64 : e->o;
    enum assay_status st;
    if ((st = h5_write_data(path, group, "exact/o", e->o64 ? H5_F64 : H5_F32,
                            &o, NULL, data, err)) != ASSAY_OK ||
        (st = h5_write_data(path, group, "exact/lse", H5_F64, &lse, NULL,
                            e->lse, err)) != ASSAY_OK ||
        (st = h5_write_data(path, group, "exact/error_bar/o", H5_F64, &bar,
                            NULL, e->bar_o, err)) != ASSAY_OK)
        return st;
    return h5_write_data(path, group, "exact/error_bar/lse", H5_F64, &bar, NULL,
                         e->bar_lse, err);
}

/* Scales say their kind and rule; V's blocks have their order and past too. */
static enum assay_status
write_scales(const char *path, hid_t group, const char *name,
             const struct h5_shape *of, const struct assay_quantizer *how,
             const struct assay_payload *payload, struct assay_error *err)
{
    char dataset[32];
    const struct h5_shape shape = shape_scales(payload->scale, of);
    const bool e8m0 = is_e8m0(payload->scale);
    enum assay_status st;
    snprintf(dataset, sizeof dataset, "%s_scale", name);
    if ((st =
             h5_write_data(path, group, dataset, e8m0 ? H5_U8 : H5_F32, &shape,
                           assay_scale_get(payload->scale)->name,
                           e8m0 ? (const void *)payload->e8m0 : payload->scales,
                           err)) != ASSAY_OK ||
        (st = h5_write_data_text(path, group, dataset, "rule",
                                 assay_quantizer_rule_name(how), err)) !=
            ASSAY_OK ||
        payload->scale != ASSAY_SCALE_BLOCK_TOKENS ||
        (st = h5_write_data_text(path, group, dataset, "token_order",
                                 assay_token_order_name(payload->tensor.order),
                                 err)) != ASSAY_OK)
        return st;
    snprintf(dataset, sizeof dataset, "%s_past", name);
    return h5_write_data(path, group, dataset, H5_U8, &shape,
                         payload->format->name, payload->past, err);
}

static enum assay_status
write_payload(const char *path, hid_t group, const char *name,
              const struct h5_shape *shape, enum assay_quantizer_id id,
              const struct assay_payload *payload, struct assay_error *err)
{
    const struct assay_quantizer *how = assay_quantizer_get(id);
    enum assay_status st =
        h5_write_data(path, group, name, type_of_codes(payload->format), shape,
                      payload->format->name, payload->codes, err);
    if (st == ASSAY_OK)
        st = h5_write_data_text(path, group, name, "quantizer", how->name, err);
    if (st != ASSAY_OK || payload->scale == ASSAY_SCALE_NONE)
        return st;
    return write_scales(path, group, name, shape, how, payload, err);
}

static enum assay_status write_payloads(const char *path, hid_t group,
                                        const struct assay_problem *p,
                                        const struct assay_recipe *r,
                                        const struct assay_payloads *x,
                                        struct assay_error *err)
{
    struct h5_shape q = shape_q(p), k = shape_k(p), v = shape_v(p),
                    mean = shape_k_mean(p);
    enum assay_status st;
    if ((st = write_payload(path, group, "q", &q, r->q, &x->q, err)) !=
            ASSAY_OK ||
        (st = write_payload(path, group, "k", &k, r->k, &x->k, err)) !=
            ASSAY_OK ||
        (st = write_payload(path, group, "v", &v, r->v, &x->v, err)) !=
            ASSAY_OK ||
        !x->k_mean)
        return st;
    return h5_write_data(path, group, "k_mean", H5_F32, &mean, NULL, x->k_mean,
                         err);
}

/* A recipe that this program does not have by itself comes with the set. */
static enum assay_status write_definition(const char *path, hid_t group,
                                          const struct assay_recipe *recipe,
                                          struct assay_error *err)
{
    if (recipe->id < ASSAY_RECIPES)
        return ASSAY_OK;
    char *text = recipe_definition(assay_recipe_get(recipe->id));
    enum assay_status st =
        text ? h5_write_text(path, group, "definition", text, err)
             : assay_fail(err, ASSAY_MEMORY, "no memory for a definition");
    free(text);
    return st;
}

/* Bounds are bf16 numbers. */
static enum assay_status write_bound(const char *path, hid_t group,
                                     const struct assay_problem *p,
                                     const float *bound,
                                     struct assay_error *err)
{
    const struct assay_format *bf16 = assay_format_get(ASSAY_BF16);
    const int64_t n = assay_problem_o_elems(p);
    const struct h5_shape shape = shape_o(p);
    uint16_t *words;
    enum assay_status st = assay_alloc("bounds", n, sizeof *words, &words, err);
    if (st != ASSAY_OK)
        return st;
    assay_format_encode(bf16, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, (size_t)n,
                        bound, words);
    st = h5_write_data(path, group, "bound", H5_U16, &shape, bf16->name, words,
                       err);
    assay_free(words);
    return st;
}

static enum assay_status write_answer(const char *path, hid_t in,
                                      const struct assay_problem *p,
                                      const struct assay_answer *a,
                                      struct assay_error *err)
{
    struct h5_shape o = shape_o(p), rows = shape_rows(p),
                    heads = shape_heads(p);
    char name[64];
    hid_t group;
    snprintf(name, sizeof name, "recipes/%s", a->recipe->name);
    enum assay_status st = h5_create_group(path, in, name, &group, err);
    if (st == ASSAY_OK &&
        (st = h5_write_text(path, group, "softmax_form",
                            assay_softmax_get(a->recipe->softmax)->name,
                            err)) == ASSAY_OK &&
        (st = h5_write_text(path, group, "promise",
                            assay_recipe_promise_name(a->recipe), err)) ==
            ASSAY_OK &&
        (st = write_definition(path, group, a->recipe, err)) == ASSAY_OK &&
        (st = write_payloads(path, group, p, a->recipe, &a->payloads, err)) ==
            ASSAY_OK &&
        (st = h5_write_data(path, group, "o", H5_F32, &o, NULL, a->o, err)) ==
            ASSAY_OK &&
        (st = h5_write_data(path, group, "lse", H5_F64, &rows, NULL, a->lse,
                            err)) == ASSAY_OK &&
        (st = h5_write_data(path, group, "jitter/o", H5_F32, &rows, NULL,
                            a->jitter.o, err)) == ASSAY_OK &&
        (st = h5_write_data(path, group, "jitter/lse", H5_F32, &rows, NULL,
                            a->jitter.lse, err)) == ASSAY_OK &&
        (st = h5_write_data(path, group, "jitter/gain", H5_F32, &heads, NULL,
                            a->jitter.gain, err)) == ASSAY_OK)
        st = write_bound(path, group, p, a->jitter.bound, err);
    h5_close_group(&group);
    return st;
}

enum assay_status assay_set_add(struct assay_set_writer *w,
                                const struct assay_case *c,
                                const struct assay_exact *exact,
                                const struct assay_answer *answers,
                                size_t n_answers, struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    const char *path = w->file.final, *format = c->format->name;
    const enum h5_type words = type_of_codes(c->format);
    struct h5_shape q = shape_q(p), k = shape_k(p), v = shape_v(p);
    hid_t group = -1, recipes = -1;
    enum assay_status st;
    if ((st = h5_create_group(path, w->cases, c->name, &group, err)) ==
            ASSAY_OK &&
        (st = write_attributes(path, group, c, err)) == ASSAY_OK &&
        (st = h5_write_data(path, group, "q", words, &q, format, c->q, err)) ==
            ASSAY_OK &&
        (st = h5_write_data(path, group, "k", words, &k, format, c->k, err)) ==
            ASSAY_OK &&
        (st = h5_write_data(path, group, "v", words, &v, format, c->v, err)) ==
            ASSAY_OK &&
        (st = write_exact(path, group, p, exact, err)) == ASSAY_OK)
        st = h5_create_group(path, group, "recipes", &recipes, err);
    for (size_t i = 0; st == ASSAY_OK && i < n_answers; i++)
        st = write_answer(path, group, p, &answers[i], err);
    /* a full disk shows here, with the case's name, not only at the end */
    if (st == ASSAY_OK && H5Fflush(w->id, H5F_SCOPE_LOCAL) < 0)
        st = h5_fail(err, path, "cannot be written");
    h5_close_group(&recipes);
    h5_close_group(&group);
    w->count++;
    return st;
}

enum assay_status assay_set_commit(struct assay_set_writer *w,
                                   char hash[SET_HASH_CHARS + 1],
                                   struct assay_error *err)
{
    const char *path = w->file.final;
    char hex[SET_HASH_CHARS + 1];
    enum assay_status st;
    if ((st = h5_write_int(path, w->id, "count", w->count, err)) == ASSAY_OK &&
        (st = h5_content_hash(path, w->id, "cases", hex, err)) == ASSAY_OK)
        st = h5_write_text(path, w->id, "content_hash", hex, err);
    h5_close_group(&w->cases);
    if (st == ASSAY_OK) {
        herr_t closed = H5Fclose(w->id);
        w->id = -1;
        if (closed < 0)
            st = h5_fail(err, path, "cannot be finished");
    }
    if (st != ASSAY_OK) {
        assay_set_abandon(w);
        return st;
    }
    if (hash)
        memcpy(hash, hex, sizeof hex);
    st = temp_file_commit(&w->file, err);
    free(w);
    return st;
}
