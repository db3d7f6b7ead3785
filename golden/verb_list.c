/* SPDX-License-Identifier: MIT
 *
 * assay list: the tables that the program is made of.
 */
#include <ctype.h>
#include <string.h>

#include "golden/json.h"
#include "golden/term.h"
#include "golden/topic.h"
#include "golden/verb.h"

enum form { FORM_TABLE, FORM_JSON, FORM_CSV };

struct options {
    const char *topic;
    enum form form;
    double timeout_s;
};

enum { KEY_FORMAT = 256, KEY_TIMEOUT };

static const struct argp_option keys[] = {
    { "format", KEY_FORMAT, "table|json|csv", 0, "default table", 0 },
    { "timeout", KEY_TIMEOUT, "S", 0,
      "devices: seconds until a driver counts as hung; default 20", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const forms[] = { "table", "json", "csv" };
    struct options *o = state->input;
    switch (key) {
    case KEY_FORMAT:
        o->form = (enum form)verb_word(state, "--format", arg, forms, 3);
        break;
    case KEY_TIMEOUT:
        o->timeout_s = verb_number(state, "--timeout", arg);
        if (!(o->timeout_s > 0))
            argp_error(state, "--timeout takes more than 0 seconds");
        break;
    case ARGP_KEY_ARG:
        if (o->topic)
            argp_error(state, "one topic at a time");
        o->topic = arg;
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    keys,
    parse,
    "[TOPIC]",
    "Lists formats, scale rules, packings and whatever else has names; "
    "without a topic, the topics. A terminal that is too narrow shows fewer "
    "columns; a file, a pipe, json and csv have all.\v"
    "Example:\n"
    "  assay list\n"
    "  assay list formats\n"
    "  assay list scale-rules --format json\n"
    "  assay list devices",
    NULL,
    NULL,
    NULL
};

/* A cell as text for people, or exact as csv has it. */
static void cell_text(const struct topic_cell *c, bool exact, char *out,
                      size_t size)
{
    switch (c->kind) {
    case TOPIC_NOTHING: snprintf(out, size, "%s", exact ? "" : "-"); break;
    case TOPIC_TEXT: snprintf(out, size, "%s", c->text); break;
    case TOPIC_INTEGER: snprintf(out, size, "%lld", c->integer); break;
    case TOPIC_REAL:
        snprintf(out, size, exact ? "%.17g" : "%.7g", c->real);
        break;
    case TOPIC_BYTES:
        if (exact)
            snprintf(out, size, "%lld", c->integer);
        else
            snprintf(out, size, "%.1f GiB", (double)c->integer / 0x1p30);
        break;
    case TOPIC_CODE:
        snprintf(out, size, exact ? "%lld" : "0x%llx", c->integer);
        break;
    case TOPIC_FLAG:
        snprintf(out, size, "%s", c->integer ? "yes" : "no");
        break;
    }
}

static void print_table(const struct topic *topic, int rows)
{
    char titles[TOPIC_COLUMNS][16], text[256];
    struct column columns[TOPIC_COLUMNS];
    for (int i = 0; i < topic->columns; i++) {
        const char *key = topic->column[i].key;
        for (size_t n = 0; n <= strlen(key); n++)
            titles[i][n] =
                key[n] == '_' ? ' ' : (char)toupper((unsigned char)key[n]);
        columns[i] = (struct column){ titles[i], topic->column[i].flags };
    }
    struct table *t = table_new(columns, (size_t)topic->columns);
    for (int r = 0; t && r < rows; r++) {
        struct topic_row row = { 0 };
        topic->fill(r, &row);
        table_row(t);
        for (int i = 0; i < row.n; i++) {
            cell_text(&row.cells[i], false, text, sizeof text);
            table_text(t, (size_t)i, text);
        }
    }
    if (t)
        table_print(t, stdout);
}

static json_t *cell_json(const struct topic_cell *c)
{
    switch (c->kind) {
    case TOPIC_TEXT: return json_string(c->text);
    case TOPIC_REAL: return json_number(c->real);
    case TOPIC_FLAG: return json_boolean(c->integer);
    case TOPIC_INTEGER:
    case TOPIC_BYTES:
    case TOPIC_CODE: return json_integer(c->integer);
    case TOPIC_NOTHING: break;
    }
    return json_null();
}

static void print_json(const struct topic *topic, int rows)
{
    json_t *out = json_object(), *list = json_array();
    json_object_set_new(out, "schema", json_string("assay-list/1"));
    for (int r = 0; r < rows; r++) {
        struct topic_row row = { 0 };
        json_t *object = json_object();
        topic->fill(r, &row);
        for (int i = 0; i < row.n; i++)
            json_object_set_new(object, topic->column[i].key,
                                cell_json(&row.cells[i]));
        json_array_append_new(list, object);
    }
    json_object_set_new(out, topic->name, list);
    json_print(out, stdout);
}

/* RFC 4180, but for the end of a line. */
static void print_csv(const struct topic *topic, int rows)
{
    char text[256];
    for (int i = 0; i < topic->columns; i++)
        printf("%s%s", i ? "," : "", topic->column[i].key);
    putchar('\n');
    for (int r = 0; r < rows; r++) {
        struct topic_row row = { 0 };
        topic->fill(r, &row);
        for (int i = 0; i < row.n; i++) {
            cell_text(&row.cells[i], true, text, sizeof text);
            const char *quote = strpbrk(text, ",\"") ? "\"" : "";
            printf("%s%s", i ? "," : "", quote);
            for (const char *c = text; *c; c++)
                printf(*c == '"' ? "\"\"" : "%c", *c);
            fputs(quote, stdout);
        }
        putchar('\n');
    }
}

int verb_list(int argc, char **argv)
{
    static void (*const print[])(const struct topic *, int) = {
        [FORM_TABLE] = print_table,
        [FORM_JSON] = print_json,
        [FORM_CSV] = print_csv,
    };
    struct options o = { .timeout_s = 20 };
    struct assay_error err;
    int index = -1;
    verb_parse(&argp, argc, argv, &o);
    if (o.topic && names_find(topic_names(), o.topic, &index, &err) != ASSAY_OK)
        return verb_fail("list", &err);
    const struct topic *topic = topic_get(index);
    print[o.form](topic, topic->ask ? topic->ask(o.timeout_s) : topic->rows);
    return verb_end("list", 0);
}
