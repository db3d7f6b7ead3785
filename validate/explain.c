/* SPDX-License-Identifier: MIT */
#include "validate/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/operand.h"
#include "assay/stage.h"
#include "golden/term.h"
#include "golden/text.h"
#include "validate/doctor.h"
#include "validate/explain_form.h"
#include "validate/judge.h"

/* What both look at. */
struct view {
    const struct explain_input *in;
    const struct assay_problem *p;
    struct result of_o;        /* judged as if LSE were right */
    double *used_o, *used_lse; /* rows */
    int64_t heads_as_whole;
    const char *implies_lse; /* keys at fault, whose weights are in the LSE
                                too; or NULL */
    float *q, *k, *v;        /* that the emulation multiplied */
};

static bool gate_fails_in(const struct result *r, enum gate gate, int64_t bh)
{
    return r->heads_gates && (r->heads_gates[bh] >> gate & 1u);
}

/* A head may fail as a whole with no row that does: then it is the gate's part
 * in all of its rows. */
static bool mark_head(const struct view *v, const struct result *r,
                      const enum gate *gates, size_t n, int64_t bh,
                      double *used)
{
    const int64_t first = bh * v->p->nq, end = first + v->p->nq;
    for (int64_t i = first; i < end; i++)
        if (!(used[i] <= 1))
            return false;
    for (size_t g = 0; g < n; g++) {
        const struct gate_result *gate = &r->gates[gates[g]];
        if (!gate_fails_in(r, gates[g], bh))
            continue;
        for (int64_t i = first; i < end; i++)
            used[i] = part_used(gate->value, gate->limit.value);
        return true;
    }
    return false;
}

/* Gate twin judges O and LSE: with the right LSE in its place what fails is
 * O's. */
static enum assay_status judge_o(struct view *v, struct assay_error *err)
{
    struct sketch s = *v->in->sketch;
    struct limit limits[GATES];
    for (int g = 0; g < GATES; g++)
        limits[g] = v->in->result->gates[g].limit;
    s.lse_c = s.lse_e;
    return judge_sketch(&s, limits, &v->of_o, err);
}

static void fill_used(struct view *v)
{
    static const enum gate of_o[] = { GATE_GAIN, GATE_BUILD_RMS, GATE_TWIN },
                           of_lse[] = { GATE_LSE_RMS, GATE_LSE_MEAN };
    const struct gate_result *gates = v->in->result->gates;
    for (int64_t r = 0; r < assay_problem_rows(v->p); r++) {
        v->used_o[r] = judge_row_used(v->in->sketch, gates, r);
        v->used_lse[r] = judge_row_used_lse(v->in->sketch, gates, r);
    }
    for (int64_t bh = 0; bh < v->p->b * v->p->hq; bh++) {
        const bool o = mark_head(v, &v->of_o, of_o, 3, bh, v->used_o),
                   lse =
                       mark_head(v, v->in->result, of_lse, 2, bh, v->used_lse);
        v->heads_as_whole += o || lse;
    }
}

/* Q, K and V as the emulation multiplied them. */
static enum assay_status fill_operands(struct view *v, struct assay_error *err)
{
    const struct assay_payloads *x = &v->in->answer->payloads;
    const struct assay_recipe *recipe = v->in->answer->recipe;
    const float folded = recipe->scale_applied == ASSAY_APPLIED_Q
                             ? assay_fold_multiplier(v->p->softmax_scale)
                             : 1;
    const struct {
        const struct assay_payload *payload;
        enum assay_quantizer_id how;
        float mult;
        float **to;
    } all[] = { { &x->q, recipe->q, folded, &v->q },
                { &x->k, recipe->k, 1, &v->k },
                { &x->v, recipe->v, 1, &v->v } };
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < sizeof all / sizeof *all; i++)
        if ((st = assay_alloc("an operand", all[i].payload->count,
                              sizeof **all[i].to, all[i].to, err)) == ASSAY_OK)
            st = assay_payload_inputs(all[i].payload,
                                      assay_quantizer_get(all[i].how),
                                      all[i].mult, NULL, *all[i].to, err);
    return st;
}

/* ---- where ---- */

