/* SPDX-License-Identifier: MIT */
#include "golden/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t utf8_next(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
    const int more = s[0] < 0x80   ? 0
                     : s[0] < 0xc0 ? -1
                     : s[0] < 0xe0 ? 1
                     : s[0] < 0xf0 ? 2
                     : s[0] < 0xf8 ? 3
                                   : -1;
    uint32_t c = more > 0 ? s[0] & (0x3fU >> more) : s[0];
    if (c == 0 && more == 0)
        return 0;
    *text += 1;
    if (more < 0)
        return UTF8_NONE;
    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return UTF8_NONE;
        c = c << 6 | (s[i] & 0x3fU);
    }
    if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return UTF8_NONE;
    *text += more;
    return c;
}

bool utf8_hidden(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        { 0x00, 0x1f },     { 0x7f, 0x9f },     { 0xad, 0xad },
        { 0x061c, 0x061c }, { 0x180e, 0x180e }, { 0x200b, 0x200f },
        { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff },
        { 0xfff9, 0xfffb }, { 0xfffe, 0xffff }, { 0xe0000, 0xe007f },
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (c >= hidden[i].first && c <= hidden[i].last)
            return true;
    return false;
}

void utf8_put(uint32_t c, char *bytes)
{
    static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    bytes[0] = (char)(lead[more] | c >> 6 * more);
    for (int i = 1; i <= more; i++)
        bytes[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
    bytes[more + 1] = '\0';
}

char *utf8_shown(const char *text)
{
    enum { MOST = 10 }; /* \Unnnnnnnn */
    char *out = malloc(MOST * strlen(text) + 1), *to = out;
    for (const char *from = text; out && *from;) {
        const char *first = from;
        const uint32_t c = utf8_next(&from);
        if (from - first == 1 &&
            ((unsigned char)*first >= 0x80 || utf8_hidden(c)))
            to += sprintf(to, "\\x%02x", (unsigned char)*first);
        else if (utf8_hidden(c))
            to +=
                sprintf(to, c > 0xffff ? "\\U%08" PRIx32 : "\\u%04" PRIx32, c);
        else
            to = mempcpy(to, first, (size_t)(from - first));
    }
    if (out)
        *to = '\0';
    return out;
}
