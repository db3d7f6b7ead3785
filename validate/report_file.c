/* SPDX-License-Identifier: MIT
 *
 * Where a report goes. What kernels took hours for is not lost to a full disk:
 * an old report stays until a new one is whole, lines that are there stay, and
 * results whose report cannot be written are told on stdout.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "validate/report.h"

static enum assay_status cannot_write(struct report_file *file, int why,
                                      struct assay_error *err)
{
    const bool kept = file->out && file->path != file->at;
    return assay_fail(err, ASSAY_FILE, "%s: cannot be written: %s%s%s",
                      file->path, strerror(why),
                      kept ? "; lines so far are in " : "",
                      kept ? file->at : "");
}

/* Lines go to a file of their own; to what is no file, straight. */
static enum assay_status name_part(struct report_file *file,
                                   struct assay_error *err)
{
    struct stat info;
    if (lstat(file->path, &info) == 0 && S_ISLNK(info.st_mode)) {
        if (!realpath(file->path, file->real))
            return cannot_write(file, errno, err);
        file->path = file->real; /* a rename would replace the link */
    }
    file->at = file->path;
    if (stat(file->path, &info) == 0 && !S_ISREG(info.st_mode))
        return ASSAY_OK;
    const int n =
        snprintf(file->part, sizeof file->part, "%s" REPORT_PART, file->path);
    if (n < 0 || (size_t)n >= sizeof file->part)
        return cannot_write(file, ENAMETOOLONG, err);
    file->at = file->part;
    return ASSAY_OK;
}

enum assay_status report_file_begin(struct report_file *file,
                                    const struct report *r,
                                    struct assay_error *err)
{
    if (!file->format->one)
        return temp_file_try(file->path, err);
    if (file->path) {
        enum assay_status st = name_part(file, err);
        if (st != ASSAY_OK)
            return st;
    }
    const bool part = file->path && file->at != file->path;
    FILE *out = file->path ? fopen(file->at, part ? "wxe" : "we") : stdout;
    if (!out && part && errno == EEXIST)
        return assay_fail(err, ASSAY_FILE,
                          "%s: is there already, with the lines of a run that "
                          "was interrupted or still goes on",
                          file->at);
    if (!out)
        return cannot_write(file, errno, err);
    if (file->format->begin(r, out) || !file->path) {
        file->out = out;
        return ASSAY_OK;
    }
    const int why = errno;
    fclose(out);
    if (file->at != file->path)
        unlink(file->at); /* nothing is in it yet */
    return cannot_write(file, why, err);
}

void report_file_one(struct report_file *file, const struct report *r,
                     const struct result *one)
{
    if (!file->out || file->format->one(r, one, file->out) || !file->path)
        return;
    cannot_write(file, errno, &file->lost);
    report_file_close(file);
}

void report_file_close(struct report_file *file)
{
    if (file->out && file->path)
        fclose(file->out);
    file->out = NULL;
}

/* The lines so far become the report. */
static enum assay_status end_lines(struct report_file *file,
                                   const struct report *r,
                                   struct assay_error *err)
{
    FILE *out = file->out;
    if (!file->path) {
        file->format->end(r, out);
        file->out = NULL;
        return ASSAY_OK;
    }
    const bool own = file->at != file->path;
    bool ok = file->format->end(r, out) && (!own || fsync(fileno(out)) == 0);
    int why = errno;
    if (fclose(out) != 0 && ok) {
        ok = false;
        why = errno;
    }
    if (ok && own && rename(file->at, file->path) != 0) {
        ok = false;
        why = errno;
    }
    enum assay_status st = ok ? ASSAY_OK : cannot_write(file, why, err);
    file->out = NULL;
    return st;
}

struct printed {
    const struct report_file *file;
    const struct report *r;
};

static bool print_whole(const void *what, FILE *out)
{
    const struct printed *x = what;
    return x->file->format->end(x->r, out);
}

enum assay_status report_file_end(struct report_file *file,
                                  const struct report *r,
                                  struct assay_error *err)
{
    enum assay_status st = file->lost.status;
    if (st != ASSAY_OK)
        *err = file->lost;
    else
        st = file->out ? end_lines(file, r, err)
                       : temp_file_print(file->path, print_whole,
                                         &(struct printed){ file, r }, err);
    if (st != ASSAY_OK && file->path)
        report_format_get(0)->end(r, stdout);
    return st;
}
