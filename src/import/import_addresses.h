/* import_addresses.h: names for sources that tell addresses: which files a process has mapped
 * where, and what their symbols call a place in them.
 *
 * In go mappings, forks and execs in the order of their times, out come functions and sites of the
 * import. The files are those of this machine, now: one that is gone, or has another build-id than
 * the source tells, gives module+offset, and a sentence in the trace. Memory grows with mappings
 * and with different addresses. It stands on symbol/image.h. One thread at a time. */
#ifndef HEURT_IMPORT_IMPORT_ADDRESSES_H
#define HEURT_IMPORT_IMPORT_ADDRESSES_H

#include "import/import.h"

struct import_addresses;

struct import_addresses *import_addresses__new(struct import *import);
void import_addresses__free(struct import_addresses *addresses);

/* The bytes of a file from offset on lie at start. */
struct import_mapping {
    uint32_t pid;
    uint64_t start, end, offset;
    const char *path;
    const uint8_t *build_id;
    size_t build_id_bytes; /* 0: not told */
};

void import_addresses__map(struct import_addresses *addresses,
                           const struct import_mapping *mapping);
/* What was mapped there from now on is not. */
void import_addresses__unmap(struct import_addresses *addresses, uint32_t pid, uint64_t start);
void import_addresses__fork(struct import_addresses *addresses, uint32_t child, uint32_t parent);
void import_addresses__exec(struct import_addresses *addresses, uint32_t pid);

/* The function around an address, as import__function; UINT32_MAX: it is in no file. */
uint32_t import_addresses__function(struct import_addresses *addresses, uint32_t thread,
                                    uint32_t pid, uint64_t address);
/* A site for a return address, as import__site; 0: it is in no file. */
uint64_t import_addresses__site(struct import_addresses *addresses, uint32_t thread, uint32_t pid,
                                uint64_t address);

/* Names the static object at an address, if it is one. */
void import_addresses__name_object(struct import_addresses *addresses, uint32_t thread,
                                   uint32_t pid, uint64_t address);

#endif
