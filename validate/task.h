/* SPDX-License-Identifier: MIT
 *
 * What a child is to do and what came of it: in memory that it shares with its
 * parent. The child may write into it what it likes, so the parent keeps what
 * it relies on to itself.
 */
#ifndef ASSAY_TASK_H
#define ASSAY_TASK_H

#include "validate/buffers.h"
#include "validate/driver.h"
#include "validate/fault.h"

/* How far the child got, so that a crash can say where. */
enum task_stage {
    LOADING,
    OPENING,
    ASKING,
    ALLOCATING,
    RECORDING,
    LAUNCHING,
    COPYING,
    DONE
};

struct task_outcome {
    enum task_stage stage;
    double seconds;
    int supports, launch;    /* what the kernel's functions returned */
    size_t workspace;        /* asked for */
    int64_t workspace_bytes; /* changed outside it */
    double traffic;          /* bytes a second */
    struct fault fault;
    const char *at[BUFFERS]; /* the child's addresses */
    const char *workspace_at;
    char reason[160]; /* of the module */
    char said[128];   /* of the device */
    char notes[160];
};

struct task {
    char path[4096];
    size_t kernel;
    char kernel_name[64];
    enum assay_kernel_device device;
    int index;                    /* of the device */
    size_t memory_limit;          /* bytes that it may take; 0: no limit */
    unsigned char workspace_byte; /* what a new workspace is full of */
    bool workspace_stays;         /* as in struct driver_run */
    bool traffic, graph;          /* the same */
    struct assay_kernel_job job;  /* without pointers */
    struct buffers buffers;
    struct task_outcome outcome;
};

/* In a child: does it. Module and device are those of its first task, memory
 * of the device is given back after each. */
void task_do(void *task);

#endif
