/* SPDX-License-Identifier: MIT
 *
 * Other data of the same shape are launched first in the same process: nothing
 * of them may be in what comes after. Poison is another in each run.
 */
#include "validate/probe.h"
#include "validate/probe_made.h"

/* One run that counts; ran: it came to an end. */
static enum assay_status launch(const struct probe_subject *s,
                                struct probe_outputs *outputs,
                                enum driver_process process, bool *ran,
                                struct probe_finding *f,
                                struct assay_error *err)
{
    struct driver_run run = probe_plan(s);
    struct candidate left;
    run.process = process;
    enum assay_status st = probe_launch(s, &run, ran, &left, f, err);
    if (st == ASSAY_OK && *ran)
        st = probe_outputs_add(outputs, &left, f, err);
    candidate_free(&left);
    return st;
}

/* One that does not, on other data. */
static enum assay_status launch_before(const struct probe_subject *s,
                                       const struct assay_case *c,
                                       const struct assay_answer *answer,
                                       struct assay_error *err)
{
    struct driver_run run = probe_plan(s);
    struct probe_finding unused = { 0 };
    struct candidate left;
    bool ran;
    run.process = DRIVER_NEW_CHILD;
    run.c = c;
    run.answer = answer;
    enum assay_status st = probe_launch(s, &run, &ran, &left, &unused, err);
    candidate_free(&left);
    return st;
}

enum assay_status probe_stale(const struct probe_subject *s,
                              struct probe_finding *f, struct assay_error *err)
{
    const struct assay_recipe *recipe = s->kernels[s->own].answer->recipe;
    struct probe_outputs outputs = { .problem = &s->c->problem };
    struct assay_case other;
    struct assay_answer answer = { 0 };
    bool ran = false;
    enum assay_status st = probe_made_other(s->c, &other, err);
    if (st == ASSAY_OK)
        st = probe_made_answer(&other, recipe, NULL, &answer, err);
    if (st == ASSAY_OK)
        st = launch(s, &outputs, DRIVER_NEW_CHILD, &ran, f, err);
    for (long i = 1; st == ASSAY_OK && ran && i < s->runs; i++)
        if ((st = launch_before(s, &other, &answer, err)) == ASSAY_OK)
            st = launch(s, &outputs, DRIVER_SAME_CHILD, &ran, f, err);
    probe_outputs_end(&outputs, ", all but the first after other data", f);
    assay_answer_free(&answer);
    assay_case_free(&other);
    return st;
}
