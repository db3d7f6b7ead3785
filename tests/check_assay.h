/* SPDX-License-Identifier: MIT
 *
 * What the Check programs share.
 */
#ifndef CHECK_ASSAY_H
#define CHECK_ASSAY_H

#include <check.h>

/* Runs the suite, TAP to stdout; the exit status is for main to return. */
int assay_check_main(Suite *suite);

/* Folder of the shared captured heads and vectors, or NULL where it is not
 * there: environment ASSAY_SHARED, else ../shared beside the sources. A test
 * that needs it calls this, and prints why it skips. */
const char *assay_shared_dir(void);

#endif
