/* SPDX-License-Identifier: MIT */
#include "golden/topic.h"

#include "assay/block.h"
#include "assay/distribution.h"
#include "assay/pack.h"
#include "assay/recipe.h"
#include "assay/split.h"
#include "assay/stage.h"
#include "assay/tile.h"
#include "assay/transport.h"
#include "golden/term.h"

/* ---- cells, in the order of the columns ---- */

static struct topic_cell *next(struct topic_row *r, enum topic_kind kind)
{
    r->cells[r->n] = (struct topic_cell){ .kind = kind };
    return &r->cells[r->n++];
}

static void text(struct topic_row *r, const char *value)
{
    next(r, TOPIC_TEXT)->text = value;
}

static void integer(struct topic_row *r, long long value)
{
    next(r, TOPIC_INTEGER)->integer = value;
}

static void real(struct topic_row *r, double value)
{
    next(r, TOPIC_REAL)->real = value;
}

static void flag(struct topic_row *r, bool value)
{
    next(r, TOPIC_FLAG)->integer = value;
}

/* 0 is none: no format has its infinity or NaN there. */
static void code(struct topic_row *r, uint32_t value)
{
    next(r, value ? TOPIC_CODE : TOPIC_NOTHING)->integer = value;
}

/* ---- topics ---- */

static const struct topic_column format_columns[] = {
    { "name", COLUMN_TEXT },
    { "bits", COLUMN_NUMBER },
    { "sign", COLUMN_NUMBER | COLUMN_EXTRA },
    { "exp", COLUMN_NUMBER },
    { "man", COLUMN_NUMBER },
    { "bias", COLUMN_NUMBER | COLUMN_EXTRA },
    { "max", COLUMN_NUMBER },
    { "min_normal", COLUMN_NUMBER | COLUMN_EXTRA },
    { "min", COLUMN_NUMBER },
    { "epsilon", COLUMN_NUMBER | COLUMN_EXTRA },
    { "inf_code", COLUMN_NUMBER | COLUMN_EXTRA },
    { "nan_code", COLUMN_NUMBER | COLUMN_EXTRA },
    { "zero", COLUMN_EXTRA },
    { "about", COLUMN_PROSE },
};

static void fill_format(int i, struct topic_row *r)
{
    static const char *const zeros[] = {
        [ASSAY_ZERO_SIGNED] = "signed",
        [ASSAY_ZERO_UNSIGNED] = "unsigned",
        [ASSAY_ZERO_NONE] = "none",
    };
    const struct assay_format *f = assay_format_get((enum assay_format_id)i);
    text(r, f->name);
    integer(r, f->bits);
    integer(r, f->sign);
    integer(r, f->exp_bits);
    integer(r, f->man_bits);
    integer(r, f->bias);
    real(r, assay_format_max(f));
    real(r, assay_format_min_normal(f));
    real(r, assay_format_min(f));
    real(r, assay_format_epsilon(f));
    code(r, f->inf_code);
    code(r, f->nan_code);
    text(r, zeros[f->zero]);
    text(r, f->about);
}

static const struct topic_column rule_columns[] = {
    { "name", COLUMN_TEXT },     { "rounding", COLUMN_TEXT },
    { "least", COLUMN_EXTRA },   { "nan", COLUMN_TEXT },
    { "flushes", COLUMN_EXTRA }, { "about", COLUMN_PROSE },
};

static void fill_rule(int i, struct topic_row *r)
{
    const struct assay_scale_rule *rule =
        assay_scale_rule_get((enum assay_scale_rule_id)i);
    text(r, rule->name);
    text(r, assay_rounding_get(rule->rounding)->name);
    real(r, rule->least);
    text(r, rule->poison ? "poisons" : "ignored");
    flag(r, rule->flush);
    text(r, rule->about);
}

static const struct topic_column way_columns[] = {
    { "name", COLUMN_TEXT },
    { "about", COLUMN_PROSE },
};

static void fill_rounding(int i, struct topic_row *r)
{
    const struct assay_way *way = assay_rounding_get((enum assay_rounding)i);
    text(r, way->name);
    text(r, way->about);
}

