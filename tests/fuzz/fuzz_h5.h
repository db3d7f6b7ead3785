/* SPDX-License-Identifier: MIT */
#ifndef ASSAY_FUZZ_H5_H
#define ASSAY_FUZZ_H5_H

#include "tests/fuzz/fuzz.h"

/* Aborts where a reader left an object of a file open. */
void fuzz_all_closed(void);

#endif
