/* SPDX-License-Identifier: MIT
 *
 * assay validate: candidates of a driver against a golden set.
 */
#include <stdlib.h>
#include <string.h>

#include "golden/select.h"
#include "golden/temp_file.h"
#include "golden/term.h"
#include "golden/verb.h"
#include "validate/driver.h"
#include "validate/explain.h"
#include "validate/judge.h"
#include "validate/limits.h"
#include "validate/memory_limit.h"
#include "validate/picture.h"
#include "validate/quarantine.h"
#include "validate/record.h"
#include "validate/report.h"

struct options {
    const char *file, *recipe, *cases, *kernel, *out, *record;
    enum driver_kind driver;
    const char *driver_option; /* as given, or NULL */
    const char *layout;        /* of outputs made elsewhere, or NULL */
    const char *device;        /* the same */
    unsigned inputs;           /* bits, as of a kernel */
    const char *timeout;       /* as given, or NULL */
    double timeout_s;
    size_t memory_limit; /* 0: the default */
    const struct report_format *format;
    struct limits limits;
    const char *quarantine;
    long runs; /* of each kernel on each case */
    bool rows;
};

enum {
    KEY_DRIVER = 256, /* and those of the other rows of driver.def */
    KEY_RECIPE = KEY_DRIVER + DRIVERS,
    KEY_LAYOUT,
    KEY_DEVICE,
    KEY_CASE,
    KEY_KERNEL,
    KEY_INPUT,
    KEY_TIMEOUT,
    KEY_MEMORY_LIMIT,
    KEY_REPEAT,
    KEY_QUARANTINE,
    KEY_FORMAT,
    KEY_ROWS
};

