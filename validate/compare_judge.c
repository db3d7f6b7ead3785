/* SPDX-License-Identifier: MIT
 *
 * What two runs are compared by: the limits of B, so that a verdict which moved
 * did so because of the kernel.
 */
#include <math.h>
#include <string.h>

#include "validate/compare.h"

static enum assay_status load(const struct run_file *run, struct limits *out,
                              struct assay_error *err)
{
    for (int g = 0; g < GATES; g++)
        out->command[g] = NAN;
    return limits_load_run(out, run_file_facts(run), run_file_path(run), err);
}

enum assay_status compare_load_limits(struct comparison *c,
                                      struct assay_error *err)
{
    enum assay_status st = load(c->a, &c->limits_a, err);
    return st == ASSAY_OK ? load(c->b, &c->limits_b, err) : st;
}

enum assay_status compare_judge(const struct comparison *c,
                                const struct run_result *read, bool of_b,
                                const char *kernel, struct compared_side *side,
                                struct assay_error *err)
{
    struct result by_b = { 0 }, by_own = { 0 };
    enum assay_status st =
        record_judge_read(read, &c->limits_b, kernel, &by_b, err);
    if (st == ASSAY_OK && !of_b)
        st = record_judge_read(read, &c->limits_a, read->kernel, &by_own, err);
    if (st == ASSAY_OK) {
        side->verdict = by_b.verdict;
        side->own = of_b ? by_b.verdict : by_own.verdict;
        side->reason = strdup(by_b.reason);
        if (!side->reason)
            st = assay_fail(err, ASSAY_MEMORY, "no memory for a reason");
    }
    result_free(&by_b);
    result_free(&by_own);
    return st;
}

static void tell(const struct comparison *c, bool of_b)
{
    struct record_doubts doubts = { 0 };
    for (size_t i = 0; i < c->count; i++) {
        const struct compared_side *side =
            of_b ? &c->pairs[i].b : &c->pairs[i].a;
        if (side->result)
            record_doubt(&doubts, side->result, side->own);
    }
    record_say_doubts("compare", of_b ? c->b : c->a, &doubts);
}

void compare_tell_recorded(const struct comparison *c)
{
    tell(c, false);
    tell(c, true);
}
