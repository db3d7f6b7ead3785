/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of the transport codecs again, plainly: one value, one block.
 * Nothing here calls the library.
 */
#ifndef PLAIN_TRANSPORT_H
#define PLAIN_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

enum { WIDTH = 128, BLOCK = 32, BLOCKS = 4 };

/* Element formats by their facts; int8 has no exponent. */
struct element {
    int mantissa, least; /* bits, exponent of the smallest normal */
    double max;
    int sign_shift; /* of the code */
};
extern const struct element e4m3, e2m3, e2m1, int8;

float to_bf16(float x);
uint8_t code_of(const struct element *e, float x, bool tie_to_zero);
double value_of(const struct element *e, uint8_t code);

/* A row of 128 rotated, nothing rounded to words. */
void rotate_row(const float *x, float *y);

float amax_of(int64_t n, const float *x);
float reciprocal(int byte); /* of 2^(byte - 127), as the kernels have it */

/* Exponent of x, one more if it is not a power of two. */
int ceil_exponent(float x);

#endif
