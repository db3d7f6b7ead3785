/* SPDX-License-Identifier: MIT
 *
 * The shell line of a program that runs a kernel, and the values in it.
 */
#ifndef ASSAY_COMMAND_LINE_H
#define ASSAY_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/error.h"

enum command_value {
#define COMMAND_VALUE(id, ...) COMMAND_##id,
#include "validate/command_value.def"
#undef COMMAND_VALUE
    COMMAND_VALUES
};

/* "in", ... */
const char *command_value_name(enum command_value value);

/* Whether {name} stands in the line: not behind a $ or a backslash, which are
 * the shell's own. */
bool command_line_has(const char *line, enum command_value value);

/* The line with each value put in, quoted where a shell would read something
 * into it; free(). ASSAY_USAGE where such a value stands in quotes already. */
enum assay_status command_line_fill(const char *line,
                                    const char *const values[COMMAND_VALUES],
                                    char **out, struct assay_error *err);

/* A name for people: base name of the first word that is a program and not
 * what starts one, as python3 or env do. */
void command_line_name(const char *line, char *name, size_t size);

#endif
