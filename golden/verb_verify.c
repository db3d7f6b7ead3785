/* SPDX-License-Identifier: MIT
 *
 * assay verify: a golden set's hashes, and its answers made again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/blas.h"
#include "assay/memory.h"
#include "assay/metrics.h"
#include "config.h"
#include "golden/answers.h"
#include "golden/provenance.h"
#include "golden/run_file.h"
#include "golden/set.h"
#include "golden/stored.h"
#include "golden/term.h"
#include "golden/verb.h"
#include "golden/verify_jitter.h"

struct options {
    const char *file;
    bool hashes_only;
    int threads;
};

enum { KEY_HASHES = 256, KEY_THREADS };

static const struct argp_option keys[] = {
    { "hashes-only", KEY_HASHES, NULL, 0, "do not remake the answers", 0 },
    { "threads", KEY_THREADS, "N", 0, "default one a core", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case KEY_HASHES: o->hashes_only = true; break;
    case KEY_THREADS:
        o->threads = (int)verb_integer(state, "--threads", arg, 1, 4096);
        break;
    default: return verb_one_set(key, arg, state, &o->file);
    }
    return 0;
}

static const struct argp argp = {
    keys,
    parse,
    "SET.h5|RUN.h5",
    "Checks every dataset's hash and the content hash, then makes all answers "
    "again from the stored inputs and says whether they are bitwise the same, "
    "the same within what the set itself allows (4 error bars, 32 where the "
    "bar was sampled; the gates' factors times the jitter), or different. "
    "Jitters are held to what other BLAS cores make of them: nearly all rows "
    "within 1.5, each head's median within 1.25.\v"
    "Of a run record (`assay validate SET.h5 -o RUN.h5`) the hashes are "
    "checked, there is nothing to make again.\n\n"
    "Exit status 0: the same; 1: an answer differs; 2: a hash does not match "
    "or the file is bad.\n\n"
    "Example:\n  assay verify heads.h5",
    NULL,
    NULL,
    NULL
};

/* Two honest answers may err in opposite directions, and by different parts
 * of the bar; that of a binary64 answer was sampled on a few rows only. */
static const double BAR_FACTOR = 4, SAMPLED_BAR_FACTOR = 32;

/* Bars allow differences, so they must not be believed either. Between BLAS
 * cores they were seen to move six-fold. */
static const double YARDSTICK_FACTOR = 16;

/* What sums of that width may move by luck: with few rows an observed bar can
 * be far below it. Units of the last place of the largest value. */
static double luck(bool f64, double largest)
{
    return 16 * (f64 ? 0x1p-53 : 0x1p-24) * largest;
}

/* An answer made elsewhere is nothing to make again: how far assay's own is
 * from it is told. */
enum sameness { SAME_BITS, SAME_WITHIN, ELSEWHERE, DIFFERENT };

struct finding {
    enum sameness same;
    double o, lse; /* largest differences of an element of O, of an LSE */
};

/* The first comes back as the error, and is told as such. */
static void print_wrong(void *context, const char *name, const char *wrong)
{
    size_t *count = context;
    (void)name;
    if (wrong && (*count)++ > 0)
        verb_say("verify", wrong);
}

static bool same_yardstick(double a, double b, double floor)
{
    return a <= YARDSTICK_FACTOR * b + floor &&
           b <= YARDSTICK_FACTOR * a + floor;
}

static double lse_difference(double a, double b)
{
    return a == b ? 0 : fabs(a - b);
}

/* NaN where classes differ. */
static double element_difference(const struct assay_row *row)
{
    return row->mismatched ? NAN : row->max_abs;
}

