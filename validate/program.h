/* SPDX-License-Identifier: MIT
 *
 * A program that a shell line starts, in a process group of its own. What it
 * prints is taken off it, and the end of that kept; what it leaves running
 * ends with it.
 */
#ifndef ASSAY_PROGRAM_H
#define ASSAY_PROGRAM_H

#include <stdbool.h>

#include "golden/child.h"
#include "golden/kin.h"
#include "golden/tail.h"

struct program {
    int pid;    /* and group; 0: none runs */
    int in;     /* its stdin, our end; -1: /dev/null, or closed */
    int out[2]; /* its stdout and stderr; -1: closed */
    struct tail tail[2];
    /* Gets what comes on stdout; NULL: tail[0] does. */
    void (*hear)(void *context, const char *bytes, size_t n);
    void *context;
    struct kin before;
    double start, limit; /* seconds; how long it may take, for who asks */
    bool ended;          /* by itself, with this status */
    int status;
    int left; /* processes that it left running */
};

/* Starts `sh -c line`; talks: its stdin is a pipe. ASSAY_INTERNAL. */
enum assay_status program_start(struct program *p, const char *line, bool talks,
                                struct assay_error *err);
/* Takes what it printed, or waits a moment. False: it has ended. */
bool program_listen(struct program *p, double until);
/* Ends it and all that it started, and says how it came to an end; one that
 * had not ended by itself was late. */
void program_stop(struct program *p, struct child_outcome *out);

#endif
