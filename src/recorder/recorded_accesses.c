#include "recorder/recorded_accesses.h"

#include "base/memory.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT "HEURT_TEST_ACCESSES"

struct recorded_accesses {
    int fd;
    size_t held; /* of the bytes: a beginning of a record */
    unsigned char bytes[2 * RECORD_BYTES_MAX];
};

struct recorded_accesses *recorded_accesses__open(void)
{
    const char *path = getenv(ENVIRONMENT);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    struct recorded_accesses *self = fd >= 0 ? memory__zeroed(1, sizeof *self) : NULL;
    if (self)
        self->fd = fd;
    return self;
}

void recorded_accesses__close(struct recorded_accesses *self)
{
    if (!self)
        return;
    close(self->fd);
    free(self);
}

/* How many bytes the whole records at the beginning have; what cannot be one ends the file. */
static size_t take_records(struct recorded_accesses *self,
                           void (*each)(const struct record *record, void *context), void *context)
{
    size_t at = 0;
    struct perf_event_header header;
    struct record record;
    for (; self->held - at >= sizeof header; at += header.size) {
        memcpy(&header, self->bytes + at, sizeof header);
        if (header.size < sizeof header)
            return self->held;
        if (header.size > self->held - at)
            return at;
        if (record__decode_access(self->bytes + at, header.size, &record) == 0)
            each(&record, context);
    }
    return at;
}

void recorded_accesses__drain(struct recorded_accesses *self,
                              void (*each)(const struct record *record, void *context),
                              void *context)
{
    ssize_t some;
    while (self &&
           (some = read(self->fd, self->bytes + self->held, sizeof self->bytes - self->held)) > 0) {
        self->held += (size_t)some;
        size_t done = take_records(self, each, context);
        memmove(self->bytes, self->bytes + done, self->held - done);
        self->held -= done;
    }
}
