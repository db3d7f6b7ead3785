/* SPDX-License-Identifier: MIT
 *
 * assay cast: arrays in files from one element format to another.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/cast_file.h"
#include "golden/names.h"
#include "golden/verb.h"

struct options {
    const char *from, *to, *round, *overflow, *rule, *scales, *shape, *packing;
    bool packed, decode, quiet, has_axis;
    int64_t block, row;
    int axis;
    const char *in, *out;
};

enum {
    KEY_FROM = 256,
    KEY_TO,
    KEY_ROUND,
    KEY_OVERFLOW,
    KEY_BLOCK,
    KEY_RULE,
    KEY_SCALES,
    KEY_SHAPE,
    KEY_ROW,
    KEY_AXIS,
    KEY_PACKED,
    KEY_DECODE
};

static const struct argp_option keys[] = {
    { "to", KEY_TO, "NAME", 0, "format of OUT", 0 },
    { "from", KEY_FROM, "NAME", 0, "format of IN; default f32", 0 },
    { "decode", KEY_DECODE, NULL, 0, "IN is codes of --from, OUT is f32", 0 },
    { "round", KEY_ROUND, "MODE", 0,
      "default the scale rule's, or nearest-even", 0 },
    { "overflow", KEY_OVERFLOW, "POLICY", 0,
      "saturate (default), special, symmetric", 0 },
    { "block", KEY_BLOCK, "N", 0, "N elements share an E8M0 scale", 0 },
    { "scale-rule", KEY_RULE, "NAME", 0, "how that scale is found", 0 },
    { "scales", KEY_SCALES, "FILE", 0,
      "scale bytes, written or with --decode read; default OUT.scales, with "
      "--decode IN.scales",
      0 },
    { "shape", KEY_SHAPE, "A,B,...", 0,
      "elements along each axis, outermost first; default the shape of a "
      ".npy IN, or one row",
      0 },
    { "row", KEY_ROW, "N", 0, "the same as a shape of rows of N elements", 0 },
    { "axis", KEY_AXIS, "N", 0,
      "axis of the blocks, 0 the outermost; default -1, the last", 0 },
    { "packed", KEY_PACKED, "PACKING", OPTION_ARG_OPTIONAL,
      "the codes are packed, each row by itself; default nibbles or stream6",
      0 },
    { "quiet", 'q', NULL, 0, "no summary", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case KEY_FROM: o->from = arg; break;
    case KEY_TO: o->to = arg; break;
    case KEY_ROUND: o->round = arg; break;
    case KEY_OVERFLOW: o->overflow = arg; break;
    case KEY_RULE: o->rule = arg; break;
    case KEY_SCALES: o->scales = arg; break;
    case KEY_SHAPE: o->shape = arg; break;
    case KEY_DECODE: o->decode = true; break;
    case 'q': o->quiet = true; break;
    case KEY_BLOCK:
        o->block = verb_integer(state, "--block", arg, 1, INT32_MAX);
        break;
    case KEY_ROW:
        o->row = verb_integer(state, "--row", arg, 1, INT64_MAX);
        break;
    case KEY_AXIS:
        o->axis = (int)verb_integer(state, "--axis", arg, -NPY_MAX_RANK,
                                    NPY_MAX_RANK - 1);
        o->has_axis = true;
        break;
    case KEY_PACKED:
        o->packed = true;
        o->packing = arg;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            o->in = arg;
        else if (state->arg_num == 1)
            o->out = arg;
        else
            argp_error(state, "more than IN and OUT: \"%s\"", arg);
        break;
    case ARGP_KEY_END:
        if (!o->in || !o->out)
            argp_error(state, "no %s named", o->in ? "output" : "input");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    keys,
    parse,
    "IN OUT",
    "Casts an array from one element format to another. Files are .npy by "
    "their suffix, or raw little-endian words; - is standard input or output, "
    "raw. `assay list formats` (roundings, overflows, scale-rules, packings) "
    "tells the names.\v"
    "Codes of at most 8 bits take a byte each unless --packed. Blocks run "
    "along the last axis and never cross a row; the last of a row may be "
    "short. Scale bytes are E8M0: the array's shape with the axis counted in "
    "blocks. A narrow --from without --decode is decoded, without scales, and "
    "encoded again.\n\n"
    "Example:\n"
    "  assay cast --to e4m3fn x.npy codes.npy\n"
    "  assay cast --decode --from e4m3fn codes.npy back.npy\n"
    "  assay cast --to e2m1 --block 32 --scale-rule floor \\\n"
    "      --row 128 --packed x.f32 x.e2m1\n",
    NULL,
    NULL,
    NULL
};

/* ---- what is asked for ---- */

