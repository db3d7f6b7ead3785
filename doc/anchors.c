/* SPDX-License-Identifier: MIT
 *
 * Writes doc/anchors.md: the template with the tables measured.
 *
 *   anchors TEMPLATE [EVERY]   EVERY in place of that of JUNE; 1 is all rows,
 *                              an hour of one core
 *
 * A line "@NAME@" of the template is where the table of that name goes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc/anchor_run.h"

/* ---- means of seeds ---- */

struct mean {
    int n;
    double sum, squares;
};

static void mean_add(struct mean *m, double x)
{
    m->n++;
    m->sum += x;
    m->squares += x * x;
}

static double mean_of(const struct mean *m)
{
    return m->sum / m->n;
}

/* Deviation of one seed; 0 for a single one. */
static double mean_spread(const struct mean *m)
{
    const double square = m->squares - m->sum * m->sum / m->n;
    return m->n > 1 ? sqrt(fmax(square, 0) / (m->n - 1)) : 0;
}

static void cell(const char *format, double x)
{
    if (x == 0)
        fputs(" - |", stdout);
    else {
        putchar(' ');
        printf(format, x);
        fputs(" |", stdout);
    }
}

static void progress(const char *what, uint64_t seed)
{
    fprintf(stderr, "%s, seed %d\n", what, (int)seed);
}

/* ---- MAE, largest error, cosine ---- */

enum section {
#define ANCHOR_SECTION(id, ...) SECTION_##id,
#include "doc/anchors.def"
    SECTIONS
};

static struct section_row {
    const char *name, *distribution;
    int64_t heads, tokens, every;
    int seeds;
} sections[] = {
#define ANCHOR_SECTION(id, distribution, heads, tokens, every, seeds) \
    { #id, distribution, heads, tokens, every, seeds },
#include "doc/anchors.def"
};

static const struct anchor {
    enum section section;
    const char *kernel, *recipe;
    double mae, max_error, cosine;
} anchors[] = {
#define ANCHOR(section, kernel, recipe, mae, max_error, cosine) \
    { SECTION_##section, kernel, recipe, mae, max_error, cosine },
#include "doc/anchors.def"
};
enum { ANCHORS = sizeof anchors / sizeof *anchors };

struct measured {
    struct mean mae, cosine;
    double max_error;
};

static void section_measure(enum section section, struct measured *of)
{
    const struct section_row *s = &sections[section];
    for (int seed = 0; seed < s->seeds; seed++) {
        progress(s->name, (uint64_t)seed);
        struct anchor_inputs in = anchor_inputs_new(
            s->distribution, s->heads, s->tokens, s->every, (uint64_t)seed);
        anchor_inputs_exact(&in);
        for (int i = 0; i < ANCHORS; i++) {
            /* rows of the same recipe stand together */
            const bool again =
                i > 0 && anchors[i - 1].section == section &&
                strcmp(anchors[i - 1].recipe, anchors[i].recipe) == 0;
            if (anchors[i].section != section)
                continue;
            if (again) {
                of[i] = of[i - 1];
                continue;
            }
            struct anchor_figures f =
                anchor_measure(&in, anchors[i].recipe, false);
            mean_add(&of[i].mae, f.mae);
            mean_add(&of[i].cosine, f.cosine);
            of[i].max_error = fmax(of[i].max_error, f.max_error);
        }
        anchor_inputs_free(&in);
    }
}

static void section_print(enum section section)
{
    struct measured of[ANCHORS] = { 0 };
    const struct section_row *s = &sections[section];
    section_measure(section, of);
    printf("`%s`, %d heads, %d tokens, every %d. query, %d seeds.\n\n",
           s->distribution, (int)s->heads, (int)s->tokens, (int)s->every,
           s->seeds);
    puts("| kernel | recipe | MAE published | measured | max error published "
         "| measured | cosine published | measured | of one seed | "
         "difference |");
    puts("|---|---|---|---|---|---|---|---|---|---|");
    for (int i = 0; i < ANCHORS; i++) {
        const struct anchor *a = &anchors[i];
        if (a->section != section)
            continue;
        const double cosine = mean_of(&of[i].cosine);
        printf("| %s | `%s` |", a->kernel, a->recipe);
        cell("%.3e", a->mae);
        cell("%.3e", mean_of(&of[i].mae));
        cell("%.3e", a->max_error);
        cell("%.3e", of[i].max_error);
        cell("%.6f", a->cosine);
        cell("%.6f", cosine);
        cell("± %.6f", mean_spread(&of[i].cosine));
        cell("%+.6f", a->cosine ? cosine - a->cosine : 0);
        putchar('\n');
    }
}

/* ---- V ---- */

static void v_print(void)
{
    static const struct {
        const char *distribution;
        double n_eff, amplification;
    } rows[] = {
#define ANCHOR_V(distribution, n_eff, amplification) \
    { distribution, n_eff, amplification },
#include "doc/anchors.def"
    };
    enum { SEEDS = 3 };
    puts("| inputs | n_eff published | measured | amplification published | V "
         "alone | of one seed | difference | what V adds | all of `f6f4` |");
    puts("|---|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mean n_eff = { 0 }, only = { 0 }, added = { 0 }, all = { 0 };
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            progress(rows[i].distribution, seed);
            struct anchor_inputs in =
                anchor_inputs_new(rows[i].distribution, 8, 8192, 17, seed);
            anchor_inputs_exact(&in);
            struct anchor_figures f = anchor_measure(&in, "f6f4", true);
            mean_add(&n_eff, anchor_n_eff(&in));
            mean_add(&only, f.v_only);
            mean_add(&added, f.v_added);
            mean_add(&all, f.v_all);
            anchor_inputs_free(&in);
        }
        printf("| `%s` |", rows[i].distribution);
        cell("%.3g", rows[i].n_eff);
        cell("%.3g", mean_of(&n_eff));
        cell("%.2f", rows[i].amplification);
        cell("%.3f", mean_of(&only));
        cell("± %.3f", mean_spread(&only));
        cell("%+.3f", mean_of(&only) - rows[i].amplification);
        cell("%.3f", mean_of(&added));
        cell("%.3f", mean_of(&all));
        putchar('\n');
    }
}

/* ---- LSE ---- */

/* How much the LSE's mean error differs between four chunks of 512 keys, which
 * grow from once to six times. */
static double chunk_spread(const char *recipe)
{
    enum { CHUNK = 512, CHUNKS = 4, HEADS = 5, WIDTH = HEADS * 128 };
    struct anchor_inputs in =
        anchor_inputs_new("normal", HEADS, CHUNKS * CHUNK, CHUNKS, 0);
    struct anchor_inputs one = in;
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < CHUNKS * CHUNK * WIDTH; i++)
        in.k[i] *= 1 + 5 * (float)(i / WIDTH) / (CHUNKS * CHUNK - 1);
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, (size_t)CHUNKS * CHUNK * WIDTH, in.k,
                       in.k);
    one.all.nk = one.p.nk = CHUNK;
    for (int c = 0; c < CHUNKS; c++) {
        one.k = in.k + c * CHUNK * WIDTH;
        one.v = in.v + c * CHUNK * WIDTH;
        anchor_inputs_exact(&one);
        const double bias = anchor_measure(&one, recipe, false).lse_bias;
        low = fmin(low, bias);
        high = fmax(high, bias);
    }
    anchor_inputs_free(&in);
    return high - low;
}

