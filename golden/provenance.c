/* SPDX-License-Identifier: MIT */
#include "golden/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void provenance_date(char *text, size_t n)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || /* a year that no int holds */
        strftime(text, n, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(text, n, "unknown");
}

void provenance_cpu(char *text, size_t n)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(text, n, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(text, n, "%s", colon + 2);
            break;
        }
    }
    if (f)
        fclose(f);
}

void provenance_host(char *text, size_t n)
{
    if (gethostname(text, n) != 0 || !*text)
        snprintf(text, n, "unknown");
    text[n - 1] = '\0'; /* a name that was cut may have no end */
}
