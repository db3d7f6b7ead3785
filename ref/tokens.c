/* SPDX-License-Identifier: MIT */
#include "assay/tokens.h"

#include <string.h>

static const struct {
    const char *name;
    int high_bit, parity_bit;
    const char *about;
} orders[] = {
#define ASSAY_TOKEN_ORDER(id, name, high, parity, about) \
    { name, high, parity, about },
#include "assay/token_order.def"
#undef ASSAY_TOKEN_ORDER
};

static const struct {
    const char *name, *about;
} tails[] = {
#define ASSAY_TAIL(id, name, about) { name, about },
#include "assay/tail.def"
#undef ASSAY_TAIL
};

int assay_token(enum assay_token_order order, int parity, int field)
{
    return (field & 3) | (field & 12) << 1 |
           (field >> 4 & 1) << orders[order].high_bit |
           (parity & 1) << orders[order].parity_bit;
}

int assay_token_slot(enum assay_token_order order, int token)
{
    return (token & 3) | (token >> 1 & 12) |
           (token >> orders[order].high_bit & 1) << 4 |
           (token >> orders[order].parity_bit & 1) << 5;
}

const char *assay_token_order_name(enum assay_token_order order)
{
    return orders[order].name;
}

enum assay_token_order assay_token_order_find(const char *name)
{
    int i = 0;
    while (i < ASSAY_TOKEN_ORDERS && strcmp(orders[i].name, name) != 0)
        i++;
    return (enum assay_token_order)i;
}

const char *assay_tail_name(enum assay_tail tail)
{
    return tails[tail].name;
}

enum assay_tail assay_tail_find(const char *name)
{
    int i = 0;
    while (i < ASSAY_TAILS && strcmp(tails[i].name, name) != 0)
        i++;
    return (enum assay_tail)i;
}

const char *assay_token_order_about(enum assay_token_order order)
{
    return orders[order].about;
}

const char *assay_tail_about(enum assay_tail tail)
{
    return tails[tail].about;
}
