/* SPDX-License-Identifier: MIT
 *
 * Files of known failures: validate/quarantine.h.
 */
#include "tests/fuzz/fuzz.h"
#include "validate/quarantine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[] = "lm.h3";
    const char *path = fuzz_file("in.json", data, size);
    struct result result = { .case_name = name,
                             .recipe = assay_recipe_find("mxfp4"),
                             .verdict = VERDICT_WRONG,
                             .kernel = "attention.mxfp4" };
    struct quarantine q;
    struct assay_error err;
    enum assay_status st = quarantine_read(path, &q, &err);
    fuzz_check_refusal(st, &err);
    for (size_t i = 0; i < q.count; i++) {
        const struct quarantine_entry *e = &q.entries[i];
        fuzz_touch_text(e->kernel);
        fuzz_touch_text(e->cases);
        fuzz_touch_text(e->recipe);
        fuzz_touch_text(e->verdict);
        fuzz_touch_text(e->tracker);
        fuzz_touch_text(e->reason);
        fuzz_touch_text(e->date);
    }
    if (st == ASSAY_OK) {
        result.known = quarantine_find(&q, &result);
        fuzz_touch_int(result_is_known(&result));
    }
    quarantine_free(&q);
    fuzz_digest();
    return 0;
}