static struct finding compare_exact(const struct assay_problem *p,
                                    const struct assay_exact *a,
                                    const struct assay_exact *b)
{
    struct finding f = { SAME_BITS, 0, 0 };
    const size_t n = (size_t)assay_problem_o_elems(p),
                 rows = (size_t)assay_problem_rows(p),
                 heads = (size_t)(p->b * p->hq) * sizeof *a->bar_o;
    bool same = memcmp(a->lse, b->lse, rows * sizeof *a->lse) == 0 &&
                memcmp(a->bar_o, b->bar_o, heads) == 0 &&
                memcmp(a->bar_lse, b->bar_lse, heads) == 0 &&
                (a->o64 ? memcmp(a->o64, b->o64, n * sizeof *a->o64)
                        : memcmp(a->o, b->o, n * sizeof *a->o)) == 0;
    if (same)
        return f;
    f.same = SAME_WITHIN;
    const double factor = a->o64 ? SAMPLED_BAR_FACTOR : BAR_FACTOR;
    for (int64_t bh = 0; bh < p->b * p->hq; bh++) {
        double o = 0, lse = 0, top_o = 0, top_lse = 16; /* as of scores */
        for (int64_t i = 0; i < p->nq; i++) {
            int64_t at = assay_row_offset(p->nq, p->hq, p->dv, bh / p->hq, i,
                                          bh % p->hq);
            for (int64_t c = at; c < at + p->dv; c++) {
                double d = a->o64 ? fabs(a->o64[c] - b->o64[c])
                                  : fabs((double)a->o[c] - b->o[c]);
                o = assay_worst(o, d);
                top_o = fmax(top_o, fabs(a->o[c]));
            }
            double d =
                lse_difference(a->lse[bh * p->nq + i], b->lse[bh * p->nq + i]);
            lse = assay_worst(lse, d);
            if (isfinite(a->lse[bh * p->nq + i]))
                top_lse = fmax(top_lse, fabs(a->lse[bh * p->nq + i]));
        }
        double luck_o = luck(a->o64, top_o), luck_lse = luck(a->o64, top_lse);
        if (!(o <= factor * a->bar_o[bh] + luck_o) ||
            !(lse <= factor * a->bar_lse[bh] + luck_lse) ||
            !same_yardstick(a->bar_o[bh], b->bar_o[bh], luck_o) ||
            !same_yardstick(a->bar_lse[bh], b->bar_lse[bh], luck_lse))
            f.same = DIFFERENT;
        f.o = assay_worst(f.o, o);
        f.lse = assay_worst(f.lse, lse);
    }
    return f;
}

static bool same_payload(const struct assay_payload *a,
                         const struct assay_payload *b)
{
    return memcmp(a->codes, b->codes,
                  (size_t)a->count * assay_format_bytes(a->format)) == 0 &&
           (!a->scales ||
            memcmp(a->scales, b->scales,
                   (size_t)a->n_scales * sizeof *a->scales) == 0) &&
           (!a->e8m0 || memcmp(a->e8m0, b->e8m0, (size_t)a->n_scales) == 0) &&
           (!a->past || memcmp(a->past, b->past, (size_t)a->n_scales) == 0);
}

static bool same_payloads(const struct assay_problem *p,
                          const struct assay_payloads *a,
                          const struct assay_payloads *b)
{
    const size_t mean = (size_t)(p->b * p->hk * p->dk) * sizeof *a->k_mean;
    return same_payload(&a->q, &b->q) && same_payload(&a->k, &b->k) &&
           same_payload(&a->v, &b->v) &&
           (!a->k_mean || memcmp(a->k_mean, b->k_mean, mean) == 0);
}

static bool same_bits(const struct assay_problem *p,
                      const struct assay_answer *a,
                      const struct assay_answer *b)
{
    const size_t n = (size_t)assay_problem_o_elems(p) * sizeof *a->o,
                 rows = (size_t)assay_problem_rows(p),
                 heads = (size_t)(p->b * p->hq) * sizeof *a->jitter.gain;
    const struct assay_jitter *i = &a->jitter, *j = &b->jitter;
    return memcmp(a->o, b->o, n) == 0 &&
           memcmp(a->lse, b->lse, rows * sizeof *a->lse) == 0 &&
           memcmp(i->o, j->o, rows * sizeof *i->o) == 0 &&
           memcmp(i->lse, j->lse, rows * sizeof *i->lse) == 0 &&
           memcmp(i->gain, j->gain, heads) == 0 &&
           memcmp(i->bound, j->bound, n) == 0;
}

/* Payloads are bit-exact or wrong; O and LSE may move by the jitter. */
static struct finding compare_answer(const struct assay_problem *p,
                                     const struct assay_answer *a,
                                     const struct assay_answer *b,
                                     bool same_machine, struct assay_row *rows)
{
    const struct assay_jitter *i = &a->jitter, *j = &b->jitter;
    struct finding f = { same_bits(p, a, b) ? SAME_BITS : SAME_WITHIN, 0, 0 };
    int64_t n = assay_problem_rows(p);
    if (!same_payloads(p, &a->payloads, &b->payloads))
        f.same = DIFFERENT;
    if (f.same == SAME_BITS) /* NaN and all */
        return f;
    assay_rows_compare(p, b->o, a->o, rows);
    for (int64_t r = 0; r < n; r++) {
        double o = rows[r].mismatched ? NAN : rows[r].distance;
        double lse = lse_difference(b->lse[r], a->lse[r]);
        if (!(o <= ASSAY_JITTERS_O * fmaxf(i->o[r], j->o[r])) ||
            !(lse <= ASSAY_JITTERS_LSE * fmaxf(i->lse[r], j->lse[r])))
            f.same = DIFFERENT;
        f.o = assay_worst(f.o, element_difference(&rows[r]));
        f.lse = assay_worst(f.lse, lse);
    }
    if (!verify_jitter(p, i, j, a->o, same_machine))
        f.same = DIFFERENT;
    return f;
}

