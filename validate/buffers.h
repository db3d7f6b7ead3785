/* SPDX-License-Identifier: MIT
 *
 * The buffers of one run: inputs, outputs and workspace, each between guard
 * bands, O and LSE full of a NaN that no arithmetic makes, codes and scales of
 * bytes drawn anew for each run. Shared with the child, which copies them to
 * its device and back.
 */
#ifndef ASSAY_BUFFERS_H
#define ASSAY_BUFFERS_H

#include "golden/set.h"
#include "validate/device.h"
#include "validate/judge.h"

enum { GUARD_BYTES = 4096, GUARD_BYTE = 0xff };

/* Bytes of the guard behind n bytes: to the end of a page. */
static inline size_t guard_tail(size_t n)
{
    return GUARD_BYTES + (GUARD_BYTES - n % GUARD_BYTES);
}

/* What inputs lie against. Where host memory ends nothing is mapped, so that a
 * read of one byte too many faults. Pointers stay aligned to BUFFER_ALIGN, as
 * vector loads want them: up to 15 bytes of guard remain behind an input whose
 * size is no multiple of that. Outputs always lie between bands, so that what
 * is written beside them is counted and the rest is judged. */
enum buffer_edge {
    EDGE_BANDS, /* guard bands on both sides */
    EDGE_END,   /* the end of an input is that of its memory */
    EDGE_START  /* the same of its beginning */
};

enum { BUFFER_ALIGN = 16 };

enum buffer_id {
    BUFFER_Q,
    BUFFER_K,
    BUFFER_V,
    BUFFER_Q_SCALE,
    BUFFER_K_SCALE,
    BUFFER_V_SCALE,
    BUFFER_K_MEAN,
    BUFFER_O,
    BUFFER_LSE,
    /* of a quantizer; inputs stand in the same order above */
    BUFFER_Q_CODES,
    BUFFER_K_CODES,
    BUFFER_V_CODES,
    BUFFER_Q_SCALES,
    BUFFER_K_SCALES,
    BUFFER_V_SCALES,
    BUFFERS
};

struct buffer {
    size_t bytes;        /* without guards; 0: not there */
    const void *content; /* the parent's; NULL for an output */
    bool output;         /* there is such an output */
    size_t head, tail;   /* bytes of the guards before and behind it */
    size_t offset;       /* of the first guard in the shared image */
};

struct buffers {
    struct buffer list[BUFFERS];
    size_t image_bytes;
    unsigned char *image; /* shared: guard, buffer, guard, one after another */
    int file;             /* that holds the image for a child that is there
                             already; -1: none */
    unsigned number;      /* of the run */
    uint16_t poison16;
    uint32_t poison32;
    const float
        *lse_shift; /* put back into the LSE of packed inputs; or NULL */
};

/* Appends which inputs a kernel changed, and the first byte of each; nothing
 * where none was. */
void buffers_tell_changed(const struct buffers *b, char *text, size_t size);

/* Sizes from case, recipe, input and what the kernel does; makes the shared
 * image, guards and poison filled in: in `file`, which gets its size, or, where
 * that is -1, in memory for children to come. */
enum assay_status buffers_new(const struct assay_case *c,
                              const struct assay_answer *answer,
                              enum assay_kernel_input input, bool quantizer,
                              enum buffer_edge edge, unsigned number, int file,
                              struct buffers *out, struct assay_error *err);
void buffers_free(struct buffers *b);

/* In the child: maps an image that is in a file. */
bool buffers_map(struct buffers *b);
/* In the child: memory for everything and copies; *at gets each buffer's
 * device address, NULL where there is none. False: the device says why. */
bool buffers_to_device(const struct buffers *b, struct device *device,
                       void *at[BUFFERS]);
/* In the child: what they hold at first into the device's, guards too; zeros
 * into the inputs alone. */
bool buffers_fill(const struct buffers *b, struct device *device,
                        void *const at[BUFFERS]);
bool buffers_clear_inputs(const struct buffers *b, struct device *device,
                          void *const at[BUFFERS]);
/* In the child: gives the device's memory back. */
void buffers_release(const struct buffers *b, struct device *device,
                     void *const at[BUFFERS]);
/* In the child: brings everything back into the image. */
bool buffers_from_device(const struct buffers *b, struct device *device,
                         void *const at[BUFFERS]);

/* "q", "q's scale", ... */
const char *buffer_name(enum buffer_id id);

/* In the parent: what the kernel changed, wrote and left out. What the K mean
 * took off the LSE of packed payloads is put back, as the caller of such a
 * kernel does it (ROCm/aiter aiter/ops/mha_v4.py). */
enum assay_status buffers_collect(const struct buffers *b,
                                  const struct assay_problem *p,
                                  const struct assay_recipe *recipe,
                                  struct candidate *out,
                                  struct assay_error *err);

#endif
