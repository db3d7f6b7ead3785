/* SPDX-License-Identifier: MIT
 *
 * Reading files of people's own making: JSON objects whose keys are known, one
 * sentence for the first thing that is wrong.
 */
#ifndef ASSAY_JSON_ROW_H
#define ASSAY_JSON_ROW_H

#include "golden/json.h"
#include "golden/names.h"

/* An object that is being read, and the first error in it: later calls do
 * nothing but give what was there. */
struct json_row {
    const char *where; /* the file */
    char what[64];     /* "recipe mine", "entry 3" */
    const json_t *object;
    enum assay_status st;
    struct assay_error *err;
};

/* ASSAY_USAGE, "WHERE: WHAT: sentence". */
void json_row_wrong(struct json_row *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The text of a key, or NULL where it is not there or wrong. */
const char *json_row_text(struct json_row *r, const char *key);

/* A copy of a text that must be there and not be blank; free(). NULL where it
 * is wrong. */
char *json_row_needed(struct json_row *r, const char *key);

/* A copy of a text that may be left out; free(). */
char *json_row_copy(struct json_row *r, const char *key);

/* The day of key "date", which must be there, as YYYY-MM-DD. */
void json_row_date(struct json_row *r, char date[11]);

/* true or false into *out, which stays as it is where there is no key. */
void json_row_flag(struct json_row *r, const char *key, bool *out);

/* Every key is one of the list; a misspelt one would be lost in silence. */
void json_row_check_keys(struct json_row *r, const struct names *keys);

/* A file of rows: an object with "schema" and an array `key` of objects.
 * ASSAY_USAGE unless it is that, with that schema and nothing else. */
enum assay_status json_rows(const char *where, const json_t *file,
                            const char *schema, const char *key,
                            const json_t **rows, struct assay_error *err);

/* Row i of an array, "entry i + 1" in sentences; each key one of `keys`. */
struct json_row json_row_of(const char *where, const json_t *rows, size_t i,
                            const struct names *keys, struct assay_error *err);

/* Reads a JSON file of less than 1 MiB; json_decref() it. ASSAY_FILE, or
 * ASSAY_USAGE with the line. */
enum assay_status json_read_file(const char *path, json_t **out,
                                 struct assay_error *err);

#define NAMES(what, array)                               \
    {                                                    \
        what, (int)(sizeof array / sizeof *array), array \
    }

#endif
