/* SPDX-License-Identifier: MIT
 *
 * A sketch as JSON, under the names that run records use.
 */
#ifndef ASSAY_RUN_JSON_H
#define ASSAY_RUN_JSON_H

#include "golden/json.h"
#include "golden/sketch.h"

/* {"rows/c_e": {"shape": [b, hq, nq, n], "columns": [...], "values": [...]},
 *  ..., "runs": 1, ..., "bits": "..."}; values in the order of memory. */
json_t *run_rows_json(const struct sketch *s);

/* {"k": {"scales": {"count": 4096, ...}, ..., "sentence": "..."}}: of operands
 * that were delivered. */
json_t *run_payload_json(const struct assay_recipe *recipe,
                         const struct assay_problem *p,
                         const struct scale_bytes payload[ASSAY_INPUTS]);

#endif
