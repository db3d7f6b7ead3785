/* SPDX-License-Identifier: MIT
 *
 * assay show: what a golden set or a run record holds.
 */
#include "golden/run_file.h"
#include "golden/show_recipe.h"
#include "golden/show_set.h"
#include "golden/verb.h"
#include "validate/show_run.h"

struct options {
    const char *file, *cases, *recipes;
    bool json;
};

enum { KEY_FORMAT = 256, KEY_CASE, KEY_RECIPE };

static const struct argp_option keys[] = {
    { "format", KEY_FORMAT, "table|json", 0, "default table", 0 },
    { "case", KEY_CASE, "LIST", 0, "only these cases, names and globs", 0 },
    { "recipe", KEY_RECIPE, "LIST", 0,
      "what these recipes in the file are, names and globs, and their "
      "quantizers; as JSON a recipe file",
      0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const formats[] = { "table", "json" };
    struct options *o = state->input;
    switch (key) {
    case KEY_FORMAT:
        o->json = verb_word(state, "--format", arg, formats, 2) == 1;
        break;
    case KEY_CASE: o->cases = arg; break;
    case KEY_RECIPE: o->recipes = arg; break;
    case ARGP_KEY_END:
        if (o->recipes && o->cases)
            argp_error(state, "--recipe is the same in all cases, so it goes "
                              "without --case");
        return verb_one_set(key, arg, state, &o->file);
    default: return verb_one_set(key, arg, state, &o->file);
    }
    return 0;
}

static const struct argp argp = {
    keys,
    parse,
    "SET.h5|RUN.h5",
    "Says what a golden set holds: its cases, the error bar of their exact "
    "answers, and the distance of each emulated recipe from the exact "
    "answer. Of a run record (`assay validate SET.h5 -o RUN.h5`) it says which "
    "module and set it is of, and the verdicts as they were then, read as "
    "strictly as `assay judge` does, which gives the whole report: where this "
    "program judges the rows otherwise, by the limits of the run, that is "
    "told.\v"
    "Example:\n  assay show heads.h5\n"
    "  assay show heads.h5 --case '*layer0' --format json\n"
    "  assay show heads.h5 --recipe mxfp4",
    NULL,
    NULL,
    NULL
};

int verb_show(int argc, char **argv)
{
    struct options o = { 0 };
    struct assay_error err;
    verb_parse(&argp, argc, argv, &o);
    enum assay_status st =
        o.recipes             ? show_recipes(o.file, o.recipes, o.json, &err)
        : run_file_is(o.file) ? show_run(o.file, o.cases, o.json, &err)
                              : show_set(o.file, o.cases, o.json, &err);
    if (st != ASSAY_OK)
        return verb_fail("show", &err);
    return verb_end("show", 0);
}