static void fill_overflow(int i, struct topic_row *r)
{
    const struct assay_way *way = assay_overflow_get((enum assay_overflow)i);
    text(r, way->name);
    text(r, way->about);
}

static const struct topic_column packing_columns[] = {
    { "name", COLUMN_TEXT },    { "bits", COLUMN_NUMBER },
    { "group", COLUMN_NUMBER }, { "group_bytes", COLUMN_NUMBER },
    { "about", COLUMN_PROSE },
};

static void fill_packing(int i, struct topic_row *r)
{
    const struct assay_packing *p = assay_packing_get((enum assay_packing_id)i);
    text(r, p->name);
    integer(r, p->bits);
    integer(r, p->group);
    integer(r, (long long)assay_packing_bytes(p, (size_t)p->group));
    text(r, p->about);
}

static const struct topic_column tile_columns[] = {
    { "name", COLUMN_TEXT },    { "packing", COLUMN_TEXT },
    { "bytes", COLUMN_NUMBER }, { "slack", COLUMN_NUMBER | COLUMN_EXTRA },
    { "about", COLUMN_PROSE },
};

static void fill_tile(int i, struct topic_row *r)
{
    const struct assay_tile *t = assay_tile_get((enum assay_tile_id)i);
    text(r, t->name);
    text(r, assay_packing_get(t->packing)->name);
    integer(r, t->bytes);
    integer(r, t->slack);
    text(r, t->about);
}

static const struct topic_column recipe_columns[] = {
    { "name", COLUMN_TEXT },        { "q", COLUMN_TEXT },
    { "k", COLUMN_EXTRA },          { "v", COLUMN_TEXT },
    { "v_tokens", COLUMN_EXTRA },   { "smooth", COLUMN_EXTRA },
    { "scale_in_q", COLUMN_EXTRA }, { "p", COLUMN_TEXT },
    { "p_blocks", COLUMN_EXTRA },   { "out", COLUMN_EXTRA },
    { "form", COLUMN_EXTRA },       { "promise", COLUMN_EXTRA },
    { "about", COLUMN_PROSE },
};

static void fill_recipe(int i, struct topic_row *r)
{
    const struct assay_recipe *recipe =
        assay_recipe_get((enum assay_recipe_id)i);
    text(r, recipe->name);
    text(r, assay_quantizer_get(recipe->q)->name);
    text(r, assay_quantizer_get(recipe->k)->name);
    text(r, assay_quantizer_get(recipe->v)->name);
    text(r, assay_token_order_name(recipe->order));
    text(r, assay_smooth_name(recipe->smooth));
    flag(r, recipe->scale_applied == ASSAY_APPLIED_Q);
    text(r, assay_format_get(recipe->p_format)->name);
    flag(r, recipe->p_blocks);
    text(r, assay_format_get(recipe->out_format)->name);
    text(r, assay_softmax_get(recipe->softmax)->name);
    text(r, assay_recipe_promise_name(recipe));
    text(r, recipe->about);
}

static const struct topic_column quantizer_columns[] = {
    { "name", COLUMN_TEXT },      { "operands", COLUMN_TEXT },
    { "format", COLUMN_TEXT },    { "scale", COLUMN_TEXT },
    { "rule", COLUMN_TEXT },      { "prepared", COLUMN_EXTRA },
    { "overflow", COLUMN_EXTRA }, { "tail", COLUMN_EXTRA },
    { "about", COLUMN_PROSE },
};

static void fill_quantizer(int i, struct topic_row *r)
{
    const struct assay_quantizer *q =
        assay_quantizer_get((enum assay_quantizer_id)i);
    text(r, q->name);
    text(r, q->operands);
    text(r, assay_format_get(q->format)->name);
    text(r, assay_scale_get(q->scale)->name);
    text(r, assay_quantizer_rule_name(q));
    text(r, q->prepares ? assay_rotation_order_get(q->prepare)->name : "-");
    text(r, assay_overflow_get(q->overflow)->name);
    text(r, assay_tail_name(q->tail));
    text(r, q->about);
}

