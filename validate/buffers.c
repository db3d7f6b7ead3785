/* SPDX-License-Identifier: MIT */
#include "validate/buffers.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "assay/memory.h"
#include "golden/child.h"
#include "golden/text.h"
#include "validate/delivered.h"

static size_t tensor_bytes(const struct assay_payload *payload)
{
    return (size_t)payload->count * assay_format_bytes(payload->format);
}

static size_t scale_bytes(const struct assay_payload *payload)
{
    return (size_t)payload->n_scales * (payload->scales ? sizeof(float) : 1);
}

static void size_inputs(struct buffers *b, const struct assay_case *c,
                        const struct assay_answer *a,
                        enum assay_kernel_input input)
{
    const struct assay_problem *p = &c->problem;
    const size_t word = assay_format_bytes(c->format);
    if (input == ASSAY_KERNEL_RAW) {
        b->list[BUFFER_Q].content = c->q;
        b->list[BUFFER_K].content = c->k;
        b->list[BUFFER_V].content = c->v;
        b->list[BUFFER_Q].bytes = (size_t)assay_problem_q_elems(p) * word;
        b->list[BUFFER_K].bytes = (size_t)assay_problem_k_elems(p) * word;
        b->list[BUFFER_V].bytes = (size_t)assay_problem_v_elems(p) * word;
        return;
    }
    const struct assay_payload *parts[] = { &a->payloads.q, &a->payloads.k,
                                            &a->payloads.v };
    for (int i = 0; i < 3; i++) {
        b->list[BUFFER_Q + i].content = parts[i]->codes;
        b->list[BUFFER_Q + i].bytes = tensor_bytes(parts[i]);
        b->list[BUFFER_Q_SCALE + i].content =
            parts[i]->scales ? (const void *)parts[i]->scales : parts[i]->e8m0;
        b->list[BUFFER_Q_SCALE + i].bytes = scale_bytes(parts[i]);
    }
}

static void add_output(struct buffers *b, int id, size_t bytes)
{
    b->list[id].output = true;
    b->list[id].bytes = bytes;
}

/* What a kernel leaves; a quantizer is given the mean of K beside. */
static void size_outputs(struct buffers *b, const struct assay_problem *p,
                         const struct assay_answer *a, bool quantizer)
{
    const struct assay_payload *parts[] = { &a->payloads.q, &a->payloads.k,
                                            &a->payloads.v };
    const struct assay_format *o = assay_format_get(a->recipe->out_format);
    if (!quantizer) {
        add_output(b, BUFFER_O,
                   (size_t)assay_problem_o_elems(p) * assay_format_bytes(o));
        add_output(b, BUFFER_LSE,
                   (size_t)assay_problem_rows(p) * sizeof(float));
        return;
    }
    for (int i = 0; i < 3; i++) {
        add_output(b, BUFFER_Q_CODES + i, tensor_bytes(parts[i]));
        if (parts[i]->n_scales > 0)
            add_output(b, BUFFER_Q_SCALES + i, scale_bytes(parts[i]));
    }
    b->list[BUFFER_K_MEAN].content = a->payloads.k_mean;
    if (a->payloads.k_mean)
        b->list[BUFFER_K_MEAN].bytes =
            (size_t)(p->b * p->hk * p->dk) * sizeof *a->payloads.k_mean;
}

/* ---- poison ---- */

/* Byte i of a payload: another in each run and place, so that what still holds
 * it was not written, and what differs by chance does so alone. */
static unsigned char poison_byte(const struct buffers *b, int id, size_t i)
{
    uint32_t x = (uint32_t)i * 0x9e3779b1u + b->number * 0x85ebca6bu +
                 (uint32_t)id * 0xc2b2ae35u;
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    x ^= x >> 12;
    x *= 0x297a2d39u;
    return (unsigned char)(x >> 24);
}

static void poison_payloads(struct buffers *b)
{
    for (int id = BUFFER_Q_CODES; id < BUFFERS; id++) {
        unsigned char *at = b->image + b->list[id].offset + b->list[id].head;
        for (size_t i = 0; i < b->list[id].bytes; i++)
            at[i] = poison_byte(b, id, i);
    }
}

static void fill_poison(struct buffers *b)
{
    unsigned char *o =
        b->image + b->list[BUFFER_O].offset + b->list[BUFFER_O].head;
    unsigned char *lse =
        b->image + b->list[BUFFER_LSE].offset + b->list[BUFFER_LSE].head;
    /* o is 2 or 4 bytes wide; the 32-bit poison is the 16-bit one twice */
    for (size_t i = 0; i + 2 <= b->list[BUFFER_O].bytes; i += 2)
        memcpy(o + i, &b->poison16, 2);
    for (size_t i = 0; i + 4 <= b->list[BUFFER_LSE].bytes; i += 4)
        memcpy(lse + i, &b->poison32, 4);
}