static void tell_patterns(const struct location *where, struct explanation *e)
{
    static const enum pattern_kind how[] = { PATTERN_KIND_KEYS,
                                             PATTERN_KIND_VALUES };
    for (int k = PATTERN_KIND_NONE + 1; k < PATTERN_KINDS; k++) {
        const enum pattern_id id = where->found[k].id;
        if (id == PATTERN_NONE || id == PATTERN_CHANNELS_ALL)
            continue;
        text_append(e->pattern, sizeof e->pattern, "%s%s",
                    e->pattern[0] ? ", " : "", pattern_get(id)->name);
    }
    for (size_t i = 0; isnan(e->pattern_explains) && i < 2; i++)
        if (where->found[how[i]].id != PATTERN_NONE)
            e->pattern_explains = where->found[how[i]].explained;
}

static void tell_keys(const struct assay_problem *p, const struct pattern *keys,
                      struct explanation *e)
{
    switch (keys->id) {
    case PATTERN_KEY_ONE: e->first_key = e->last_key = keys->a; break;
    case PATTERN_KEYS_RANGE:
    case PATTERN_V_RANGE:
        e->first_key = keys->a;
        e->last_key = keys->b;
        break;
    case PATTERN_KEY_LAST_OUT: e->first_key = e->last_key = p->nk - 1; break;
    case PATTERN_KEYS_END_OUT:
        e->first_key = p->nk - keys->a;
        e->last_key = p->nk - 1;
        break;
    default: break;
    }
}

static void tell_where(const struct view *v, const struct location *where,
                       struct explanation *e)
{
    e->rows_failing = where->failing;
    e->heads_as_whole = v->heads_as_whole;
    if (where->failing == 0) {
        if (!v->in->result->gates[GATE_TOTAL_L2].pass)
            snprintf(e->where, sizeof e->where, "the whole output");
        return;
    }
    snprintf(e->where, sizeof e->where, "%s", where->sentence);
    if (v->heads_as_whole > 0)
        text_append(e->where, sizeof e->where,
                    "; in %" PRId64
                    " head%s all rows together fail, none by itself",
                    v->heads_as_whole, plural(v->heads_as_whole));
    e->worst_head_batch = where->head.at.b;
    e->worst_head = where->head.at.h;
    e->worst_head_share = where->head.share;
    e->worst_row_batch = where->row.at.b;
    e->worst_row_head = where->row.at.h;
    e->worst_row = where->row.at.i;
    e->worst_row_used = where->row.used;
    e->worst_tile_row = where->tile.at.i;
    e->worst_channel = where->block.at.c;
    e->worst_block_share = where->block.share;
    tell_patterns(where, e);
    tell_keys(v->p, &where->found[PATTERN_KIND_KEYS], e);
}

static enum assay_status keep_map(const struct locate_input *in,
                                  const struct location *where,
                                  struct explanation *e,
                                  struct assay_error *err)
{
    struct heat heat;
    enum assay_status st =
        heat_make(in, heat_kind_for(where), EXPLANATION_MAP_ROWS,
                  EXPLANATION_MAP_COLUMNS, &heat, err);
    if (st != ASSAY_OK)
        return st;
    e->map = heat.value;
    e->map_rows = heat.rows;
    e->map_columns = heat.columns;
#define MAP_SIZE(member) e->map_##member = (int64_t)heat.member;
#include "golden/explanation_map.def"
#undef MAP_SIZE
    return ASSAY_OK;
}

static const char *keys_imply_lse(const struct pattern *keys)
{
    return keys->id != PATTERN_NONE && keys->id != PATTERN_V_SHIFTED &&
                   keys->id != PATTERN_V_RANGE &&
                   keys->id != PATTERN_RESCALE_O &&
                   keys->explained >= LOCATE_STATES
               ? pattern_get(keys->id)->name
               : NULL;
}

static enum assay_status look_where(struct view *v, struct explanation *e,
                                    struct assay_error *err)
{
    struct location where;
    enum assay_status st = fill_operands(v, err);
    const struct assay_format *out =
        assay_format_get(v->in->answer->recipe->out_format);
    const struct locate_input in = { v->p,
                                     v->in->candidate->o,
                                     v->in->answer->o,
                                     v->used_o,
                                     v->used_lse,
                                     v->q,
                                     v->k,
                                     v->v,
                                     v->p->softmax_scale,
                                     v->in->candidate->o_unwritten,
                                     v->in->candidate->lse_unwritten,
                                     out };
    if (st != ASSAY_OK || (st = locate(&in, &where, err)) != ASSAY_OK)
        return st;
    tell_where(v, &where, e);
    v->implies_lse = keys_imply_lse(&where.found[PATTERN_KIND_KEYS]);
    return where.failing > 0 ? keep_map(&in, &where, e, err) : ASSAY_OK;
}

