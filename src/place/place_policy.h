/* place_policy.h: a policy as it is read from a file: which objects go to which NUMA nodes
 * (docs/heurt-place.md tells the format).
 *
 * In go the bytes of a file, out come rules, in memory of this library's own; what cannot be
 * understood makes the whole policy void, with the number of the line. It allocates nothing and
 * calls nothing but mmap(2). */
#ifndef HEURT_PLACE_PLACE_POLICY_H
#define HEURT_PLACE_PLACE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACE_BUILD_ID_MOST 32
#define PLACE_NODES_MOST 1024

enum place_rule_kind {
    RULE_SITE, /* what is allocated by the call that returns there */
    RULE_DATA, /* a variable */
};

enum place_policy_kind {
    POLICY_INTERLEAVE,
    POLICY_PARTS, /* of each object */
    POLICY_CYCLE, /* of each object page by page, in turn */
    POLICY_EACH,  /* each object, in turn */
};

struct place_part {
    uint64_t page; /* where it begins; of POLICY_PARTS alone */
    uint32_t node;
};

struct place_rule {
    enum place_rule_kind kind;
    enum place_policy_kind policy;
    uint8_t build_id[PLACE_BUILD_ID_MOST];
    uint32_t build_id_bytes;
    uint64_t offset;                  /* in the module's file, as its symbols have it */
    uint64_t least_bytes, most_bytes; /* of a variable both are its length */
    uint64_t pages;                   /* that parts are of */
    const struct place_part *parts;
    uint32_t part_count;
    bool small; /* no huge pages */
    /* While the program runs: */
    uint64_t address; /* (atomic) in this process; 0: its module is not there yet */
    uint64_t seen;    /* (atomic) objects of it that were allocated */
};

struct place_policy {
    struct place_rule *rules;
    uint32_t count;
    unsigned wrong_line; /* from 1; 0: all was understood */
};

/* text: length bytes and a zero. It is changed. Nothing before the line "heurt-place 1" is read. */
struct place_policy place_policy__parse(char *text, size_t length);

#endif