/* Guards around a buffer; with it they are whole pages. */
static void place(struct buffer *f, enum buffer_edge edge)
{
    f->head = edge == EDGE_START ? 0 : GUARD_BYTES;
    f->tail = guard_tail(f->bytes);
    if (edge == EDGE_END) {
        f->tail = -f->bytes % BUFFER_ALIGN;
        f->head = guard_tail(f->bytes + f->tail);
    }
}

static size_t whole(const struct buffer *f)
{
    return f->head + f->bytes + f->tail;
}

bool buffers_map(struct buffers *b)
{
    void *image = mmap(NULL, b->image_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                       b->file, 0);
    b->image = image == MAP_FAILED ? NULL : image;
    return b->image;
}

static enum assay_status make_image(struct buffers *b, struct assay_error *err)
{
    if (b->file < 0)
        return child_share(b->image_bytes, &b->image, err);
    if (ftruncate(b->file, (off_t)b->image_bytes) == 0 && buffers_map(b))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_MEMORY, "no shared memory: %zu bytes: %s",
                      b->image_bytes, strerror(errno));
}

enum assay_status buffers_new(const struct assay_case *c,
                              const struct assay_answer *answer,
                              enum assay_kernel_input input, bool quantizer,
                              enum buffer_edge edge, unsigned number, int file,
                              struct buffers *out, struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    *out = (struct buffers){ .file = file, .number = number };
    size_inputs(out, c, answer, input);
    size_outputs(out, p, answer, quantizer);
    if (input == ASSAY_KERNEL_PACKED)
        out->lse_shift = answer->payloads.lse_shift;
    /* signalling NaNs, another each run: arithmetic makes quiet ones only,
     * and an earlier run's leftovers have other bits */
    out->poison16 = (uint16_t)(0x7f81 + number % 62);
    out->poison32 = out->poison16 * 0x10001u;
    for (int i = 0; i < BUFFERS; i++) {
        struct buffer *f = &out->list[i];
        f->offset = out->image_bytes;
        place(f, f->content ? edge : EDGE_BANDS);
        out->image_bytes += whole(f);
    }
    enum assay_status st = make_image(out, err);
    if (st != ASSAY_OK)
        return st;
    /* a NaN pattern too: what is read past an end and used shows */
    memset(out->image, GUARD_BYTE, out->image_bytes);
    for (int i = 0; i < BUFFERS; i++)
        if (out->list[i].content)
            memcpy(out->image + out->list[i].offset + out->list[i].head,
                   out->list[i].content, out->list[i].bytes);
    fill_poison(out);
    poison_payloads(out);
    return ASSAY_OK;
}

void buffers_free(struct buffers *b)
{
    child_unshare(b->image, b->image_bytes);
}

bool buffers_to_device(const struct buffers *b, struct device *device,
                       void *at[BUFFERS])
{
    memset(at, 0, BUFFERS * sizeof *at);
    for (int i = 0; i < BUFFERS; i++) {
        const struct buffer *f = &b->list[i];
        if (!f->content && !f->output)
            continue;
        char *memory = device->calls->alloc(device, whole(f));
        if (!memory)
            return false;
        at[i] = memory + f->head;
    }
    return buffers_fill(b, device, at);
}

bool buffers_fill(const struct buffers *b, struct device *device,
                  void *const at[BUFFERS])
{
    for (int i = 0; i < BUFFERS; i++) {
        const struct buffer *f = &b->list[i];
        if (at[i] && !device->calls->to_device(device, (char *)at[i] - f->head,
                                               b->image + f->offset, whole(f)))
            return false;
    }
    return true;
}

bool buffers_clear_inputs(const struct buffers *b, struct device *device,
                          void *const at[BUFFERS])
{
    for (int i = 0; i < BUFFERS; i++)
        if (at[i] && b->list[i].content && b->list[i].bytes > 0 &&
            !device->calls->fill(device, at[i], 0, b->list[i].bytes))
            return false;
    return true;
}

void buffers_release(const struct buffers *b, struct device *device,
                     void *const at[BUFFERS])
{
    for (int i = 0; i < BUFFERS; i++)
        if (at[i])
            device->calls->release(device, (char *)at[i] - b->list[i].head,
                                   whole(&b->list[i]));
}

