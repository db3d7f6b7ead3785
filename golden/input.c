/* SPDX-License-Identifier: MIT */
#include "golden/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct input_path input_path(const char *path)
{
    const size_t limit = 160;
    size_t n = strlen(path);
    struct input_path t;
    const char *tail = n <= limit ? path : path + n - limit;
    while (tail > path && (*tail & 0xc0) == 0x80)
        tail++;
    snprintf(t.s, sizeof t.s, "%s%s", tail > path ? "..." : "", tail);
    return t;
}

enum assay_status input_read_at(int fd, int64_t offset, void *buffer,
                                size_t bytes, struct assay_error *err)
{
    char *to = buffer;
    while (bytes) {
        ssize_t n = pread(fd, to, bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return assay_fail(err, ASSAY_FILE,
                              "cannot read at byte %" PRId64 ": %s", offset,
                              strerror(errno));
        if (n == 0)
            return assay_fail(err, ASSAY_FILE,
                              "ends at byte %" PRId64 ", %zu bytes too soon; "
                              "it was cut while it was read",
                              offset, bytes);
        to += n;
        offset += n;
        bytes -= (size_t)n;
    }
    return ASSAY_OK;
}

static enum assay_status check_regular(mode_t mode, struct assay_error *err)
{
    if (S_ISREG(mode))
        return ASSAY_OK;
    const char *what = S_ISDIR(mode)    ? "a directory"
                       : S_ISFIFO(mode) ? "a FIFO"
                       : S_ISCHR(mode)  ? "a character device"
                       : S_ISBLK(mode)  ? "a block device"
                                        : "a special file";
    return assay_fail(err, ASSAY_FILE, "is %s, not a regular file", what);
}

enum assay_status input_open(const char *path, int *fd, int64_t *file_bytes,
                             struct assay_error *err)
{
    /* without O_NONBLOCK a FIFO would wait for a writer */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return assay_fail(err, ASSAY_FILE, "cannot be opened: %s",
                          strerror(errno));
    struct stat st;
    if (fstat(*fd, &st))
        return assay_fail(err, ASSAY_FILE, "cannot be looked at: %s",
                          strerror(errno));
    *file_bytes = st.st_size;
    char byte;
    if (S_ISREG(st.st_mode) && st.st_size == 0 && read(*fd, &byte, 1) == 1)
        return assay_fail(err, ASSAY_FILE,
                          "does not tell how long it is, as files of /proc do "
                          "not; a copy of it can be read");
    return check_regular(st.st_mode, err);
}