/* O and LSE made elsewhere are as they are; what assay made beside them, the
 * payloads and perhaps a jitter, is held against what it makes now. */
static struct finding compare_elsewhere(const struct assay_problem *p,
                                        const struct assay_answer *a,
                                        const struct assay_answer *b,
                                        bool same_machine,
                                        struct assay_row *rows)
{
    const struct assay_jitter *i = &a->jitter, *j = &b->jitter;
    struct finding f = { ELSEWHERE, 0, a->lse ? 0 : NAN };
    if (!same_payloads(p, &a->payloads, &b->payloads) ||
        (i->o && !verify_jitter(p, i, j, a->o, same_machine)))
        f.same = DIFFERENT;
    assay_rows_compare(p, b->o, a->o, rows);
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        f.o = assay_worst(f.o, element_difference(&rows[r]));
        if (a->lse)
            f.lse = assay_worst(f.lse, lse_difference(b->lse[r], a->lse[r]));
    }
    return f;
}

struct verify {
    const struct options *o;
    struct assay_set *set;
    struct table *table;
    size_t counts[DIFFERENT + 1];
    bool same_machine; /* as made the set, as far as it says */
};

static void report(struct verify *v, const char *name, const char *answer,
                   struct finding f)
{
    static const struct {
        const char *text;
        enum colour colour;
    } words[] = {
        [SAME_BITS] = { "bitwise same", COLOUR_GOOD },
        [SAME_WITHIN] = { "same within the bar", COLOUR_GOOD },
        [ELSEWHERE] = { "made elsewhere", COLOUR_DIM },
        [DIFFERENT] = { "DIFFERENT", COLOUR_BAD },
    };
    v->counts[f.same]++;
    table_row(v->table);
    table_text(v->table, 0, name);
    table_text(v->table, 1, answer);
    table_text(v->table, 2, words[f.same].text);
    table_colour(v->table, 2, words[f.same].colour);
    table_printf(v->table, 3, "%.1e", f.o);
    if (f.same == ELSEWHERE && isnan(f.lse))
        table_text(v->table, 4, "-");
    else
        table_printf(v->table, 4, "%.1e", f.lse);
}

static enum assay_status verify_exact(struct verify *v, size_t i,
                                      const struct assay_case *c,
                                      const struct assay_inputs *in,
                                      const struct assay_run *run,
                                      struct assay_error *err)
{
    struct assay_exact was = { 0 }, now = { 0 };
    if (!assay_set_has_exact(v->set, i))
        return ASSAY_OK;
    enum assay_status st =
        assay_set_read_exact(v->set, i, &c->problem, &was, err);
    if (st == ASSAY_OK)
        st = answers_exact(&c->problem, in, was.o64 != NULL, run, &now, err);
    if (st == ASSAY_OK)
        report(v, c->name, "exact", compare_exact(&c->problem, &was, &now));
    assay_exact_free(&was);
    assay_exact_free(&now);
    return st;
}

static enum assay_status
verify_recipe(struct verify *v, size_t i, const struct assay_recipe *recipe,
              const struct assay_case *c, const struct assay_inputs *in,
              const struct assay_run *run, struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    struct assay_answer was = { 0 }, now = { 0 };
    struct assay_row *rows = NULL;
    enum assay_status st = assay_alloc("row figures", assay_problem_rows(p),
                                       sizeof *rows, &rows, err);
    if (st == ASSAY_OK && (st = assay_set_read_answer(v->set, i, p, recipe,
                                                      &was, err)) == ASSAY_OK)
        st = answers_recipe(recipe, p, in, run, &now, err);
    if (st == ASSAY_OK)
        report(v, c->name, recipe->name,
               was.maker
                   ? compare_elsewhere(p, &was, &now, v->same_machine, rows)
                   : compare_answer(p, &was, &now, v->same_machine, rows));
    assay_answer_free(&was);
    assay_answer_free(&now);
    assay_free(rows);
    return st;
}

static enum assay_status verify_case(struct verify *v, size_t i,
                                     struct assay_error *err)
{
    struct assay_case c;
    struct assay_inputs in = { 0 };
    const struct assay_recipe **recipes = NULL;
    size_t n = 0;
    struct progress progress;
    struct assay_run run = { .threads = v->o->threads,
                             .progress = progress_step,
                             .context = &progress };
    enum assay_status st = assay_set_read_case(v->set, i, &c, err);
    if (st != ASSAY_OK)
        return st;
    progress_begin(&progress, c.name);
    if ((st = assay_case_values(&c, &in, err)) == ASSAY_OK &&
        (st = verify_exact(v, i, &c, &in, &run, err)) == ASSAY_OK)
        st = assay_set_recipes(v->set, i, &recipes, &n, err);
    for (size_t r = 0; st == ASSAY_OK && r < n; r++)
        st = verify_recipe(v, i, recipes[r], &c, &in, &run, err);
    progress_end(&progress);
    free(recipes);
    assay_inputs_free(&in);
    assay_case_free(&c);
    return st;
}

