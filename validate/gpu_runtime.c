/* SPDX-License-Identifier: MIT */
#include "validate/gpu_runtime.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    enum assay_kernel_device kind;
    const char *file;
} libraries[] = {
#define GPU_LIBRARY(device, file) { ASSAY_KERNEL_##device, file },
#include "validate/gpu_library.def"
#undef GPU_LIBRARY
};

enum { LIBRARIES = sizeof libraries / sizeof *libraries };

static const char *const call_names[GPU_CALLS] = {
#define GPU_CALL(type, id, name, arguments) name,
#include "validate/gpu_call.def"
#undef GPU_CALL
};

static const bool may_lack[GPU_CALLS] = {
#define GPU_CALL(type, id, ...) [GPU_CALL_##id] = false,
#define GPU_CALL_MAY(type, id, ...) [GPU_CALL_##id] = true,
#include "validate/gpu_call.def"
#undef GPU_CALL
};

/* The loader's words, where they are about more than the file's absence. */
static bool is_absent(const char *file, const char *text)
{
    const size_t n = strlen(file);
    return strncmp(text, file, n) == 0 &&
           strstr(text + n, "No such file or directory") != NULL;
}

/* What a module has loaded already goes first: two runtimes in one process
 * would each keep errors of their own. */
static void *open_library(enum assay_kernel_device kind, const char **file,
                          char *why, size_t size)
{
    const char *first = NULL;
    why[0] = '\0';
    for (int flags = RTLD_NOW | RTLD_NOLOAD; flags; flags &= ~RTLD_NOLOAD) {
        const bool last = !(flags & RTLD_NOLOAD);
        for (int i = 0; i < LIBRARIES; i++) {
            if (libraries[i].kind != kind)
                continue;
            *file = libraries[i].file;
            void *library = dlopen(*file, flags | RTLD_LOCAL);
            if (library)
                return library;
            const char *text = dlerror();
            first = first ? first : *file;
            if (last && !why[0] && text && !is_absent(*file, text))
                snprintf(why, size, "%s", text);
        }
        if (last)
            break;
    }
    if (!why[0])
        snprintf(why, size, "%s: not found", first);
    return NULL;
}

/* Calls are function pointers one after another, in the order of the rows. */
static bool look_up(void *library, const char *prefix, const char *file,
                    struct gpu_runtime *r, char *why, size_t size)
{
    void *found[GPU_CALLS];
    for (int i = 0; i < GPU_CALLS; i++) {
        snprintf(r->names[i], sizeof r->names[i], "%s%s", prefix,
                 call_names[i]);
        found[i] = dlsym(library, r->names[i]);
        /* since HIP 6 the plain name is that of an older structure's */
        if (!found[i] && i == GPU_CALL_properties)
            found[i] = dlsym(library, "hipGetDevicePropertiesR0600");
        if (!found[i] && !may_lack[i]) {
            snprintf(why, size, "%s has no function %s", file, r->names[i]);
            return false;
        }
    }
#define GPU_CALL(type, id, ...) \
    memcpy(&r->id, &found[GPU_CALL_##id], sizeof r->id);
#include "validate/gpu_call.def"
#undef GPU_CALL
    return true;
}

const struct gpu_runtime *gpu_runtime_load(enum assay_kernel_device kind,
                                           char *why, size_t size)
{
    static struct gpu_runtime runtimes[2];
    const bool hip = kind == ASSAY_KERNEL_HIP;
    struct gpu_runtime *r = &runtimes[hip];
    const char *file;
    if (r->file[0])
        return r;
    void *library = open_library(kind, &file, why, size);
    if (!library || !look_up(library, hip ? "hip" : "cuda", file, r, why, size))
        return NULL;
    snprintf(r->file, sizeof r->file, "%s", file);
    return r;
}
