/* SPDX-License-Identifier: MIT
 *
 * The tables of validate/ for `assay list`: mutations, gates, verdicts,
 * devices.
 */
#ifndef ASSAY_VALIDATE_TOPICS_H
#define ASSAY_VALIDATE_TOPICS_H

/* Makes them known; once, before a topic is looked up. */
void validate_topics(void);

#endif
