/* SPDX-License-Identifier: MIT
 *
 * Results for programs: "assay-run/1", as one object, or as JSON Lines: an
 * object "type": "run" with the head, one "result" each, and "end".
 */
#include "config.h"
#include "golden/json.h"
#include "golden/run_json.h"
#include "validate/quarantine.h"
#include "validate/report_explain.h"

/* Of a limit in a file. */
static void add_reason(json_t *gate, const struct limit *limit)
{
    if (limit->reason)
        json_object_set_new(gate, "limit_reason", json_text(limit->reason));
    if (limit->date)
        json_object_set_new(gate, "limit_date", json_text(limit->date));
}

static json_t *known_json(const struct result *r)
{
    if (!r->known)
        return json_null();
    json_t *out = json_object();
    json_object_set_new(out, "is",
                        json_string(result_is_known(r) ? "failure"
                                    : result_passed_unexpectedly(r)
                                        ? "pass"
                                        : "not-run"));
    json_object_set_new(out, "tracker", json_text(r->known->tracker));
    json_object_set_new(out, "reason", json_text(r->known->reason));
    json_object_set_new(out, "date", json_text(r->known->date));
    return out;
}

/* What was not judged has null for "pass". */
static json_t *gates_json(const struct result *r)
{
    json_t *list = json_array();
    for (int g = 0; r->judged && g < GATES; g++) {
        const bool judged = report_gate_judged(r, (enum gate)g);
        const double limit = report_gate_limit(r, (enum gate)g);
        const char *from = report_gate_limit_from(r, (enum gate)g);
        const struct gate_result *got = &r->gates[g];
        json_t *gate = json_object();
        json_object_set_new(gate, "name",
                            json_string(gate_get((enum gate)g)->name));
        json_object_set_new(gate, "value",
                            judged ? json_number(got->value) : json_null());
        json_object_set_new(gate, "limit",
                            from ? json_number(limit) : json_null());
        json_object_set_new(gate, "limit_from",
                            from ? json_string(from) : json_null());
        add_reason(gate, &got->limit);
        json_object_set_new(gate, "pass",
                            judged ? json_boolean(got->pass) : json_null());
        json_object_set_new(gate, "at", json_place(&got->at));
        json_object_set_new(gate, "note", json_text(got->note));
        json_array_append_new(list, gate);
    }
    return list;
}

static json_t *repeat_json(const struct report *all, const struct result *r)
{
    struct repeat repeat;
    size_t n = report_repeat(all, r, &repeat);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_text(repeat.argv[i]));
    return list;
}

static json_t *counts_json(const struct report *r)
{
    json_t *out = json_object();
    for (int v = 0; v < VERDICTS; v++) {
        size_t n = 0;
        for (size_t i = 0; i < r->count; i++)
            n += (int)r->results[i].verdict == v;
        json_object_set_new(out, verdict_get((enum verdict)v)->name,
                            json_integer((json_int_t)n));
    }
    return out;
}

static json_t *result_json(const struct report *all, const struct result *r)
{
    json_t *out = json_object(), *distances = json_object();
    json_object_set_new(out, "case", json_plain(r->case_name));
    json_object_set_new(out, "recipe", json_string(r->recipe->name));
    json_object_set_new(
        out, "softmax_form",
        json_string(assay_softmax_get(r->recipe->softmax)->name));
    json_object_set_new(out, "promise",
                        json_string(assay_recipe_promise_name(r->recipe)));
    json_object_set_new(out, "kernel",
                        r->kernel[0] ? json_text(r->kernel) : json_null());
    json_object_set_new(out, "input",
                        r->input ? json_string(r->input) : json_null());
    json_object_set_new(out, "verdict",
                        json_string(verdict_get(r->verdict)->name));
    json_object_set_new(out, "reason", json_text(r->reason));
    json_object_set_new(out, "notes", json_text(r->notes));
    json_object_set_new(out, "known", known_json(r));
    json_object_set_new(out, "seconds", json_optional(report_seconds(r)));
    json_object_set_new(out, "problem", json_problem(&r->problem));
    json_object_set_new(out, "heads", json_integer(r->heads));
    json_object_set_new(out, "heads_failed", json_integer(r->heads_failed));
    json_object_set_new(out, "gates", gates_json(r));
    if (r->judged) {
        const bool exact = !(r->lacks & SKETCH_LACKS_EXACT);
        json_object_set_new(distances, "build", json_distance(&r->build, !r->no_lse));
        json_object_set_new(distances, "recipe",
                            exact ? json_distance(&r->recipe_distance, true)
                                  : json_null());
        json_object_set_new(distances, "total",
                            exact ? json_distance(&r->total, !r->no_lse) : json_null());
    }
    json_object_set_new(out, "distances", distances);
    json_object_set_new(out, "explanation", report_explanation_json(r->why));
    json_object_set_new(out, "repeat", repeat_json(all, r));
    if (r->rows)
        json_object_set_new(out, "rows", run_rows_json(r->rows));
    return out;
}

static json_t *module_json(const struct driver_info *m)
{
    json_t *out = json_object();
    json_object_set_new(out, "path", json_text(m->path));
    json_object_set_new(out, "name", json_text(m->name));
    json_object_set_new(out, "build", json_text(m->build));
    json_object_set_new(out, "device", json_text(m->where));
    return out;
}

/* What is known before a kernel ran. */
static json_t *head_json(const struct report *r)
{
    json_t *out = json_object(), *run = json_object();
    struct report_fact facts[REPORT_FACTS];
    report_facts(r, facts);
    json_object_set_new(out, "schema", json_string("assay-run/1"));
    json_object_set_new(out, "version", json_string(PACKAGE_VERSION));
    json_object_set_new(out, "set", json_text(r->set_path));
    json_object_set_new(out, "set_content_hash", json_text(r->set_hash));
    json_object_set_new(out, "driver",
                        json_string(driver_get(r->driver)->name));
    json_object_set_new(out, "module", module_json(r->module));
    for (int i = 0; i < REPORT_FACTS; i++)
        json_object_set_new(run, facts[i].key, json_text(facts[i].text));
    json_object_set_new(out, "run", run);
    return out;
}

static void add_end(const struct report *r, json_t *out)
{
    json_object_set_new(out, "exit_status", json_integer(report_exit(r)));
    json_object_set_new(out, "counts", counts_json(r));
}

bool report_json(const struct report *r, FILE *out)
{
    json_t *all = head_json(r), *results = json_array();
    add_end(r, all);
    for (size_t i = 0; i < r->count; i++)
        json_array_append_new(results, result_json(r, &r->results[i]));
    json_object_set_new(all, "results", results);
    return json_print(all, out) == 0;
}

/* ---- JSON Lines ---- */

static json_t *typed(const char *type)
{
    json_t *out = json_object();
    json_object_set_new(out, "type", json_string(type));
    return out;
}

/* Takes the reference to `more`. */
static bool print_typed(json_t *out, json_t *more, FILE *to)
{
    json_object_update(out, more);
    json_decref(more);
    return json_print_line(out, to) == 0;
}

bool report_jsonl_begin(const struct report *r, FILE *out)
{
    return print_typed(typed("run"), head_json(r), out);
}

bool report_jsonl_one(const struct report *r, const struct result *one,
                      FILE *out)
{
    return print_typed(typed("result"), result_json(r, one), out);
}

bool report_jsonl_end(const struct report *r, FILE *out)
{
    json_t *end = typed("end");
    add_end(r, end);
    return json_print_line(end, out) == 0;
}
