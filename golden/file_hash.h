/* SPDX-License-Identifier: MIT
 *
 * The hash of a file's bytes, which says of a build that it is the same one.
 */
#ifndef ASSAY_FILE_HASH_H
#define ASSAY_FILE_HASH_H

#include "assay/error.h"

enum { FILE_HASH_CHARS = 32 };

/* XXH3-128 of a regular file, or of the names and files of a folder, in
 * hexadecimal digits. ASSAY_FILE,
 * ASSAY_MEMORY. */
enum assay_status file_hash(const char *path, char hash[FILE_HASH_CHARS + 1],
                            struct assay_error *err);

#endif
