/* SPDX-License-Identifier: MIT
 *
 * The program: a table of verbs.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "golden/verb.h"

static const struct verb {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} verbs[] = {
#define ASSAY_VERB(name, summary) { #name, summary, verb_##name },
#include "verb.def"
#undef ASSAY_VERB
};

enum { N_VERBS = sizeof verbs / sizeof *verbs };

static void print_help(FILE *out)
{
    fputs("Usage: assay VERB [ARGUMENT...]\n"
          "Golden data for attention kernels: make it, validate kernel "
          "builds against it.\n\n",
          out);
    for (size_t i = 0; i < N_VERBS; i++)
        fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    fputs("\n`assay VERB --help` tells a verb's options, with an example.\n"
          "Exit status: 0 all passed, 1 something was wrong, 2 usage or a bad "
          "file,\n3 a kernel crashed or hung, 77 nothing ran, 99 a fault in "
          "assay.\n",
          out);
}

int main(int argc, char **argv)
{
    char name[64];
    argp_err_exit_status = assay_status_exit(ASSAY_USAGE);
    if (argc < 2) {
        print_help(stderr);
        return assay_status_exit(ASSAY_USAGE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return verb_end("help", 0);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts(PACKAGE_STRING);
        return verb_end("--version", 0);
    }
    for (size_t i = 0; i < N_VERBS; i++)
        if (strcmp(argv[1], verbs[i].name) == 0) {
            snprintf(name, sizeof name, "assay %s", verbs[i].name);
            argv[1] = name;
            return verbs[i].run(argc - 1, argv + 1);
        }
    fprintf(stderr, "assay: no verb \"%s\"; `assay --help` lists them\n",
            argv[1]);
    return assay_status_exit(ASSAY_USAGE);
}
