/* SPDX-License-Identifier: MIT
 *
 * Small golden sets for tests: words and answers are drawn, not computed,
 * since what is tested is that they come back.
 */
#ifndef MADE_SET_H
#define MADE_SET_H

#include "golden/set.h"

enum { MADE_CASES = 4 };

struct made_case {
    struct assay_case c;
    struct assay_exact exact;
    struct assay_answer answers[ASSAY_RECIPES];
};

/* Case `i`, the same each time. */
void made_case_init(int i, struct made_case *out);
void made_case_free(struct made_case *m);
/* An answer of a recipe to a problem, drawn from where the last case ended. */
void made_answer_init(const struct assay_problem *p,
                      const struct assay_recipe *r, struct assay_answer *out);

/* A folder of its own, entered; removed with all in it by made_leave(). */
void made_enter(void);
void made_leave(void);

/* Writes the cases named by `order` and gives the content hash back. */
void made_write(const char *path, const int *order, int n,
                char hash[SET_HASH_CHARS + 1]);
/* All of them, in order. */
void made_write_all(const char *path);

/* Opens a set, reads everything in it and, if asked, checks its hashes. */
enum assay_status made_read(const char *path, int check,
                            struct assay_error *err);

#endif
