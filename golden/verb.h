/* SPDX-License-Identifier: MIT
 *
 * What the verbs of the program share.
 */
#ifndef ASSAY_VERB_H
#define ASSAY_VERB_H

#include <argp.h>

#include "assay/error.h"

/* Exit codes beside those of status.def. */
enum { EXIT_WRONG = 1, EXIT_NOTHING_RAN = 77 };

/* How the program was called, for lines that repeat a run. */
extern const char *verb_program;

/* The most threads that --threads takes; OMP_NUM_THREADS is cut to it, since
 * more of them overflow the stack. */
enum { VERB_MOST_THREADS = 4096 };
void verb_limit_threads(void);

/* Prints "assay VERB: sentence" to stderr, one line whatever is in it: names
 * in a sentence come from files, and terminals obey control characters. */
void verb_say(const char *verb, const char *sentence);

/* The same of an error; gives its exit code. */
int verb_fail(const char *verb, const struct assay_error *err);

/* From then on a program that ends without either, as argp does after a help,
 * has a sentence and ASSAY_FILE too if stdout could not be written. */
void verb_watch_stdout(const char *verb);

/* Ends with status 0, or with a sentence if stdout could not be written. */
int verb_end(const char *verb, int exit_code);

/* argp_parse of a verb's line. What argp says of an argument it repeats, so it
 * is shown as term_printf does it. */
void verb_parse(const struct argp *argp, int argc, char **argv, void *options);

/* Values of options; argp_error() with a sentence if they are not such. */
double verb_number(struct argp_state *state, const char *option,
                   const char *text);
long verb_integer(struct argp_state *state, const char *option,
                  const char *text, long least, long most);
/* The part of a parser that takes one golden set's name into *file: what to
 * return for every key that is not the verb's own. */
error_t verb_one_set(int key, char *arg, struct argp_state *state,
                     const char **file);
/* The name of an output into *out, which must be NULL: of two names one would
 * be left out in silence. */
void verb_output(struct argp_state *state, const char *arg, const char **out);
/* Index of `text` in a list of words, e.g. "table", "json". */
int verb_word(struct argp_state *state, const char *option, const char *text,
              const char *const *words, int count);

/* The verbs; argv[0] is "assay VERB". Rows of verb.def. */
#define ASSAY_VERB(name, summary) int verb_##name(int argc, char **argv);
#include "verb.def"
#undef ASSAY_VERB

#endif
