/* SPDX-License-Identifier: MIT */
#include "validate/mutation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assay/memory.h"

static const struct mutation mutations[] = {
#define ASSAY_MUTATION(id, name, how, expect, strength, unit, least, most, \
                       about)                                              \
    {                                                                      \
        name, MUTATION_##expect, strength, least, most,                    \
        unit, mutate_##how,      about                                     \
    },
#include "validate/mutation.def"
#undef ASSAY_MUTATION
};

static const char *const names[] = {
#define ASSAY_MUTATION(id, name, ...) name,
#include "validate/mutation.def"
#undef ASSAY_MUTATION
};

const struct names names_mutations = { "mutation", MUTATIONS, names };

const struct mutation *mutation_get(enum mutation_id id)
{
    return &mutations[id];
}

const char *mutation_expect_name(enum mutation_expect expect)
{
    static const char *const words[] = {
        [MUTATION_REQUIRED] = "rejected",
        [MUTATION_TOLD] = "told",
        [MUTATION_HONEST] = "accepted",
    };
    return words[expect];
}

void mutation_strength_text(const struct mutation *m, double strength,
                            char *text, size_t size)
{
    const bool none = m->strength == 0 && !m->unit[0];
    size_t n = strlen(m->unit);
    if (strength == 1 && n > 0 && m->unit[n - 1] == 's')
        n--;
    snprintf(text, size, none ? "" : "%.3g%s%.*s", strength, n ? " " : "",
             (int)n, m->unit);
}

void mutant_free(struct mutant *m)
{
    for (int i = 0; i < m->n_owned; i++)
        assay_free(m->owned[i]);
    m->n_owned = 0;
}

enum assay_status subject_begin(struct subject *s, struct assay_error *err)
{
    const struct assay_payload *v = &s->e->payloads.v;
    const bool out =
        v->scale == ASSAY_SCALE_TENSOR || v->scale == ASSAY_SCALE_CHANNEL;
    float *values;
    s->v = (struct assay_payload){ 0 };
    enum assay_status st =
        assay_alloc("values of V", v->count, sizeof *values, &values, err);
    if (st != ASSAY_OK)
        return st;
    s->v = *v;
    s->v.format = assay_format_get(ASSAY_F32);
    s->v.codes = values;
    s->v.e8m0 = s->v.past = NULL;
    if (out) {
        assay_format_decode(v->format, (size_t)v->count, v->codes, values);
    } else {
        assay_payload_values(v, values);
        s->v.scale = ASSAY_SCALE_NONE;
        s->v.scales = NULL; /* the answer's */
        s->v.n_scales = 0;
    }
    return ASSAY_OK;
}

void subject_free(struct subject *s)
{
    assay_free(s->v.codes);
    s->v = (struct assay_payload){ 0 };
}
