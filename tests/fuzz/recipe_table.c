/* SPDX-License-Identifier: MIT
 *
 * The program's own table of recipes, in place of the library's, with a way to
 * empty what was added: one input must not change what the next one meets.
 */
#include "ref/recipe.c"

#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

void fuzz_forget_recipes(void)
{
    while (n_added > 0) {
        n_added--;
        free((void *)added[n_added].name);
        free((void *)added[n_added].about);
    }
}
