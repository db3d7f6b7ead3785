/* SPDX-License-Identifier: MIT
 *
 * A program that runs a kernel, for tests of --exec and --serve: it gives the
 * emulated answer of the recipe it is told, or does something else first.
 *
 *   outside HOW IN OUT         one case; HOW "right", or a row of ways[]
 *   outside HOW serve [FILE]   many; with FILE, HOW is for once: until there
 *                              is such a file
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "assay/memory.h"
#include "assay/recipe.h"
#include "golden/safetensors_write.h"

/* What is answered, and what is wrong with it. */
struct answer {
    struct assay_problem p;
    const char *form;
    enum assay_safetensors_dtype_id type, lse_type;
    bool no_o, no_lse, flat, flat_lse;
    void *o, *lse;
    size_t cut; /* bytes of the file; 0: all */
};

_Noreturn static void give_up(const char *what)
{
    fprintf(stderr, "outside: %s\n", what);
    exit(1);
}

static void *need(int64_t n, size_t bytes)
{
    void *memory = calloc((size_t)n + 1, bytes);
    if (!memory)
        give_up("no memory");
    return memory;
}

static float *read_part(struct assay_safetensors *file, const char *name,
                        int64_t shape[4])
{
    const struct assay_safetensors_tensor *t;
    if (assay_safetensors_find(file, name, &t, NULL) != ASSAY_OK ||
        t->rank != 4 || !safetensors_float(t->dtype))
        give_up("no input tensor of four axes");
    memcpy(shape, t->shape, 4 * sizeof *shape);
    const int64_t n = shape[0] * shape[1] * shape[2] * shape[3];
    void *words = need((int64_t)t->bytes, 1);
    float *values = need(n, sizeof *values);
    if (assay_safetensors_read(file, t, words, t->bytes, NULL) != ASSAY_OK)
        give_up("an input tensor cannot be read");
    assay_format_decode(safetensors_float(t->dtype), (size_t)n, words, values);
    free(words);
    return values;
}

static const char *meta(struct assay_safetensors *file, const char *key)
{
    const char *text = assay_safetensors_metadata(file, key);
    if (!text)
        give_up("metadata are missing");
    return text;
}

static const struct assay_recipe *recipe_of(struct assay_safetensors *file)
{
    const struct assay_recipe *recipe = assay_recipe_find(meta(file, "recipe"));
    const struct assay_softmax_form *form =
        assay_softmax_find(meta(file, "softmax_form"));
    if (!recipe || !form)
        give_up("an unknown recipe or form");
    return assay_recipe_in_form(recipe, form->id);
}

static void compute(struct assay_safetensors *file, struct answer *a)
{
    const struct assay_recipe *recipe = recipe_of(file);
    const struct assay_run run = { 0 };
    struct assay_payloads x;
    int64_t q[4], k[4], v[4];
    float *parts[] = { read_part(file, "q", q), read_part(file, "k", k),
                       read_part(file, "v", v) };
    a->p = (struct assay_problem){
        .b = q[0],
        .nq = q[1],
        .hq = q[2],
        .dk = q[3],
        .nk = k[1],
        .hk = k[2],
        .dv = v[3],
        .mask = strcmp(meta(file, "causal"), "true") == 0 ? ASSAY_MASK_CAUSAL
                                                          : ASSAY_MASK_NONE,
        .softmax_scale = strtod(meta(file, "softmax_scale"), NULL),
    };
    const int64_t n = assay_problem_o_elems(&a->p);
    float *o = need(n, sizeof *o);
    a->lse = need(assay_problem_rows(&a->p), sizeof(double));
    if (assay_recipe_quantize(recipe, &a->p, NULL, NULL, parts[0], parts[1],
                              parts[2], &x, NULL) != ASSAY_OK ||
        assay_recipe_emulate(recipe, &a->p, &x, o, a->lse, NULL, &run, NULL) !=
            ASSAY_OK)
        give_up("no answer");
    assay_payloads_free(&x);
    for (int i = 0; i < 3; i++)
        free(parts[i]);
    a->o = o; /* binary32 yet */
}

/* O in words of its type: bf16 for all recipes that the tests use. */
static void pack(struct answer *a)
{
    const size_t n = (size_t)assay_problem_o_elems(&a->p);
    if (a->type != ASSAY_SAFETENSORS_BF16)
        return;
    uint16_t *words = need((int64_t)n, sizeof *words);
    assay_format_encode(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                        ASSAY_SPECIAL, n, a->o, words);
    free(a->o);
    a->o = words;
}

