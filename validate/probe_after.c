/* SPDX-License-Identifier: MIT */
#include "validate/probe.h"
#include "validate/probe_made.h"

struct other {
    struct assay_case c;
    struct assay_answer answer;
};

/* On other data, in a new child; what becomes of it does not matter. */
static enum assay_status launch_other(const struct probe_subject *s,
                                      const struct other *other, bool stays,
                                      struct assay_error *err)
{
    struct driver_run run = probe_plan(s);
    struct probe_finding unused = { 0 };
    struct candidate left;
    bool ran;
    run.process = DRIVER_NEW_CHILD;
    run.workspace_stays = stays;
    run.c = &other->c;
    run.answer = &other->answer;
    enum assay_status st = probe_launch(s, &run, &ran, &left, &unused, err);
    candidate_free(&left);
    return st;
}

/* One run that counts; *on: another makes sense. */
static enum assay_status
launch(const struct probe_subject *s, const struct probe_after *how,
       struct driver_run *run, struct probe_outputs *outputs, bool *on,
       struct probe_finding *f, struct assay_error *err)
{
    struct candidate left;
    enum assay_status st = probe_launch(s, run, on, &left, f, err);
    if (st == ASSAY_OK && *on && how->stays && probe_no_workspace(&left, f))
        *on = false;
    if (st == ASSAY_OK && *on)
        st = probe_outputs_add(outputs, &left, f, err);
    candidate_free(&left);
    return st;
}

enum assay_status probe_after_other(const struct probe_subject *s,
                                    const struct probe_after *how,
                                    struct probe_finding *f,
                                    struct assay_error *err)
{
    const struct assay_recipe *recipe = s->kernels[s->own].answer->recipe;
    struct probe_outputs outputs = { .problem = &s->c->problem };
    struct other other = { 0 };
    bool on = true;
    enum assay_status st = probe_made_other(s->c, &other.c, err);
    if (st == ASSAY_OK)
        st = probe_made_payloads(&other.c, recipe, &other.answer, err);
    for (long i = 0; st == ASSAY_OK && on && i < s->runs; i++) {
        struct driver_run run = probe_plan(s);
        const bool alone = how->alone && i == 0;
        run.process = alone ? DRIVER_NEW_CHILD : DRIVER_SAME_CHILD;
        run.workspace_stays = how->stays && i > 0;
        if (!alone)
            st = launch_other(s, &other, run.workspace_stays, err);
        if (st == ASSAY_OK)
            st = launch(s, how, &run, &outputs, &on, f, err);
    }
    probe_outputs_end(&outputs, how->when, f);
    assay_answer_free(&other.answer);
    assay_case_free(&other.c);
    return st;
}
