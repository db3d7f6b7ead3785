/* SPDX-License-Identifier: MIT
 *
 * Unfinished files that a killed program left beside an output.
 */
#ifndef ASSAY_TEMP_STALE_H
#define ASSAY_TEMP_STALE_H

/* Removes the regular files FINAL.<pid>.tmp of this user whose process is gone
 * and which nobody holds locked, as HDF5 does what it writes: a process of
 * another machine is not seen by its number. What cannot be removed stays, in
 * silence. */
void temp_stale_remove(const char *final);

#endif
