/* SPDX-License-Identifier: MIT */
#include "validate/device.h"

#include <string.h>
#include <sys/mman.h>

/* Wide unmapped gaps on both sides turn a wild access into a crash; the guard
 * bands inside catch what falls short of them. `bytes` is whole pages. */
static void *host_alloc(size_t bytes)
{
    const size_t gap = (size_t)16 << 20;
    size_t size;
    if (__builtin_add_overflow(bytes, 2 * gap, &size))
        return NULL;
    char *all = mmap(NULL, size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    if (bytes > 0 && mprotect(all + gap, bytes, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    return all + gap;
}

static bool host_fill(void *at, int byte, size_t bytes)
{
    memset(at, byte, bytes);
    return true;
}

static bool host_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return true;
}

static bool host_wait(void)
{
    return true;
}

static const struct device devices[] = {
    { ASSAY_KERNEL_HOST, "host", host_alloc, host_fill, host_copy, host_copy,
      host_wait },
};

const struct device *device_find(enum assay_kernel_device kind)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (devices[i].kind == kind)
            return &devices[i];
    return NULL;
}

const char *device_name(enum assay_kernel_device kind)
{
    switch (kind) {
    case ASSAY_KERNEL_HOST: return "host";
    case ASSAY_KERNEL_HIP: return "hip";
    case ASSAY_KERNEL_CUDA: return "cuda";
    }
    return "unknown";
}
