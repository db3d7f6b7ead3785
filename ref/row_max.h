/* SPDX-License-Identifier: MIT
 *
 * Private: the largest of a row of REAL, which the includer defines.
 */

/* Lanes fix the order of a reduction, whatever registers the compiler uses.
 * A NaN never wins here; it reaches the result through the sum of P. */
ASSAY_CLONES
static REAL row_max(int64_t n, const REAL *restrict x)
{
    REAL lane[16], top = -INFINITY;
    int64_t j = 0;
    for (int u = 0; u < 16; u++)
        lane[u] = -INFINITY;
    for (; j + 16 <= n; j += 16)
        for (int u = 0; u < 16; u++)
            lane[u] = x[j + u] > lane[u] ? x[j + u] : lane[u];
    for (; j < n; j++)
        top = x[j] > top ? x[j] : top;
    for (int u = 0; u < 16; u++)
        top = lane[u] > top ? lane[u] : top;
    return top;
}
