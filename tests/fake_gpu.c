/* SPDX-License-Identifier: MIT
 *
 * A GPU's runtime over host memory, for machines without one: compiled with
 * -DGPU=hip or -DGPU=cuda it has the functions of gpu_call.def. Memory of the
 * "device" can be touched in a copy and between an event's record and a
 * wait alone, so that a validator that reads it by itself crashes. What goes
 * wrong is said by FAKE_GPU:
 *
 *   none    there is no device         driver  the driver is too old
 *   hang    counting never returns
 *   memory  allocations beyond the third fail
 *   fault   the launch does, told by the wait after it, and all later calls
 *   busy    copies to the device fail
 *   copies  copies on the device do
 *   left    a launch leaves an error that no call returned
 *
 * What LaunchHostFunc gets runs at once, or, between StreamBeginCapture and
 * StreamEndCapture, when the graph is launched; calls that a recording does not
 * survive break it.
 *
 * FAKE_LOG is a file that gets a line where a device is opened.
 * -DWITHOUT_RECORD leaves EventRecord out, -DWITHOUT_GRAPHS GraphLaunch,
 * -DPROPERTIES=name gives that
 * function another name, as newer HIP has it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define CALL(name) JOIN(GPU, name)
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

enum {
    OUT_OF_MEMORY = 2,
    OLD_DRIVER = 35,
    NO_DEVICE = 100,
    ILLEGAL = 700,
    NOT_IN_CAPTURE = 900,
    BROKEN_CAPTURE = 901,
};
enum { DEVICES = 2, BLOCKS = 64, NODES = 8 };

static struct {
    char *at;
    size_t bytes;
} blocks[BLOCKS];
static int used, device = -1, launched, sticky;

struct graph {
    size_t count;
    struct {
        void (*call)(void *);
        void *with;
    } nodes[NODES];
};
static struct graph recorded;
static int capturing, broken;
static int own_stream, other_stream;

static int is(const char *what)
{
    const char *how = getenv("FAKE_GPU");
    return how && strcmp(how, what) == 0;
}

static void open_memory(int open)
{
    for (int i = 0; i < used; i++)
        mprotect(blocks[i].at, blocks[i].bytes,
                 open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

int CALL(DriverGetVersion)(int *v)
{
    *v = TEXT(GPU)[0] == 'h' ? 60200123 : 12080;
    return 0;
}

int CALL(RuntimeGetVersion)(int *v)
{
    *v = TEXT(GPU)[0] == 'h' ? 60100042 : 12060;
    return 0;
}

int CALL(GetDeviceCount)(int *n)
{
    while (is("hang"))
        pause();
    if (is("driver"))
        return OLD_DRIVER;
    *n = is("none") ? 0 : DEVICES;
    return is("none") ? NO_DEVICE : 0;
}

#ifndef PROPERTIES
#define PROPERTIES GetDeviceProperties
#endif

int CALL(PROPERTIES)(void *all, int i)
{
    memset(all, 0, 1024); /* somewhat like a structure of properties */
    snprintf(all, 256, "Fake %s %d", TEXT(GPU), i);
    strcpy((char *)all + 700, "gfx942:sramecc+");
    return 0;
}

/* By the numbers of gpu_attribute.def. */
int CALL(DeviceGetAttribute)(int *value, int number, int i)
{
    const int hip = TEXT(GPU)[0] == 'h';
    (void)i;
    *value = number == (hip ? 60 : 36)   ? 1000000
             : number == (hip ? 59 : 37) ? 4096
             : number == (hip ? 23 : 75) ? 9
             : number == (hip ? 61 : 76) ? 0
                                         : -1;
    return 0;
}

int CALL(SetDevice)(int i)
{
    device = i;
    return i < 0 || i >= DEVICES ? 101 : sticky;
}

int CALL(MemGetInfo)(size_t *left, size_t *total)
{
    *total = (size_t)64 << 30;
    *left = *total - ((size_t)device + 1) * ((size_t)1 << 30);
    return sticky;
}

static int breaks_capture(void)
{
    broken |= capturing;
    return capturing ? NOT_IN_CAPTURE : 0;
}

int CALL(Malloc)(void **at, size_t bytes)
{
    if (breaks_capture())
        return NOT_IN_CAPTURE;
    if (sticky)
        return sticky;
    if (used == BLOCKS || (is("memory") && used == 3))
        return OUT_OF_MEMORY;
    const size_t size = (bytes + 4095) / 4096 * 4096;
    *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*at == MAP_FAILED)
        return OUT_OF_MEMORY;
    blocks[used].at = *at;
    blocks[used++].bytes = size;
    return 0;
}

int CALL(Free)(void *at)
{
    for (int i = 0; i < used; i++)
        if (blocks[i].at == at) {
            munmap(at, blocks[i].bytes);
            blocks[i] = blocks[--used];
            return sticky;
        }
    return 1;
}

