/* SPDX-License-Identifier: MIT
 *
 * The table of the module "assay-faulty": every row of faulty.def once a
 * recipe. It is built for tests and not installed.
 */
#include "assay/kernel.h"

#define ASSAY_FAULT(id, about)                                                \
    int assay_faulty_##id##_bf16_supports(const struct assay_kernel_job *,    \
                                          char *, size_t);                    \
    int assay_faulty_##id##_bf16_launch(const struct assay_kernel_job *,      \
                                        char *, size_t);                      \
    int assay_faulty_##id##_e4m3_supports(const struct assay_kernel_job *,    \
                                          char *, size_t);                    \
    int assay_faulty_##id##_e4m3_launch(const struct assay_kernel_job *,      \
                                        char *, size_t);
#include "faulty.def"
#undef ASSAY_FAULT

size_t assay_faulty_bf16_workspace_bytes(const struct assay_kernel_job *);
size_t assay_faulty_e4m3_workspace_bytes(const struct assay_kernel_job *);

#define ROW(id, recipe, inputs, about)                                        \
    {#id "." #recipe, #recipe, "nominal", about, inputs,                      \
     assay_faulty_##id##_##recipe##_supports,                                 \
     assay_faulty_##recipe##_workspace_bytes,                                 \
     assay_faulty_##id##_##recipe##_launch},

static const struct assay_kernel kernels[] = {
#define ASSAY_FAULT(id, about)                                                \
    ROW(id, bf16, ASSAY_KERNEL_RAW, about)                                    \
    ROW(id, e4m3, ASSAY_KERNEL_RAW | ASSAY_KERNEL_PACKED, about)
#include "faulty.def"
#undef ASSAY_FAULT
};

static const struct assay_kernel_module module = {
    .abi = ASSAY_KERNEL_ABI,
    .device = ASSAY_KERNEL_HOST,
    .name = "assay-faulty",
    .build = ASSAY_MODULE_BUILD,
    .kernel_size = sizeof kernels[0],
    .kernel_count = sizeof kernels / sizeof kernels[0],
    .kernels = kernels,
};

const struct assay_kernel_module *assay_module(void)
{
    return &module;
}
