/* SPDX-License-Identifier: MIT
 *
 * Foreign code, and libraries on hostile files, run in a child process of
 * their own, so that a crash or a hang
 * ends with it. The program forks from a single thread and uses no OpenMP
 * before it does (libgomp's pool does not survive a fork).
 */
#ifndef ASSAY_CHILD_H
#define ASSAY_CHILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "assay/error.h"
#include "golden/kin.h"
#include "golden/tail.h"

enum child_end { CHILD_RETURNED, CHILD_EXITED, CHILD_KILLED, CHILD_TIMED_OUT };

struct child_outcome {
    enum child_end end;
    int code; /* of exit or signal */
    double seconds;
    double limit;   /* seconds after which it timed out, as it was told */
    int left;       /* processes that it left running, if it ended by itself */
    size_t most;    /* bytes of memory that it held at once; the same */
    size_t printed; /* bytes, on stdout and stderr */
    char output[240]; /* the last line of them */
};

/* In a child. Closes all descriptors but stdin, stdout, stderr and the n <=
 * CHILD_KEPT of `keep`: for work that runs foreign code, which could write to
 * our outputs, or leave a process that holds our locks. Work that opens files
 * with HDF5 cannot: the library reads one that its parent has open through the
 * parent's descriptor. */
enum { CHILD_KEPT = 4 };
void child_close_others(const int *keep, size_t n);

/* Runs `work` in a child with default signals, no core file, the default
 * floating-point environment, and nothing on stdin. Of what it prints the end
 * is kept. What it leaves must be in shared memory. ASSAY_INTERNAL if there is
 * no child. */
enum assay_status child_run(void (*work)(void *context), void *context,
                            double timeout_s, struct child_outcome *out,
                            struct assay_error *err);

/* The same in parts, for a child that does more than one thing. child_start
 * begins it; child_wait waits until it ended or *done (may be NULL) is true,
 * and kills it at the deadline; child_finish kills what there still is of it.
 */
struct child {
    int pid, status;
    int output;       /* what it prints comes out here; -1: no more does */
    bool *returned;   /* shared: its work came to an end */
    struct tail tail; /* of what it printed */
    size_t most;      /* memory held, in bytes */
    bool ended, timed_out;
    double start, limit;
    struct kin before; /* children of this process that are none of its */
};

enum assay_status child_start(void (*work)(void *context), void *context,
                              struct child *out, struct assay_error *err);
void child_wait(struct child *c, const atomic_bool *done, double deadline);
void child_finish(struct child *c, struct child_outcome *out);

/* For a process just forked: a group of its own, default signals, no core
 * file, and it dies with its parent. */
void child_prepare(int parent);

/* In a child: it may take so many bytes beyond what it has, of private writable
 * memory. 0: no limit. */
void child_limit_memory(size_t bytes);

/* Memory that a child and its parent share, zeroed; child_unshare frees. */
enum assay_status child_share(size_t bytes, void *out, struct assay_error *err);
void child_unshare(void *memory, size_t bytes);

/* One sentence on how a child ended, for a reason. */
void child_describe(const struct child_outcome *outcome, char *text,
                    size_t size);

#endif
