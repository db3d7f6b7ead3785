/* SPDX-License-Identifier: MIT
 *
 * Fibres, barriers and wave shuffles of the host device.
 */
#include "device_host.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define FIBRE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBRE_ASAN 1
#endif
#endif

#ifdef FIBRE_ASAN
#include <sanitizer/common_interface_defs.h>
#else
static void __sanitizer_start_switch_fiber(void **, const void *, size_t) {}
static void __sanitizer_finish_switch_fiber(void *, const void **, size_t *) {}
#endif

namespace {

constexpr size_t kStackBytes = 256 * 1024; /* sanitizers make frames big */

/* Threads that wait for one another: a block, or a wave of it. */
struct Group {
    unsigned live = 0, arrived = 0, generation = 0;
};

struct Fibre {
    ucontext_t context;
    const void *stack = nullptr;
    size_t stack_bytes = 0;
    void *fake_stack = nullptr; /* the sanitizer's */
    assay_host_place place;
    unsigned index = 0;
    bool done = true;
    Group *wave = nullptr;
    /* Two slots in turn: a lane may be one shuffle ahead of its readers. */
    uint64_t slot[2] = {0, 0};
    unsigned turn = 0;
};

struct Launch {
    void (*body)(void *);
    void *arg;
    int wave_lanes;
    std::vector<Fibre> fibres;
    std::vector<Group> waves;
    Group block;
    Fibre caller;
    Fibre *self = nullptr, *previous = nullptr;
    bool ending = false;
};

/* Of the largest block so far; each with a page below it that must crash. */
struct Stacks {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *base = nullptr;
    size_t n = 0;

    Stacks() = default;
    Stacks(const Stacks &) = delete;
    ~Stacks() { release(); }

    size_t pitch() const { return kStackBytes + page; }
    char *stack(size_t i) const { return base + i * pitch() + page; }

    void release()
    {
        if (base)
            munmap(base, n * pitch());
        base = nullptr;
        n = 0;
    }

    bool reserve(size_t count)
    {
        if (count <= n)
            return true;
        release();
        void *memory =
            mmap(nullptr, count * pitch(), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return false;
        base = (char *)memory;
        n = count;
        for (size_t i = 0; i < n; i++)
            mprotect(base + i * pitch(), page, PROT_NONE);
        return true;
    }
};

thread_local Stacks stacks;
thread_local Launch *launch;
thread_local hipError_t last_error = hipSuccess;

void switch_to(Fibre &to)
{
    Fibre &from = *launch->self;
    launch->previous = &from;
    launch->self = &to;
    __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
    swapcontext(&from.context, &to.context);
    __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
}

/* Lets the next fibre run that is not done. */
void yield()
{
    size_t n = launch->fibres.size(), i = launch->self->index;
    do
        i = i + 1 == n ? 0 : i + 1;
    while (launch->fibres[i].done);
    if (&launch->fibres[i] != launch->self)
        switch_to(launch->fibres[i]);
}

void release(Group &group)
{
    group.arrived = 0;
    ++group.generation;
}

void wait(Group &group)
{
    unsigned generation = group.generation;
    if (++group.arrived == group.live)
        release(group);
    while (group.generation == generation)
        yield();
}

/* A thread that has returned counts as arrived everywhere. */
void leave(Group &group)
{
    --group.live;
    if (group.live && group.arrived == group.live)
        release(group);
}

void finish_thread()
{
    Fibre &self = *launch->self;
    self.done = true;
    leave(*self.wave);
    leave(launch->block);
    if (launch->block.live)
        yield();
    else
        switch_to(launch->caller);
}

/* A fibre's whole life: its thread of one block after another. */
void live()
{
    Fibre &from = *launch->previous;
    __sanitizer_finish_switch_fiber(nullptr, &from.stack, &from.stack_bytes);
    while (!launch->ending) {
        launch->body(launch->arg);
        finish_thread();
    }
    Fibre &to = launch->caller;
    launch->self = &to;
    __sanitizer_start_switch_fiber(nullptr, to.stack, to.stack_bytes);
    setcontext(&to.context);
}

void run_block(dim3 block)
{
    Launch &l = *launch;
    for (Group &wave : l.waves)
        wave = Group();
    l.block = Group();
    for (Fibre &fibre : l.fibres) {
        fibre.done = false;
        fibre.place.block = block;
        ++fibre.wave->live;
        ++l.block.live;
    }
    switch_to(l.fibres[0]);
}

void prepare_fibre(Launch &l, unsigned i, dim3 grid, dim3 block)
{
    Fibre &fibre = l.fibres[i];
    fibre.stack = stacks.stack(i);
    fibre.stack_bytes = kStackBytes;
    fibre.index = i;
    fibre.wave = &l.waves[i / l.wave_lanes];
    fibre.place.thread =
        dim3(i % block.x, i / block.x % block.y, i / block.x / block.y);
    fibre.place.block_dim = block;
    fibre.place.grid_dim = grid;
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = stacks.stack(i);
    fibre.context.uc_stack.ss_size = kStackBytes;
    fibre.context.uc_link = nullptr;
    makecontext(&fibre.context, live, 0);
}

int wave_from_environment()
{
    const char *text = getenv("ASSAY_HOST_WAVE");
    return text && !strcmp(text, "32") ? 32 : 64;
}

} // namespace

const assay_host_place &assay_host_self()
{
    return launch->self->place;
}

int assay_host_wave()
{
    return launch ? launch->wave_lanes : wave_from_environment();
}

void assay_host_barrier()
{
    wait(launch->block);
}

/* As HIP: a lane whose partner is outside its segment gets its own value. */
uint64_t assay_host_shuffle_xor(uint64_t value, int mask, int width)
{
    Fibre &self = *launch->self;
    unsigned turn = self.turn;
    unsigned lane = self.index % launch->wave_lanes;
    unsigned other = lane ^ (unsigned)mask;
    unsigned partner = self.index - lane + other;
    self.slot[turn] = value;
    self.turn = turn ^ 1;
    wait(*self.wave);
    if (other / width != lane / width || partner >= launch->fibres.size())
        return value;
    return launch->fibres[partner].slot[turn];
}

hipError_t hipGetLastError()
{
    hipError_t error = last_error;
    last_error = hipSuccess;
    return error;
}

const char *hipGetErrorString(hipError_t error)
{
    return error == hipSuccess ? "no error" : "no memory for fibres";
}

void assay_host_run(dim3 grid, dim3 block, void (*body)(void *), void *arg)
{
    const size_t n = (size_t)block.x * block.y * block.z;
    if (!stacks.reserve(n)) {
        last_error = hipErrorOutOfMemory;
        return;
    }
    Launch l;
    l.body = body;
    l.arg = arg;
    l.wave_lanes = wave_from_environment();
    l.fibres.resize(n);
    l.waves.resize((n + l.wave_lanes - 1) / l.wave_lanes);
    l.self = &l.caller;
    for (unsigned i = 0; i < n; i++)
        prepare_fibre(l, i, grid, block);
    launch = &l;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++)
                run_block(dim3(x, y, z));
    l.ending = true;
    for (Fibre &fibre : l.fibres)
        switch_to(fibre);
    launch = nullptr;
}
