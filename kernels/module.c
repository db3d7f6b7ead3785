/* SPDX-License-Identifier: MIT
 *
 * The table of the module "assay-attention". It is C, apart from the device
 * code, since a constant table in a device source does not link. The build
 * says which device it is for, and with what it was compiled.
 */
#include "assay/kernel.h"

#define ASSAY_KERNEL(id, name, recipe, softmax_form, inputs, about)           \
    int assay_attention_##id##_supports(const struct assay_kernel_job *,      \
                                        char *, size_t);                      \
    size_t assay_attention_##id##_workspace_bytes(                            \
        const struct assay_kernel_job *);                                     \
    int assay_attention_##id##_launch(const struct assay_kernel_job *,        \
                                      char *, size_t);
#include "kernels.def"
#undef ASSAY_KERNEL

static const struct assay_kernel kernels[] = {
#define ASSAY_KERNEL(id, name, recipe, softmax_form, inputs, about)           \
    {name, recipe, softmax_form, about, inputs,                               \
     assay_attention_##id##_supports,                                         \
     assay_attention_##id##_workspace_bytes,                                  \
     assay_attention_##id##_launch},
#include "kernels.def"
#undef ASSAY_KERNEL
};

static const struct assay_kernel_module module = {
    .abi = ASSAY_KERNEL_ABI,
    .device = ASSAY_MODULE_DEVICE,
    .name = "assay-attention",
    .build = ASSAY_MODULE_BUILD,
    .kernel_size = sizeof kernels[0],
    .kernel_count = sizeof kernels / sizeof kernels[0],
    .kernels = kernels,
};

const struct assay_kernel_module *assay_module(void)
{
    return &module;
}
