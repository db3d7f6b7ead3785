/* SPDX-License-Identifier: MIT */
#include "validate/buffers.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "assay/memory.h"
#include "golden/child.h"

static size_t tensor_bytes(const struct assay_payload *payload)
{
    return (size_t)payload->count * assay_format_bytes(payload->format);
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
        b->list[BUFFER_Q_SCALE + i].bytes =
            (size_t)parts[i]->n_scales * (parts[i]->scales ? sizeof(float) : 1);
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
                              enum assay_kernel_input input,
                              enum buffer_edge edge, unsigned number, int file,
                              struct buffers *out, struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    const struct assay_format *o = assay_format_get(answer->recipe->out_format);
    *out = (struct buffers){ .file = file };
    size_inputs(out, c, answer, input);
    if (input == ASSAY_KERNEL_PACKED)
        out->lse_shift = answer->payloads.lse_shift;
    out->list[BUFFER_O].bytes =
        (size_t)assay_problem_o_elems(p) * assay_format_bytes(o);
    out->list[BUFFER_LSE].bytes = (size_t)assay_problem_rows(p) * sizeof(float);
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
        bool there = f->content || i == BUFFER_O || i == BUFFER_LSE;
        if (!there)
            continue;
        char *memory = device->calls->alloc(device, whole(f));
        if (!memory || !device->calls->to_device(
                           device, memory, b->image + f->offset, whole(f)))
            return false;
        at[i] = memory + f->head;
    }
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
        "q", "k", "v", "q's scale", "k's scale", "v's scale", "o", "lse"
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
        [BUFFER_O] = { "before o", "after o" },
        [BUFFER_LSE] = { "before lse", "after lse" },
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

enum assay_status buffers_collect(const struct buffers *b,
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