bool buffers_from_device(const struct buffers *b, struct device *device,
                         void *const at[BUFFERS])
{
    for (int i = 0; i < BUFFERS; i++) {
        const struct buffer *f = &b->list[i];
        if (at[i] &&
            !device->calls->from_device(device, b->image + f->offset,
                                        (char *)at[i] - f->head, whole(f)))
            return false;
    }
    return true;
}

const char *buffer_name(enum buffer_id id)
{
    static const char *const names[BUFFERS] = {
        "q",         "k",         "v",          "q's scale",  "k's scale",
        "v's scale", "k's mean",  "o",          "lse",        "q's codes",
        "k's codes", "v's codes", "q's scales", "k's scales", "v's scales",
    };
    return names[id];
}

static int64_t changed(const unsigned char *bytes, size_t n, unsigned char was)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += bytes[i] != was;
    return count;
}

static void check_edges(const struct buffers *b, struct candidate *out)
{
    static const char *const sides[BUFFERS][2] = {
        [BUFFER_Q] = { "before q", "after q" },
        [BUFFER_K] = { "before k", "after k" },
        [BUFFER_V] = { "before v", "after v" },
        [BUFFER_Q_SCALE] = { "before q's scale", "after q's scale" },
        [BUFFER_K_SCALE] = { "before k's scale", "after k's scale" },
        [BUFFER_V_SCALE] = { "before v's scale", "after v's scale" },
        [BUFFER_K_MEAN] = { "before k's mean", "after k's mean" },
        [BUFFER_O] = { "before o", "after o" },
        [BUFFER_LSE] = { "before lse", "after lse" },
        [BUFFER_Q_CODES] = { "before q's codes", "after q's codes" },
        [BUFFER_K_CODES] = { "before k's codes", "after k's codes" },
        [BUFFER_V_CODES] = { "before v's codes", "after v's codes" },
        [BUFFER_Q_SCALES] = { "before q's scales", "after q's scales" },
        [BUFFER_K_SCALES] = { "before k's scales", "after k's scales" },
        [BUFFER_V_SCALES] = { "before v's scales", "after v's scales" },
    };
    for (int i = 0; i < BUFFERS; i++) {
        const struct buffer *f = &b->list[i];
        const unsigned char *at = b->image + f->offset;
        const unsigned char *was = f->content;
        for (int side = 0; side < 2; side++) {
            int64_t n = changed(at + (side ? f->head + f->bytes : 0),
                                side ? f->tail : f->head, GUARD_BYTE);
            if (n > 0 && out->guard_bytes == 0)
                out->guard_where = sides[i][side];
            out->guard_bytes += n;
        }
        for (size_t j = 0; was && j < f->bytes; j++)
            out->input_bytes += at[f->head + j] != was[j];
    }
}

void buffers_tell_changed(const struct buffers *b, char *text, size_t size)
{
    for (int i = 0; i < BUFFERS; i++) {
        const struct buffer *f = &b->list[i];
        const unsigned char *is = b->image + f->offset + f->head,
                            *was = f->content;
        size_t j = 0;
        while (was && j < f->bytes && is[j] == was[j])
            j++;
        if (!was || j == f->bytes)
            continue;
        text_append(text, size,
                    "%s%s was changed, first in byte %zu of %zu: was 0x%02x, "
                    "is 0x%02x",
                    text[0] ? "; " : "", buffer_name((enum buffer_id)i), j,
                    f->bytes, was[j], is[j]);
    }
}

static void count_unwritten(const struct buffers *b,
                            const struct assay_problem *p, size_t word,
                            double *heads, struct candidate *out)
{
    const unsigned char *o =
        b->image + b->list[BUFFER_O].offset + b->list[BUFFER_O].head;
    const unsigned char *lse =
        b->image + b->list[BUFFER_LSE].offset + b->list[BUFFER_LSE].head;
    out->unwritten_at = (struct assay_place){ -1, -1, -1, -1 };
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        struct assay_place at = assay_row_place(p, r);
        int64_t row = assay_row_offset(p->nq, p->hq, p->dv, at.b, at.i, at.h);
        int64_t before = out->o_unwritten + out->lse_unwritten;
        for (int64_t c = row; c < row + p->dv; c++)
            out->o_unwritten +=
                memcmp(o + (size_t)c * word, &b->poison32, word) == 0;
        out->lse_unwritten += memcmp(lse + 4 * r, &b->poison32, 4) == 0;
        const int64_t more = out->o_unwritten + out->lse_unwritten - before;
        heads[r / p->nq] += (double)more;
        if (before == 0 && more > 0)
            out->unwritten_at = at;
    }
}