/* Options that say nothing together would else be passed over in silence. */
static enum assay_status check_options(const struct options *o,
                                       struct assay_error *err)
{
    char rules[320];
    if (o->decode && !o->from)
        return assay_fail(err, ASSAY_USAGE,
                          "--decode needs the format of the codes: --from "
                          "NAME");
    if (o->decode && o->to)
        return assay_fail(err, ASSAY_USAGE,
                          "--decode gives f32, so it takes no --to");
    if (o->decode && (o->round || o->overflow || o->rule))
        return assay_fail(err, ASSAY_USAGE,
                          "--decode is exact, so it takes no %s",
                          o->round      ? "--round"
                          : o->overflow ? "--overflow"
                                        : "--scale-rule");
    if (!o->decode && !o->to)
        return assay_fail(err, ASSAY_USAGE,
                          "no format to cast to; use --to NAME");
    names_join(&names_scale_rules, rules, sizeof rules);
    if (o->block && !o->rule && !o->decode)
        return assay_fail(err, ASSAY_USAGE,
                          "--block needs a named rule: --scale-rule is one of "
                          "%s",
                          rules);
    if (!o->block && (o->rule || o->scales || o->has_axis))
        return assay_fail(err, ASSAY_USAGE,
                          "%s is for block scales, so it needs --block N",
                          o->rule     ? "--scale-rule"
                          : o->scales ? "--scales"
                                      : "--axis");
    if (o->shape && o->row)
        return assay_fail(err, ASSAY_USAGE,
                          "--shape and --row say the same; use one");
    return ASSAY_OK;
}

/* A name in a table, or what stands where none is given. */
static enum assay_status find(const struct names *names, const char *word,
                              int other, int *index, struct assay_error *err)
{
    *index = other;
    return word ? names_find(names, word, index, err) : ASSAY_OK;
}

static enum assay_status find_ways(const struct options *o, struct cast *c,
                                   struct assay_error *err)
{
    int from, to, rule, rounding, overflow;
    enum assay_status st;
    if ((st = find(&names_formats, o->from, ASSAY_F32, &from, err)) !=
            ASSAY_OK ||
        (st = find(&names_formats, o->to, ASSAY_F32, &to, err)) != ASSAY_OK ||
        (st = find(&names_scale_rules, o->rule, ASSAY_SCALE_RULE_FLOOR, &rule,
                   err)) != ASSAY_OK)
        return st;
    c->rule = assay_scale_rule_get((enum assay_scale_rule_id)rule);
    if ((st = find(&names_roundings, o->round, (int)c->rule->rounding,
                   &rounding, err)) != ASSAY_OK ||
        (st = find(&names_overflows, o->overflow, ASSAY_SATURATE, &overflow,
                   err)) != ASSAY_OK)
        return st;
    c->from = assay_format_get((enum assay_format_id)from);
    c->to = o->decode ? NULL : assay_format_get((enum assay_format_id)to);
    c->rounding = (enum assay_rounding)rounding;
    c->overflow = (enum assay_overflow)overflow;
    c->block = o->block;
    return ASSAY_OK;
}

/* The packing that is named, or the first one as wide as the format. */
static enum assay_status find_packing(const struct options *o,
                                      struct cast_file *f,
                                      struct assay_error *err)
{
    const struct assay_format *codes = f->cast.to ? f->cast.to : f->cast.from;
    int first = 0, index;
    if (!o->packed)
        return ASSAY_OK;
    while (first + 1 < ASSAY_PACKINGS &&
           assay_packing_get((enum assay_packing_id)first)->bits != codes->bits)
        first++;
    enum assay_status st =
        find(&names_packings, o->packing, first, &index, err);
    if (st != ASSAY_OK)
        return st;
    f->packing = assay_packing_get((enum assay_packing_id)index);
    if (f->packing->bits == codes->bits)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_USAGE,
                      "%s has %d bits, so it cannot be packed%s%s", codes->name,
                      codes->bits, o->packing ? " as " : "",
                      o->packing ? o->packing : "");
}

