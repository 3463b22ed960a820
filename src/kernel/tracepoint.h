/* tracepoint.h: what tracefs says about a tracepoint: its number, and where its fields lie.
 *
 * In goes a tracepoint's name, or the text of its format; out come its number and where its fields
 * lie. It costs one small file, and stands on libc alone. */
#ifndef HEURT_KERNEL_TRACEPOINT_H
#define HEURT_KERNEL_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where tracefs is mounted today, and where it was before Linux 4.1; in this order. */
#define TRACEFS_MOUNTS                                     \
    {                                                      \
        "/sys/kernel/tracing", "/sys/kernel/debug/tracing" \
    }

/* A field of the raw record. */
struct tracepoint_field {
    const char *name;
    uint32_t offset, bytes; /* filled in; bytes 0: the tracepoint has none of that name */
};

/* Reads the text of a "format" file: the number, and the fields that are asked for by name. A
 * field that is no number of 1, 2, 4 or 8 bytes counts as not there. -EBADMSG: no number. */
int tracepoint__parse(const char *text, uint32_t *number, struct tracepoint_field *fields,
                      size_t count);

/* The same for event, such as "sched/sched_waking", in the first tracefs below root ("" for this
 * machine) that has it. -ENOENT: there is none; -EACCES: this user may not read it. */
int tracepoint__read(const char *root, const char *event, uint32_t *number,
                     struct tracepoint_field *fields, size_t count);

/* The field of a raw record of size bytes, without a sign; 0 when it lies outside. */
uint64_t tracepoint_field__get(const struct tracepoint_field *field, const void *raw, size_t size);

#endif
