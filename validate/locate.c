/* SPDX-License-Identifier: MIT
 *
 * Adds up what fails, has the parts look at it, and says it in a sentence.
 */
#include "validate/locate_scene.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/term.h"

static const struct pattern_row pattern_rows[] = {
#define PATTERN(id, kind, name, sentence) \
    { PATTERN_KIND_##kind, name, sentence },
#include "validate/pattern.def"
#undef PATTERN
};

const struct pattern_row *pattern_get(enum pattern_id id)
{
    return &pattern_rows[id];
}

static const char *ordinal_end(int64_t n)
{
    if (n % 100 / 10 == 1 || n % 10 == 0 || n % 10 > 3)
        return "th";
    return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : "rd";
}

/* One parameter of a sentence; `key` is what stands between the braces. */
static int parameter(const struct pattern *f, const char *key, char *text,
                     size_t n)
{
    if (strncmp(key, "nth}", 4) == 0)
        return f->a == 2 ? snprintf(text, n, "other")
                         : snprintf(text, n, "%" PRId64 "%s", f->a,
                                    ordinal_end(f->a));
    if (strncmp(key, "signed}", 7) == 0)
        return snprintf(text, n, "%+" PRId64, f->a);
    if (strncmp(key, "percent}", 8) == 0)
        return snprintf(text, n, "%+.2g", 100 * (f->x - 1));
    if (strncmp(key, "much}", 5) == 0)
        return snprintf(text, n, "too %s", f->x > 1 ? "much" : "little");
    if (strncmp(key, "s}", 2) == 0)
        return snprintf(text, n, "%s", plural(f->a));
    if (strncmp(key, "are}", 4) == 0)
        return snprintf(text, n, "%s", f->a == 1 ? "is" : "are");
    if (*key == 'x')
        return snprintf(text, n, "%.4g", f->x);
    return snprintf(text, n, "%" PRId64,
                    *key == 'a'   ? f->a
                    : *key == 'b' ? f->b
                                  : f->c);
}

void pattern_text(const struct pattern *found, char *text, size_t n)
{
    size_t used = 0;
    for (const char *c = pattern_rows[found->id].sentence; *c && used + 1 < n;
         c++) {
        if (*c != '{') {
            text[used++] = *c;
            continue;
        }
        text[used] = '\0';
        int more = parameter(found, c + 1, text + used, n - used);
        used += more > 0 && (size_t)more < n - used ? (size_t)more : 0;
        c = strchr(c, '}');
    }
    text[used] = '\0';
}

static void append_to(char *text, size_t n, const struct pattern *found,
                      const char *before)
{
    char more[256];
    pattern_text(found, more, sizeof more);
    if (*more)
        text_append(text, n, "%s%s", before, more);
}

static void append_pattern(struct location *out, enum pattern_kind kind,
                           const char *before)
{
    append_to(out->sentence, sizeof out->sentence, &out->found[kind], before);
}

void location_place(const struct location *l, char *text, size_t n)
{
    *text = '\0';
    append_to(text, n, &l->found[PATTERN_KIND_ROWS], "");
    append_to(text, n, &l->found[PATTERN_KIND_HEADS], " in ");
    if (l->batch >= 0)
        text_append(text, n, " of batch %" PRId64, l->batch);
}

bool location_is_place(const struct location *l)
{
    const enum pattern_id rows = l->found[PATTERN_KIND_ROWS].id,
                          heads = l->found[PATTERN_KIND_HEADS].id;
    return (rows != PATTERN_NONE && rows != PATTERN_ROWS_ALL &&
            rows != PATTERN_ROWS_MOST && rows != PATTERN_ROWS_SCATTERED) ||
           (heads != PATTERN_NONE && heads != PATTERN_HEADS_ALL &&
            heads != PATTERN_HEADS_SOME);
}

/* Heads of a wrong KV head, after the first, which the pattern names. */
static void append_kv_heads(struct location *out)
{
    const int64_t named =
        out->kv_heads < LOCATION_KV_HEADS ? out->kv_heads : LOCATION_KV_HEADS;
    for (int64_t n = 1; n < named; n++)
        text_append(out->sentence, sizeof out->sentence,
                    ", head %" PRId64 " KV head %" PRId64
                    " instead of %" PRId64,
                    out->kv[n].h, out->kv[n].used, out->kv[n].right);
    if (out->kv_heads > named)
        text_append(out->sentence, sizeof out->sentence,
                    ", and %" PRId64 " more", out->kv_heads - named);
}

/* ", but row 17 of head 1 is not explained" */
static void append_odd(struct location *out)
{
    const struct assay_place at = out->odd.first;
    if (out->odd.rows > 1)
        text_append(out->sentence, sizeof out->sentence,
                    ", but %" PRId64 " of %" PRId64
                    " rows looked at are not explained, the first is",
                    out->odd.rows, out->odd.looked_at);
    else if (out->odd.rows == 1)
        text_append(out->sentence, sizeof out->sentence, ", but");
    else
        return;
    text_append(out->sentence, sizeof out->sentence,
                " row %" PRId64 " of head %" PRId64, at.i, at.h);
    if (at.b > 0)
        text_append(out->sentence, sizeof out->sentence, ", batch %" PRId64,
                    at.b);
    if (out->odd.rows == 1)
        text_append(out->sentence, sizeof out->sentence, " is not explained");
}

/* A pattern that explains little is no cause. */
static void append_cause(struct location *out, enum pattern_kind kind,
                         const char *before)
{
    const struct pattern *found = &out->found[kind];
    const bool poor = found->explained < LOCATE_STATES;
    if (found->id == PATTERN_NONE)
        return;
    text_append(out->sentence, sizeof out->sentence, "%s", before);
    append_pattern(out, kind, poor ? "it looks most like this: " : "");
    if (found->id == PATTERN_KV_HEAD)
        append_kv_heads(out);
    if (poor || kind == PATTERN_KIND_KEYS)
        text_append(out->sentence, sizeof out->sentence,
                    ", which explains %.0f %%", floor(100 * found->explained));
    if (kind == PATTERN_KIND_VALUES)
        append_odd(out);
}

/* "(512 of 8192 rows fail)" */
static void append_counts(struct location *out)
{
    const double here = out->found[PATTERN_KIND_ROWS].explained;
    text_append(out->sentence, sizeof out->sentence,
                " (%" PRId64 " of %" PRId64 " rows %s",
                out->of_o ? out->failing_o : out->failing, out->rows,
                (out->of_o ? out->failing_o : out->failing) == 1 ? "fails"
                                                                 : "fail");
    if (out->of_o)
        text_append(out->sentence, sizeof out->sentence,
                    " by O, %" PRId64 " by LSE", out->failing_lse);
    if (here < 1)
        text_append(out->sentence, sizeof out->sentence,
                    ", %.0f %% of them there", floor(100 * here));
    text_append(out->sentence, sizeof out->sentence, ")");
}

/* "every 16th row from row 3 to 1011 in every head: O is 0 (512 of 8192 rows
 * fail)" */
static void compose(struct location *out)
{
    if (out->failing == 0) {
        text_append(out->sentence, sizeof out->sentence, "no row fails");
        return;
    }
    location_place(out, out->sentence, sizeof out->sentence);
    append_pattern(out, PATTERN_KIND_CHANNELS, ", in ");
    append_cause(out, PATTERN_KIND_VALUES, ": ");
    append_cause(out, PATTERN_KIND_KEYS,
                 out->found[PATTERN_KIND_VALUES].id ? "; " : ": ");
    append_counts(out);
}

/* Adds row r of C and E to the sums of its head and of channels. */
static void add_row(struct scene *s, int64_t r)
{
    const struct assay_place at = assay_row_place(s->p, r);
    const float *c = scene_row(s, s->in->c, at);
    const float *e = scene_row(s, s->in->e, at);
    for (int64_t i = 0; i < s->p->dv; i++) {
        double d = (double)c[i] - e[i];
        if (isfinite(e[i]))
            s->channel_norm[i] += (double)e[i] * e[i];
        if (!isfinite(d))
            continue;
        s->head_diff[r / s->p->nq] += d * d;
        s->channel_diff[i] += d * d;
    }
}

static bool lse_fails(const struct scene *s, int64_t r)
{
    return s->in->used_lse && !(s->in->used_lse[r] <= 1);
}

/* Rows that fail. What stands in O tells nothing of rows whose LSE alone fails:
 * where these are many beside those of O, they are left out. */
static void fill_fails(struct scene *s, struct location *out)
{
    for (int64_t r = 0; r < out->rows; r++) {
        const bool o = scene_o_fails(s, r), lse = lse_fails(s, r);
        out->failing_o += o;
        out->failing_lse += lse;
        out->failing += o || lse;
    }
    out->of_o = out->failing_o > 0 &&
                (double)out->failing_o < LOCATE_COVERS * (double)out->failing;
    s->failing = out->of_o ? out->failing_o : out->failing;
    for (int64_t r = 0; r < out->rows; r++) {
        s->fails[r] = scene_o_fails(s, r) || (!out->of_o && lse_fails(s, r));
        s->head_fails[r / s->p->nq] += s->fails[r];
    }
}

/* Rows whose O fails, at most LOCATE_SAMPLE, evenly among all of them. */
static void take_sample(struct scene *s)
{
    int64_t wrong = 0, seen = 0;
    for (int64_t r = 0; r < assay_problem_rows(s->p); r++)
        wrong += scene_o_fails(s, r);
    int64_t most = wrong < LOCATE_SAMPLE ? wrong : LOCATE_SAMPLE;
    for (int64_t r = 0; r < assay_problem_rows(s->p); r++)
        if (scene_o_fails(s, r) &&
            seen++ >=
                (int64_t)((double)s->sampled * (double)wrong / (double)most))
            s->sample[s->sampled++] = r;
}

/* Offers a place to a spot: the larger part used, then the larger share. */
static void offer(struct location_spot *spot, double used, double share,
                  struct assay_place at)
{
    bool more = isnan(used) ? !isnan(spot->used) : used > spot->used;
    bool same = isnan(used) ? isnan(spot->used) : used == spot->used;
    if (spot->used < 0 || more || (same && share > spot->share))
        *spot = (struct location_spot){ at, used, share };
}

double locate_row_used(const struct locate_input *in, int64_t r)
{
    return in->used_lse ? assay_worst(in->used_o[r], in->used_lse[r])
                        : in->used_o[r];
}

static double row_diff(const struct scene *s, struct assay_place at)
{
    const float *c = scene_row(s, s->in->c, at);
    const float *e = scene_row(s, s->in->e, at);
    double sum = 0;
    for (int64_t i = 0; i < s->p->dv; i++) {
        double d = (double)c[i] - e[i];
        sum += isfinite(d) ? d * d : 0;
    }
    return sum;
}

static void worst_rows(const struct scene *s, double total,
                       struct location *out)
{
    const struct assay_problem *p = s->p;
    for (int64_t bh = 0; bh < p->b * p->hq; bh++) {
        struct assay_place at = { bh / p->hq, bh % p->hq, -1, -1 };
        double head = -1;
        for (int64_t i = 0; i < p->nq; i++) {
            struct assay_place here = { at.b, at.h, i, -1 };
            double used = locate_row_used(s->in, bh * p->nq + i);
            head = i == 0 ? used : assay_worst(head, used);
            if (isnan(used) || used >= out->row.used)
                offer(&out->row, used, row_diff(s, here) / total, here);
        }
        offer(&out->head, head, s->head_diff[bh] / total, at);
    }
}

static void worst_tile(const struct scene *s, double total,
                       struct location *out)
{
    const struct assay_problem *p = s->p;
    for (int64_t t = 0; t < p->nq; t += LOCATION_TILE) {
        double used = 0, diff = 0;
        for (int64_t bh = 0; bh < p->b * p->hq; bh++)
            for (int64_t i = t; i < t + LOCATION_TILE && i < p->nq; i++) {
                struct assay_place at = { bh / p->hq, bh % p->hq, i, -1 };
                used =
                    assay_worst(used, locate_row_used(s->in, bh * p->nq + i));
                diff += row_diff(s, at);
            }
        offer(&out->tile, used, diff / total,
              (struct assay_place){ -1, -1, t, -1 });
    }
}

static void worst_block(const struct scene *s, double total,
                        struct location *out)
{
    for (int64_t c = 0; c < s->p->dv; c += LOCATION_BLOCK) {
        double diff = 0;
        for (int64_t i = c; i < c + LOCATION_BLOCK && i < s->p->dv; i++)
            diff += s->channel_diff[i];
        offer(&out->block, 0, diff / total,
              (struct assay_place){ -1, -1, -1, c });
    }
}

static enum assay_status scene_alloc(struct scene *s, struct assay_error *err)
{
    const struct assay_problem *p = s->p;
    const struct {
        int64_t count;
        size_t bytes;
        void *at;
    } arrays[] = {
        { assay_problem_rows(p), sizeof *s->fails, &s->fails },
        { p->b * p->hq, sizeof *s->head_fails, &s->head_fails },
        { p->b * p->hq, sizeof *s->head_in, &s->head_in },
        { p->b * p->hq, sizeof *s->head_diff, &s->head_diff },
        { p->nq, sizeof *s->row_fails, &s->row_fails },
        { p->nq, sizeof *s->row_lives, &s->row_lives },
        { p->dv, sizeof *s->channel_diff, &s->channel_diff },
        { p->dv, sizeof *s->channel_norm, &s->channel_norm },
        { p->dv, sizeof *s->channel_share, &s->channel_share },
        { p->dv, sizeof *s->channel_in, &s->channel_in },
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        void *memory;
        enum assay_status st = assay_alloc("localisation", arrays[i].count,
                                           arrays[i].bytes, &memory, err);
        if (st != ASSAY_OK)
            return st;
        memset(memory, 0, (size_t)arrays[i].count * arrays[i].bytes);
        memcpy(arrays[i].at, &memory, sizeof memory);
    }
    return ASSAY_OK;
}

static void scene_free(struct scene *s)
{
    assay_free(s->fails);
    assay_free(s->head_fails);
    assay_free(s->head_in);
    assay_free(s->head_diff);
    assay_free(s->row_fails);
    assay_free(s->row_lives);
    assay_free(s->channel_diff);
    assay_free(s->channel_norm);
    assay_free(s->channel_share);
    assay_free(s->channel_in);
}

/* Whether the values leave open which keys are at fault. */
static bool keys_may_tell(const struct location *out)
{
    enum pattern_id id = out->found[PATTERN_KIND_VALUES].id;
    return id == PATTERN_NONE || id == PATTERN_GAIN ||
           id == PATTERN_GAIN_HEAD || id == PATTERN_GAIN_ROW ||
           id == PATTERN_STALE;
}

/* One cause: of a gain and of keys that count wrongly, what explains more.
 * Keys must leave half of what a gain of heads does, for they fit to more; a
 * gain of each row fits to more than keys that all rows have in common. */
static void choose_gain_or_keys(struct location *out)
{
    struct pattern *gain = &out->found[PATTERN_KIND_VALUES],
                   *keys = &out->found[PATTERN_KIND_KEYS];
    if (gain->id == PATTERN_NONE || keys->id == PATTERN_NONE)
        return;
    const bool is_keys =
        gain->id == PATTERN_GAIN_ROW
            ? keys->explained >= LOCATE_STATES ||
                  keys->explained >= gain->explained
            : 1 - keys->explained < 0.5 * (1 - gain->explained);
    *(is_keys ? gain : keys) = (struct pattern){ .a = 0 };
}

static enum assay_status look(struct scene *s, struct location *out,
                              struct assay_error *err)
{
    double total = 0;
    for (int64_t r = 0; r < out->rows; r++)
        add_row(s, r);
    fill_fails(s, out);
    for (int64_t c = 0; c < s->p->dv; c++)
        total += s->channel_diff[c];
    total = total > 0 ? total : 1;
    worst_rows(s, total, out);
    worst_tile(s, total, out);
    worst_block(s, total, out);
    if (s->failing == 0)
        return ASSAY_OK;
    take_sample(s);
    locate_heads(s, out);
    locate_rows(s, out);
    locate_channels(s, out);
    locate_values(s, out);
    if (!s->in->q || !s->in->k || !s->in->v || !keys_may_tell(out))
        return ASSAY_OK;
    enum assay_status st = locate_keys(s, out, err);
    /* keys at fault are a cause, a row that looks like another is none */
    if (out->found[PATTERN_KIND_KEYS].id &&
        out->found[PATTERN_KIND_VALUES].id == PATTERN_STALE)
        out->found[PATTERN_KIND_VALUES] = (struct pattern){ .a = 0 };
    choose_gain_or_keys(out);
    return st;
}

enum assay_status locate(const struct locate_input *in, struct location *out,
                         struct assay_error *err)
{
    const struct location_spot nowhere = { { -1, -1, -1, -1 }, -1, 0 };
    struct scene s = { .in = in, .p = in->p };
    *out = (struct location){ .rows = assay_problem_rows(in->p),
                              .batch = -1,
                              .head = nowhere,
                              .row = nowhere,
                              .tile = nowhere,
                              .block = nowhere };
    enum assay_status st = scene_alloc(&s, err);
    if (st == ASSAY_OK && out->rows > 0)
        st = look(&s, out, err);
    if (st == ASSAY_OK)
        compose(out);
    scene_free(&s);
    return st;
}
