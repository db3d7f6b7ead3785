/* SPDX-License-Identifier: MIT
 *
 * assay probe: what no single comparison sees.
 */
#include <stdlib.h>
#include <string.h>

#include "golden/names.h"
#include "golden/select.h"
#include "golden/term.h"
#include "golden/verb.h"
#include "validate/memory_limit.h"
#include "validate/probe_report.h"

struct options {
    const char *file, *module, *device, *probe, *recipe, *cases, *kernel;
    enum probe_format format;
    double timeout_s;
    size_t memory_limit; /* 0: the default */
    long runs;
};

enum {
    KEY_MODULE = 256,
    KEY_DEVICE,
    KEY_PROBE,
    KEY_RECIPE,
    KEY_CASE,
    KEY_KERNEL,
    KEY_RUNS,
    KEY_TIMEOUT,
    KEY_MEMORY_LIMIT,
    KEY_FORMAT
};

static const struct argp_option keys[] = {
    { "module", KEY_MODULE, "FILE.so", 0,
      "kernel module; default the built-in one of --device", 0 },
    { "device", KEY_DEVICE, "KIND[:N]", 0,
      "host, hip or cuda, and which of them; default the module's kind", 0 },
    { "probe", KEY_PROBE, "LIST", 0, "only these probes, names and globs", 0 },
    { "recipe", KEY_RECIPE, "LIST", 0,
      "only these recipes of the set, names, globs, or NAME@FORM", 0 },
    { "case", KEY_CASE, "LIST", 0, "only these cases, names and globs", 0 },
    { "kernel", KEY_KERNEL, "LIST", 0, "only these kernels, names and globs",
      0 },
    { "runs", KEY_RUNS, "N", 0,
      "of a kernel on a case, where a probe repeats it; default 5", 0 },
    { "timeout", KEY_TIMEOUT, "S", 0,
      "seconds until a kernel counts as hung; default 120", 0 },
    { "memory-limit", KEY_MEMORY_LIMIT, "SIZE", 0,
      "bytes that a module for the host may take, as 512M or 8G; default 4G "
      "and 32 times the case's buffers",
      0 },
    { "format", KEY_FORMAT, "table|json|csv|markdown", 0, "default table", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case KEY_MODULE: o->module = arg; break;
    case KEY_DEVICE: o->device = arg; break;
    case KEY_PROBE: o->probe = arg; break;
    case KEY_RECIPE: o->recipe = strcmp(arg, "all") == 0 ? "*" : arg; break;
    case KEY_CASE: o->cases = arg; break;
    case KEY_KERNEL: o->kernel = arg; break;
    case KEY_RUNS:
        o->runs = verb_integer(state, "--runs", arg, 2, 1000000);
        break;
    case KEY_TIMEOUT:
        o->timeout_s = verb_number(state, "--timeout", arg);
        if (!(o->timeout_s > 0))
            argp_error(state, "--timeout takes more than 0 seconds");
        break;
    case KEY_MEMORY_LIMIT:
        o->memory_limit = memory_limit_parse(state, arg);
        break;
    case KEY_FORMAT:
        o->format = (enum probe_format)verb_word(
            state, "--format", arg, probe_format_names, PROBE_FORMATS);
        break;
    default: return verb_one_set(key, arg, state, &o->file);
    }
    return 0;
}

static const struct argp argp = {
    keys,
    parse,
    "SET.h5",
    "Looks for faults of a module's kernels that no single comparison sees: "
    "each kernel runs on each case of a golden set some times, under "
    "conditions that must not matter. What `assay validate` rejects need not "
    "show here.\v"
    "Probes:\n"
#define ASSAY_PROBE(id, name, about) "  " #name ": " about "\n"
#include "validate/probe.def"
#undef ASSAY_PROBE
    "\nExit status 0: nothing was found; 1: something was; 2: usage or a bad "
    "file; 3: nothing was found and a kernel crashed or hung; 77: nothing "
    "ran.\n\n"
    "Example:\n"
    "  assay probe heads.h5 --module ./mykernel.so\n"
    "  assay probe heads.h5 --probe determinism --runs 100 --recipe 'mxfp*'",
    NULL,
    NULL,
    NULL
};

static const char *const probe_words[] = {
#define ASSAY_PROBE(id, name, about) #name,
#include "validate/probe.def"
#undef ASSAY_PROBE
};
static const struct names probe_names = { "probe", PROBES, probe_words };

struct probing {
    const struct options *o;
    struct assay_set *set;
    struct driver driver;
    struct probe_finding *findings;
    size_t count, space;
    unsigned number;
    int64_t cases, cases_done; /* selected; done */
    struct progress progress;
};

