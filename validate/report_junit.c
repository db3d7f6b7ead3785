/* SPDX-License-Identifier: MIT
 *
 * Results as JUnit XML: a suite for each recipe. Only a pass is a pass: what
 * was wrong is a failure, what crashed or hung an error, and what did not run,
 * or failed as it was known to, is skipped.
 *
 * The elements are those that both the schema of Apache Ant's JUnit task
 * (windyroad/JUnit-Schema, JUnit.xsd) and that of Jenkins
 * (jenkinsci/xunit-plugin, junit-10.xsd) take. So suites have no attributes
 * for the run as a whole, timestamps no time zone, times of suites three
 * decimals, cases no output of their own, and every suite both of its outputs.
 */
#include <inttypes.h>
#include <libxml/chvalid.h>
#include <libxml/xmlwriter.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "golden/text.h"
#include "golden/utf8.h"
#include "golden/verb.h"
#include "validate/quarantine.h"
#include "validate/report_explain.h"

struct junit {
    const struct report *r;
    xmlTextWriterPtr to;
    bool failed;
};

static void check(struct junit *j, int status)
{
    j->failed |= status < 0;
}

/* A copy in which every byte that is no UTF-8 and every character that XML
 * forbids or that has no look of its own is a '?'; free(). */
static char *xml_text(const char *text)
{
    char *out = malloc(strlen(text) + 1), *to = out;
    while (out && *text) {
        int n = (int)strnlen(text, 4);
        int c = xmlGetUTF8Char((const unsigned char *)text, &n);
        if (c < 0 || !xmlIsCharQ((unsigned)c) ||
            (c >= 0x7f && utf8_hidden((uint32_t)c))) {
            *to++ = '?';
            text += c < 0 ? 1 : n;
            continue;
        }
        memcpy(to, text, (size_t)n);
        to += n;
        text += n;
    }
    if (out)
        *to = '\0';
    return out;
}

static void begin(struct junit *j, const char *element)
{
    check(j, xmlTextWriterStartElement(j->to, BAD_CAST element));
}

static void end(struct junit *j)
{
    check(j, xmlTextWriterEndElement(j->to));
}

static void attribute(struct junit *j, const char *name, const char *text)
{
    char *plain = xml_text(text);
    check(j, plain ? xmlTextWriterWriteAttribute(j->to, BAD_CAST name,
                                                 BAD_CAST plain)
                   : -1);
    free(plain);
}

static void content(struct junit *j, const char *text)
{
    char *plain = xml_text(text);
    check(j, plain ? xmlTextWriterWriteString(j->to, BAD_CAST plain) : -1);
    free(plain);
}

static void __attribute__((format(printf, 3, 4)))
attribute_printf(struct junit *j, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = text_new_args(format, args);
    va_end(args);
    check(j, text ? 0 : -1);
    if (text)
        attribute(j, name, text);
    free(text);
}

/* What CI makes of a verdict, by what it means for the program. */
enum outcome { PASSED, FAILURE, ERROR, SKIPPED, OUTCOMES };
static const char *const elements[] = { NULL, "failure", "error", "skipped" };

static enum outcome outcome_of(const struct result *one)
{
    if (result_is_known(one))
        return SKIPPED;
    switch (verdict_get(one->verdict)->code) {
    case 0: return PASSED;
    case EXIT_WRONG: return FAILURE;
    case EXIT_NOTHING_RAN: return SKIPPED;
    default: return ERROR;
    }
}

/* Decimals: XML Schema has no exponent and no NaN. */
static void time_attribute(struct junit *j, int decimals, double seconds)
{
    attribute_printf(j, "time", "%.*f", decimals,
                     isfinite(seconds) ? seconds : 0);
}

static void property(struct junit *j, const char *name, const char *value)
{
    begin(j, "property");
    attribute(j, "name", name);
    attribute(j, "value", value);
    end(j);
}

static void properties(struct junit *j)
{
    char *limits = report_limits(j->r);
    struct report_fact facts[REPORT_FACTS];
    report_facts(j->r, facts);
    begin(j, "properties");
    for (int i = 0; i < REPORT_FACTS; i++)
        property(j, facts[i].key, facts[i].text);
    if (limits)
        property(j, "limits", limits);
    end(j);
    free(limits);
}

