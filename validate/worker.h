/* SPDX-License-Identifier: MIT
 *
 * A child that does task after task: opening a GPU costs more than most
 * kernels. Whoever gives it tasks stops it after anything but a clean result,
 * so that nothing outlasts its case; the next task has a new one.
 */
#ifndef ASSAY_WORKER_H
#define ASSAY_WORKER_H

#include "golden/child.h"
#include "validate/task.h"

struct worker;

/* *out is the caller's to worker_free. No child runs before the first task. */
enum assay_status worker_new(struct worker **out, struct assay_error *err);
void worker_free(struct worker *w);

/* Of the next task: to be filled before it is done, image in the file. */
struct task *worker_task(struct worker *w);
int worker_file(const struct worker *w);

/* Has the task done. CHILD_RETURNED: it was; else how the child ended, and
 * there is none any more. */
enum assay_status worker_do(struct worker *w, double timeout_s,
                            struct child_outcome *end, struct assay_error *err);

/* Ends the child, if there is one. */
void worker_stop(struct worker *w);

#endif