static enum assay_status new_finding(struct probing *v,
                                     struct probe_finding **out,
                                     struct assay_error *err)
{
    if (v->count == v->space) {
        const size_t space = v->space ? 2 * v->space : 64;
        struct probe_finding *grown =
            realloc(v->findings, space * sizeof *grown);
        if (!grown)
            return assay_fail(err, ASSAY_MEMORY, "no memory for findings");
        v->findings = grown;
        v->space = space;
    }
    *out = &v->findings[v->count++];
    memset(*out, 0, sizeof **out);
    return ASSAY_OK;
}

/* Cases have other numbers of kernels, but of about the same order. */
static void step(struct probing *v, const struct probe_subject *s, int probe)
{
    const int64_t a_case = (int64_t)s->count * PROBES;
    progress_step(&v->progress,
                  v->cases_done * a_case + (int64_t)s->own * PROBES + probe,
                  v->cases * a_case);
}

/* All probes of one kernel on one case; that of graphs on the host where it is
 * asked for alone, to be told that there are none. */
static enum assay_status probe_subject(struct probing *v,
                                       const struct probe_subject *s,
                                       struct assay_error *err)
{
    const struct probe_kernel *k = &s->kernels[s->own];
    const bool on_host = v->driver.info->device == ASSAY_KERNEL_HOST;
    enum assay_status st = ASSAY_OK;
    for (int i = 0; st == ASSAY_OK && i < PROBES; i++) {
        struct probe_finding *f = NULL;
        if (!select_has(v->o->probe, probe_words[i]) ||
            (i == PROBE_GRAPH && !v->o->probe && on_host))
            continue;
        step(v, s, i);
        if ((st = new_finding(v, &f, err)) != ASSAY_OK)
            return st;
        f->probe = (enum probe_id)i;
        f->recipe = k->answer->recipe;
        f->input = driver_input_name(k->input);
        memcpy(f->kernel, v->driver.info->kernels[k->kernel].name,
               sizeof f->kernel);
        if (!(f->case_name = strdup(s->c->name)))
            return assay_fail(err, ASSAY_MEMORY, "no memory for a finding");
        st = probe_get(f->probe)->run(s, f, err);
    }
    return st;
}

static bool runs_on(const struct probing *v, const struct driver_kernel *k,
                    const struct assay_recipe *recipe)
{
    const char *form = assay_softmax_get(recipe->softmax)->name;
    return strcmp(k->recipe, recipe->name) == 0 &&
           (!k->softmax_form[0] || strcmp(k->softmax_form, form) == 0) &&
           select_has(v->o->kernel, k->name);
}

/* Every kernel and input for the answers of a case; free(*out). */
static enum assay_status find_kernels(const struct probing *v,
                                      const struct assay_answer *answers,
                                      size_t n, struct probe_kernel **out,
                                      size_t *count, struct assay_error *err)
{
    static const unsigned kinds[] = { ASSAY_KERNEL_RAW, ASSAY_KERNEL_PACKED };
    const struct driver_info *info = v->driver.info;
    *count = 0;
    *out = calloc(2 * n * info->count + 1, sizeof **out);
    if (!*out)
        return assay_fail(err, ASSAY_MEMORY, "no memory for kernels");
    for (size_t a = 0; a < n; a++)
        for (size_t k = 0; k < info->count; k++)
            for (int i = 0; i < 2; i++)
                if (runs_on(v, &info->kernels[k], answers[a].recipe) &&
                    info->kernels[k].inputs & kinds[i])
                    (*out)[(*count)++] =
                        (struct probe_kernel){ k, kinds[i], &answers[a] };
    return ASSAY_OK;
}

static enum assay_status probe_kernels(struct probing *v,
                                       const struct assay_case *c,
                                       const struct assay_exact *exact,
                                       const struct assay_answer *answers,
                                       size_t n, struct assay_error *err)
{
    struct probe_kernel *kernels;
    size_t count;
    enum assay_status st = find_kernels(v, answers, n, &kernels, &count, err);
    for (size_t i = 0; st == ASSAY_OK && i < count; i++) {
        const struct probe_subject s = { .driver = &v->driver,
                                         .c = c,
                                         .exact = exact,
                                         .kernels = kernels,
                                         .count = count,
                                         .own = i,
                                         .runs = v->o->runs,
                                         .timeout_s = v->o->timeout_s,
                                         .number = &v->number };
        st = probe_subject(v, &s, err);
    }
    free(kernels);
    return st;
}

/* All answers of a case at once: kernels of one recipe run between those of
 * another. */
