/* SPDX-License-Identifier: MIT */
#include "validate/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/child.h"
#include "golden/term.h"
#include "validate/device.h"

static const char symbol[] = "assay_module";

const struct assay_kernel *module_kernel(const struct assay_kernel_module *m,
                                         size_t i)
{
    return (const struct assay_kernel *)((const char *)m->kernels +
                                         i * m->kernel_size);
}

static bool sound_kernel(const struct assay_kernel *k)
{
    return k->name && k->recipe && k->softmax_form && k->supports &&
           k->launch && (k->inputs & (ASSAY_KERNEL_RAW | ASSAY_KERNEL_PACKED));
}

/* Empty when the table can be used. */
static void check_table(const struct assay_kernel_module *m, char *why,
                        size_t size)
{
    why[0] = '\0';
    if (!m)
        snprintf(why, size, "%s() returned NULL", symbol);
    else if (m->abi != ASSAY_KERNEL_ABI)
        snprintf(why, size, "has kernel ABI %u, this program speaks %d",
                 (unsigned)m->abi, ASSAY_KERNEL_ABI);
    else if (m->kernel_size < sizeof(struct assay_kernel) ||
             m->kernel_size % sizeof(void *) != 0)
        snprintf(why, size, "has kernel rows of %zu bytes, ABI %d has %zu",
                 m->kernel_size, ASSAY_KERNEL_ABI, sizeof(struct assay_kernel));
    else if (!m->name || !m->kernels || m->kernel_count == 0 ||
             m->kernel_count > DRIVER_MAX_KERNELS)
        snprintf(why, size, "has no name or %zu kernels, 1 to %d are legal",
                 m->kernel_count, DRIVER_MAX_KERNELS);
    for (size_t i = 0; !why[0] && i < m->kernel_count; i++)
        if (!sound_kernel(module_kernel(m, i)))
            snprintf(why, size,
                     "has kernel %zu without name, recipe, softmax form, "
                     "inputs, supports or launch",
                     i);
}

const struct assay_kernel_module *module_load(const char *path, char *why,
                                              size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        size_t n = strlen(path); /* the loader puts the path first */
        if (strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0)
            text += n + 2;
        snprintf(why, size, "cannot be loaded: %s", text);
        return NULL;
    }
    const struct assay_kernel_module *(*entry)(void);
    *(void **)&entry = dlsym(library, symbol);
    if (!entry) {
        snprintf(why, size, "is no kernel module: it has no function %s()",
                 symbol);
        return NULL;
    }
    const struct assay_kernel_module *m = entry();
    check_table(m, why, size);
    return why[0] ? NULL : m;
}

struct asking {
    struct driver_info *info; /* shared */
    char *why;                /* shared */
    size_t why_bytes;
    bool *done; /* shared: a kernel may end the child in any way it likes */
};

/* Foreign text, fit for a terminal: no name may forge a line. */
static void copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%.*s", (int)size - 1, from ? from : "");
    term_plain(to);
}

static void ask(void *context)
{
    struct asking *a = context;
    struct driver_info *info = a->info;
    child_close_others(NULL, 0);
    const struct assay_kernel_module *m =
        module_load(info->path, a->why, a->why_bytes);
    if (!m)
        return;
    copy(info->name, sizeof info->name, m->name);
    copy(info->build, sizeof info->build, m->build);
    info->device = (enum assay_kernel_device)m->device;
    snprintf(info->where, sizeof info->where, "%s", device_name(info->device));
    for (size_t i = 0; i < m->kernel_count; i++) {
        const struct assay_kernel *k = module_kernel(m, i);
        struct driver_kernel *to = &info->kernels[i];
        copy(to->name, sizeof to->name, k->name);
        copy(to->recipe, sizeof to->recipe, k->recipe);
        copy(to->softmax_form, sizeof to->softmax_form, k->softmax_form);
        copy(to->about, sizeof to->about, k->about);
        to->quantizer = k->inputs & ASSAY_KERNEL_QUANTIZER;
        to->inputs = k->inputs &
                     (to->quantizer ? ASSAY_KERNEL_RAW
                                    : ASSAY_KERNEL_RAW | ASSAY_KERNEL_PACKED);
    }
    info->count = m->kernel_count;
    *a->done = true;
}

enum { WHY_BYTES = 512 };

struct shared {
    struct driver_info info;
    char why[WHY_BYTES];
    bool done;
};

static enum assay_status check_file(const char *path, char *full,
                                    struct assay_error *err)
{
    struct stat info;
    char real[PATH_MAX];
    if (!realpath(path, real) || stat(real, &info) != 0 ||
        access(real, R_OK) != 0)
        return assay_fail(err, ASSAY_FILE, "%s: cannot be opened: %s", path,
                          strerror(errno));
    if (!S_ISREG(info.st_mode))
        return assay_fail(err, ASSAY_FILE, "%s: is not a regular file", path);
    strcpy(full, real);
    return ASSAY_OK;
}

enum assay_status module_ask(const char *path, double timeout_s,
                             struct driver_info **out, struct assay_error *err)
{
    struct shared *shared;
    struct child_outcome end;
    char how[320];
    *out = NULL;
    enum assay_status st = child_share(sizeof *shared, &shared, err);
    if (st != ASSAY_OK)
        return st;
    struct asking a = { &shared->info, shared->why, sizeof shared->why,
                        &shared->done };
    if ((st = check_file(path, shared->info.path, err)) != ASSAY_OK ||
        (st = child_run(ask, &a, timeout_s, &end, err)) != ASSAY_OK)
        goto out;
    shared->why[WHY_BYTES - 1] = '\0';
    if (end.end != CHILD_RETURNED || (!shared->done && !shared->why[0])) {
        child_describe(&end, how, sizeof how);
        st = assay_fail(err, ASSAY_KERNEL, "%s: loading it: %s", path, how);
    } else if (shared->why[0]) {
        st = assay_fail(err, ASSAY_FORMAT, "%s: %s", path, shared->why);
    } else if (!(*out = malloc(sizeof **out))) {
        st = assay_fail(err, ASSAY_MEMORY, "no memory for a module");
    } else {
        **out = shared->info;
    }
out:
    child_unshare(shared, sizeof *shared);
    return st;
}

void module_info_free(struct driver_info *info)
{
    free(info);
}

void module_builtin_path(const char *name, char *path, size_t size)
{
    const char *dir = getenv("ASSAY_MODULE_DIR");
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (dir) {
        snprintf(path, size, "%s/%s.so", dir, name);
        return;
    }
    if (n > 0) {
        self[n] = '\0';
        *strrchr(self, '/') = '\0';
        snprintf(path, size, "%s/kernels/.libs/%s.so", self, name);
        if (access(path, R_OK) == 0)
            return;
    }
    snprintf(path, size, "%s/%s.so", ASSAY_MODULE_DIR, name);
}