static const struct topic_column softmax_columns[] = {
    { "name", COLUMN_TEXT },    { "key_tile", COLUMN_NUMBER },
    { "max", COLUMN_TEXT },     { "sum", COLUMN_TEXT },
    { "promise", COLUMN_TEXT }, { "about", COLUMN_PROSE },
};

static void fill_softmax(int i, struct topic_row *r)
{
    const struct assay_softmax_form *form =
        assay_softmax_get((enum assay_softmax)i);
    text(r, form->name);
    integer(r, form->key_tile);
    text(r, form->walk == ASSAY_WALK_DOWN     ? "online, down"
            : form->walk == ASSAY_WALK_PARTS  ? "online, parts"
            : form->kind == ASSAY_KIND_ONLINE ? "online"
                                              : "first tile");
    text(r, form->whole_sum ? "whole" : "rounded");
    text(r, assay_promise_get(form->promise)->name);
    text(r, form->about);
}

static void fill_scale(int i, struct topic_row *r)
{
    const struct assay_scale_kind *kind = assay_scale_get((enum assay_scale)i);
    text(r, kind->name);
    text(r, kind->about);
}

static void fill_promise(int i, struct topic_row *r)
{
    const struct assay_way *way = assay_promise_get((enum assay_promise)i);
    text(r, way->name);
    text(r, way->about);
}

static void fill_stage(int i, struct topic_row *r)
{
    const struct assay_way *way = assay_stage_get((enum assay_stage)i);
    text(r, way->name);
    text(r, way->about);
}

static void fill_f32_rule(int i, struct topic_row *r)
{
    const struct assay_f32_rule *rule =
        assay_f32_rule_get((enum assay_f32_rule_id)i);
    text(r, rule->name);
    text(r, rule->about);
}

static void fill_preparation(int i, struct topic_row *r)
{
    const struct assay_rotation_order *order =
        assay_rotation_order_get((enum assay_rotation_order_id)i);
    text(r, order->name);
    text(r, order->about);
}

static void fill_order(int i, struct topic_row *r)
{
    text(r, assay_token_order_name((enum assay_token_order)i));
    text(r, assay_token_order_about((enum assay_token_order)i));
}

static void fill_tail(int i, struct topic_row *r)
{
    text(r, assay_tail_name((enum assay_tail)i));
    text(r, assay_tail_about((enum assay_tail)i));
}

/* 0: the distribution has no such constant. */
static void constant(struct topic_row *r, double value)
{
    next(r, value != 0 ? TOPIC_REAL : TOPIC_NOTHING)->real = value;
}

static const struct topic_column distribution_columns[] = {
    { "name", COLUMN_TEXT },
    { "spread", COLUMN_NUMBER | COLUMN_EXTRA },
    { "gap", COLUMN_NUMBER | COLUMN_EXTRA },
    { "jitter", COLUMN_NUMBER | COLUMN_EXTRA },
    { "step", COLUMN_NUMBER | COLUMN_EXTRA },
    { "low", COLUMN_NUMBER | COLUMN_EXTRA },
    { "about", COLUMN_PROSE },
};

static void fill_distribution(int i, struct topic_row *r)
{
    const struct assay_distribution *d =
        assay_distribution_get((enum assay_distribution_id)i);
    text(r, d->name);
    constant(r, d->values.spread);
    constant(r, d->values.gap);
    constant(r, d->values.jitter);
    constant(r, d->values.step);
    constant(r, d->values.low);
    text(r, d->about);
}

static void quantizer(struct topic_row *r, enum assay_quantizer_id id)
{
    if (id == ASSAY_QUANTIZERS)
        next(r, TOPIC_NOTHING);
    else
        text(r, assay_quantizer_get(id)->name);
}

static const struct topic_column transport_columns[] = {
    { "name", COLUMN_TEXT },      { "native", COLUMN_TEXT },
    { "packed_qk", COLUMN_TEXT }, { "packed_v", COLUMN_TEXT },
    { "about", COLUMN_PROSE },
};

