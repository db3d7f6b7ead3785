/* SPDX-License-Identifier: MIT
 *
 * assay export: the cases of a golden set for another harness.
 */
#include <stdlib.h>

#include "golden/export.h"
#include "golden/select.h"
#include "golden/temp_file.h"
#include "golden/term.h"
#include "golden/verb.h"

struct options {
    const char *file, *out;
    struct export_options what;
};

enum { KEY_CASE = 256, KEY_RECIPE, KEY_ANSWERS, KEY_PAYLOADS };

static const struct argp_option keys[] = {
    { "output", 'o', "FILE.safetensors|FOLDER/", 0,
      "what to write (required); a folder, of .npy, must not be there yet", 0 },
    { "case", KEY_CASE, "LIST", 0, "only these cases, names and globs", 0 },
    { "recipe", KEY_RECIPE, "LIST", 0,
      "only these recipes of the set, names, globs, or NAME@FORM", 0 },
    { "answers", KEY_ANSWERS, NULL, 0,
      "the answers too: CASE.exact.o and .lse, CASE.RECIPE.o and .lse "
      "(emulated, before O is rounded)",
      0 },
    { "payloads", KEY_PAYLOADS, NULL, 0,
      "what the recipes' quantizers make of the inputs: CASE.RECIPE.q, "
      ".q_scale, .k_mean and so on, codes of less than 8 bits a byte each",
      0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'o': verb_output(state, arg, &o->out); break;
    case KEY_CASE: o->what.cases = arg; break;
    case KEY_RECIPE: o->what.recipes = arg; break;
    case KEY_ANSWERS: o->what.answers = true; break;
    case KEY_PAYLOADS: o->what.payloads = true; break;
    case ARGP_KEY_END:
        if (o->file && !o->out)
            argp_error(state, "no output named; use -o FILE.safetensors");
        return verb_one_set(key, arg, state, &o->file);
    default: return verb_one_set(key, arg, state, &o->file);
    }
    return 0;
}

static const struct argp argp = {
    keys,
    parse,
    "SET.h5",
    "Writes the inputs of a golden set as tensors CASE.q, CASE.k and CASE.v "
    "[batch, token, head, channel] for another harness, whose outputs "
    "CASE.RECIPE.o `assay validate --outputs` takes back. Mask and softmax "
    "scale are in the metadata (of a folder: metadata.json), from which `assay "
    "generate` makes the same cases again.\v"
    "Example:\n"
    "  assay export heads.h5 -o inputs.safetensors\n"
    "  assay export heads.h5 --case '*layer0' --recipe e4m3 --answers "
    "--payloads -o layer0/",
    NULL,
    NULL,
    NULL
};

static enum assay_status check(const struct options *o,
                               const struct assay_set *set,
                               struct assay_error *err)
{
    const size_t n = assay_set_count(set);
    const char **names = calloc(n + 1, sizeof *names);
    if (!names)
        return assay_fail(err, ASSAY_MEMORY, "no memory for names");
    for (size_t i = 0; i < n; i++)
        names[i] = assay_set_case_name(set, i);
    enum assay_status st = select_check(o->what.cases, "case", names, n, err);
    free(names);
    return st == ASSAY_OK ? select_check_set(o->what.recipes, set, err) : st;
}

static enum assay_status export(const struct options *o,
                                struct assay_error *err) {
    struct assay_set *set = NULL; struct export_counts counts;
    enum assay_status st;
    if ((st = temp_file_check_input(o->out, o->file, err)) != ASSAY_OK ||
        (st = assay_set_open(o->file, &set, err)) != ASSAY_OK) return st;
    st = check(o, set, err);
    if (st == ASSAY_OK) st = export_set(set, &o->what, o->out, &counts, err);
    if (st == ASSAY_OK)
        term_printf(stderr, "%s: %zu case%s, %zu tensor%s\n", o->out,
                    counts.cases, plural((int64_t)counts.cases), counts.tensors,
                    plural((int64_t)counts.tensors));
    assay_set_close(set);
    return st;
}

int verb_export(int argc, char **argv)
{
    struct options o = { 0 };
    struct assay_error err;
    verb_parse(&argp, argc, argv, &o);
    return export(&o, &err) == ASSAY_OK ? verb_end("export", 0)
                                        : verb_fail("export", &err);
}
