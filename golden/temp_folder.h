/* SPDX-License-Identifier: MIT
 *
 * A folder for what we and another program tell each other in files. A process
 * of its own waits until this one lets go of it or ends, in whatever way, and
 * then ends that program and removes the folder with all that is in it.
 */
#ifndef ASSAY_TEMP_FOLDER_H
#define ASSAY_TEMP_FOLDER_H

#include <limits.h>
#include <stdbool.h>

#include "assay/error.h"

struct temp_folder {
    char path[PATH_MAX - 64]; /* absolute, room for a name behind it */
    int keeper;               /* process; 0: there is no folder */
    int hold;                 /* file descriptor that ends with us */
    int *group;               /* shared with the keeper */
};

/* Makes a folder in $TMPDIR, or /tmp. To be called before there are threads.
 * ASSAY_FILE, ASSAY_INTERNAL; then there is none. */
enum assay_status temp_folder_new(struct temp_folder *folder,
                                  struct assay_error *err);
/* Makes it again where the program removed it, or put in its place what is no
 * folder of this user. ASSAY_FILE. */
enum assay_status temp_folder_restore(const struct temp_folder *folder,
                                      struct assay_error *err);
/* Whether it is there. */
bool temp_folder_is(const struct temp_folder *folder);
/* The process group to be ended too; 0: none. */
void temp_folder_guard(struct temp_folder *folder, int group);
/* Comes back when the folder is gone. One that is all zeros is allowed. */
void temp_folder_remove(struct temp_folder *folder);

#endif
