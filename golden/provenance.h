/* SPDX-License-Identifier: MIT
 *
 * Where and when: what golden sets and reports say of the machine they were
 * made on. Texts are cut to their room; "unknown" for what cannot be told.
 */
#ifndef ASSAY_PROVENANCE_H
#define ASSAY_PROVENANCE_H

#include <stddef.h>

/* "2026-03-01T12:00:00Z": now, or the second of $SOURCE_DATE_EPOCH
 * (reproducible-builds.org). */
void provenance_date(char *text, size_t n);

/* The CPU's name for people. */
void provenance_cpu(char *text, size_t n);

/* The host's name. */
void provenance_host(char *text, size_t n);

#endif