static void fill_transport(int i, struct topic_row *r)
{
    const struct assay_transport_codec *c =
        assay_transport_codec_get((enum assay_transport_codec_id)i);
    text(r, c->name);
    quantizer(r, c->native);
    quantizer(r, c->qk);
    quantizer(r, c->v);
    text(r, c->about);
}

static const struct topic_column profile_columns[] = {
    { "name", COLUMN_TEXT },      { "qk", COLUMN_TEXT },
    { "v", COLUMN_TEXT },         { "v_tokens", COLUMN_TEXT },
    { "pads_to", COLUMN_NUMBER }, { "rotated", COLUMN_TEXT },
    { "recipe", COLUMN_TEXT },
};

static void fill_profile(int i, struct topic_row *r)
{
    static const char *const rotated[] = {
        [ASSAY_ROTATED_NEVER] = "never",
        [ASSAY_ROTATED_BEFORE] = "before",
        [ASSAY_ROTATED_WITHIN] = "within",
    };
    const struct assay_transport_profile *p =
        assay_transport_profile_get((enum assay_transport_profile_id)i);
    text(r, p->name);
    text(r, assay_transport_codec_get(p->qk)->name);
    text(r, assay_transport_codec_get(p->v)->name);
    text(r, assay_token_order_name(p->order));
    integer(r, p->multiple);
    text(r, rotated[p->rotated]);
    text(r, p->recipe);
}

static void fill_split(int i, struct topic_row *r)
{
    text(r, assay_split_name((enum assay_split_kind)i));
    text(r, assay_split_about((enum assay_split_kind)i));
}

static const struct assay_way figures[] = {
#define DISTANCE_FIGURE(key, member, about) { key, about },
#define DISTANCE_COUNT(key, member, about) { key, about },
#define DISTANCE_PLACE(key, member, about) { key, about },
#include "golden/distance_figure.def"
};

enum { FIGURES = sizeof figures / sizeof *figures };

static void fill_figure(int i, struct topic_row *r)
{
    text(r, figures[i].name);
    text(r, figures[i].about);
}

/* ---- the list of topics ---- */

static const struct topic_column topic_columns[] = {
    { "name", COLUMN_TEXT },
    { "rows", COLUMN_NUMBER },
    { "about", COLUMN_PROSE },
};

static const struct topic topics[] = {
#define TOPIC(id, name, rows, columns, about)                 \
    { name,                                                   \
      about,                                                  \
      rows,                                                   \
      sizeof columns##_columns / sizeof(struct topic_column), \
      columns##_columns,                                      \
      fill_##id,                                              \
      NULL },
#include "golden/topic.def"
#undef TOPIC
};

enum { TOPICS = sizeof topics / sizeof *topics };

static const struct topic *added[TOPICS_ADDED];

static const char *names[TOPICS + TOPICS_ADDED] = {
#define TOPIC(id, name, ...) name,
#include "golden/topic.def"
#undef TOPIC
};

static struct names all_names = { "topic", TOPICS, names };

const struct names *topic_names(void)
{
    return &all_names;
}

void topic_add(const struct topic *topic)
{
    if (all_names.count == TOPICS + TOPICS_ADDED)
        return;
    added[all_names.count - TOPICS] = topic;
    names[all_names.count++] = topic->name;
}

static const struct topic *one_topic(int index)
{
    return index < TOPICS ? &topics[index] : added[index - TOPICS];
}

static void fill_topic(int i, struct topic_row *r)
{
    text(r, one_topic(i)->name);
    next(r, one_topic(i)->ask ? TOPIC_NOTHING : TOPIC_INTEGER)->integer =
        one_topic(i)->rows;
    text(r, one_topic(i)->about);
}

const struct topic *topic_get(int index)
{
    static struct topic all = { .name = "topics",
                                .about = "what can be listed",
                                .columns = 3,
                                .column = topic_columns,
                                .fill = fill_topic };
    all.rows = all_names.count;
    return index < 0 ? &all : one_topic(index);
}