static void lse_print(void)
{
    static const struct {
        const char *recipe;
        double largest, spread;
    } rows[] = {
#define ANCHOR_LSE(recipe, largest, spread) { recipe, largest, spread },
#include "doc/anchors.def"
    };
    puts("| recipe | largest error published | measured | spread of chunks, "
         "limit | measured |");
    puts("|---|---|---|---|---|");
    struct anchor_inputs in = anchor_inputs_new("normal", 5, 512, 1, 0);
    anchor_inputs_exact(&in);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        progress(rows[i].recipe, 0);
        printf("| `%s` |", rows[i].recipe);
        cell("%.4f", rows[i].largest);
        cell("%.4f", anchor_measure(&in, rows[i].recipe, false).lse_max);
        cell("%.2f", rows[i].spread);
        cell("%.4f", chunk_spread(rows[i].recipe));
        putchar('\n');
    }
    anchor_inputs_free(&in);
}

/* ---- the order of recipes ---- */

static void rank_print(void)
{
    static const char *const recipes[] = {
#define ANCHOR_RANKED(recipe) recipe,
#include "doc/anchors.def"
    };
    static const int64_t tokens[] = { 4096, 8192, 16384, 65536 };
    const size_t n = sizeof recipes / sizeof *recipes;
    fputs("| tokens |", stdout);
    for (size_t i = 0; i < n; i++)
        printf(" `%s` |", recipes[i]);
    fputs("\n|---|", stdout);
    for (size_t i = 0; i < n; i++)
        fputs("---|", stdout);
    putchar('\n');
    for (size_t t = 0; t < sizeof tokens / sizeof *tokens; t++) {
        progress("tiebreak", (uint64_t)tokens[t]);
        /* a step with a factor 2 or 3 would see some of the six gaps only */
        struct anchor_inputs in = anchor_inputs_new("tiebreak", 5, tokens[t],
                                                    tokens[t] / 1024 - 3, 0);
        anchor_inputs_exact(&in);
        printf("| %d |", (int)tokens[t]);
        for (size_t i = 0; i < n; i++)
            cell("%.5f", anchor_measure(&in, recipes[i], false).cosine);
        putchar('\n');
        anchor_inputs_free(&in);
    }
}

/* ---- the document ---- */

static bool table(const char *line)
{
    char name[16] = "", end = '\0';
    if (sscanf(line, "@%15[A-Z0-9]%c", name, &end) != 2 || end != '@')
        return false;
    for (int s = 0; s < SECTIONS; s++)
        if (strcmp(sections[s].name, name) == 0)
            return section_print((enum section)s), true;
    if (strcmp(name, "V") == 0)
        return v_print(), true;
    if (strcmp(name, "LSE") == 0)
        return lse_print(), true;
    if (strcmp(name, "RANK") == 0)
        return rank_print(), true;
    return false;
}

int main(int argc, char **argv)
{
    char line[1000];
    FILE *in = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!in) {
        fputs("usage: anchors TEMPLATE [EVERY]\n", stderr);
        return 2;
    }
    if (argc > 2)
        sections[SECTION_JUNE].every = atoi(argv[2]) > 0 ? atoi(argv[2]) : 1;
    while (fgets(line, sizeof line, in)) {
        if (!table(line))
            fputs(line, stdout);
        fflush(stdout);
    }
    fclose(in);
    return 0;
}