/* ---- what a quantizer left ---- */

/* Bytes of a run that still holds the poison; fewer than `least` together may
 * be what the quantizer made. */
static int64_t poison_left(const struct buffers *b, int id, size_t least)
{
    const struct buffer *f = &b->list[id];
    const unsigned char *at = b->image + f->offset + f->head;
    int64_t left = 0;
    for (size_t i = 0, run = 0; i <= f->bytes; i++) {
        if (i < f->bytes && at[i] == poison_byte(b, id, i)) {
            run++;
            continue;
        }
        left += run >= least ? (int64_t)run : 0;
        run = 0;
    }
    return left;
}

/* Chance gives 8 bytes of poison in one of 2^64 places. A scale of binary32 is
 * looked at by itself. */
static int64_t count_unwritten_payload(const struct buffers *b, int i,
                                       const struct assay_payload *x)
{
    enum { SURE = 8 };
    const size_t word = assay_format_bytes(x->format),
                 scale = x->scales ? sizeof *x->scales : 1;
    return poison_left(b, BUFFER_Q_CODES + i, SURE) / (int64_t)word +
           poison_left(b, BUFFER_Q_SCALES + i, x->scales ? scale : SURE) /
               (int64_t)scale;
}

static enum assay_status collect_payloads(const struct buffers *b,
                                          const struct assay_problem *p,
                                          const struct assay_recipe *recipe,
                                          struct candidate *out,
                                          struct assay_error *err)
{
    *out = (struct candidate){ .unwritten_at = { -1, -1, -1, -1 } };
    enum assay_status st = delivered_new(out, err);
    for (int i = 0; st == ASSAY_OK && i < ASSAY_INPUTS; i++) {
        const enum assay_input input = (enum assay_input)i;
        struct assay_payload *x = assay_payloads_at(out->delivered, input);
        const struct buffer *codes = &b->list[BUFFER_Q_CODES + i],
                            *scales = &b->list[BUFFER_Q_SCALES + i];
        st = delivered_room(recipe, p, input, x, err);
        if (st != ASSAY_OK)
            break;
        memcpy(x->codes, b->image + codes->offset + codes->head, codes->bytes);
        if (x->n_scales > 0)
            memcpy(delivered_scales(x),
                   b->image + scales->offset + scales->head, scales->bytes);
        out->payload_unwritten += count_unwritten_payload(b, i, x);
    }
    if (st == ASSAY_OK)
        check_edges(b, out);
    return st;
}

static enum assay_status collect_answer(const struct buffers *b,
                                        const struct assay_problem *p,
                                        const struct assay_format *out_format,
                                        struct candidate *out,
                                        struct assay_error *err)
{
    const int64_t n = assay_problem_o_elems(p), rows = assay_problem_rows(p);
    const void *o_words =
        b->image + b->list[BUFFER_O].offset + b->list[BUFFER_O].head;
    const unsigned char *lse_words =
        b->image + b->list[BUFFER_LSE].offset + b->list[BUFFER_LSE].head;
    float *o = NULL;
    double *lse = NULL, *unwritten = NULL;
    *out = (struct candidate){ 0 };
    enum assay_status st = assay_alloc("an output", n, sizeof *o, &o, err);
    if (st == ASSAY_OK)
        st = assay_alloc("an LSE", rows, sizeof *lse, &lse, err);
    if (st == ASSAY_OK)
        st = assay_alloc("head figures", p->b * p->hq, sizeof *unwritten,
                         &unwritten, err);
    out->o = o;
    out->lse = lse;
    out->unwritten = unwritten;
    if (st != ASSAY_OK)
        return st;
    assay_format_decode(out_format, (size_t)n, o_words, o);
    for (int64_t r = 0; r < rows; r++) {
        float value;
        memcpy(&value, lse_words + 4 * r, sizeof value);
        lse[r] = value;
        if (b->lse_shift)
            lse[r] += (double)b->lse_shift[r];
    }
    check_edges(b, out);
    memset(unwritten, 0, (size_t)(p->b * p->hq) * sizeof *unwritten);
    count_unwritten(b, p, assay_format_bytes(out_format), unwritten, out);
    return ASSAY_OK;
}

enum assay_status buffers_collect(const struct buffers *b,
                                  const struct assay_problem *p,
                                  const struct assay_recipe *recipe,
                                  struct candidate *out,
                                  struct assay_error *err)
{
    return b->list[BUFFER_O].output
               ? collect_answer(b, p, assay_format_get(recipe->out_format), out,
                                err)
               : collect_payloads(b, p, recipe, out, err);
}