static void write_answer(const char *path, const struct answer *a)
{
    const struct assay_problem *p = &a->p;
    struct safetensors_part parts[] = {
        { "o", a->type, 4, { p->b, p->nq, p->hq, p->dv } },
        { "lse", a->lse_type, 3, { p->b, p->hq, p->nq } },
    };
    const struct safetensors_note notes[] = {
        { "kernel", "outside.\033kernel" },
        { "device", "a desk" },
        { "build", "by hand" },
        { "seconds", "0.25" },
        { "softmax_form", a->form },
    };
    char *head;
    size_t n;
    if (a->flat)
        parts[0].rank = 3, parts[0].shape[2] *= p->dv;
    if (a->flat_lse)
        parts[1].rank = 2, parts[1].shape[1] *= p->nq;
    if (a->no_o)
        parts[0].name = "out";
    if (safetensors_head(parts, a->no_lse ? 1 : 2, notes, a->form ? 5 : 4,
                         &head, &n, NULL) != ASSAY_OK)
        give_up("no memory for a header");
    FILE *f = fopen(path, "w");
    if (!f)
        give_up("the answer cannot be written");
    fwrite(head, 1, n, f);
    fwrite(a->o, 1, safetensors_part_bytes(&parts[0]), f);
    if (!a->no_lse)
        fwrite(a->lse, 1, safetensors_part_bytes(&parts[1]), f);
    if (fflush(f) != 0 || (a->cut && ftruncate(fileno(f), (off_t)a->cut) != 0))
        give_up("the answer cannot be cut");
    fclose(f);
    free(head);
}

/* ---- ways to be wrong ---- */

struct job {
    const char *in, *out;
    struct answer *a;
};

_Noreturn static void hang(void)
{
    for (;;)
        pause();
}

static void exits(struct job *j)
{
    (void)j;
    fputs("first words\nlast \033 words\n", stderr);
    exit(3);
}
static void unsupported(struct job *j)
{
    (void)j;
    fputs("a warning\nnot on this desk\n", stderr);
    exit(77);
}
static void segv(struct job *j)
{
    (void)j;
    signal(SIGSEGV, SIG_DFL); /* a sanitizer would make it an exit */
    raise(SIGSEGV);
}
static void hangs(struct job *j)
{
    (void)j;
    puts("thinking");
    fflush(stdout);
    if (fork() == 0)
        hang();
    hang();
}
/* 100 MB, half of it on either stream, in lines and without an end. */
static void floods(struct job *j)
{
    static char text[1 << 20];
    (void)j;
    memset(text, '{', sizeof text);
    for (int i = 0; i < 50; i++) {
        text[sizeof text - 1] = i % 2 ? '\n' : '{';
        fwrite(text, 1, sizeof text, stdout);
        fwrite(text, 1, sizeof text, stderr);
    }
    puts("");
    fflush(NULL);
}
static void leaves_nothing(struct job *j)
{
    j->out = "/dev/null";
}
static void half(struct job *j)
{
    j->a->cut = 1000;
}
static void empty(struct job *j)
{
    fclose(fopen(j->out, "w"));
    j->out = "/dev/null";
}
static void fifo(struct job *j)
{
    mkfifo(j->out, 0600);
    j->out = "/dev/null";
}
static void no_file(struct job *j)
{
    if (symlink("/dev/zero", j->out) == 0)
        j->out = "/dev/null";
}
static void wrong_type(struct job *j)
{
    j->a->type = ASSAY_SAFETENSORS_I32;
}
static void wrong_shape(struct job *j)
{
    j->a->flat = true;
}
static void wrong_lse_shape(struct job *j)
{
    j->a->flat_lse = true;
}
static void wrong_lse_type(struct job *j)
{
    j->a->lse_type = ASSAY_SAFETENSORS_I64;
}
static void no_o(struct job *j)
{
    j->a->no_o = true;
}
static void no_lse(struct job *j)
{
    j->a->no_lse = true;
}
static void nan_in_o(struct job *j)
{
    ((uint16_t *)j->a->o)[100] = 0x7fc0;
}
static void gain(struct job *j)
{
    for (int64_t i = 0; i < assay_problem_o_elems(&j->a->p); i++)
        ((uint16_t *)j->a->o)[i] += 4;
}
static void f32(struct job *j)
{
    j->a->type = ASSAY_SAFETENSORS_F32;
}
static void other_form(struct job *j)
{
    j->a->form = "gfx950-u32";
}
static void removes_in(struct job *j)
{
    unlink(j->in);
}
static void writes_in(struct job *j)
{
    int fd = open(j->in, O_WRONLY);
    if (fd < 0 || pwrite(fd, "\377\377\377", 3, 40000) != 3 || close(fd) != 0)
        give_up("the input cannot be written");
}
/* In a session of its own; its number is told. */
static void leaves_a_daemon(struct job *j)
{
    (void)j;
    const pid_t pid = fork();
    if (pid == 0) {
        setsid();
        hang();
    }
    FILE *f = fopen("daemon", "a");
    if (!f)
        give_up("no place for a number");
    fprintf(f, "%ld\n", (long)pid);
    fclose(f);
}
static void leaves_junk(struct job *j)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.junk", j->out);
    mkdir(path, 0700);
    strcat(path, "/more");
    fclose(fopen(path, "w"));
}
/* Answers once, and lives on without a stdin. */
static bool is_deaf;
static void deaf(struct job *j)
{
    (void)j;
    is_deaf = true;
}
/* Before an answer, and more answers than one. */
static void talks(struct job *j)
{
    (void)j;
    puts("loading\n\n{\"state\": \"done\"}\n[1, 2]\n{\"in\": 3}");
}
static void right(struct job *j)
{
    (void)j;
}

