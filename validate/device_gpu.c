/* SPDX-License-Identifier: MIT
 *
 * HIP and CUDA devices, driven through their runtimes.
 */
#include <stdio.h>
#include <string.h>

#include "golden/term.h"
#include "validate/device.h"
#include "validate/gpu_runtime.h"

enum attribute {
#define GPU_ATTRIBUTE(id, hip, cuda) id,
#include "validate/gpu_attribute.def"
#undef GPU_ATTRIBUTE
};

/* hipMemcpyKind and cudaMemcpyKind agree. */
enum { TO_DEVICE = 1, FROM_DEVICE = 2, ON_DEVICE = 3 };

/* True if a call returned success, 0 in both runtimes; else says which call
 * failed and what the runtime calls that. */
static bool check(struct device *d, enum gpu_call call, int error)
{
    const struct gpu_runtime *gpu = d->gpu;
    if (error == 0)
        return true;
    const char *text = gpu->error_text(error), *name = gpu->error_name(error);
    name = name ? name : "no name";
    if (text && strcmp(text, name) != 0) /* HIP may have no better words */
        snprintf(d->said, sizeof d->said, "%s: %s (%s, %d)", gpu->names[call],
                 text, name, error);
    else
        snprintf(d->said, sizeof d->said, "%s: %s (%d)", gpu->names[call], name,
                 error);
    term_plain(d->said);
    return false;
}

#define CALL(d, id, ...) check(d, GPU_CALL_##id, (d)->gpu->id(__VA_ARGS__))

static bool gpu_count(struct device *d, int *count)
{
    *count = 0;
    if (!CALL(d, count, count))
        return false;
    if (*count > 0)
        return true;
    snprintf(d->said, sizeof d->said, "%s: no device",
             d->gpu->names[GPU_CALL_count]);
    return false;
}

static bool gpu_open(struct device *d)
{
    return CALL(d, set_device, d->index) && CALL(d, stream, &d->stream) &&
           CALL(d, event, &d->begin) && CALL(d, event, &d->end);
}

static int attribute(const struct device *d, enum attribute id)
{
    static const int numbers[][2] = {
#define GPU_ATTRIBUTE(id, hip, cuda) { hip, cuda },
#include "validate/gpu_attribute.def"
#undef GPU_ATTRIBUTE
    };
    int value = 0;
    const int number = numbers[id][d->kind == ASSAY_KERNEL_CUDA];
    return d->gpu->attribute(&value, number, d->index) == 0 ? value : 0;
}

/* HIP 10.2.3 is 10 00 2 ..., CUDA 13.1 is 13010: both runtimes have numbers of
 * their own. */
static void say_version(const struct device *d, int version, char *text,
                        size_t size)
{
    if (d->kind == ASSAY_KERNEL_CUDA)
        snprintf(text, size, "%d.%d", version / 1000, version % 1000 / 10);
    else
        snprintf(text, size, "%d.%d.%d", version / 10000000,
                 version / 100000 % 100, version % 100000);
}

/* The name is what the structure of properties begins with in every version;
 * AMD's arch stands at another place in each, but it is the one text in it
 * that begins with "gfx". */
static void read_properties(struct device *d, struct device_facts *out)
{
    union {
        char text[16384]; /* far more than any version's */
        max_align_t aligned;
    } all = { { 0 } };
    if (!CALL(d, properties, &all, d->index))
        return;
    snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1,
             all.text);
    const char *gfx = memmem(all.text + 256, sizeof all.text - 512, "gfx", 3);
    if (d->kind == ASSAY_KERNEL_CUDA)
        snprintf(out->arch, sizeof out->arch, "sm_%d%d",
                 attribute(d, CAPABILITY_MAJOR),
                 attribute(d, CAPABILITY_MINOR));
    else if (gfx)
        snprintf(out->arch, sizeof out->arch, "%.*s", (int)sizeof out->arch - 1,
                 gfx);
    term_plain(out->name);
    term_plain(out->arch);
}

static double peak_bandwidth(const struct device *d, const char *name)
{
    static const struct {
        const char *name;
        double gb_per_s;
    } peaks[] = {
#define DEVICE_PEAK(name, gb_per_s) { name, gb_per_s },
#include "validate/device_peak.def"
#undef DEVICE_PEAK
    };
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
        if (strstr(name, peaks[i].name))
            return peaks[i].gb_per_s * 1e9;
    return 2 * 1e3 * (double)attribute(d, MEMORY_CLOCK) *
           (double)attribute(d, MEMORY_BUS) / 8;
}

static bool gpu_memory(struct device *d, size_t *free, size_t *total)
{
    return CALL(d, memory, free, total);
}

static bool gpu_facts(struct device *d, struct device_facts *out)
{
    int driver = 0, runtime = 0;
    *out = (struct device_facts){ 0 };
    read_properties(d, out);
    if (CALL(d, driver_version, &driver))
        say_version(d, driver, out->driver, sizeof out->driver);
    if (CALL(d, runtime_version, &runtime))
        say_version(d, runtime, out->runtime, sizeof out->runtime);
    out->bandwidth = peak_bandwidth(d, out->name);
    return gpu_memory(d, &out->memory_free, &out->memory_total);
}