int CALL(Memset)(void *at, int byte, size_t bytes)
{
    if (breaks_capture())
        return NOT_IN_CAPTURE;
    open_memory(1);
    memset(at, byte, bytes);
    open_memory(0);
    return sticky;
}

int CALL(Memcpy)(void *to, const void *from, size_t bytes, int kind)
{
    if (breaks_capture())
        return NOT_IN_CAPTURE;
    if (sticky || (is("busy") && kind == 1))
        return sticky ? sticky : 46;
    open_memory(1);
    memcpy(to, from, bytes);
    open_memory(0);
    return 0;
}

int CALL(DeviceSynchronize)(void)
{
    if (breaks_capture())
        return NOT_IN_CAPTURE;
    if (launched && is("fault"))
        sticky = ILLEGAL;
    launched = 0;
    open_memory(0);
    return sticky;
}

int CALL(StreamCreate)(void **stream)
{
    FILE *log = getenv("FAKE_LOG") ? fopen(getenv("FAKE_LOG"), "a") : NULL;
    *stream = &own_stream;
    if (log)
        fprintf(log, "opened by %ld\n", (long)getpid()), fclose(log);
    return sticky;
}

int CALL(StreamCreateWithFlags)(void **stream, unsigned flags)
{
    *stream = &other_stream;
    return flags == 1 ? sticky : 1;
}

/* Of many bytes the first: time is not what is faked. */
int CALL(MemcpyAsync)(void *to, const void *from, size_t bytes, int kind,
                      void *stream)
{
    if (sticky || kind != 3 || !stream || bytes < 4096)
        return sticky ? sticky : 1;
    if (is("copies"))
        return 46;
    open_memory(1);
    memcpy(to, from, 4096);
    return 0;
}

int CALL(EventCreate)(void **event)
{
    *event = calloc(1, 1);
    return *event ? sticky : OUT_OF_MEMORY;
}

#ifndef WITHOUT_RECORD
int CALL(EventRecord)(void *event, void *stream)
{
    if (!event || !stream)
        return 1;
    launched = 1;
    open_memory(1);
    return sticky;
}
#endif

int CALL(EventElapsedTime)(float *ms, void *from, void *to)
{
    *ms = 12.5f;
    return from && to ? sticky : 1;
}

int CALL(StreamBeginCapture)(void *stream, int mode)
{
    recorded.count = 0;
    broken = 0;
    capturing = stream == &own_stream && mode == 0 && !sticky;
    return capturing ? 0 : 1;
}

/* On the stream that is captured it is recorded; on no stream it breaks that;
 * elsewhere it runs at once. */
int CALL(LaunchHostFunc)(void *stream, void (*call)(void *), void *with)
{
    if (!stream && breaks_capture())
        return NOT_IN_CAPTURE;
    if (!capturing || stream != &own_stream) {
        open_memory(1);
        call(with);
        return sticky;
    }
    if (recorded.count == NODES)
        return OUT_OF_MEMORY;
    recorded.nodes[recorded.count].call = call;
    recorded.nodes[recorded.count++].with = with;
    return sticky;
}

int CALL(StreamEndCapture)(void *stream, void **graph)
{
    const int ok = stream == &own_stream && capturing && !broken;
    capturing = 0;
    *graph =
        ok ? memcpy(malloc(sizeof recorded), &recorded, sizeof recorded) : NULL;
    return ok ? sticky : BROKEN_CAPTURE;
}

int CALL(GraphGetNodes)(void *graph, void **nodes, size_t *count)
{
    *count = ((struct graph *)graph)->count;
    return nodes ? 1 : sticky;
}

int CALL(GraphInstantiateWithFlags)(void **ready, void *graph,
                                    unsigned long long flags)
{
    *ready = memcpy(malloc(sizeof recorded), graph, sizeof recorded);
    return flags ? 1 : sticky;
}

int CALL(GraphDestroy)(void *graph)
{
    free(graph);
    return sticky;
}

int CALL(GraphExecDestroy)(void *ready)
{
    free(ready);
    return sticky;
}

#ifndef WITHOUT_GRAPHS
int CALL(GraphLaunch)(void *ready, void *stream)
{
    const struct graph *g = ready;
    for (size_t i = 0; i < g->count && stream == &own_stream; i++)
        g->nodes[i].call(g->nodes[i].with);
    return stream == &own_stream ? sticky : 1;
}
#endif

int CALL(GetLastError)(void)
{
    return is("left") ? 9 : sticky;
}

const char *CALL(GetErrorName)(int error)
{
    return error == ILLEGAL ? "fakeErrorIllegalAddress" : "fakeError";
}

const char *CALL(GetErrorString)(int error)
{
    return error == OUT_OF_MEMORY ? "out of memory"
           : error == OLD_DRIVER  ? "driver version is insufficient"
           : error == NO_DEVICE   ? "no device is detected"
           : error == ILLEGAL     ? "an illegal memory access was encountered"
           : error == NOT_IN_CAPTURE ? "not permitted when stream is capturing"
           : error == BROKEN_CAPTURE ? "capture was invalidated"
                                     : "something else";
}