/* ---- LSE ---- */

/* Where the LSE is wrong, whatever O is. */
static enum assay_status locate_lse(const struct view *v, struct location *out,
                                    struct assay_error *err)
{
    const int64_t rows = assay_problem_rows(v->p);
    double *right;
    enum assay_status st =
        assay_alloc("parts used", rows, sizeof *right, &right, err);
    if (st != ASSAY_OK)
        return st;
    for (int64_t r = 0; r < rows; r++)
        right[r] = 0;
    const struct locate_input in = { .p = v->p,
                                     .c = v->in->candidate->o,
                                     .e = v->in->answer->o,
                                     .used_o = right,
                                     .used_lse = v->used_lse,
                                     .softmax_scale = v->p->softmax_scale };
    st = locate(&in, out, err);
    assay_free(right);
    return st;
}

/* No mistake of the whole LSE gives it: rows or heads with something in common
 * are the cause that there is. */
static enum assay_status tell_unexplained(const struct view *v,
                                          const struct diagnosis *d,
                                          struct explanation *e,
                                          struct assay_error *err)
{
    static const enum pattern_kind kinds[] = { PATTERN_KIND_HEADS,
                                               PATTERN_KIND_ROWS };
    struct location where;
    char place[192];
    enum assay_status st = locate_lse(v, &where, err);
    if (st != ASSAY_OK || !location_is_place(&where))
        return st;
    location_place(&where, place, sizeof place);
    snprintf(e->lse, sizeof e->lse, "wrong in %s alone, by no known mistake",
             place);
    text_append(e->lse, sizeof e->lse, " (%" PRId64 " row%s, %.2g nats off)",
                d->wrong, plural(d->wrong), d->was);
    e->lse_cause[0] = '\0';
    for (size_t i = 0; i < 2; i++)
        text_append(e->lse_cause, sizeof e->lse_cause, "%s%s", i ? ", " : "",
                    pattern_get(where.found[kinds[i]].id)->name);
    return st;
}

static void tell_lse(const struct view *v, const struct diagnosis *d,
                     struct explanation *e)
{
    const struct gate_result *gates = v->in->result->gates;
    const bool heads = !gates[GATE_LSE_RMS].pass || !gates[GATE_LSE_MEAN].pass;
    const int64_t unwritten = v->in->candidate->lse_unwritten;
    e->lse_rows_wrong = d->wrong + d->not_finite;
    e->lse_slope = d->slope;
    e->lse_offset = d->offset;
    e->lse_off = d->was;
    e->lse_left = d->left;
    snprintf(e->lse_cause, sizeof e->lse_cause, "%s", d->name);
    if (d->cause == CAUSE_NAN && unwritten >= d->not_finite) {
        snprintf(e->lse_cause, sizeof e->lse_cause, "not written");
        snprintf(e->lse, sizeof e->lse, "not written in %" PRId64 " row%s",
                 unwritten, plural(unwritten));
    } else if (d->cause == CAUSE_UNEXPLAINED && v->implies_lse && d->rows > 0) {
        snprintf(e->lse_cause, sizeof e->lse_cause, "%s", v->implies_lse);
        text_print(e->lse, sizeof e->lse,
                   "may follow from that (%" PRId64 " row%s, %.2g nats off)",
                   d->wrong, plural(d->wrong), d->was);
    } else if (d->cause != CAUSE_RIGHT)
        snprintf(e->lse, sizeof e->lse, "%s", d->text);
    else if (heads)
        text_print(e->lse, sizeof e->lse,
                   "each row is within its limit, a head's rows together are "
                   "not: LSE is about %.6g times the right one %+.3g",
                   d->slope, d->offset);
}

