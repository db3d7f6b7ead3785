/* SPDX-License-Identifier: MIT
 *
 * Where a report goes.
 */
#include <errno.h>
#include <string.h>

#include "validate/report.h"

static enum assay_status cannot_write(const struct report_file *file, int why,
                                      struct assay_error *err)
{
    return assay_fail(err, ASSAY_FILE, "%s: cannot be written: %s", file->path,
                      strerror(why));
}

/* A part went to the stream or did not. */
static enum assay_status written(const struct report_file *file, bool ok,
                                 struct assay_error *err)
{
    return ok || !file->path ? ASSAY_OK : cannot_write(file, errno, err);
}

enum assay_status report_file_begin(struct report_file *file,
                                    const struct report *r,
                                    struct assay_error *err)
{
    if (!file->format->one)
        return ASSAY_OK;
    file->out = file->path ? fopen(file->path, "we") : stdout;
    if (!file->out)
        return cannot_write(file, errno, err);
    return written(file, file->format->begin(r, file->out), err);
}

enum assay_status report_file_one(struct report_file *file,
                                  const struct report *r,
                                  const struct result *one,
                                  struct assay_error *err)
{
    if (!file->out)
        return ASSAY_OK;
    return written(file, file->format->one(r, one, file->out), err);
}

void report_file_close(struct report_file *file)
{
    if (file->out && file->path)
        fclose(file->out);
    file->out = NULL;
}

static enum assay_status end_open(struct report_file *file,
                                  const struct report *r,
                                  struct assay_error *err)
{
    FILE *out = file->out;
    enum assay_status st = written(file, file->format->end(r, out), err);
    file->out = NULL;
    if (file->path && fclose(out) != 0 && st == ASSAY_OK)
        st = cannot_write(file, errno, err);
    return st;
}

enum assay_status report_file_end(struct report_file *file,
                                  const struct report *r,
                                  struct assay_error *err)
{
    struct temp_file temp;
    if (file->out)
        return end_open(file, r, err);
    if (!file->path) {
        file->format->end(r, stdout);
        return ASSAY_OK;
    }
    enum assay_status st = temp_file_begin(file->path, &temp, err);
    if (st != ASSAY_OK)
        return st;
    file->out = fopen(temp.path, "we");
    st = file->out ? end_open(file, r, err) : cannot_write(file, errno, err);
    if (st == ASSAY_OK)
        return temp_file_commit(&temp, err);
    temp_file_abandon(&temp);
    return st;
}
