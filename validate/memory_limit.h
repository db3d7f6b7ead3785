/* SPDX-License-Identifier: MIT
 *
 * How much memory a kernel on the host may take, for child_limit_memory. Private memory that can be
 * written counts (RLIMIT_DATA), not address space that is only reserved, as
 * threads and sanitizers do by the gibibyte.
 */
#ifndef ASSAY_MEMORY_LIMIT_H
#define ASSAY_MEMORY_LIMIT_H

#include <argp.h>
#include <stddef.h>

/* Where none is given: 4 GiB and 32 times the buffers of the case. */
size_t memory_limit_default(size_t buffer_bytes);

/* "300M": K, M, G and T are powers of 1024; argp_error() on anything else and
 * on less than 1 MiB. */
size_t memory_limit_parse(struct argp_state *state, const char *text);

#endif