static enum assay_status parse_shape(const char *text, struct cast_file *f,
                                     struct assay_error *err)
{
    const char *from = text;
    int64_t count;
    while (from && f->want_rank < NPY_MAX_RANK) {
        char *end;
        errno = 0;
        long long size = strtoll(from, &end, 10);
        if (!isdigit((unsigned char)*from) || errno || (*end && *end != ','))
            break;
        f->want[f->want_rank++] = size;
        if (!*end)
            return npy_count(f->want_rank, f->want, 1, &count, err);
        from = end + 1;
    }
    return assay_fail(err, ASSAY_USAGE,
                      "--shape takes 1 to %d sizes with commas between, not "
                      "\"%.80s\"",
                      NPY_MAX_RANK, text);
}

/* OUT.scales, of x.npy x.scales.npy; with --decode of IN. */
static enum assay_status name_scales(const struct options *o, char *name,
                                     size_t size, struct assay_error *err)
{
    const char *base = o->decode ? o->in : o->out;
    const int stem = (int)strlen(base) - (array_is_npy(base) ? 4 : 0);
    if (array_is_stream(o->scales ? o->scales : base))
        return assay_fail(err, ASSAY_USAGE,
                          "the scales need a file of their own: --scales FILE");
    int n = o->scales ? snprintf(name, size, "%s", o->scales)
                      : snprintf(name, size, "%.*s.scales%s", stem, base,
                                 base + stem);
    if (n < 0 || (size_t)n >= size)
        return assay_fail(err, ASSAY_FILE, "%.200s...: name is too long",
                          o->scales ? o->scales : base);
    if (strcmp(name, o->in) == 0 || strcmp(name, o->out) == 0)
        return assay_fail(err, ASSAY_USAGE,
                          "%s: the scales need a file of their own", name);
    enum assay_status st = temp_file_check_input(o->decode ? o->out : name,
                                                 o->decode ? name : o->in, err);
    return st == ASSAY_OK && !o->decode
               ? temp_file_check_apart(o->out, name, err)
               : st;
}

static void say_done(const struct cast_file *f)
{
    const struct cast *c = &f->cast;
    const struct cast_counts *n = &f->counts;
    fprintf(stderr, "%s to %s, %" PRId64 " element%s", c->from->name,
            c->to ? c->to->name : "f32", f->elems, plural(f->elems));
    if (c->block)
        fprintf(stderr, ", %" PRId64 " block%s of %" PRId64 "%s%s", f->n_scales,
                plural(f->n_scales), c->block, c->to ? " by " : "",
                c->to ? c->rule->name : "");
    if (c->to)
        fprintf(
            stderr, ", %" PRId64 " %s, %" PRId64 " NaN, %" PRId64 " to zero",
            n->over, c->overflow == ASSAY_SPECIAL ? "overflowed" : "saturated",
            n->nan, n->zero);
    if (n->nan_scales)
        fprintf(stderr, ", %" PRId64 " NaN scale%s", n->nan_scales,
                plural(n->nan_scales));
    fputc('\n', stderr);
}

static enum assay_status cast(const struct options *o, struct cast_file *f,
                              struct assay_error *err)
{
    char scales[PATH_MAX];
    enum assay_status st;
    *f = (struct cast_file){ .in = o->in,
                             .out = o->out,
                             .scales = scales,
                             .row = o->row,
                             .axis = o->has_axis ? o->axis : -1 };
    if ((st = check_options(o, err)) != ASSAY_OK ||
        (st = find_ways(o, &f->cast, err)) != ASSAY_OK ||
        (st = find_packing(o, f, err)) != ASSAY_OK)
        return st;
    if (o->shape)
        st = parse_shape(o->shape, f, err);
    if (st == ASSAY_OK && o->block)
        st = name_scales(o, scales, sizeof scales, err);
    if (st == ASSAY_OK)
        st = cast_file_read(f, err);
    if (st == ASSAY_OK)
        st = cast_file_write(f, err);
    f->scales = NULL;
    return st;
}

int verb_cast(int argc, char **argv)
{
    struct options o = { 0 };
    struct cast_file f;
    struct assay_error err;
    verb_parse(&argp, argc, argv, &o);
    enum assay_status st = cast(&o, &f, &err);
    int code = st == ASSAY_OK ? verb_end("cast", 0) : verb_fail("cast", &err);
    if (code == 0 && !o.quiet)
        say_done(&f);
    cast_file_free(&f);
    return code;
}
