/* SPDX-License-Identifier: MIT
 *
 * A program that is started once and told one case after another: a line
 * {"in": path, "out": path} on its stdin, one line {"status": "ok"} on its
 * stdout, or "unsupported" or "failed" with "reason". An object with another
 * status, or with a key twice, is a bad answer; other lines on stdout are
 * evidence. An answer has no more than SERVED_LINE bytes.
 */
#ifndef ASSAY_SERVED_H
#define ASSAY_SERVED_H

#include "validate/program.h"

enum served_end {
    SERVED_OK,
    SERVED_UNSUPPORTED,
    SERVED_FAILED,
    SERVED_BAD,   /* an answer that is none of these */
    SERVED_LONG,  /* a line that begins as an answer does is too long for one */
    SERVED_ENDED, /* or was late */
    SERVED_DEAF   /* reads no more */
};

struct served_answer {
    enum served_end end;
    char reason[240];           /* of unsupported, failed and bad */
    struct child_outcome child; /* of ended, long and deaf */
};

enum { SERVED_LINE = 65536 };
struct served {
    struct program program;
    struct served_answer *answer; /* while one is awaited */
    bool answered, in_long;       /* line is the rest of one that is too long */
    char line[SERVED_LINE];       /* what there is of a line */
    size_t n;
};

/* Who is told the process group of a program that was started. */
struct served_listener {
    void (*started)(void *context, int group);
    void *context;
};

/* Tells the program a case, and starts it if it does not run. One that went in
 * peace since it was last asked is started again. Where it ended, was late or
 * had a line too long it runs no more. ASSAY_INTERNAL, ASSAY_MEMORY. */
enum assay_status served_ask(struct served *s, const char *line, const char *in,
                             const char *out, double timeout_s,
                             const struct served_listener *listener,
                             struct served_answer *answer,
                             struct assay_error *err);
/* Closes its stdin, gives it a moment to end, and ends it. */
void served_stop(struct served *s);

#endif
