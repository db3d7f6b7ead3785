/* SPDX-License-Identifier: MIT
 *
 * Workers: processes that share out the results of a run, by number. Each goes
 * through all of them and does those that nobody has begun; the process that
 * made them takes what is done, in order. They end with it.
 */
#ifndef ASSAY_JOBS_H
#define ASSAY_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "assay/error.h"

enum { JOBS_MAX = 256 };

struct jobs; /* NULL: there are no workers */

/* Starts n of them, 1 to JOBS_MAX, which do `work`. To be called before there
 * are threads. ASSAY_INTERNAL, ASSAY_MEMORY; then there are none. */
enum assay_status jobs_begin(int n, void (*work)(void *context), void *context,
                             struct jobs **out, struct assay_error *err);
/* Ends those that still run. NULL is allowed. */
void jobs_end(struct jobs *jobs);

/* Whether it is the process that asks that is to do thing `at`, a worker or
 * their maker; and, in a worker, that it is done. */
bool jobs_claim(struct jobs *jobs, size_t at);
void jobs_done(struct jobs *jobs, size_t at);

/* In their maker: waits until thing `at` is done, or no worker is left that
 * could do it. */
void jobs_wait(struct jobs *jobs, size_t at);

#endif
