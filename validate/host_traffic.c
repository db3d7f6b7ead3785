/* SPDX-License-Identifier: MIT
 *
 * Threads that copy memory to and fro, one for each processor that this process
 * may run on: the threads of a kernel wait for memory, lose their processors
 * and fall out of step. Memory is shared, which no limit of a process counts.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "golden/clock.h"
#include "validate/device.h"

enum {
    CHUNK = 1 << 20,
    LEAST_EACH = 16 * CHUNK,
    LEAST_ALL = 256 * CHUNK /* more than most caches hold */
};

struct traffic;

struct copier {
    pthread_t thread;
    struct traffic *all;
    char *memory; /* all->each bytes; stays until the process ends */
    atomic_size_t copied;
};

struct traffic {
    int count; /* of those with memory */
    size_t each;
    atomic_bool over;
    double started;
    struct copier copiers[];
};

static void *copy(void *copier)
{
    struct copier *c = copier;
    const size_t half = c->all->each / 2;
    prctl(PR_SET_NAME, "assay-traffic");
    for (bool back = false;; back = !back)
        for (size_t at = 0; at < half; at += CHUNK) {
            char *low = c->memory + at, *high = low + half;
            memcpy(back ? low : high, back ? high : low, CHUNK);
            atomic_fetch_add(&c->copied, CHUNK);
            if (atomic_load(&c->all->over))
                return NULL;
        }
}

static struct traffic *new_traffic(void)
{
    cpu_set_t ours;
    int n =
        sched_getaffinity(0, sizeof ours, &ours) == 0 ? CPU_COUNT(&ours) : 1;
    struct traffic *t = calloc(1, sizeof *t + (size_t)n * sizeof *t->copiers);
    if (!t)
        return NULL;
    t->each = (size_t)LEAST_ALL / (size_t)n / CHUNK / 2 * CHUNK * 2;
    t->each = t->each < LEAST_EACH ? LEAST_EACH : t->each;
    while (t->count < n) {
        void *memory = mmap(NULL, t->each, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            break;
        memset(memory, t->count + 1, t->each); /* there before it is timed */
        t->copiers[t->count].all = t;
        t->copiers[t->count++].memory = memory;
    }
    return t;
}

static void join(struct traffic *t, int count)
{
    atomic_store(&t->over, true);
    for (int i = 0; i < count; i++)
        pthread_join(t->copiers[i].thread, NULL);
}

/* Returns when each of them has copied something. */
bool host_traffic_start(struct device *d)
{
    const struct timespec nap = { 0, 100 * 1000 };
    struct traffic *t = d->traffic ? d->traffic : new_traffic();
    int running = 0;
    d->traffic = t;
    if (t) {
        t->started = seconds();
        atomic_store(&t->over, false);
    }
    while (t && running < t->count &&
           pthread_create(&t->copiers[running].thread, NULL, copy,
                          &t->copiers[running]) == 0)
        running++;
    if (running == 0 || running < t->count) {
        if (t)
            join(t, running);
        snprintf(d->said, sizeof d->said,
                 "no threads or no memory for copies beside the kernel");
        return false;
    }
    for (int i = 0; i < t->count; i++)
        while (atomic_load(&t->copiers[i].copied) == 0)
            nanosleep(&nap, NULL);
    return true;
}

double host_traffic_stop(struct device *d)
{
    struct traffic *t = d->traffic;
    size_t bytes = 0;
    join(t, t->count);
    for (int i = 0; i < t->count; i++)
        bytes += atomic_exchange(&t->copiers[i].copied, 0);
    return (double)bytes / (seconds() - t->started);
}
