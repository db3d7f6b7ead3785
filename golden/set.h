/* SPDX-License-Identifier: MIT
 *
 * Golden sets: cases with exact and emulated answers in one HDF5 file, laid
 * out as HACKING.md says. A set is written to a temporary name and renamed
 * when whole; everything read is checked first.
 */
#ifndef ASSAY_SET_H
#define ASSAY_SET_H

#include "assay/recipe.h"

enum { SET_HASH_CHARS = 32 };

/* One attention problem with its inputs, as captured. */
struct assay_case {
    char *name;   /* unique in a set, no '/' */
    char *source; /* where it came from, for people */
    struct assay_problem problem;
    const struct assay_format *format; /* of q, k and v */
    void *q, *k, *v;                   /* words of that format, BSHD */
};

/* Frees what the case owns and empties it. */
void assay_case_free(struct assay_case *c);

/* The one-line text form of a problem, "b1,hq4,hk2,q512,k512,d128,causal",
 * with ",scale=X" unless that is 1/sqrt(d); free(). NULL: out of memory. */
char *assay_case_line(const struct assay_problem *p);

/* Values of a case's inputs; each the caller's to assay_free. */
struct assay_inputs {
    float *q, *k, *v;
    const struct assay_format *format; /* of the words they were */
};
enum assay_status assay_case_values(const struct assay_case *c,
                                    struct assay_inputs *out,
                                    struct assay_error *err);
void assay_inputs_free(struct assay_inputs *inputs);

/* The exact answer. o holds binary32; o64 too where the set has binary64. */
struct assay_exact {
    float *o;
    double *o64; /* NULL for a binary32 golden */
    double *lse;
    double *bar_o, *bar_lse; /* per (b, hq); see assay_error_bar */
};
void assay_exact_free(struct assay_exact *e);

/* The answer of one recipe: emulated, or made elsewhere. Of one made elsewhere
 * O and LSE are somebody's, and some of it may be unknown. */
struct assay_answer {
    const struct assay_recipe *recipe;
    struct assay_payloads payloads;
    float *o;
    double *lse;                /* NULL: none was made elsewhere */
    struct assay_jitter jitter; /* all NULL: not known, where made elsewhere */
    char *maker;                /* free(); NULL: emulated by assay */
};
void assay_answer_free(struct assay_answer *a);

/* Fills payloads.lse_shift, which a set does not hold, from the case's q and
 * the answer's K mean; it stays NULL where there is no mean. */
enum assay_status assay_answer_lse_shift(const struct assay_case *c,
                                         struct assay_answer *a,
                                         struct assay_error *err);

/* How a set came to be; strings are the caller's. */
struct assay_provenance {
    const char *command; /* verb, options and file names, no folders */
    const char *limits;  /* JSON as of golden/limits.h, or NULL */
};

/* -- writing -- */
struct assay_set_writer;

/* Opens `path`.<pid>.tmp beside the wanted file. */
enum assay_status assay_set_create(const char *path,
                                   const struct assay_provenance *provenance,
                                   struct assay_set_writer **out,
                                   struct assay_error *err);
/* exact NULL: there is none; a set that was imported. */
enum assay_status assay_set_add(struct assay_set_writer *w,
                                const struct assay_case *c,
                                const struct assay_exact *exact,
                                const struct assay_answer *answers,
                                size_t n_answers, struct assay_error *err);
/* Finishes the file and renames it to its name. Ends the writer either way;
 * after a failure nothing of it is left and the old file is as it was. The
 * content hash is given back where hash is not NULL. */
enum assay_status assay_set_commit(struct assay_set_writer *w,
                                   char hash[SET_HASH_CHARS + 1],
                                   struct assay_error *err);
/* Gives up: removes the temporary file. NULL is allowed. */
void assay_set_abandon(struct assay_set_writer *w);

/* -- reading -- */
struct assay_set;

/* Checks format, version, that every case is there, and the content hash: of
 * names, attributes, types, shapes and the hashes that datasets have. These are
 * checked where a dataset is read; here no data are. */
enum assay_status assay_set_open(const char *path, struct assay_set **out,
                                 struct assay_error *err);
/* The same but for the content hash, for who asks assay_set_check next. */
enum assay_status assay_set_open_unchecked(const char *path,
                                           struct assay_set **out,
                                           struct assay_error *err);
void assay_set_close(struct assay_set *set);

size_t assay_set_count(const struct assay_set *set);
const char *assay_set_path(const struct assay_set *set);
const char *assay_set_hash(const struct assay_set *set);
/* Names of cases, in the order of their bytes. The set's. */
const char *assay_set_case_name(const struct assay_set *set, size_t i);
/* A provenance string, or NULL; free(). */
char *assay_set_provenance(const struct assay_set *set, const char *key);

/* Limits of gates that the set brings along, JSON as of golden/limits.h;
 * free(). NULL where it has none. */
enum assay_status assay_set_limits(const struct assay_set *set, char **text,
                                   struct assay_error *err);
/* A case without data: problem, format, source; q, k and v are NULL. */
enum assay_status assay_set_describe(const struct assay_set *set, size_t i,
                                     struct assay_case *out,
                                     struct assay_error *err);
/* A case with its inputs. */
enum assay_status assay_set_read_case(const struct assay_set *set, size_t i,
                                      struct assay_case *out,
                                      struct assay_error *err);
/* Recipes that a case has answers for: rows of the recipe table, in table
 * order. Free the array with free(). A recipe that this program does not
 * know is ASSAY_FORMAT. */
enum assay_status assay_set_recipes(const struct assay_set *set, size_t i,
                                    const struct assay_recipe ***out,
                                    size_t *count, struct assay_error *err);
/* ASSAY_FORMAT where no case has an answer to any recipe. */
enum assay_status assay_set_need_answers(const struct assay_set *set,
                                         struct assay_error *err);
/* Who made the recipe's answer of a case; free(). *maker is NULL: assay did. */
enum assay_status assay_set_maker(const struct assay_set *set, size_t i,
                                  const struct assay_recipe *recipe,
                                  char **maker, struct assay_error *err);
/* Imported cases have no exact answer. Reading one that is not there is
 * ASSAY_FORMAT, with a sentence that says how it is made. */
bool assay_set_has_answers(const struct assay_set *set); /* of any kind */
bool assay_set_has_exact(const struct assay_set *set, size_t i);
enum assay_status assay_set_read_exact(const struct assay_set *set, size_t i,
                                       const struct assay_problem *p,
                                       struct assay_exact *out,
                                       struct assay_error *err);
enum assay_status assay_set_read_answer(const struct assay_set *set, size_t i,
                                        const struct assay_problem *p,
                                        const struct assay_recipe *recipe,
                                        struct assay_answer *out,
                                        struct assay_error *err);

/* Checks the hash of every dataset and the content hash; `each` as in
 * h5_check_hashes. */
enum assay_status assay_set_check(const struct assay_set *set,
                                  void (*each)(void *context, const char *name,
                                               const char *wrong),
                                  void *context, struct assay_error *err);

#endif
