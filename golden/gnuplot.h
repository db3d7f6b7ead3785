/* SPDX-License-Identifier: MIT
 *
 * gnuplot as a child process: a script goes in, what it draws comes out, and
 * nothing of it is left behind.
 */
#ifndef ASSAY_GNUPLOT_H
#define ASSAY_GNUPLOT_H

#include <stddef.h>
#include <stdio.h>

#include "assay/error.h"

enum gnuplot_end {
    GNUPLOT_DREW,
    GNUPLOT_ABSENT, /* there is none, or it hangs: another call is no use */
    GNUPLOT_FAILED  /* on this script */
};

struct gnuplot_drawing {
    enum gnuplot_end end;
    char *text; /* NUL behind it; free() */
    size_t bytes;
    char why[200]; /* where it drew nothing: one sentence, no full stop */
};

/* Runs the program `gnuplot` of PATH, without settings of the user's, for at
 * most timeout_s seconds. */
struct gnuplot_drawing gnuplot_run(const char *script, size_t bytes,
                                   double timeout_s);

/* Writes a text of at most `most` characters, longer ones with their middle
 * left out, as a literal in single quotes. The characters in which gnuplot or
 * a shell would see something are replaced by those that look like them. */
void gnuplot_text(FILE *script, const char *text, size_t most);

#endif