/* Whether all that bits depend on is as it was; else says what is not, if
 * asked to. */
static bool is_as_it_was(const struct verify *v, bool say)
{
    char cpu[128];
    provenance_cpu(cpu, sizeof cpu);
    const struct {
        const char *key, *now;
    } facts[] = {
        { "blas", assay_blas_name() },  { "blas_core", assay_blas_core() },
        { "version", PACKAGE_VERSION }, { "compiler", ASSAY_CC },
        { "flags", ASSAY_CFLAGS },      { "cpu", cpu },
    };
    bool same = true;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        char *then = assay_set_provenance(v->set, facts[i].key);
        if (!then || strcmp(then, facts[i].now) != 0) {
            if (say)
                term_printf(stdout, "%s was %s, is %s\n", facts[i].key,
                            then ? then : "not said", facts[i].now);
            same = false;
        }
        free(then);
    }
    return same;
}

/* What differs between then and now, where bits moved. */
static void explain(const struct verify *v)
{
    if (is_as_it_was(v, true))
        puts("BLAS, its core, the CPU, program version, compiler and flags are "
             "as they were: the bits should not have moved");
}

static void say_counts(const struct verify *v)
{
    const size_t *n = v->counts;
    printf("%zu answers: %zu bitwise the same, %zu within the bar, %zu "
           "different",
           n[SAME_BITS] + n[SAME_WITHIN] + n[ELSEWHERE] + n[DIFFERENT],
           n[SAME_BITS], n[SAME_WITHIN], n[DIFFERENT]);
    if (n[ELSEWHERE] > 0)
        printf(", %zu made elsewhere, whose distance to assay's own is told",
               n[ELSEWHERE]);
    putchar('\n');
}

static enum assay_status remake(struct verify *v, struct assay_error *err)
{
    static const struct column columns[] = {
        { "CASE", COLUMN_LONG },       { "ANSWER", COLUMN_TEXT },
        { "REMADE", COLUMN_TEXT },     { "MAX O", COLUMN_NUMBER },
        { "LSE NATS", COLUMN_NUMBER },
    };
    enum assay_status st = ASSAY_OK;
    v->table = table_new(columns, 5);
    if (!v->table)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a table");
    v->same_machine = is_as_it_was(v, false);
    for (size_t i = 0; st == ASSAY_OK && i < assay_set_count(v->set); i++)
        st = verify_case(v, i, err);
    table_print(v->table, stdout);
    say_counts(v);
    if (st == ASSAY_OK && (v->counts[SAME_WITHIN] || v->counts[DIFFERENT]))
        explain(v);
    return st;
}

static int verify_run(const char *path)
{
    struct assay_error err;
    struct run_file *run;
    size_t wrong = 0;
    enum assay_status st = run_file_open_unchecked(path, &run, &err);
    if (st == ASSAY_OK)
        st = run_file_check(run, print_wrong, &wrong, &err);
    if (st == ASSAY_OK)
        term_printf(
            stdout,
            "%s: run record, %zu result%s, every hash as written, content "
            "%s\n",
            path, run_file_count(run), plural((int64_t)run_file_count(run)),
            run_file_hash(run));
    run_file_close(run);
    return st == ASSAY_OK ? verb_end("verify", 0) : verb_fail("verify", &err);
}

int verb_verify(int argc, char **argv)
{
    struct options o = { 0 };
    struct assay_error err;
    struct verify v = { .o = &o };
    size_t wrong = 0;
    verb_parse(&argp, argc, argv, &o);
    if (run_file_is(o.file))
        return verify_run(o.file);
    if (assay_set_open_unchecked(o.file, &v.set, &err) != ASSAY_OK)
        return verb_fail("verify", &err);
    enum assay_status st = assay_set_check(v.set, print_wrong, &wrong, &err);
    if (st == ASSAY_OK) {
        term_printf(
            stdout, "%s: %zu case%s, every hash as written, content %s\n",
            o.file, assay_set_count(v.set),
            plural((int64_t)assay_set_count(v.set)), assay_set_hash(v.set));
        if (!assay_set_has_answers(v.set))
            puts("no answers to make again: the set was imported without any");
        else if (!o.hashes_only)
            st = remake(&v, &err);
    }
    int code = st == ASSAY_OK
                   ? verb_end("verify", v.counts[DIFFERENT] ? EXIT_WRONG : 0)
                   : verb_fail("verify", &err);
    assay_set_close(v.set);
    return code;
}
