/* SPDX-License-Identifier: MIT
 *
 * Where candidates come from: a row of driver.def each. A driver offers kernels
 * and brings back what one leaves on a case; gates, records and reports do not
 * know which driver it was.
 */
#ifndef ASSAY_DRIVER_H
#define ASSAY_DRIVER_H

#include <stdbool.h>

#include "assay/kernel.h"
#include "golden/set.h"
#include "golden/sketch.h"
#include "validate/result.h"

enum driver_kind {
#define ASSAY_DRIVER(id, ...) DRIVER_##id,
#include "validate/driver.def"
#undef ASSAY_DRIVER
    DRIVERS
};

enum { DRIVER_MAX_KERNELS = 1024 };

/* What a kernel takes: bits of enum assay_kernel_input, or outputs that are
 * there already. */
enum { DRIVER_INPUT_SAVED = 4, DRIVER_INPUTS = 7 };

struct driver_kernel {
    char name[64];
    char recipe[32];       /* "*": whatever the set has answers for */
    char softmax_form[32]; /* "": not told, judged by each the set has */
    char about[128];
    unsigned inputs;
    bool quantizer;
};

struct driver_info {
    char path[4096];
    char name[64], build[256];
    enum assay_kernel_device device; /* of a module */
    char where[192];                 /* device, for people */
    size_t count;
    struct driver_kernel kernels[DRIVER_MAX_KERNELS];
};

/* Where a kernel of a module runs: as in validate, or in a child that stays for
 * the runs that follow, begun anew or the one of the run before. */
enum driver_process { DRIVER_OWN_CHILD, DRIVER_NEW_CHILD, DRIVER_SAME_CHILD };

struct driver_run {
    size_t kernel;  /* index */
    unsigned input; /* one bit */
    const struct assay_case *c;
    const struct assay_answer *answer; /* payloads for packed input */
    double timeout_s;
    unsigned number; /* of the run; picks the poison */
    bool at_start;   /* inputs lie against the beginning of their memory, not
                        against its end, where the device can do that */
    enum driver_process process;
    unsigned char workspace_flip; /* bits by which a workspace differs from the
                                     poison of others */
    bool workspace_stays; /* what the run before left in its own, if that stayed
                             too and has the same size, is what this one finds;
                             in the same child alone */
    bool traffic;         /* the device's memory is busy meanwhile */
    bool graph;           /* recorded while inputs are zeros, then replayed
                             some times with the right ones; what the last
                             replay leaves counts */
};

/* The set that a driver is opened for, and what was said on the command line
 * that the driver alone understands. */
struct driver_binding {
    const struct assay_set *set;
    const char *cases, *recipes; /* selections, or NULL */
    const char *layout;          /* --layout, or NULL */
};

struct driver {
    enum driver_kind kind;
    const char *device;  /* as given ("cuda:1"), or NULL; before it is opened */
    size_t memory_limit; /* of modules for the host, in bytes; 0: the default;
                            after it is opened */
    struct driver_info *info; /* the driver's */
    /* Before anything runs, for a driver whose kernels hang on the set; or
     * NULL. What it has to say goes to stderr. */
    enum assay_status (*bind)(struct driver *d, const struct driver_binding *b,
                              struct assay_error *err);
    /* If the kernel came to an end, *ran is true and *out is filled (free with
     * candidate_free); else verdict and reason of the result say why not.
     * Seconds and notes of the result are filled in any case. */
    enum assay_status (*run)(struct driver *d, const struct driver_run *run,
                             bool *ran, struct candidate *out,
                             struct result *result, struct assay_error *err);
    void (*close)(struct driver *d);
    void *own;
};

struct driver_row {
    const char *name;
    /* Opens what the option's argument names; NULL: the default. */
    enum assay_status (*open)(const char *what, double timeout_s,
                              struct driver *out, struct assay_error *err);
};
const struct driver_row *driver_get(enum driver_kind kind);

/* *out is the caller's to driver_close, also after a failure. */
enum assay_status driver_open(enum driver_kind kind, const char *what,
                              const char *device, double timeout_s,
                              struct driver *out, struct assay_error *err);
void driver_close(struct driver *d);

/* "raw", "packed", "saved" */
const char *driver_input_name(unsigned input);

void candidate_free(struct candidate *c);

/* The rows' functions. */
#define ASSAY_DRIVER(id, ...)                                              \
    enum assay_status driver_open_##id(const char *what, double timeout_s, \
                                       struct driver *out,                 \
                                       struct assay_error *err);
#include "validate/driver.def"
#undef ASSAY_DRIVER

#endif
