/* SPDX-License-Identifier: MIT
 *
 * Results for programs: "assay-run/1".
 */
#include "config.h"
#include "golden/json.h"
#include "golden/run_json.h"
#include "validate/device.h"
#include "validate/report.h"

static json_t *gates_json(const struct result *r)
{
    json_t *list = json_array();
    for (int g = 0; r->judged && g < GATES; g++) {
        const struct gate_row *row = gate_get((enum gate)g);
        const struct gate_result *got = &r->gates[g];
        json_t *gate = json_object();
        json_object_set_new(gate, "name", json_string(row->name));
        json_object_set_new(gate, "value", json_number(got->value));
        json_object_set_new(gate, "limit", json_number(row->limit));
        json_object_set_new(gate, "limit_from", json_string("default"));
        json_object_set_new(gate, "pass", json_boolean(got->pass));
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
    json_object_set_new(out, "case", json_text(r->case_name));
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
    json_object_set_new(out, "seconds", json_number(r->seconds));
    json_object_set_new(out, "problem", json_problem(&r->problem));
    json_object_set_new(out, "heads", json_integer(r->heads));
    json_object_set_new(out, "heads_failed", json_integer(r->heads_failed));
    json_object_set_new(out, "gates", gates_json(r));
    if (r->judged) {
        json_object_set_new(distances, "build", json_distance(&r->build));
        json_object_set_new(distances, "recipe",
                            json_distance(&r->recipe_distance));
        json_object_set_new(distances, "total", json_distance(&r->total));
    }
    json_object_set_new(out, "distances", distances);
    json_object_set_new(out, "repeat", repeat_json(all, r));
    if (r->rows)
        json_object_set_new(out, "rows", run_rows_json(r->rows));
    return out;
}

bool report_json(const struct report *r, FILE *out)
{
    json_t *all = json_object(), *results = json_array(),
           *module = json_object();
    json_object_set_new(all, "schema", json_string("assay-run/1"));
    json_object_set_new(all, "version", json_string(PACKAGE_VERSION));
    json_object_set_new(all, "exit_status", json_integer(report_exit(r)));
    json_object_set_new(all, "counts", counts_json(r));
    json_object_set_new(all, "set", json_text(r->set_path));
    json_object_set_new(all, "set_content_hash", json_text(r->set_hash));
    json_object_set_new(module, "path", json_text(r->module->path));
    json_object_set_new(module, "name", json_text(r->module->name));
    json_object_set_new(module, "build", json_text(r->module->build));
    json_object_set_new(module, "device",
                        json_string(device_name(r->module->device)));
    json_object_set_new(all, "module", module);
    for (size_t i = 0; i < r->count; i++)
        json_array_append_new(results, result_json(r, &r->results[i]));
    json_object_set_new(all, "results", results);
    return json_print(all, out) == 0;
}
