/* SPDX-License-Identifier: MIT
 *
 * make_proof SET.h5: a page of a made proof on stdout, in which mutations are
 * rejected, escape, cannot be seen and may pass, and an honest variant is
 * rejected; names try to break out of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/verb.h"
#include "validate/prove.h"

static const char *cases[] = { "<b>&\"case' \u202e" };

static struct proof *add(struct prove_run *run, enum mutation_id mutation,
                         int64_t heads, int64_t observable, int64_t rejected)
{
    struct proof *p = &run->proofs[run->count++];
    *p = (struct proof){ .mutation = mutation,
                         .applies = true,
                         .heads = heads,
                         .observable = observable,
                         .rejected = rejected,
                         .escaped_at = { 0, 3, -1, -1 },
                         .escaped_moved = 7.5,
                         .unseen_moved = 0.25 };
    p->by[GATE_BUILD] = rejected;
    for (int g = 0; g < GATES; g++)
        p->used[g] = (double)NAN;
    return p;
}

static void fill(struct prove_run *run)
{
    add(run, MUTATION_ZERO, 4, 4, 4);
    struct proof *swept = add(run, MUTATION_GAIN, 4, 4, 1);
    swept->swept = true;
    for (int g = 0; g <= GATES; g++)
        swept->least[g] = g == GATE_BUILD || g == GATES ? 0.125 : (double)NAN;
    add(run, MUTATION_LSE_NO_MEAN, 4, 0, 0);
    add(run, MUTATION_LSE_EXACT, 4, 4, 2);
    struct proof *honest = add(run, MUTATION_AS_EMULATED, 4, 0, 1);
    honest->used[GATE_BUILD] = 1.5;
    honest->used[GATE_LSE] = 0.5;
    honest->used[GATE_FINITE] = 0;
    strcpy(honest->reason, "build gate: <script>");
}

int main(int argc, char **argv)
{
    static struct proof proofs[8];
    struct prove_subject subject = { .recipe = assay_recipe_find("e4m3") };
    const struct prove_options options = { 0 };
    struct prove_run run = { .options = &options,
                             .cases = cases,
                             .n_cases = 1,
                             .subjects = &subject,
                             .n_subjects = 1,
                             .proofs = proofs };
    limits_default(subject.limits);
    struct assay_error err;
    verb_program = "assay";
    if (argc != 2 || assay_set_open(argv[1], &run.set, &err) != ASSAY_OK)
        return 99;
    fill(&run);
    const bool ok = prove_html(&run, "assay prove <set>", stdout);
    assay_set_close(run.set);
    return ok ? 0 : 1;
}
