/* SPDX-License-Identifier: MIT
 *
 * A block with its E8M0 scale in real numbers, for tests: the columns of
 * assay/scale_rule.def written again, quotients compared exactly instead of
 * divided, elements by tests/format_oracle.c. Shares nothing with ref/.
 */
#ifndef BLOCK_ORACLE_H
#define BLOCK_ORACLE_H

#include <stddef.h>

#include "format_oracle.h"

struct block_rule;

/* NULL for an unknown name. */
const struct block_rule *block_rule_find(const char *name);
enum assay_rounding block_rule_rounding(const struct block_rule *rule);

/* Scale byte and codes of the n elements of one block, saturating; thresholds
 * are those of the format and of the rule's rounding. */
uint8_t block_oracle(const struct block_rule *rule, const struct oracle *o,
                     const float *thresholds, size_t n, const float *x,
                     uint8_t *codes);

#endif
