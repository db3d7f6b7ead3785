/* SPDX-License-Identifier: MIT
 *
 * The host as a device.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "golden/clock.h"
#include "golden/term.h"
#include "validate/device.h"

static bool host_count(struct device *d, int *count)
{
    (void)d;
    *count = 1;
    return true;
}

static bool host_open(struct device *d)
{
    (void)d;
    return true;
}

/* A line "key : value" of a file of /proc; `out` is empty without it. */
static void read_field(const char *path, const char *key, char *out,
                       size_t size)
{
    char line[512];
    FILE *f = fopen(path, "re");
    out[0] = '\0';
    while (f && !out[0] && fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');
        if (!value || strncmp(line, key, strlen(key)) != 0)
            continue;
        value += 1 + strspn(value + 1, " \t");
        value[strcspn(value, "\n")] = '\0';
        snprintf(out, size, "%.*s", (int)size - 1, value);
    }
    if (f)
        fclose(f);
    term_plain(out);
}

static size_t kibibytes(const char *key)
{
    char text[64];
    size_t n = 0;
    read_field("/proc/meminfo", key, text, sizeof text);
    return sscanf(text, "%zu", &n) == 1 ? n * 1024 : 0;
}

static bool host_memory(struct device *d, size_t *free, size_t *total)
{
    (void)d;
    *free = kibibytes("MemAvailable:");
    *total = kibibytes("MemTotal:");
    return true;
}

static bool host_facts(struct device *d, struct device_facts *out)
{
    struct utsname system;
    *out = (struct device_facts){ 0 };
    read_field("/proc/cpuinfo", "model name", out->name, sizeof out->name);
    if (uname(&system) == 0)
        snprintf(out->arch, sizeof out->arch, "%.*s", (int)sizeof out->arch - 1,
                 system.machine);
    return host_memory(d, &out->memory_free, &out->memory_total);
}

/* Wide unmapped gaps on both sides turn a wild access into a crash. */
static void *host_alloc(struct device *d, size_t bytes)
{
    size_t size;
    char *all = MAP_FAILED;
    if (!__builtin_add_overflow(bytes, 2 * (size_t)DEVICE_GAP, &size))
        all = mmap(NULL, size, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all != MAP_FAILED &&
        (bytes == 0 ||
         mprotect(all + DEVICE_GAP, bytes, PROT_READ | PROT_WRITE) == 0))
        return all + DEVICE_GAP;
    if (all != MAP_FAILED)
        munmap(all, size);
    snprintf(d->said, sizeof d->said, "no %zu bytes of memory", bytes);
    return NULL;
}

static bool host_release(struct device *d, void *at, size_t bytes)
{
    (void)d;
    return munmap((char *)at - DEVICE_GAP, bytes + 2 * (size_t)DEVICE_GAP) == 0;
}

static bool host_fill(struct device *d, void *at, int byte, size_t bytes)
{
    (void)d;
    memset(at, byte, bytes);
    return true;
}

static bool host_copy(struct device *d, void *to, const void *from,
                      size_t bytes)
{
    (void)d;
    memcpy(to, from, bytes);
    return true;
}

static bool host_wait(struct device *d)
{
    (void)d;
    return true;
}

static bool host_start(struct device *d)
{
    d->started = seconds();
    return true;
}

static bool host_stop(struct device *d, double *took)
{
    *took = seconds() - d->started;
    return true;
}

static bool host_graphs(struct device *d)
{
    snprintf(d->said, sizeof d->said, "the host has no graphs");
    return false;
}

const struct device_calls device_host = {
    .count = host_count,
    .open = host_open,
    .facts = host_facts,
    .memory = host_memory,
    .alloc = host_alloc,
    .release = host_release,
    .fill = host_fill,
    .to_device = host_copy,
    .from_device = host_copy,
    .wait = host_wait,
    .start = host_start,
    .stop = host_stop,
    .clean = host_wait,
    .traffic_start = host_traffic_start,
    .traffic_stop = host_traffic_stop,
    .graphs = host_graphs,
};
