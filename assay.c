/* SPDX-License-Identifier: MIT
 *
 * The program: a table of verbs.
 */
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "config.h"
#include "golden/names.h"
#include "golden/term.h"
#include "golden/verb.h"
#include "validate/topics.h"

static const struct verb {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} verbs[] = {
#define ASSAY_VERB(name, summary) { #name, summary, verb_##name },
#include "verb.def"
#undef ASSAY_VERB
};

static const char *const verb_names[] = {
#define ASSAY_VERB(name, summary) #name,
#include "verb.def"
#undef ASSAY_VERB
};

enum { N_VERBS = sizeof verbs / sizeof *verbs };

static const struct names names = { "verb", N_VERBS, verb_names };

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

/* `assay help VERB` is `assay VERB --help`. */
static int run_verb(const char *name, int argc, char **argv)
{
    char title[64];
    for (size_t i = 0; i < N_VERBS; i++)
        if (strcmp(name, verbs[i].name) == 0) {
            snprintf(title, sizeof title, "assay %s", verbs[i].name);
            argv[0] = title;
            verb_watch_stdout(verbs[i].name);
            return verbs[i].run(argc, argv);
        }
    const char *nearest = names_nearest(&names, name);
    if (nearest)
        term_printf(stderr, "assay: no verb \"%.40s\"; did you mean %s?\n",
                    name, nearest);
    else
        term_printf(stderr,
                    "assay: no verb \"%.40s\"; `assay --help` lists them\n",
                    name);
    return assay_status_exit(ASSAY_USAGE);
}

/* Under a limit of address space OpenBLAS's threads may wait for memory without
 * end, and with them every fork(). They are not needed, and are made when the
 * library is loaded: begin again without them. */
static void begin_without_threads(char **argv)
{
    static const char variable[] = "OPENBLAS_NUM_THREADS";
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
        !getenv(variable) && setenv(variable, "1", 1) == 0)
        execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    static char help[] = "--help";
    begin_without_threads(argv);
    argp_err_exit_status = assay_status_exit(ASSAY_USAGE);
    verb_program = argv[0];
    /* a file size limit is a failed write with a sentence, not a death */
    signal(SIGXFSZ, SIG_IGN);
    verb_limit_threads();
    validate_topics();
    if (argc < 2) {
        print_help(stderr);
        return assay_status_exit(ASSAY_USAGE);
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2)
        return run_verb(argv[2], 2, (char *[]){ argv[1], help, NULL });
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return verb_end("help", 0);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts(PACKAGE_STRING);
        return verb_end("--version", 0);
    }
    return run_verb(argv[1], argc - 1, argv + 1);
}