static enum assay_status look_at_lse(const struct view *v,
                                     struct explanation *e,
                                     struct assay_error *err)
{
    const struct sketch *s = v->in->sketch;
    struct assay_answer answer = *v->in->answer; /* the shift may be ours */
    const bool has_shift = answer.payloads.lse_shift != NULL;
    struct assay_inputs inputs = { 0 };
    struct diagnosis d;
    enum assay_status st = assay_case_values(v->in->c, &inputs, err);
    if (st == ASSAY_OK && !has_shift)
        st = assay_answer_lse_shift(v->in->c, &answer, err);
    const struct doctor_input in = { v->p,
                                     answer.recipe,
                                     &answer.payloads,
                                     inputs.q,
                                     inputs.format,
                                     s->lse_c,
                                     s->lse_e,
                                     s->lacks & SKETCH_LACKS_EXACT ? NULL
                                                                   : s->lse_x,
                                     s->jitter_lse };
    if (st == ASSAY_OK &&
        (st = doctor_look(&in, 0, v->p->hq, &d, err)) == ASSAY_OK)
        tell_lse(v, &d, e);
    if (st == ASSAY_OK && d.cause == CAUSE_UNEXPLAINED && !v->implies_lse &&
        d.rows > 0)
        st = tell_unexplained(v, &d, e, err);
    assay_inputs_free(&inputs);
    if (!has_shift)
        assay_free(answer.payloads.lse_shift);
    return st;
}

/* ---- both ---- */

static enum assay_status look(struct view *v, struct explanation *e,
                              struct assay_error *err)
{
    const int64_t rows = assay_problem_rows(v->p);
    const struct gate_result *gates = v->in->result->gates;
    enum assay_status st;
    e->limit_build = gates[GATE_BUILD].limit.value;
    e->limit_bound = gates[GATE_BOUND].limit.value;
    e->limit_lse = gates[GATE_LSE].limit.value;
    if ((st = assay_alloc("parts used", rows, sizeof *v->used_o, &v->used_o,
                          err)) != ASSAY_OK ||
        (st = assay_alloc("parts used", rows, sizeof *v->used_lse, &v->used_lse,
                          err)) != ASSAY_OK)
        return st;
    if ((st = judge_o(v, err)) != ASSAY_OK)
        return st;
    fill_used(v);
    st = look_where(v, e, err);
    if (st == ASSAY_OK && !v->in->sketch->no_lse)
        st = look_at_lse(v, e, err);
    return st == ASSAY_OK ? explain_form(v->in, e, err) : st;
}

enum assay_status explain(const struct explain_input *in,
                          struct explanation **out, struct assay_error *err)
{
    struct view v = { .in = in,
                      .p = &in->c->problem,
                      .of_o = { .problem = in->c->problem,
                                .recipe = in->answer->recipe } };
    enum assay_status st = explanation_new(out, err);
    if (st == ASSAY_OK)
        st = look(&v, *out, err);
    float *const floats[] = { v.q, v.k, v.v };
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        assay_free(floats[i]);
    result_free(&v.of_o);
    assay_free(v.used_o);
    assay_free(v.used_lse);
    if (st != ASSAY_OK) {
        explanation_free(*out);
        *out = NULL;
    }
    return st;
}

bool explanation_heat(const struct explanation *e,
                      const struct assay_problem *p, int64_t columns,
                      struct heat *out)
{
    const int64_t cells = e->map ? e->map_rows * e->map_columns : 0;
    *out = (struct heat){ .rows = e->map_rows,
                          .columns = e->map_columns,
                          .heads = p->hq };
    if (cells == 0 || assay_alloc("heat map", cells, sizeof *out->value,
                                  &out->value, NULL) != ASSAY_OK)
        return false;
    memcpy(out->value, e->map, (size_t)cells * sizeof *out->value);
    out->kind = e->map_kind == 0 ? HEAT_HEADS_BY_ROWS : HEAT_ROWS_BY_CHANNELS;
    out->row_step = e->map_row_step;
    out->column_step = e->map_column_step;
    out->row_count = e->map_row_count;
    out->column_count = e->map_column_count;
    heat_narrow(out, columns);
    return true;
}

bool explanation_of_other_limits(const struct result *r)
{
    const struct explanation *e = r->why;
    return e && (e->limit_build != r->gates[GATE_BUILD].limit.value ||
                 e->limit_bound != r->gates[GATE_BOUND].limit.value ||
                 e->limit_lse != r->gates[GATE_LSE].limit.value);
}
