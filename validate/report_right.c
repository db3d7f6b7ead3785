/* SPDX-License-Identifier: MIT
 *
 * One line where everything that ran is right: how much of what is allowed was
 * used, and what the recipes cost, so that the one is not taken for the other.
 */
#include <math.h>
#include <stdio.h>

#include "golden/sheet.h"
#include "golden/text.h"
#include "golden/verb.h"
#include "validate/report.h"

/* What was judged in full: REL L2 of a recipe's answer, NaN if it has none. */
static double cost(const struct result *r)
{
    return r->judged && !(r->lacks & SKETCH_LACKS_EXACT) && !r->no_o
               ? r->recipe_distance.rel_l2
               : NAN;
}

static void name_recipe(const struct result *r, char *text, size_t size)
{
    text_append(text, size, " (%s@%s)", r->recipe->name,
                assay_softmax_get(r->recipe->softmax)->name);
}

/* "; what the recipes cost is ...", of one or the range of many. */
static void say_costs(const struct report *r, char *text, size_t size)
{
    const struct result *least = NULL, *most = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const struct result *one = &r->results[i];
        if (isnan(cost(one)))
            continue;
        if (!least || cost(one) < cost(least))
            least = one;
        if (!most || cost(one) > cost(most))
            most = one;
    }
    if (!least)
        return;
    text_append(text, size, "; what the recipes cost is %.2e", cost(least));
    if (least->recipe != most->recipe)
        name_recipe(least, text, size);
    if (least != most)
        text_append(text, size, " to %.2e", cost(most));
    name_recipe(most, text, size);
    text_append(text, size, ", REL L2");
}

void report_right(const struct report *r, bool markdown, FILE *out)
{
    char text[320] = "";
    size_t passed = 0, other = 0;
    double used = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct result *one = &r->results[i];
        const bool pass = one->verdict == VERDICT_PASS;
        passed += pass;
        other += !pass && verdict_get(one->verdict)->code != EXIT_NOTHING_RAN;
        if (pass && !(report_used(one) <= used))
            used = report_used(one);
    }
    if (passed == 0 || other > 0)
        return;
    text_print(text, sizeof text,
               "right: %.2f of what the gates allow is used at most", used);
    say_costs(r, text, sizeof text);
    fputs(markdown ? "\n" : "", out);
    sheet_text(out, markdown, text);
    putc('\n', out);
}
