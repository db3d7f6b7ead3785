/* SPDX-License-Identifier: MIT
 *
 * assay validate: candidates of a driver against a golden set.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "golden/temp_file.h"
#include "golden/temp_folder.h"
#include "golden/verb.h"
#include "validate/run_set.h"

struct validate {
    struct validate_options o;
    char *command; /* until the report has it */
    struct driver driver;
    struct report report;
    struct report_file file;
    struct quarantine quarantine;
    struct run_set run;
    struct temp_folder room; /* for what workers leave, where need be */
};

/* An output must not replace what is read. */
static enum assay_status check_outputs(const struct validate *v,
                                       struct assay_error *err)
{
    const struct validate_options *o = &v->o;
    const char *const inputs[] = { o->file, v->driver.info->path,
                                   o->limits.path, o->quarantine };
    enum assay_status st = temp_file_check_inputs(o->out, inputs, 4, err);
    if (st == ASSAY_OK)
        st = temp_file_check_inputs(o->record, inputs, 4, err);
    return st == ASSAY_OK ? temp_file_check_apart(o->out, o->record, err) : st;
}

/* Workers leave their results in a record; where none is asked for, in one that
 * goes with its folder. */
static enum assay_status begin_record(struct validate *v,
                                      struct assay_error *err)
{
    char path[PATH_MAX];
    if (v->o.record)
        return record_begin(v->o.record, &v->report, v->o.resume,
                            &v->run.record, err);
    if (v->o.jobs == 1)
        return ASSAY_OK;
    enum assay_status st = temp_folder_new(&v->room, err);
    if (st != ASSAY_OK)
        return st;
    snprintf(path, sizeof path, "%s/run.h5", v->room.path);
    return record_begin(path, &v->report, false, &v->run.record, err);
}

static void end_record(struct validate *v)
{
    struct record_writer *w = v->run.record;
    v->run.record = NULL;
    if (w && v->o.record)
        record_end(w, v->run.count, &v->run.no_record);
    else
        record_abandon(w);
    temp_folder_remove(&v->room);
}

static enum assay_status begin_report(struct validate *v,
                                      struct assay_error *err)
{
    v->report = (struct report){ .verb = "validate",
                                 .set_path = v->o.file,
                                 .set_hash = assay_set_hash(v->run.set),
                                 .driver = v->driver.kind,
                                 .driver_option = v->o.driver_option,
                                 .layout_option = v->o.layout,
                                 .device_option = v->o.device,
                                 .timeout_option = v->o.timeout,
                                 .quarantine_option = v->o.quarantine,
                                 .memory_limit_option = v->o.memory_limit_text,
                                 .selected = { v->o.cases, v->o.recipe,
                                               v->o.kernel, v->o.input },
                                 .skip_crashed = v->o.skip_crashed,
                                 .limits = &v->o.limits,
                                 .runs = v->o.runs,
                                 .module = v->driver.info };
    v->file = (struct report_file){ .format = v->o.format, .path = v->o.out };
    report_run_fill(&v->report, v->run.set, v->command);
    v->command = NULL;
    return report_file_begin(&v->file, &v->report, err);
}

/* Counts go to stderr where stdout does not end in them for people. */
static void say_counts(const struct validate *v)
{
    char counts[256];
    if (!v->o.out && v->o.format == report_format_get(0))
        return;
    report_counts(&v->report, counts, sizeof counts);
    fprintf(stderr, "%s\n", counts);
}

static enum assay_status bind_driver(struct validate *v,
                                     struct assay_error *err)
{
    const struct driver_binding b = { v->run.set, v->o.cases, v->o.recipe,
                                      v->o.layout };
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
    if (v->run.no_record.status == ASSAY_OK)
        return st;
    if (st != ASSAY_OK)
        verb_say("validate", err->text);
    *err = v->run.no_record;
    return err->status;
}

static enum assay_status validate(struct validate *v, int *code,
                                  struct assay_error *err)
{
    enum assay_status st;
    if ((st = assay_set_open(v->o.file, &v->run.set, err)) != ASSAY_OK ||
        (st = assay_set_need_answers(v->run.set, err)) != ASSAY_OK ||
        (st = limits_load(&v->o.limits, v->run.set, err)) != ASSAY_OK ||
        (v->o.quarantine &&
         (st = quarantine_read(v->o.quarantine, &v->quarantine, err)) !=
             ASSAY_OK) ||
        (st = driver_open(v->o.driver, v->o.driver_option, v->o.device,
                          v->o.timeout_s, &v->driver, err)) != ASSAY_OK ||
        (st = bind_driver(v, err)) != ASSAY_OK ||
        (st = check_outputs(v, err)) != ASSAY_OK ||
        (st = run_set_check(&v->run, err)) != ASSAY_OK ||
        (st = begin_report(v, err)) != ASSAY_OK ||
        (st = begin_record(v, err)) != ASSAY_OK)
        return st;
    v->driver.memory_limit = v->o.memory_limit;
    st = run_set(&v->run, err);
    return st == ASSAY_OK ? end(v, code, err) : st;
}

int verb_validate(int argc, char **argv)
{
    struct validate v = { .o = validate_options_default(),
                          .command = report_command("validate", argc, argv) };
    struct assay_error err;
    int code = 0;
    verb_parse(&validate_argp, argc, argv, &v.o);
    v.run = (struct run_set){ .o = &v.o,
                              .driver = &v.driver,
                              .quarantine = &v.quarantine,
                              .report = &v.report,
                              .file = &v.file };
    enum assay_status st = validate(&v, &code, &err);
    code = st == ASSAY_OK ? verb_end("validate", code)
                          : verb_fail("validate", &err);
    report_file_close(&v.file);
    report_run_free(&v.report);
    free(v.command);
    run_set_free(&v.run);
    record_abandon(v.run.record);
    temp_folder_remove(&v.room);
    limits_free(&v.o.limits);
    quarantine_free(&v.quarantine);
    driver_close(&v.driver);
    assay_set_close(v.run.set);
    return code;
}
