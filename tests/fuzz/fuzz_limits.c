/* SPDX-License-Identifier: MIT
 *
 * Files of limits: golden/limits.h, and what validate/limits.h makes of them.
 * The text that is kept for a set is read the same.
 */
#include <math.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "validate/limits.h"

static uint64_t digest_of(const struct limits_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct limits_entry *e = &list->entries[i];
        fuzz_touch_text(e->gate);
        fuzz_touch_text(e->recipe);
        fuzz_touch_text(e->cases);
        fuzz_touch_text(e->kernel);
        fuzz_touch(&e->limit, sizeof e->limit);
        fuzz_touch_text(e->reason);
        fuzz_touch_text(e->date);
    }
    return fuzz_digest();
}

/* The limits of a result, as a run and a report use them. */
static void as_limits(const char *path)
{
    char name[] = "lm.h3";
    struct result result = { .case_name = name,
                             .recipe = assay_recipe_find("mxfp4"),
                             .kernel = "attention.mxfp4" };
    struct limits limits = { .path = path };
    struct limit out[GATES];
    struct assay_error err;
    for (int g = 0; g < GATES; g++)
        limits.command[g] = NAN;
    enum assay_status st = limits_load(&limits, NULL, &err);
    fuzz_check_refusal(st, &err);
    if (st == ASSAY_OK) {
        limits_of(&limits, &result, out);
        for (int g = 0; g < GATES; g++) {
            char word[LIMITS_WORD];
            limits_word((enum gate)g, out[g].value, word);
            fuzz_touch_text(word);
            fuzz_touch_text(out[g].reason);
            fuzz_touch_text(out[g].date);
        }
    }
    limits_free(&limits);
    fuzz_digest();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("in.json", data, size);
    struct limits_list list, again;
    struct assay_error err;
    enum assay_status st = limits_read(path, &list, &err);
    fuzz_check_refusal(st, &err);
    as_limits(path);
    if (st == ASSAY_OK) {
        fuzz_require_ok(limits_parse("again", list.text, &again, &err), &err);
        fuzz_require(digest_of(&list) == digest_of(&again),
                     "limits came back changed");
        limits_list_free(&again);
    }
    limits_list_free(&list);
    return 0;
}
