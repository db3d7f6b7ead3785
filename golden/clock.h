/* SPDX-License-Identifier: MIT */
#ifndef ASSAY_CLOCK_H
#define ASSAY_CLOCK_H

#include <time.h>

/* Seconds since some moment, never backwards. */
static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
