/* SPDX-License-Identifier: MIT
 *
 * Devices: where a kernel's memory is. The host, HIP and CUDA have the same
 * functions; a GPU's runtime is loaded when one is opened, so that the program
 * needs none to be built or to run. All but the names is for a child process
 * alone: the parent never touches a GPU.
 *
 * A function that returns false has told why in `said`, in the runtime's own
 * words.
 */
#ifndef ASSAY_DEVICE_H
#define ASSAY_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/kernel.h"

/* Around host memory nothing is mapped this far. */
enum { DEVICE_GAP = 16 << 20 };

struct device_facts {
    char name[128], arch[64];         /* empty: not known */
    char driver[32], runtime[32];     /* versions; the same */
    size_t memory_free, memory_total; /* bytes */
    double bandwidth;                 /* peak, bytes a second; 0: not known */
};

struct device;

struct device_calls {
    /* How many there are. */
    bool (*count)(struct device *d, int *count);
    /* Takes device number d->index. */
    bool (*open)(struct device *d);
    bool (*facts)(struct device *d, struct device_facts *out);
    bool (*memory)(struct device *d, size_t *free, size_t *total);
    /* Memory of the device, whole pages; NULL when there is none left. */
    void *(*alloc)(struct device *d, size_t bytes);
    bool (*release)(struct device *d, void *at, size_t bytes);
    bool (*fill)(struct device *d, void *at, int byte, size_t bytes);
    bool (*to_device)(struct device *d, void *to, const void *from,
                      size_t bytes);
    bool (*from_device)(struct device *d, void *to, const void *from,
                        size_t bytes);
    bool (*wait)(struct device *d); /* for everything launched */
    /* Around a launch: what lies between them took that long; stop waits for
     * everything launched. */
    bool (*start)(struct device *d);
    bool (*stop)(struct device *d, double *seconds);
    /* False: the runtime holds an error that no call has returned. */
    bool (*clean)(struct device *d);
    /* Copies keep the device's memory busy from a start that returned to a
     * stop, which gives bytes a second. */
    bool (*traffic_start)(struct device *d);
    double (*traffic_stop)(struct device *d);
    /* False: neither device nor runtime has graphs, and the rest is not to be
     * called. */
    bool (*graphs)(struct device *d);
    /* What is put on the stream from a start that returned to a stop becomes a
     * graph, of so many nodes, instead of running. One at a time. */
    bool (*graph_start)(struct device *d);
    bool (*graph_stop)(struct device *d, size_t *nodes);
    /* Puts it on the stream. */
    bool (*graph_replay)(struct device *d);
    bool (*graph_release)(struct device *d);
};

struct device {
    enum assay_kernel_device kind;
    int index;
    const struct device_calls *calls;
    void *stream;      /* for a job; NULL on the host */
    char said[128];    /* why the call that failed last did */
    double started;    /* the host's */
    void *begin, *end; /* events of a GPU */
    void *traffic;     /* copies, once there were some */
    void *graph;       /* to be replayed */
    const struct gpu_runtime *gpu;
};

/* In a child: the device of that kind and index, or what stands in its way in
 * d->said. Lives as long as the child. */
bool device_open(enum assay_kernel_device kind, int index, struct device *d);
/* The same without taking one of them, to count them. */
bool device_load(enum assay_kernel_device kind, struct device *d);

/* "host", ...; "unknown" for a number that the table has not. */
const char *device_name(enum assay_kernel_device kind);
/* Name of its built-in module. */
const char *device_module(enum assay_kernel_device kind);
/* Kinds are 0 to this less one. */
enum { DEVICE_KINDS = 3 };

/* "cuda" is index 0, "cuda:1" is index 1. False: neither. */
bool device_parse(const char *text, enum assay_kernel_device *kind, int *index);

extern const struct device_calls device_host, device_gpu;

/* Of device_host: host_traffic.c. */
bool host_traffic_start(struct device *d);
double host_traffic_stop(struct device *d);

#endif
