/* SPDX-License-Identifier: MIT
 *
 * Run records: golden/run_file.h, what validate/record.h judges of them, and
 * every report of it. A result that is written again is read the same.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/run_layout.h"
#include "tests/fuzz/fuzz_h5.h"
#include "validate/record.h"

static void touch_sketch(const struct sketch *s)
{
    for (int a = 0; a < RUN_ARRAYS; a++) {
        const struct run_array *array = &run_arrays[a];
        const size_t bytes = array->columns.count ? array->columns.bytes
                                                  : h5_type_bytes(array->type);
        const void *data;
        memcpy(&data, (const char *)s + array->offset, sizeof data);
        fuzz_touch(data, (size_t)run_extent_count(&s->problem, array->extent) *
                             bytes);
    }
    fuzz_touch_text(s->guard_where);
    fuzz_touch_text(s->bits);
    fuzz_touch(&s->unwritten_at, sizeof s->unwritten_at);
    for (int i = 0; i < ASSAY_INPUTS; i++) {
        fuzz_touch(s->payload[i].steps, sizeof s->payload[i].steps);
        fuzz_touch_text(s->payload[i].looks_like);
    }
    const int64_t counts[] = {
        s->guard_bytes, s->input_bytes, s->o_unwritten,   s->lse_unwritten,
        s->runs,        s->runs_differ, s->first_differs, s->payload_unwritten,
        s->no_o,        s->no_lse,      s->saved,         s->lacks
    };
    fuzz_touch(counts, sizeof counts);
}

static void touch_why(const struct explanation *e)
{
    if (!e)
        return;
#define EXPLANATION_TEXT(member, bytes) fuzz_touch_text(e->member);
#define EXPLANATION_COUNT(member) fuzz_touch_int(e->member);
#define EXPLANATION_REAL(member) fuzz_touch(&e->member, sizeof e->member);
#include "golden/explanation.def"
    if (e->map)
        fuzz_touch(e->map,
                   (size_t)(e->map_rows * e->map_columns) * sizeof *e->map);
}

static uint64_t digest_of(const struct run_result *r)
{
    fuzz_digest();
    fuzz_touch_text(r->case_name);
    fuzz_touch_text(r->kernel);
    fuzz_touch_text(r->input);
    fuzz_touch_text(r->verdict);
    fuzz_touch_text(r->reason);
    fuzz_touch_text(r->notes);
    fuzz_touch_text(r->recipe->name);
    fuzz_touch_problem(&r->problem);
    fuzz_touch(&r->seconds, sizeof r->seconds);
    fuzz_touch_text(r->known.tracker);
    fuzz_touch_text(r->known.verdict);
    if (r->ran)
        touch_sketch(&r->sketch);
    touch_why(r->why);
    return fuzz_digest();
}

static void write_again(const struct run_result *r,
                        const struct run_facts *facts)
{
    char path[4096];
    struct run_file_writer *w;
    struct run_file *run;
    struct run_result again;
    struct assay_error err;
    const uint64_t first = digest_of(r);
    snprintf(path, sizeof path, "%s", fuzz_path("out.h5"));
    fuzz_require_ok(run_file_create(path, "again", facts, &w, &err), &err);
    fuzz_require_ok(run_file_add(w, r, &err), &err);
    fuzz_require_ok(run_file_commit(w, &err), &err);
    fuzz_require_ok(run_file_open(path, &run, &err), &err);
    fuzz_require_ok(run_file_read(run, 0, &again, &err), &err);
    fuzz_require(digest_of(&again) == first, "a result came back changed");
    run_result_free(&again);
    run_file_close(run);
}

/* Every format, to nowhere. Pages take longest: `pages` or none. */
static void report(const struct run_file *run, const struct limits *limits,
                   const struct result *results, size_t n, bool pages)
{
    struct report r;
    struct assay_error err;
    FILE *out = fopen("/dev/null", "w");
    enum assay_status st =
        record_report(run, limits, strdup("assay judge in.h5"), &r, &err);
    fuzz_check_refusal(st, &err);
    r.verb = "judge";
    r.results = results;
    r.count = n;
    for (int f = 0; st == ASSAY_OK && out && f < report_format_count(); f++) {
        const struct report_format *format = report_format_get(f);
        if (report_format_has_pictures(format) && !pages)
            continue;
        if (format->begin)
            format->begin(&r, out);
        for (size_t i = 0; format->one && i < n; i++)
            format->one(&r, &results[i], out);
        format->end(&r, out);
    }
    if (out)
        fclose(out);
    module_info_free((struct driver_info *)r.module);
    report_run_free(&r);
}

static void judge_all(const struct run_file *run, const char *path, bool pages)
{
    struct limits limits = { 0 };
    struct assay_error err;
    const size_t n = run_file_count(run);
    struct result *results = calloc(n + 1, sizeof *results);
    size_t i = 0;
    for (int g = 0; g < GATES; g++)
        limits.command[g] = NAN;
    enum assay_status st =
        limits_load_run(&limits, run_file_facts(run), path, &err);
    fuzz_require(results != NULL, "no memory");
    while (st == ASSAY_OK && i < n) {
        st = record_judge(run, i, &limits, NULL, KEEP_PICTURE, &results[i],
                          &err);
        i++;
    }
    fuzz_check_refusal(st, &err);
    if (st == ASSAY_OK)
        report(run, &limits, results, n, pages);
    while (i-- > 0)
        result_free(&results[i]);
    free(results);
    limits_free(&limits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned inputs;
    const bool pages = inputs++ % 8 == 0; /* the first: a finding comes back */
    struct run_file *run;
    struct assay_error err;
    char path[4096];
    setenv("PATH", "", 1); /* pages without gnuplot */
    snprintf(path, sizeof path, "%s", fuzz_file("in.h5", data, size));
    enum assay_status st = run_file_open_unchecked(path, &run, &err);
    fuzz_check_refusal(st, &err);
    for (size_t i = 0; st == ASSAY_OK && i < run_file_count(run); i++) {
        struct run_result r;
        enum assay_status read = run_file_describe(run, i, &r, &err);
        fuzz_check_refusal(read, &err);
        run_result_free(&r);
        read = run_file_read(run, i, &r, &err);
        fuzz_check_refusal(read, &err);
        if (read == ASSAY_OK)
            write_again(&r, run_file_facts(run));
        run_result_free(&r);
    }
    if (st == ASSAY_OK) {
        fuzz_check_refusal(run_file_check(run, NULL, NULL, &err), &err);
        judge_all(run, path, pages);
    }
    run_file_close(run);
    fuzz_all_closed();
    fuzz_forget_recipes();
    fuzz_forget_quantizers();
    fuzz_digest();
    return 0;
}