static const struct argp_option keys[] = {
#define ASSAY_DRIVER(id, name, arg, about) \
    { name, KEY_DRIVER + DRIVER_##id, arg, 0, about, 0 },
#include "validate/driver.def"
#undef ASSAY_DRIVER
    { "layout", KEY_LAYOUT, "AXES", 0,
      "axes of O in --outputs, outermost first: hsd, shd, bhsd, bshd; default "
      "the file's metadata \"layout\", else hsd",
      0 },
    { "device", KEY_DEVICE, "KIND[:N]", 0,
      "host, hip or cuda, and which of them, as `assay list devices` has it; "
      "default the module's kind, the first",
      0 },
    { "recipe", KEY_RECIPE, "LIST", 0,
      "only these recipes of the set, names, globs, or NAME@FORM", 0 },
    { "case", KEY_CASE, "LIST", 0, "only these cases, names and globs", 0 },
    { "kernel", KEY_KERNEL, "LIST", 0, "only these kernels, names and globs",
      0 },
    { "input", KEY_INPUT, "raw|packed|saved", 0,
      "only this kind of input; default each that a kernel takes", 0 },
    { "timeout", KEY_TIMEOUT, "S", 0,
      "seconds until a kernel counts as hung; default 120", 0 },
    { "memory-limit", KEY_MEMORY_LIMIT, "SIZE", 0,
      "bytes that a module for the host may take, as 512M or 8G; default 4G "
      "and 32 times the case's buffers",
      0 },
    { "repeat", KEY_REPEAT, "N", 0,
      "run each kernel N times; all runs must leave the same bits", 0 },
    { "quarantine", KEY_QUARANTINE, "FILE", 0,
      "known failures with links to their trackers, JSON; they do not make the "
      "run fail, and a pass of one is told",
      0 },
    { "format", KEY_FORMAT, &report_format_names[1], 0,
      "default table; see below", 0 },
    { "rows", KEY_ROWS, NULL, 0,
      "in JSON: the figures of all rows too, for programs that judge by rules "
      "of their own; `assay judge` reads them from .h5 only",
      0 },
    { "output", 'o', "FILE", 0,
      "write the report there, whole at the end; jsonl line by line to "
      "FILE" REPORT_PART " as kernels are judged, which becomes FILE at the "
      "end. A name that ends in .h5 gets a run record, for `assay "
      "judge` "
      "and `assay compare`, and the report goes on to where it would; may be "
      "given for both",
      0 },
    { 0 },
};

static bool is_record(const char *name)
{
    const size_t n = strlen(name);
    return n > 3 && strcmp(name + n - 3, ".h5") == 0;
}

static void pick_driver(struct argp_state *state, struct options *o,
                        enum driver_kind kind, const char *what)
{
    if (o->driver_option && o->driver != kind)
        argp_error(state, "--%s and --%s: candidates come from one of them",
                   driver_get(o->driver)->name, driver_get(kind)->name);
    o->driver = kind;
    o->driver_option = what;
}

/* What there is to say of kernels alone, or of their outputs alone. */
static void check_saved(struct argp_state *state, const struct options *o)
{
    const bool saved = o->driver == DRIVER_OUTPUTS;
    const char *of_kernels = o->runs > 1       ? "repeat"
                             : o->timeout      ? "timeout"
                             : o->device       ? "device"
                             : o->memory_limit ? "memory-limit"
                                               : NULL;
    if (saved && of_kernels)
        argp_error(state,
                   "--%s is for kernels that run; --outputs has what "
                   "they left",
                   of_kernels);
    if (!saved && o->layout)
        argp_error(state, "--layout is for --outputs");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const inputs[] = { "raw", "packed", "saved" };
    struct options *o = state->input;
    if (key >= KEY_DRIVER && key < KEY_RECIPE) {
        pick_driver(state, o, (enum driver_kind)(key - KEY_DRIVER), arg);
        return 0;
    }
    switch (key) {
    case KEY_LAYOUT: o->layout = arg; break;
    case KEY_DEVICE: o->device = arg; break;
    case KEY_RECIPE: o->recipe = strcmp(arg, "all") == 0 ? "*" : arg; break;
    case KEY_CASE: o->cases = arg; break;
    case KEY_KERNEL: o->kernel = arg; break;
    case KEY_INPUT:
        o->inputs = 1u << verb_word(state, "--input", arg, inputs, 3);
        break;
    case KEY_TIMEOUT:
        o->timeout = arg;
        o->timeout_s = verb_number(state, "--timeout", arg);
        if (!(o->timeout_s > 0))
            argp_error(state, "--timeout takes more than 0 seconds");
        break;
    case KEY_MEMORY_LIMIT:
        o->memory_limit = memory_limit_parse(state, arg);
        break;
    case KEY_REPEAT:
        o->runs = verb_integer(state, "--repeat", arg, 1, 1000000);
        break;
    case KEY_QUARANTINE: o->quarantine = arg; break;
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->limits; break;
    case KEY_FORMAT: o->format = report_format_parse(state, arg); break;
    case KEY_ROWS: o->rows = true; break;
    case 'o': *(is_record(arg) ? &o->record : &o->out) = arg; break;
    case ARGP_KEY_END:
        if (o->rows && !report_format_has_rows(o->format))
            argp_error(state, "--rows is for --format json and jsonl");
        check_saved(state, o);
        return verb_one_set(key, arg, state, &o->file);
    default: return verb_one_set(key, arg, state, &o->file);
    }
    return 0;
}

static const struct argp_child children[] = { { &limits_argp, 0, NULL, 0 },
                                              { 0 } };

static const struct argp argp = {
    keys,
    parse,
    "SET.h5",
    "Runs the kernels of a module, or the kernel that a program runs, on the "
    "cases of a golden set, each in a child process, and judges what they "
    "leave, or judges outputs made elsewhere. Three distances are told: "
    "build (kernel - emulated recipe) decides; recipe (emulated - exact) says "
    "what the recipe costs; total (kernel - exact) is what public checks "
    "see.\v"
    "Exit status 0: all that ran passed; 1: a kernel was wrong; 2: usage or a "
    "bad file; 3: none was wrong and a kernel crashed or hung; 77: nothing "
    "ran.\n\n"
    "Formats of the report:\n"
#define ASSAY_REPORT(name, begin, one, end, about) "  " name ": " about "\n"
#include "validate/report.def"
#undef ASSAY_REPORT
    "\nIn the line of --exec:\n"
#define COMMAND_VALUE(id, name, about) "  {" name "}: " about "\n"
#include "validate/command_value.def"
#undef COMMAND_VALUE
    "\nExample:\n"
    "  assay validate heads.h5\n"
    "  assay validate heads.h5 --module ./mykernel.so --recipe e4m3 "
    "--format json -o run.json\n"
    "  assay validate heads.h5 --exec 'python3 run.py {in} {out}'\n"
    "  assay validate heads.h5 --outputs made_elsewhere.safetensors\n"
    "  assay validate heads.h5 -o run.h5",
    children,
    NULL,
    NULL
};

struct validate {
    const struct options *o;
    struct assay_set *set;
    struct driver driver;
    char *command; /* until the report has it */
    struct report report;
    struct report_file file;
    struct result *results;
    size_t count, space, told;
    unsigned runs;
    struct limits *limits;
    struct quarantine quarantine;
    struct run_file_writer *record; /* or NULL */
    struct assay_error no_record; /* why it could not be written, or ASSAY_OK */
    struct progress progress;
    int64_t cases;
    int64_t runs_per_case; /* as far as the driver tells */
};

static enum assay_status new_result(struct validate *v,
                                    const struct assay_case *c,
                                    const struct assay_recipe *recipe,
                                    struct result **out,
                                    struct assay_error *err)
{
    if (v->count == v->space) {
        size_t space = v->space ? 2 * v->space : 64;
        struct result *grown = realloc(v->results, space * sizeof *grown);
        if (!grown)
            return assay_fail(err, ASSAY_MEMORY, "no memory for results");
        v->results = grown;
        v->space = space;
    }
    *out = &v->results[v->count];
    **out = (struct result){ .recipe = recipe,
                             .problem = c->problem,
                             .case_name = strdup(c->name) };
    if (!(*out)->case_name)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a result");
    v->count++;
    return ASSAY_OK;
}

/* The result is whole; sketch NULL: there was nothing to judge. A record that
 * cannot be written ends the record and not the run. */
static void finish(struct validate *v, struct result *r,
                   const struct sketch *sketch)
{
    r->known = quarantine_find(&v->quarantine, r);
    if (v->record &&
        record_add(v->record, r, sketch, &v->no_record) != ASSAY_OK) {
        run_file_abandon(v->record);
        v->record = NULL;
    }
}

struct loaded {
    const struct assay_case *c;
    const struct assay_exact *exact;
    const struct assay_answer *answer;
};

/* All runs that were asked for. The first is judged; one that does not come to
 * an end is told as such. */
static enum assay_status run_repeatedly(struct validate *v,
                                        struct driver_run *run, bool *ran,
                                        struct candidate *first,
                                        struct result *r,
                                        struct assay_error *err)
{
    run->number = v->runs++;
    enum assay_status st = v->driver.run(&v->driver, run, ran, first, r, err);
    first->runs = 1;
    while (st == ASSAY_OK && *ran && first->runs < v->o->runs) {
        struct candidate next;
        run->number = v->runs++;
        run->at_start = first->runs % 2;
        st = v->driver.run(&v->driver, run, ran, &next, r, err);
        if (st == ASSAY_OK && *ran)
            candidate_add_run(&run->c->problem, first, &next);
        candidate_free(&next);
    }
    return st;
}

/* A verdict stays what it is where there is no memory to say why. */
static void look_into(const struct loaded *l, const struct candidate *candidate,
                      const struct sketch *sketch, struct result *r)
{
    const struct explain_input in = { l->c,      l->answer, l->exact,
                                      candidate, sketch,    r };
    struct assay_error err;
    if (r->verdict != VERDICT_PASS && explain(&in, &r->why, &err) != ASSAY_OK)
        text_append(r->notes, sizeof r->notes, "%snot looked into: %s",
                    r->notes[0] ? "; " : "", err.text);
}

static enum assay_status judge_one(struct validate *v, const struct loaded *l,
                                   const struct candidate *candidate,
                                   struct result *r, struct assay_error *err)
{
    const struct yardstick against = { &l->c->problem, l->answer, l->exact,
                                       l->c };
    struct limit limits[GATES];
    struct sketch sketch;
    enum assay_status st = sketch_make(&against, candidate, &sketch, err);
    if (st != ASSAY_OK)
        return st;
    limits_of(v->limits, r, limits);
    st = judge_sketch(&sketch, limits, r, err);
    if (st == ASSAY_OK)
        look_into(l, candidate, &sketch, r);
    if (st == ASSAY_OK)
        finish(v, r, &sketch);
    if (st == ASSAY_OK && v->o->rows)
        st = result_keep_rows(r, &sketch, err);
    else if (st == ASSAY_OK && report_format_has_pictures(v->o->format))
        st = result_keep_picture(r, &sketch, err);
    sketch_free(&sketch);
    return st;
}

/* One kernel on one case with one kind of input. */
static enum assay_status run_one(struct validate *v, const struct loaded *l,
                                 size_t kernel, unsigned input,
                                 struct assay_error *err)
{
    const struct driver_kernel *k = &v->driver.info->kernels[kernel];
    const struct assay_recipe *recipe = l->answer->recipe;
    const char *form = assay_softmax_get(recipe->softmax)->name;
    struct candidate candidate;
    struct result *r;
    bool ran;
    enum assay_status st = new_result(v, l->c, recipe, &r, err);
    if (st != ASSAY_OK)
        return st;
    memcpy(r->kernel, k->name, sizeof r->kernel);
    r->input = driver_input_name(input);
    r->verdict = VERDICT_NOT_RUN;
    if (k->softmax_form[0] && strcmp(k->softmax_form, form) != 0) {
        snprintf(r->reason, sizeof r->reason,
                 "the kernel's softmax form is %.31s, the set's answers are "
                 "for %s",
                 k->softmax_form, form);
        finish(v, r, NULL);
        return ASSAY_OK;
    }
    int64_t total = v->cases * v->runs_per_case;
    progress_step(&v->progress, v->runs < total ? v->runs : total, total);
    struct driver_run run = { .kernel = kernel,
                              .input = input,
                              .c = l->c,
                              .answer = l->answer,
                              .timeout_s = v->o->timeout_s };
    st = run_repeatedly(v, &run, &ran, &candidate, r, err);
    if (st == ASSAY_OK && ran)
        st = judge_one(v, l, &candidate, r, err);
    else if (st == ASSAY_OK)
        finish(v, r, NULL);
    candidate_free(&candidate);
    return st;
}

/* Results that no report knows yet. */
static void tell(struct validate *v)
{
    v->report.results = v->results;
    v->report.count = v->count;
    while (v->told < v->count)
        report_file_one(&v->file, &v->report, &v->results[v->told++]);
}

/* What the driver has instead. */
static void say_no_kernel(const struct validate *v, char *text, size_t size)
{
    int at = snprintf(text, size,
                      "%s %.40s has no such kernel (or --kernel and "
                      "--input leave it out); it has",
                      driver_get(v->driver.kind)->name, v->driver.info->name);
    for (size_t k = 0; k < v->driver.info->count; k++)
        if (at > 0 && (size_t)at < size)
            at += snprintf(text + at, size - (size_t)at, "%s %s for %s",
                           k ? "," : "", v->driver.info->kernels[k].name,
                           v->driver.info->kernels[k].recipe);
}

/* Every kernel for the answer's recipe. */
static enum assay_status run_recipe(struct validate *v, const struct loaded *l,
                                    struct assay_error *err)
{
    static const unsigned kinds[] = { ASSAY_KERNEL_RAW, ASSAY_KERNEL_PACKED,
                                      DRIVER_INPUT_SAVED };
    const struct assay_recipe *recipe = l->answer->recipe;
    struct result *r;
    size_t before = v->count;
    enum assay_status st = ASSAY_OK;
    for (size_t k = 0; k < v->driver.info->count; k++) {
        const struct driver_kernel *kernel = &v->driver.info->kernels[k];
        if ((strcmp(kernel->recipe, "*") != 0 &&
             strcmp(kernel->recipe, recipe->name) != 0) ||
            !select_has(v->o->kernel, kernel->name))
            continue;
        for (int i = 0; st == ASSAY_OK && i < 3; i++)
            if (kernel->inputs & v->o->inputs & kinds[i])
                if ((st = run_one(v, l, k, kinds[i], err)) == ASSAY_OK)
                    tell(v);
    }
    if (st == ASSAY_OK && v->count == before &&
        (st = new_result(v, l->c, recipe, &r, err)) == ASSAY_OK) {
        r->verdict = VERDICT_UNSUPPORTED;
        say_no_kernel(v, r->reason, sizeof r->reason);
        finish(v, r, NULL);
        tell(v);
    }
    return st;
}

static enum assay_status run_answers(struct validate *v, size_t i,
                                     const struct assay_case *c,
                                     const struct assay_exact *exact,
                                     struct assay_error *err)
{
    const struct assay_recipe **recipes;
    size_t n;
    enum assay_status st = assay_set_recipes(v->set, i, &recipes, &n, err);
    for (size_t r = 0; st == ASSAY_OK && r < n; r++) {
        struct assay_answer answer;
        if (!select_has_recipe(v->o->recipe, recipes[r]->name,
                               assay_softmax_get(recipes[r]->softmax)->name))
            continue;
        st = assay_set_read_answer(v->set, i, &c->problem, recipes[r], &answer,
                                   err);
        if (st == ASSAY_OK && (v->o->inputs & ASSAY_KERNEL_PACKED))
            st = assay_answer_lse_shift(c, &answer, err);
        if (st == ASSAY_OK)
            st = run_recipe(v, &(struct loaded){ c, exact, &answer }, err);
        assay_answer_free(&answer);
    }
    free(recipes);
    return st;
}

static enum assay_status run_set_case(struct validate *v, size_t i,
                                      struct assay_error *err)
{
    struct assay_case c;
    struct assay_exact exact;
    enum assay_status st = assay_set_read_case(v->set, i, &c, err);
    if (st != ASSAY_OK)
        return st;
    st = assay_set_read_exact(v->set, i, &c.problem, &exact, err);
    if (st == ASSAY_OK)
        st = run_answers(v, i, &c, &exact, err);
    assay_exact_free(&exact);
    assay_case_free(&c);
    return st;
}

static enum assay_status check_selections(struct validate *v,
                                          struct assay_error *err)
{
    size_t n = assay_set_count(v->set),
           most = n > v->driver.info->count ? n : v->driver.info->count;
    const char **names = calloc(most + 1, sizeof *names);
    if (!names)
        return assay_fail(err, ASSAY_MEMORY, "no memory for names");
    for (size_t i = 0; i < n; i++) {
        names[i] = assay_set_case_name(v->set, i);
        v->cases += select_has(v->o->cases, names[i]);
    }
    enum assay_status st = select_check(v->o->cases, "case", names, n, err);
    for (size_t i = 0; i < v->driver.info->count; i++)
        names[i] = v->driver.info->kernels[i].name;
    if (st == ASSAY_OK)
        st = select_check(v->o->kernel, "kernel", names, v->driver.info->count,
                          err);
    free(names);
    return st == ASSAY_OK ? select_check_set(v->o->recipe, v->set, err) : st;
}

/* An output must not replace what is read. */
static enum assay_status check_outputs(const struct validate *v,
                                       struct assay_error *err)
{
    const struct options *o = v->o;
    const char *const inputs[] = { o->file, v->driver.info->path,
                                   o->limits.path, o->quarantine };
    enum assay_status st = temp_file_check_inputs(o->out, inputs, 4, err);
    return st == ASSAY_OK ? temp_file_check_inputs(o->record, inputs, 4, err)
                          : st;
}

static enum assay_status begin_record(struct validate *v,
                                      struct assay_error *err)
{
    return v->o->record
               ? record_begin(v->o->record, &v->report, &v->record, err)
               : ASSAY_OK;
}

/* A program tells where it ran when it has run. */
static void end_record(struct validate *v)
{
    const struct driver_info *info = v->driver.info;
    struct run_file_writer *w = v->record;
    v->record = NULL;
    if (!w)
        return;
    if (run_file_tell_module(w, info->build, info->where, &v->no_record) ==
        ASSAY_OK)
        run_file_commit(w, &v->no_record);
    else
        run_file_abandon(w);
}

static enum assay_status begin_report(struct validate *v,
                                      struct assay_error *err)
{
    v->report = (struct report){ .verb = "validate",
                                 .set_path = v->o->file,
                                 .set_hash = assay_set_hash(v->set),
                                 .driver = v->driver.kind,
                                 .driver_option = v->o->driver_option,
                                 .layout_option = v->o->layout,
                                 .device_option = v->o->device,
                                 .timeout_option = v->o->timeout,
                                 .quarantine_option = v->o->quarantine,
                                 .limits = v->limits,
                                 .runs = v->o->runs,
                                 .module = v->driver.info };
    v->file = (struct report_file){ .format = v->o->format, .path = v->o->out };
    report_run_fill(&v->report, v->set, v->command);
    v->command = NULL;
    return report_file_begin(&v->file, &v->report, err);
}

/* Counts go to stderr where stdout does not end in them for people. */
static void say_counts(const struct validate *v)
{
    char counts[256];
    if (!v->o->out && v->o->format == report_format_get(0))
        return;
    report_counts(&v->report, counts, sizeof counts);
    fprintf(stderr, "%s\n", counts);
}

static enum assay_status bind_driver(struct validate *v,
                                     struct assay_error *err)
{
    const struct driver_binding b = { v->set, v->o->cases, v->o->recipe,
                                      v->o->layout };
    return v->driver.bind ? v->driver.bind(&v->driver, &b, err) : ASSAY_OK;
}

/* Verdicts are told, whatever became of the files they were to be in. */
static enum assay_status end(struct validate *v, int *code,
                             struct assay_error *err)
{
    end_record(v);
    *code = report_exit(&v->report);
    enum assay_status st = report_file_end(&v->file, &v->report, err);
    report_unused(&v->report, &v->quarantine);
    if (st == ASSAY_OK)
        say_counts(v);
    if (v->no_record.status == ASSAY_OK)
        return st;
    if (st != ASSAY_OK)
        verb_say("validate", err->text);
    *err = v->no_record;
    return err->status;
}

static enum assay_status validate(struct validate *v, int *code,
                                  struct assay_error *err)
{
    enum assay_status st;
    if ((st = assay_set_open(v->o->file, &v->set, err)) != ASSAY_OK ||
        (st = limits_load(v->limits, v->set, err)) != ASSAY_OK ||
        (v->o->quarantine &&
         (st = quarantine_read(v->o->quarantine, &v->quarantine, err)) !=
             ASSAY_OK) ||
        (st = driver_open(v->o->driver, v->o->driver_option, v->o->device,
                          v->o->timeout_s, &v->driver, err)) != ASSAY_OK ||
        (st = bind_driver(v, err)) != ASSAY_OK ||
        (st = check_outputs(v, err)) != ASSAY_OK ||
        (st = check_selections(v, err)) != ASSAY_OK ||
        (st = begin_report(v, err)) != ASSAY_OK ||
        (st = begin_record(v, err)) != ASSAY_OK)
        return st;
    for (size_t k = 0; k < v->driver.info->count; k++)
        if (select_has_recipe(v->o->recipe, v->driver.info->kernels[k].recipe,
                              v->driver.info->kernels[k].softmax_form) &&
            select_has(v->o->kernel, v->driver.info->kernels[k].name))
            v->runs_per_case += __builtin_popcount(
                v->driver.info->kernels[k].inputs & v->o->inputs);
    v->driver.memory_limit = v->o->memory_limit;
    progress_begin(&v->progress, v->driver.info->name);
    for (size_t i = 0; st == ASSAY_OK && i < assay_set_count(v->set); i++)
        if (select_has(v->o->cases, assay_set_case_name(v->set, i)))
            st = run_set_case(v, i, err);
    progress_end(&v->progress);
    return st == ASSAY_OK ? end(v, code, err) : st;
}

int verb_validate(int argc, char **argv)
{
    struct options o = { .inputs = DRIVER_INPUTS,
                         .timeout_s = 120,
                         .format = report_format_get(0),
                         .runs = 1 };
    struct validate v = { .o = &o,
                          .command = report_command("validate", argc, argv) };
    struct assay_error err;
    int code = 0;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    v.limits = &o.limits;
    enum assay_status st = validate(&v, &code, &err);
    code = st == ASSAY_OK ? verb_end("validate", code)
                          : verb_fail("validate", &err);
    report_file_close(&v.file);
    report_run_free(&v.report);
    free(v.command);
    for (size_t i = 0; i < v.count; i++)
        result_free(&v.results[i]);
    free(v.results);
    run_file_abandon(v.record);
    limits_free(v.limits);
    quarantine_free(&v.quarantine);
    driver_close(&v.driver);
    assay_set_close(v.set);
    return code;
}
