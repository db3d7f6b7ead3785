/* SPDX-License-Identifier: MIT
 *
 * Kernel modules: what one offers, found out in a child, and loading one for
 * good inside a child.
 */
#ifndef ASSAY_MODULE_H
#define ASSAY_MODULE_H

#include "validate/driver.h"

/* Asks a module what it holds. *out is the caller's to module_info_free.
 * ASSAY_FORMAT if the file is not a kernel module, ASSAY_FILE if it cannot be
 * read, ASSAY_KERNEL if loading it crashes or hangs. */
enum assay_status module_ask(const char *path, double timeout_s,
                             struct driver_info **out, struct assay_error *err);
void module_info_free(struct driver_info *info);

/* Loads a module into this process: only for a child. NULL with a sentence
 * in `why`. */
const struct assay_kernel_module *module_load(const char *path, char *why,
                                              size_t why_bytes);

/* Row i of a module's table, however large that module's rows are. */
const struct assay_kernel *module_kernel(const struct assay_kernel_module *m,
                                         size_t i);

/* Path of a built-in module ("assay-host"): $ASSAY_MODULE_DIR, the build tree
 * the program stands in, or the installed place. */
void module_builtin_path(const char *name, char *path, size_t size);

#endif