enum when { BEFORE, UNPACKED, AFTER };
static const struct way {
    const char *name;
    void (*act)(struct job *j);
    enum when when; /* before all, on O in binary32, in words of its type */
} ways[] = {
    { "right", right, AFTER },
    { "exits", exits, BEFORE },
    { "unsupported", unsupported, BEFORE },
    { "segv", segv, BEFORE },
    { "hangs", hangs, BEFORE },
    { "floods", floods, BEFORE },
    { "leaves-nothing", leaves_nothing, AFTER },
    { "half", half, AFTER },
    { "empty", empty, AFTER },
    { "fifo", fifo, AFTER },
    { "no-file", no_file, AFTER },
    { "wrong-type", wrong_type, UNPACKED },
    { "wrong-shape", wrong_shape, AFTER },
    { "wrong-lse-shape", wrong_lse_shape, AFTER },
    { "wrong-lse-type", wrong_lse_type, AFTER },
    { "no-o", no_o, AFTER },
    { "no-lse", no_lse, AFTER },
    { "nan", nan_in_o, AFTER },
    { "gain", gain, AFTER },
    { "f32", f32, UNPACKED },
    { "other-form", other_form, AFTER },
    { "removes-in", removes_in, AFTER },
    { "writes-in", writes_in, AFTER },
    { "daemon", leaves_a_daemon, AFTER },
    { "junk", leaves_junk, AFTER },
    { "deaf", deaf, AFTER },
    { "talks", talks, BEFORE },
};

static const struct way *find_way(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0)
            return &ways[i];
    give_up("no such way");
}

static void act(const struct way *way, enum when when, struct job *j)
{
    if (way->when == when)
        way->act(j);
}

static void one_case(const struct way *way, const char *in, const char *out)
{
    struct assay_safetensors *file;
    struct assay_error err;
    struct answer a = { .type = ASSAY_SAFETENSORS_BF16,
                        .lse_type = ASSAY_SAFETENSORS_F64 };
    struct job j = { in, out, &a };
    act(way, BEFORE, &j);
    if (assay_safetensors_open(in, &file, &err) != ASSAY_OK)
        give_up(err.text);
    compute(file, &a);
    act(way, UNPACKED, &j);
    pack(&a);
    act(way, AFTER, &j);
    write_answer(j.out, &a);
    assay_safetensors_close(file);
    free(a.o);
    free(a.lse);
}

static int serve(const struct way *way, const char *once)
{
    static char line[65536];
    while (fgets(line, sizeof line, stdin)) {
        json_t *root = json_loads(line, 0, NULL);
        const char *in = json_string_value(json_object_get(root, "in")),
                   *out = json_string_value(json_object_get(root, "out"));
        if (!in || !out)
            give_up("a request without in and out");
        const bool now = !once || access(once, F_OK) != 0;
        if (now && once)
            fclose(fopen(once, "w"));
        one_case(now ? way : find_way("right"), in, out);
        printf("{\"status\": \"ok\"}\n");
        fflush(stdout);
        json_decref(root);
        if (is_deaf) {
            close(STDIN_FILENO);
            hang();
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        give_up("HOW IN OUT, or HOW serve");
    if (strcmp(argv[2], "serve") == 0)
        return serve(find_way(argv[1]), argc > 3 ? argv[3] : NULL);
    if (argc < 4)
        give_up("HOW IN OUT");
    one_case(find_way(argv[1]), argv[2], argv[3]);
    return 0;
}
