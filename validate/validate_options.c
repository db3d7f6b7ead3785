/* SPDX-License-Identifier: MIT
 *
 * The options of `assay validate`.
 */
#include "validate/validate_options.h"

#include <string.h>

#include "golden/verb.h"
#include "golden/run_parts.h"
#include "validate/jobs.h"
#include "validate/memory_limit.h"

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
    KEY_JOBS,
    KEY_RESUME,
    KEY_SKIP_CRASHED,
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
    { "jobs", KEY_JOBS, "N", 0,
      "run N kernels of a module for the host at a time; results come in the "
      "same order, times are those of a busy machine; default 1",
      0 },
    { "resume", KEY_RESUME, NULL, 0,
      "with -o RUN.h5: go on with a run that did not end, from what it left in "
      "RUN.h5" RUN_PARTS_SUFFIX ", a folder that judge, compare and show read "
      "too",
      0 },
    { "skip-crashed", KEY_SKIP_CRASHED, NULL, 0,
      "once a kernel has crashed or hung, do not run it on other cases", 0 },
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

static void pick_driver(struct argp_state *state, struct validate_options *o,
                        enum driver_kind kind, const char *what)
{
    if (o->driver_option && o->driver != kind)
        argp_error(state, "--%s and --%s: candidates come from one of them",
                   driver_get(o->driver)->name, driver_get(kind)->name);
    o->driver = kind;
    o->driver_option = what;
}

/* What there is to say of kernels alone, or of their outputs alone. */
static void check_saved(struct argp_state *state,
                        const struct validate_options *o)
{
    const bool saved = o->driver == DRIVER_OUTPUTS;
    const char *of_kernels = o->runs > 1       ? "repeat"
                             : o->timeout      ? "timeout"
                             : o->device       ? "device"
                             : o->memory_limit ? "memory-limit"
                             : o->skip_crashed ? "skip-crashed"
                             : o->jobs > 1     ? "jobs"
                                               : NULL;
    if (saved && of_kernels)
        argp_error(state,
                   "--%s is for kernels that run; --outputs has what "
                   "they left",
                   of_kernels);
    if (!saved && o->layout)
        argp_error(state, "--layout is for --outputs");
    if (o->resume && !o->record)
        argp_error(state, "--resume needs the record's name, -o RUN.h5");
    if (o->jobs > 1 && (o->driver != DRIVER_MODULE ||
                        (o->device && strcmp(o->device, "host") != 0)))
        argp_error(state, "--jobs is for modules for the host");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const inputs[] = { "raw", "packed", "saved" };
    struct validate_options *o = state->input;
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
        o->input = arg;
        o->inputs = 1u << verb_word(state, "--input", arg, inputs, 3);
        break;
    case KEY_TIMEOUT:
        o->timeout = arg;
        o->timeout_s = verb_number(state, "--timeout", arg);
        if (!(o->timeout_s > 0))
            argp_error(state, "--timeout takes more than 0 seconds");
        break;
    case KEY_MEMORY_LIMIT:
        o->memory_limit_text = arg;
        o->memory_limit = memory_limit_parse(state, arg);
        break;
    case KEY_REPEAT:
        o->runs = verb_integer(state, "--repeat", arg, 1, 1000000);
        break;
    case KEY_JOBS:
        o->jobs = (int)verb_integer(state, "--jobs", arg, 1, JOBS_MAX);
        break;
    case KEY_RESUME: o->resume = true; break;
    case KEY_SKIP_CRASHED: o->skip_crashed = true; break;
    case KEY_QUARANTINE: o->quarantine = arg; break;
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->limits; break;
    case KEY_FORMAT: o->format = report_format_parse(state, arg); break;
    case KEY_ROWS: o->rows = true; break;
    case 'o':
        verb_output(state, arg, is_record(arg) ? &o->record : &o->out);
        break;
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

const struct argp validate_argp = {
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
    "  assay validate heads.h5 -o run.h5\n"
    "  assay validate heads.h5 -o run.h5 --resume",
    children,
    NULL,
    NULL
};

struct validate_options validate_options_default(void)
{
    return (struct validate_options){ .inputs = DRIVER_INPUTS,
                                      .timeout_s = 120,
                                      .format = report_format_get(0),
                                      .runs = 1,
                                      .jobs = 1 };
}