static void *gpu_alloc(struct device *d, size_t bytes)
{
    const struct gpu_runtime *gpu = d->gpu;
    size_t left = 0, total = 0;
    void *at = NULL;
    if (CALL(d, alloc, &at, bytes))
        return at;
    if (gpu->memory(&left, &total) == 0)
        text_append(d->said, sizeof d->said,
                    "; %zu bytes asked for, %zu of %zu free", bytes, left,
                    total);
    return NULL;
}

static bool gpu_release(struct device *d, void *at, size_t bytes)
{
    (void)bytes;
    return CALL(d, release, at);
}

static bool gpu_fill(struct device *d, void *at, int byte, size_t bytes)
{
    return CALL(d, fill, at, byte, bytes);
}

static bool gpu_to_device(struct device *d, void *to, const void *from,
                          size_t bytes)
{
    return CALL(d, copy, to, from, bytes, TO_DEVICE);
}

static bool gpu_from_device(struct device *d, void *to, const void *from,
                            size_t bytes)
{
    return CALL(d, copy, to, from, bytes, FROM_DEVICE);
}

static bool gpu_wait(struct device *d)
{
    return CALL(d, wait);
}

static bool gpu_start(struct device *d)
{
    return CALL(d, record, d->begin, d->stream);
}

/* The whole device is waited for: a kernel may have used another stream. */
static bool gpu_stop(struct device *d, double *seconds)
{
    float ms = 0;
    if (!CALL(d, record, d->end, d->stream) || !gpu_wait(d) ||
        !CALL(d, elapsed, &ms, d->begin, d->end))
        return false;
    *seconds = (double)ms / 1000;
    return true;
}

static bool gpu_clean(struct device *d)
{
    return CALL(d, last_error);
}

/* Some 34 ms on an H200, most of it still to come when the kernel begins. */
enum { COPIES = 256, COPY_BYTES = 256 << 20, NON_BLOCKING = 1 };

struct traffic {
    void *stream, *begin, *end, *from, *to;
};

static bool traffic_open(struct device *d, struct traffic *t)
{
    return CALL(d, free_stream, &t->stream, NON_BLOCKING) &&
           CALL(d, event, &t->begin) && CALL(d, event, &t->end) &&
           (t->from = gpu_alloc(d, COPY_BYTES)) &&
           (t->to = gpu_alloc(d, COPY_BYTES)) &&
           gpu_fill(d, t->from, 0x55, COPY_BYTES);
}

static bool gpu_traffic_start(struct device *d)
{
    static struct traffic traffic; /* a child has one device */
    struct traffic *t = &traffic;
    if (!d->traffic && !traffic_open(d, t))
        return false;
    d->traffic = t;
    bool ok = CALL(d, record, t->begin, t->stream);
    for (int i = 0; ok && i < COPIES; i++)
        ok = CALL(d, copy_later, t->to, t->from, COPY_BYTES, ON_DEVICE,
                  t->stream);
    return ok && CALL(d, record, t->end, t->stream);
}

/* The device was waited for; 0: something went wrong. */
static double gpu_traffic_stop(struct device *d)
{
    const struct traffic *t = d->traffic;
    float ms = 0;
    return d->gpu->elapsed(&ms, t->begin, t->end) == 0 && ms > 0
               ? 1e3 * COPIES * (double)COPY_BYTES / (double)ms
               : 0;
}

/* ---- graphs ---- */

static bool gpu_graphs(struct device *d)
{
    const struct gpu_runtime *gpu = d->gpu;
    if (gpu->capture_begin && gpu->capture_end && gpu->graph_nodes &&
        gpu->graph_ready && gpu->graph_launch && gpu->graph_free &&
        gpu->graph_forget)
        return true;
    snprintf(d->said, sizeof d->said, "%s has no graphs", gpu->file);
    return false;
}

/* Of hipStreamCaptureMode and cudaStreamCaptureMode: a call that would break a
 * recording fails in any thread, and what it says is kept. */
enum { CAPTURE_GLOBAL = 0 };

static bool gpu_graph_start(struct device *d)
{
    return CALL(d, capture_begin, d->stream, CAPTURE_GLOBAL);
}

static bool gpu_graph_stop(struct device *d, size_t *nodes)
{
    void *recorded = NULL;
    if (!CALL(d, capture_end, d->stream, &recorded))
        return false;
    const bool ok = CALL(d, graph_nodes, recorded, NULL, nodes) &&
                    CALL(d, graph_ready, &d->graph, recorded, 0);
    return CALL(d, graph_free, recorded) && ok;
}

static bool gpu_graph_replay(struct device *d)
{
    return CALL(d, graph_launch, d->graph, d->stream);
}

static bool gpu_graph_release(struct device *d)
{
    void *graph = d->graph;
    d->graph = NULL;
    return !graph || CALL(d, graph_forget, graph);
}

const struct device_calls device_gpu = {
    .count = gpu_count,
    .open = gpu_open,
    .facts = gpu_facts,
    .memory = gpu_memory,
    .alloc = gpu_alloc,
    .release = gpu_release,
    .fill = gpu_fill,
    .to_device = gpu_to_device,
    .from_device = gpu_from_device,
    .wait = gpu_wait,
    .start = gpu_start,
    .stop = gpu_stop,
    .clean = gpu_clean,
    .traffic_start = gpu_traffic_start,
    .traffic_stop = gpu_traffic_stop,
    .graphs = gpu_graphs,
    .graph_start = gpu_graph_start,
    .graph_stop = gpu_graph_stop,
    .graph_replay = gpu_graph_replay,
    .graph_release = gpu_graph_release,
};
