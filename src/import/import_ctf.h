/* import_ctf.h: what the files that read CTF share: events as babeltrace2 tells them, and who makes
 * sense of them: the tracer that wrote the trace is told by its events. */
#ifndef HEURT_IMPORT_IMPORT_CTF_H
#define HEURT_IMPORT_IMPORT_CTF_H

#include "import/import.h"

#include <babeltrace2/babeltrace.h>

struct ctf_told {
    const char *name;
    int64_t ns;
    const bt_field *fields;  /* its own; NULL: none */
    const bt_field *context; /* those that all of its stream have; or NULL */
    const bt_field *packet;  /* those of its packet; or NULL */
};

/* A field of a structure by its name; none, or of another type: 0, NULL, false. */
uint64_t ctf__number(const bt_field *structure, const char *name);
const char *ctf__text(const bt_field *structure, const char *name);
bool ctf__has(const bt_field *structure, const char *name);
/* Numbers of an array; how many there are, max at most. */
size_t ctf__numbers(const bt_field *structure, const char *name, uint64_t *numbers, size_t max);

/* A meaning: events of one tracer. */
struct ctf_meaning {
    const char *name, *lacks; /* as those of an importer */
    void *(*start)(struct import *import);
    /* Number of the kind of event that has this name, at least 1; 0: none. */
    uint32_t (*kind)(const char *name);
    void (*take)(void *self, uint32_t kind, const struct ctf_told *event);
    /* Negative with a sentence. Frees it. */
    int (*finish)(void *self, struct error *error);
};

extern const struct ctf_meaning ctf_own, ctf_lttng;

#endif
