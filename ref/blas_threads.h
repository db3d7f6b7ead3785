/* SPDX-License-Identifier: MIT
 *
 * Private: heads and query tiles run in parallel, so BLAS itself must not.
 */
#ifndef ASSAY_BLAS_THREADS_H
#define ASSAY_BLAS_THREADS_H

/* Sets BLAS to one thread and returns what to hand back to restore. */
int blas_one_thread(void);
void blas_restore_threads(int before);

#endif
