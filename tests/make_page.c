/* SPDX-License-Identifier: MIT
 *
 * A page with every chart and table on stdout, with names that try to break
 * out of it. Usage: make_page SECONDS-FOR-A-PLOT
 */
#include <math.h>
#include <stdlib.h>

#include "golden/plot.h"

static const char *const hostile[] = {
    "plain",
    "<script>alert(1)</script>",
    "' \" ` \\ $x @y %s {^_} & &lt; `touch broken`",
    "'; system('touch broken'); #",
    "bidi \u202e and \u2066 and \u200b, \x1b[31m red\x7f",
    "no UTF-8 \xff\xc0\x80\xed\xa0\x80 end",
    "\"><svg onload=alert(1)><![CDATA[ ]]> --> EOD\nEOD\nset output 'broken'",
    "Umlaute \xc3\xa4\xc3\xb6\xc3\xbc, \xe6\xbc\xa2, \xf0\x9f\x99\x82, and a "
    "name that is far too long for the side of any chart there may be",
};
enum { NAMES = sizeof hostile / sizeof *hostile, N = 9000 };

static double values[NAMES][N], other[N];

/* The same on every machine: Park and Miller. */
static double draw(void)
{
    static unsigned long x = 1;
    x = x * 48271 % 2147483647;
    return (double)x / 2147483647;
}

static void make_values(void)
{
    for (int g = 0; g < NAMES; g++)
        for (int i = 0; i < N; i++)
            values[g][i] = pow(10, -4 + 0.3 * g + draw() + draw());
    values[0][3] = 0;
    values[0][4] = -1;
    values[1][5] = (double)NAN;
    values[1][6] = INFINITY;
    for (int i = 0; i < N; i++)
        other[i] = values[2][i] * (1 + 0.1 * draw());
    other[7] = 0.9;
    other[8] = -INFINITY;
}

static void tables(struct html *h)
{
    static const struct column columns[] = { { "NAME", COLUMN_LONG },
                                             { "VALUE", COLUMN_NUMBER },
                                             { "KILLED", COLUMN_NUMBER } };
    html_section(h, "names", hostile[1], hostile[6]);
    html_table_begin(h, columns, 3);
    for (int i = 0; i < NAMES; i++) {
        html_cell(h, (enum colour)(i % 4), "%s", hostile[i]);
        html_number(h, COLOUR_NONE, "%.3g", i == 3 ? (double)NAN : i / 7.0);
        html_share(h, i, NAMES - 1 - (i == 0) * (NAMES - 1));
    }
    html_cell(h, COLOUR_NONE, "a short row");
    html_table_end(h);
    html_details_begin(h, hostile[2], true);
    html_heading(h, hostile[1]);
    html_code(h, hostile[6]);
    html_note(h, COLOUR_BAD, "%s", hostile[4]);
    html_details_end(h);
}

static void charts(struct html *h)
{
    struct plot_group groups[NAMES];
    for (int i = 0; i < NAMES; i++)
        groups[i] =
            (struct plot_group){ hostile[i], values[i], i < 2 ? N : 40 };
    struct plot_frame f = { .title = hostile[1],
                            .of = hostile[2],
                            .across = hostile[6],
                            .caption = hostile[4],
                            .log = true };
    html_section(h, "charts", "charts", NULL);
    plot_distribution(h, &f, groups, NAMES);
    plot_bars(h, &f, hostile, NAMES, hostile, 6, values[2]);
    plot_steps(h, &f, groups, 3, 0.01);
    const struct plot_matrix named = { values[1], NAMES,   NAMES,
                                       hostile,   hostile, hostile[3] };
    plot_heat(h, &f, &named);
    f.log = false;
    f.title = "linear";
    plot_distribution(h, &f, groups, 3);
    plot_bars(h, &f, hostile, NAMES, hostile, 2, values[2]);
    plot_steps(h, &f, groups + 2, 1, (double)NAN);
    static const char *const classes[] = { "near", "far <b>" };
    static unsigned char class[N];
    for (int i = 0; i < N; i++)
        class[i] = other[i] > 1.09 * values[2][i];
    plot_scatter(h, &f, values[2], other, N,
                 &(struct plot_classes){ class, classes, 2 });
    const struct plot_matrix wide = { values[1], 30, 300, NULL, NULL, "row" };
    plot_heat(h, &f, &wide);
    for (int i = 0; i < N; i++)
        other[i] = i % 2 ? 0 : (double)NAN;
    const struct plot_group nothing = { "zeros", other, N };
    f.log = true;
    plot_steps(h, &f, &nothing, 1, 1);
}

int main(int argc, char **argv)
{
    struct html h;
    make_values();
    html_begin(&h, stdout, "</title><script>alert(1)</script>");
    html_origin(&h, "command", hostile[6]);
    if (argc > 1)
        h.plot_seconds = atof(argv[1]);
    tables(&h);
    charts(&h);
    html_end(&h);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
