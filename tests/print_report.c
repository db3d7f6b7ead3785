/* SPDX-License-Identifier: MIT
 *
 * print_report FORMAT: a report of made results, with figures and texts that
 * real runs seldom have.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/verb.h"
#include "validate/quarantine.h"
#include "validate/report.h"

static char banana[] = "BaNaNa", quoted[] = "a,\"b\" 'c'",
            markup[] = "x|y*z_<b>&[u](v)`$~\\", plain[] = "plain",
            dirty[] = "d\x01\x1b\xff\xef\xbf\xbf\xed\xa0\x80 \xc3\xa9 ]]>";

static const struct assay_problem problem = { .b = 1,
                                              .hq = 4,
                                              .hk = 2,
                                              .nq = 3,
                                              .nk = 5,
                                              .dk = 8,
                                              .dv = 8,
                                              .mask = ASSAY_MASK_CAUSAL,
                                              .softmax_scale = 0.1 };
static const struct assay_place nowhere = { -1, -1, -1, -1 };

/* Doubles that a short form would change. */
static const struct assay_distance odd = { .cosine = 1 - DBL_EPSILON / 2,
                                           .worst_row_cosine = 1.0 / 3,
                                           .mae = 4.9406564584124654e-324,
                                           .max_error = DBL_MAX,
                                           .rel_l2 = 0.1,
                                           .norm_ratio = 1 + DBL_EPSILON,
                                           .lse_max = -0.0,
                                           .lse_mean = 2e-308,
                                           .nonfinite_a = (int64_t)1 << 53,
                                           .worst_row = { 0, 3, 2, -1 },
                                           .max_at = { 0, 1, 2, 7 },
                                           .lse_at = { -1, -1, -1, -1 },
                                           .max_a = 123456789.123456789,
                                           .max_b = -1e-7 };

static struct result made(char *name, enum verdict verdict, bool judged)
{
    struct result r = { .case_name = name,
                        .problem = problem,
                        .recipe = assay_recipe_find("e4m3"),
                        .verdict = verdict,
                        .judged = judged,
                        .build = odd,
                        .recipe_distance = odd,
                        .total = odd };
    if (judged)
        r.heads = 4;
    for (int g = 0; judged && g < GATES; g++) {
        r.gates[g].pass = r.gates[g].judged = true;
        r.gates[g].at = nowhere;
        r.gates[g].limit = (struct limit){ .source = LIMIT_DEFAULT };
    }
    return r;
}

static void with_kernel(struct result *r, const char *kernel, double seconds)
{
    snprintf(r->kernel, sizeof r->kernel, "%s", kernel);
    r->input = "raw";
    r->seconds = seconds;
}

enum { RESULTS = 9 };

static struct quarantine_entry known = { .tracker = "https://t/1?a=1&b=2",
                                         .reason = "a <known> bug",
                                         .date = "2026-01-01" };

static void make(struct result r[RESULTS])
{
    r[0] = made(banana, VERDICT_NON_FINITE, true);
    with_kernel(&r[0], "one|nan", 0.1);
    r[0].build.cosine = r[0].build.rel_l2 = NAN;
    r[0].build.max_error = INFINITY;
    r[0].build.lse_max = -INFINITY;
    r[0].gates[GATE_FINITE].pass = false;
    r[0].gates[GATE_FINITE].value = NAN;
    r[0].gates[GATE_FINITE].at = (struct assay_place){ 0, 3, 2, 7 };
    r[0].gates[GATE_BUILD].value = 1.0 / 3;
    r[0].gates[GATE_BUILD].limit =
        (struct limit){ 0.7, LIMIT_FILE, "a reason", "2026-01-02" };
    r[0].gates[GATE_TWIN].judged = false;
    r[0].gates[GATE_TWIN].limit.value = -1;
    r[0].heads_failed = 1;
    strcpy(r[0].reason, "O is -inf, NaN and \"nan\" <there> & here");
    r[1] = made(quoted, VERDICT_PASS, true);
    with_kernel(&r[1], "k", 1.0 / 3);
    strcpy(r[1].notes, "a note of what passed");
    r[2] = made(markup, VERDICT_CRASH, false);
    with_kernel(&r[2], "k", 0);
    strcpy(r[2].reason, "killed by signal 11");
    r[3] = made(plain, VERDICT_HANG, false);
    with_kernel(&r[3], "k", 0);
    strcpy(r[3].reason, "still running after 1 s");
    r[4] = made(plain, VERDICT_UNSUPPORTED, false);
    r[5] = made(banana, VERDICT_UNSUPPORTED, false);
    strcpy(r[4].reason, "the module has no such kernel");
    strcpy(r[5].reason, r[4].reason);
    r[6] = made(dirty, VERDICT_NOT_RUN, false);
    with_kernel(&r[6], "k", 0);
    strcpy(r[6].reason, "the kernel's softmax form is \x02\xff");
    r[7] = made(plain, VERDICT_WRONG, true);
    r[8] = made(plain, VERDICT_PASS, true);
    with_kernel(&r[7], "known", 0.5);
    with_kernel(&r[8], "mended", 0.5);
    strcpy(r[7].reason, "as ever");
    r[7].gates[GATE_BUILD].pass = false;
    r[7].known = r[8].known = &known;
}

int main(int argc, char **argv)
{
    static struct driver_info module = { .path = "m.so", .name = "made" };
    static struct result results[RESULTS];
    char *command = strdup("assay validate s.h5");
    struct report r = { .verb = "validate", .set_path = "some/s.h5",
                        .set_hash = "0123456789abcdef0123456789abcdef",
                        .module = &module,
                        .results = results,
                        .count = RESULTS,
                        .run = { "2026-01-02T03:04:05Z", "host", "cpu", command,
                                 NULL } };
    verb_program = "assay";
    make(results);
    bool ok = false;
    for (int i = 0; argc == 2 && i < report_format_count(); i++) {
        const struct report_format *f = report_format_get(i);
        if (strcmp(f->name, argv[1]) != 0)
            continue;
        ok = !f->begin || f->begin(&r, stdout);
        for (size_t k = 0; f->one && k < r.count; k++)
            ok &= f->one(&r, &results[k], stdout);
        ok &= f->end(&r, stdout);
    }
    free(command);
    return ok ? 0 : 99;
}
