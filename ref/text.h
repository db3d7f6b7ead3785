/* SPDX-License-Identifier: MIT
 *
 * The sign of a NaN means nothing, and glibc prints it.
 */
#ifndef ASSAY_REF_TEXT_H
#define ASSAY_REF_TEXT_H

/* Takes the signs off NaNs in a text that was printed by that format of printf;
 * a text of a format without floating point numbers stays as it is. */
void assay_text_unsign_nan(const char *format, char *text);

#endif
