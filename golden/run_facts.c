/* SPDX-License-Identifier: MIT */
#include "golden/run_facts.h"

#include <stddef.h>
#include <string.h>

static bool is_one_of(const char *fact, const char *const list[], size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(fact, list[i]) != 0)
        i++;
    return i < n;
}

static bool may_differ(bool program, const struct run_facts_other *fact)
{
    static const char *const always[] = { "set", "set_command", "module",
                                          "limits_file_name" },
                             *const of_programs[] = { "module_device",
                                                      "module_name" };
    if (is_one_of(fact->key, always, sizeof always / sizeof *always))
        return true;
    if (!program) /* of a file its bytes count */
        return strcmp(fact->key, "driver_option") == 0;
    if (strcmp(fact->key, "module_build") == 0) /* told, or not yet */
        return !fact->a[0] || !fact->b[0];
    return is_one_of(fact->key, of_programs,
                     sizeof of_programs / sizeof *of_programs);
}

bool run_facts_differ(const struct run_facts *a, const struct run_facts *b,
                      struct run_facts_other *out)
{
    const struct run_facts_other all[] = {
#define RUN_FACT(member, needed) \
    { #member, a->member ? a->member : "", b->member ? b->member : "" },
#include "golden/run_fact.def"
#undef RUN_FACT
    };
    const bool program = !a->module_hash && !b->module_hash;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].a, all[i].b) != 0 && !may_differ(program, &all[i])) {
            *out = all[i];
            return true;
        }
    return false;
}
