/* SPDX-License-Identifier: MIT
 *
 * Figures of an audit by number, and over cases and heads.
 */
#ifndef ASSAY_AUDIT_FIGURE_H
#define ASSAY_AUDIT_FIGURE_H

#include "golden/audit.h"

enum audit_bad { AUDIT_HIGH, AUDIT_LOW };

struct audit_figure {
    const char *key, *head, *format;
    bool extra;
    enum audit_bad bad;
    size_t offset; /* in struct assay_distance */
};

enum {
#define AUDIT_FIGURE(key, ...) AUDIT_FIGURE_##key,
#include "golden/audit_figure.def"
#undef AUDIT_FIGURE
    AUDIT_FIGURES
};

/* The row of a figure; static. And the figure of a distance. */
const struct audit_figure *audit_figure_get(int figure);
double audit_figure_value(int figure, const struct assay_distance *from);

/* A contract as reports name it: the recipe, with @FORM where the softmax form
 * is not its own. */
struct audit_name {
    char s[96];
};
struct audit_name audit_recipe_name(const struct assay_recipe *recipe);
/* A case, with /hN where it has several query heads. */
struct audit_name audit_head_name(const struct audit_case *c, int64_t head);

/* Whether a case has a row that sees a key, by its sizes: without one there is
 * nothing that a recipe could lose, and its figures are none. */
bool audit_has_rows(const struct audit_case *c);

/* One head of one result. */
struct audit_place {
    const struct audit_case *c;
    const struct audit_result *result;
    int64_t head;
    double value, badness; /* NaN is the worst */
};

/* Heads of one recipe behind one transport, by a figure, the worst last, but
 * none of a case without rows; n is
 * 0 if there are none. NULL places: out of memory. Free with free(). */
struct audit_ranked {
    struct audit_place *places;
    size_t n;
};
struct audit_ranked audit_rank(const struct audit_report *report,
                               const struct assay_recipe *recipe,
                               const struct audit_transport *transport,
                               int figure);

/* Of n > 0 ranked values, by nearest rank from the good end: so each is some
 * head's. share 0.5 is the (lower) median. */
double audit_quantile(const struct audit_ranked *ranked, double share);

/* Number i of report->options' recipes behind transport t, from the best median
 * relative L2 to the worst; those without results are left out. Free with
 * free(); NULL: out of memory. */
struct audit_line {
    const struct assay_recipe *recipe;
    const struct audit_transport *transport;
    double median;
};
struct audit_line *audit_lines(const struct audit_report *report, size_t *n);

/* The lower median of n values, NaN last; reorders them. NaN if n is 0. */
double audit_median(double *values, size_t n);

/* Operands "q", "k" and "v" of a result, by number. */
enum { AUDIT_OPERANDS = 3 };
const char *audit_operand_name(int operand);
const struct assay_audit_operand *audit_operand_of(const struct assay_audit *x,
                                                   int operand);

#endif