/* What the gates found, and the command that shows it again. */
static char *details(const struct junit *j, const struct result *one)
{
    char *text = NULL, *line = report_repeat_line(j->r, one);
    size_t size;
    FILE *out = line ? open_memstream(&text, &size) : NULL;
    for (int i = 0; out && one->judged && i < GATES; i++) {
        const enum gate g = (enum gate)i;
        const struct gate_result *got = &one->gates[g];
        if (!report_gate_judged(one, g))
            continue;
        char numbers[80];
        text_print(numbers, sizeof numbers, "%.9g, limit %.9g", got->value,
                   report_gate_limit(one, g));
        fprintf(out, "%s %s: %s (%s)%s%s\n", gate_get(g)->name,
                got->pass ? "passed" : "failed", numbers,
                report_gate_limit_from(one, g), got->note[0] ? ": " : "",
                got->note);
    }
    if (out && one->judged)
        fprintf(out, "%" PRId64 " of %" PRId64 " heads fail%s\n",
                one->heads_failed, one->heads,
                one->heads_failed == 1 ? "s" : "");
    struct explained_line lines[EXPLAINED_LINES];
    for (size_t i = 0, n = report_explained(one->why, lines); out && i < n; i++)
        fprintf(out, "%s: %s\n", lines[i].name, lines[i].text);
    if (out)
        fprintf(out, "repeat: %s\n", line);
    free(line);
    if (out && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static void test_case(struct junit *j, const struct result *one)
{
    const enum outcome outcome = outcome_of(one);
    begin(j, "testcase");
    attribute_printf(j, "name", "%s%s%s%s%s", one->case_name,
                     one->kernel[0] ? " " : "", one->kernel,
                     one->input ? " " : "", one->input ? one->input : "");
    attribute_printf(j, "classname", "%s/%s", basename(j->r->set_path),
                     one->recipe->name);
    time_attribute(j, 9, report_seconds(one));
    if (outcome != PASSED) {
        char *text = outcome == SKIPPED ? strdup("") : details(j, one);
        begin(j, elements[outcome]);
        attribute(j, "type", verdict_get(one->verdict)->name);
        if (result_is_known(one))
            attribute_printf(j, "message", "known failure, %s (%s): %s",
                             one->known->tracker, one->known->reason,
                             one->reason);
        else
            attribute(j, "message", one->reason);
        check(j, text ? 0 : -1);
        if (text && *text)
            content(j, text);
        free(text);
        end(j);
    }
    end(j);
}

static void note(struct junit *j, const struct result *one, const char *text)
{
    content(j, one->case_name);
    content(j, ", ");
    content(j, one->kernel);
    content(j, ": ");
    content(j, text);
    content(j, "\n");
}

/* Notes, which are of results that passed too. */
static void outputs(struct junit *j, const struct assay_recipe *recipe)
{
    char text[512];
    begin(j, "system-out");
    for (size_t i = 0; i < j->r->count; i++) {
        const struct result *one = &j->r->results[i];
        if (one->recipe->id != recipe->id)
            continue;
        if (one->notes[0])
            note(j, one, one->notes);
        if (result_passed_unexpectedly(one)) {
            snprintf(text, sizeof text, "passed, but is a known failure, %s",
                     one->known->tracker);
            note(j, one, text);
        }
    }
    end(j);
    begin(j, "system-err");
    end(j);
}

static void suite_attributes(struct junit *j, const struct assay_recipe *recipe,
                             int id)
{
    const struct report_run *run = &j->r->run;
    const bool dated = strchr(run->date, 'T'); /* not "unknown" */
    int counts[OUTCOMES] = { 0 }, tests = 0;
    double seconds = 0;
    for (size_t i = 0; i < j->r->count; i++) {
        const struct result *one = &j->r->results[i];
        if (one->recipe->id != recipe->id)
            continue;
        tests++;
        counts[outcome_of(one)]++;
        seconds += isnan(report_seconds(one)) ? 0 : one->seconds;
    }
    attribute(j, "name", recipe->name);
    attribute(j, "package", basename(j->r->set_path));
    attribute_printf(j, "id", "%d", id);
    attribute(j, "hostname", run->host);
    attribute_printf(j, "timestamp", "%.19s",
                     dated ? run->date : "1970-01-01T00:00:00");
    attribute_printf(j, "tests", "%d", tests);
    attribute_printf(j, "failures", "%d", counts[FAILURE]);
    attribute_printf(j, "errors", "%d", counts[ERROR]);
    attribute_printf(j, "skipped", "%d", counts[SKIPPED]);
    time_attribute(j, 3, seconds);
}

static void suite(struct junit *j, const struct assay_recipe *recipe, int id)
{
    begin(j, "testsuite");
    suite_attributes(j, recipe, id);
    properties(j);
    for (size_t i = 0; i < j->r->count; i++)
        if (j->r->results[i].recipe->id == recipe->id)
            test_case(j, &j->r->results[i]);
    outputs(j, recipe);
    end(j);
}

static bool has_recipe(const struct report *r, int id)
{
    for (size_t i = 0; i < r->count; i++)
        if ((int)r->results[i].recipe->id == id)
            return true;
    return false;
}

bool report_junit(const struct report *r, FILE *out)
{
    xmlOutputBufferPtr buffer = xmlOutputBufferCreateFile(out, NULL);
    struct junit j = { .r = r };
    int suites = 0;
    if (!buffer || !(j.to = xmlNewTextWriter(buffer))) {
        if (buffer)
            xmlOutputBufferClose(buffer);
        return false;
    }
    check(&j, xmlTextWriterSetIndent(j.to, 1));
    check(&j, xmlTextWriterStartDocument(j.to, NULL, "UTF-8", NULL));
    begin(&j, "testsuites");
    for (int id = 0; id < assay_recipe_count(); id++)
        if (has_recipe(r, id))
            suite(&j, assay_recipe_get((enum assay_recipe_id)id), suites++);
    end(&j);
    check(&j, xmlTextWriterEndDocument(j.to));
    check(&j, xmlTextWriterFlush(j.to));
    xmlFreeTextWriter(j.to);
    return fflush(out) == 0 && !j.failed && !ferror(out);
}