static enum assay_status probe_answers(struct probing *v, size_t i,
                                       const struct assay_case *c,
                                       const struct assay_exact *exact,
                                       struct assay_error *err)
{
    const struct assay_recipe **recipes;
    size_t n = 0, have = 0;
    enum assay_status st = assay_set_recipes(v->set, i, &recipes, &n, err);
    if (st != ASSAY_OK)
        return st;
    struct assay_answer *answers = calloc(n + 1, sizeof *answers);
    if (!answers)
        st = assay_fail(err, ASSAY_MEMORY, "no memory for %zu answers", n);
    for (size_t r = 0; st == ASSAY_OK && r < n; r++) {
        if (!select_has_recipe(v->o->recipe, recipes[r]->name,
                               assay_softmax_get(recipes[r]->softmax)->name))
            continue;
        st = assay_set_read_answer(v->set, i, &c->problem, recipes[r],
                                   &answers[have++], err);
        if (st == ASSAY_OK)
            st = assay_answer_lse_shift(c, &answers[have - 1], err);
    }
    if (st == ASSAY_OK)
        st = probe_kernels(v, c, exact, answers, have, err);
    for (size_t r = 0; r < have; r++)
        assay_answer_free(&answers[r]);
    free(answers);
    free(recipes);
    return st;
}

static enum assay_status probe_case(struct probing *v, size_t i,
                                    struct assay_error *err)
{
    struct assay_case c;
    struct assay_exact exact = { 0 };
    const bool has_exact = assay_set_has_exact(v->set, i);
    enum assay_status st = assay_set_read_case(v->set, i, &c, err);
    if (st != ASSAY_OK)
        return st;
    if (has_exact)
        st = assay_set_read_exact(v->set, i, &c.problem, &exact, err);
    if (st == ASSAY_OK)
        st = probe_answers(v, i, &c, has_exact ? &exact : NULL, err);
    assay_exact_free(&exact);
    assay_case_free(&c);
    return st;
}

static enum assay_status check_selections(struct probing *v,
                                          struct assay_error *err)
{
    const size_t n = assay_set_count(v->set), kernels = v->driver.info->count;
    const char **names = calloc((n > kernels ? n : kernels) + 1, sizeof *names);
    if (!names)
        return assay_fail(err, ASSAY_MEMORY, "no memory for names");
    for (size_t i = 0; i < n; i++) {
        names[i] = assay_set_case_name(v->set, i);
        v->cases += select_has(v->o->cases, names[i]);
    }
    enum assay_status st = select_check(v->o->cases, "case", names, n, err);
    for (size_t i = 0; i < kernels; i++)
        names[i] = v->driver.info->kernels[i].name;
    if (st == ASSAY_OK)
        st = select_check(v->o->kernel, "kernel", names, kernels, err);
    free(names);
    return st == ASSAY_OK ? select_check_set(v->o->recipe, v->set, err) : st;
}

static enum assay_status probe(struct probing *v, int *code,
                               struct assay_error *err)
{
    const struct options *o = v->o;
    enum assay_status st;
    if ((o->probe &&
         (st = select_names(o->probe, &probe_names, err)) != ASSAY_OK) ||
        (st = assay_set_open(o->file, &v->set, err)) != ASSAY_OK ||
        (st = assay_set_need_answers(v->set, err)) != ASSAY_OK ||
        (st = driver_open(DRIVER_MODULE, o->module, o->device, o->timeout_s,
                          &v->driver, err)) != ASSAY_OK ||
        (st = check_selections(v, err)) != ASSAY_OK)
        return st;
    v->driver.memory_limit = o->memory_limit;
    progress_begin(&v->progress, v->driver.info->name);
    for (size_t i = 0; st == ASSAY_OK && i < assay_set_count(v->set); i++)
        if (select_has(o->cases, assay_set_case_name(v->set, i))) {
            st = probe_case(v, i, err);
            v->cases_done++;
        }
    progress_end(&v->progress);
    if (st != ASSAY_OK)
        return st;
    const struct probe_report report = { o->file, assay_set_hash(v->set),
                                         v->driver.info->name, v->findings,
                                         v->count };
    *code = probe_report_exit(&report);
    return probe_report_print(&report, o->format, err);
}

int verb_probe(int argc, char **argv)
{
    struct options o = { .timeout_s = 120, .runs = 5 };
    struct probing v = { .o = &o };
    struct assay_error err;
    int code = 0;
    verb_parse(&argp, argc, argv, &o);
    const enum assay_status st = probe(&v, &code, &err);
    code = st == ASSAY_OK ? verb_end("probe", code) : verb_fail("probe", &err);
    for (size_t i = 0; i < v.count; i++)
        free(v.findings[i].case_name);
    free(v.findings);
    driver_close(&v.driver);
    assay_set_close(v.set);
    return code;
}
