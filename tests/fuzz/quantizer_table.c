/* SPDX-License-Identifier: MIT
 *
 * As recipe_table.c, of quantizers.
 */
#include "ref/quantize.c"

#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

void fuzz_forget_quantizers(void)
{
    while (n_added > 0) {
        n_added--;
        free((void *)added[n_added].name);
        free((void *)added[n_added].operands);
        free((void *)added[n_added].about);
    }
}
