/* SPDX-License-Identifier: MIT
 *
 * Private: quantizers with E8M0 scales, the parts of assay_quantize(). `out`
 * has its format, tensor and codes.
 */
#ifndef ASSAY_QUANTIZE_BLOCKS_H
#define ASSAY_QUANTIZE_BLOCKS_H

#include "assay/quantize.h"

enum assay_status quantize_channels(const struct assay_quantizer *how,
                                    const float *x, struct assay_payload *out,
                                    struct assay_error *err);
enum assay_status quantize_tokens(const struct assay_quantizer *how,
                                  const float *x, struct assay_payload *out,
                                  struct assay_error *err);
void values_channels(const struct assay_payload *payload, float *values);
void values_tokens(const struct assay_payload *payload, float *values);

#endif
