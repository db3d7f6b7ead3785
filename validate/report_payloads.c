/* SPDX-License-Identifier: MIT
 *
 * What quantizers delivered: a line for codes and scales that differ, by how
 * many steps, and what gives them.
 */
#include <inttypes.h>

#include "golden/sheet.h"
#include "golden/term.h"
#include "validate/judge.h"
#include "validate/report.h"

static bool has_payload(const struct result *r)
{
    bool any = false;
    for (int i = 0; r->judged && i < ASSAY_INPUTS; i++)
        any |= r->payload[i].there;
    return any;
}

static double differ_of(const struct result *r)
{
    double sum = 0;
    for (int i = 0; i < ASSAY_INPUTS; i++)
        sum += scale_bytes_differ(&r->payload[i]);
    return sum;
}

static void count_cell(struct sheet *s, int64_t n)
{
    if (n > 0)
        sheet_cell(s, "%" PRId64, n);
    else
        sheet_cell(s, "-");
}

/* "scale rule floor, not even: 100 %" */
static void reading_cell(struct sheet *s, const struct scale_bytes *b)
{
    if (b->looks_like[0])
        sheet_cell(s, "%s: %.4g %%", b->looks_like,
                   100 * scale_bytes_explains(b));
    else
        sheet_cell(s, "-");
}

static void put_row(struct sheet *s, const struct result *r, int input,
                    enum byte_kind kind)
{
    const struct scale_bytes *b = &r->payload[input];
    const struct byte_steps *n = &b->steps[kind];
    sheet_cell(s, "%s", r->case_name);
    sheet_cell(s, "%s", r->recipe->name);
    sheet_cell(s, "%s", r->kernel);
    sheet_cell(s, "%s %ss", assay_input_name((enum assay_input)input),
               byte_kind_name(kind));
    sheet_cell(s, "%" PRId64, n->count);
    sheet_cell(s, "%.3g", 100 * (double)n->differ / (double)n->count);
    sheet_colour(s, COLOUR_BAD);
    for (int i = 0; i < STEP_BINS; i++)
        if (i != STEPS_MOST)
            count_cell(s, n->bins[i]);
    count_cell(s, n->signs);
    count_cell(s, n->classes);
    reading_cell(s, b);
}

static bool put_table(const struct report *r, const struct sheet_to *to,
                      const char *title)
{
    static const struct column columns[] = {
        { "CASE", COLUMN_LONG },
        { "RECIPE", COLUMN_TEXT },
        { "QUANTIZER", COLUMN_LONG },
        { "OF", COLUMN_TEXT },
        { "COUNT", COLUMN_NUMBER },
        { "DIFFER %", COLUMN_NUMBER },
        { "-4", COLUMN_NUMBER },
        { "-3", COLUMN_NUMBER },
        { "-2", COLUMN_NUMBER },
        { "-1", COLUMN_NUMBER },
        { "+1", COLUMN_NUMBER },
        { "+2", COLUMN_NUMBER },
        { "+3", COLUMN_NUMBER },
        { "+4", COLUMN_NUMBER },
        { "SIGN", COLUMN_EXTRA | COLUMN_NUMBER },
        { "CLASS", COLUMN_EXTRA | COLUMN_NUMBER },
        { "EXPLAINED BY", COLUMN_PROSE },
    };
    _Static_assert(STEPS_MOST == 4, "names of columns");
    struct sheet s;
    sheet_open(&s, to, title, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < r->count; i++)
        for (int input = 0; has_payload(&r->results[i]) && input < ASSAY_INPUTS;
             input++)
            for (int k = 0; k < BYTE_KINDS; k++)
                if (r->results[i].payload[input].steps[k].differ > 0)
                    put_row(&s, &r->results[i], input, (enum byte_kind)k);
    return sheet_end(&s);
}

bool report_payloads(const struct report *r, const struct sheet_to *to)
{
    size_t differ = 0;
    for (size_t i = 0; i < r->count; i++)
        differ += has_payload(&r->results[i]) && differ_of(&r->results[i]) > 0;
    if (differ == 0)
        return true;
    return put_table(r, to,
                     to->html       ? NULL
                     : to->markdown ? "Codes and scales that differ"
                                    : "codes and scales that differ, by steps "
                                      "of their format (-4, +4: or more)");
}

bool report_payload_counts(const struct report *r, char *text, size_t size)
{
    size_t all = 0, differ = 0, no_o = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct result *one = &r->results[i];
        all += has_payload(one);
        differ += has_payload(one) && differ_of(one) > 0;
        no_o += one->judged && one->no_o;
    }
    text[0] = '\0';
    if (all > 0)
        text_append(text, size,
                    "codes and scales of %zu result%s are judged, %zu equal to "
                    "the byte",
                    all, all == 1 ? "" : "s", all - differ);
    if (no_o > 0)
        text_append(text, size,
                    "; %zu delivered no O, whose figures are of what a perfect "
                    "kernel makes of the bytes",
                    no_o);
    return all > 0;
}
