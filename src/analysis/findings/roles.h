/* roles.h: threads that do the same, folded: what they did with their time.
 *
 * A role is all threads of one program (the file that a process runs) with one name, numbers at its
 * end aside, or, where nobody gave them names, with one start routine; those that had work apart
 * from those that had none. The times of all roles add up to the lives of all threads.
 *
 * Idle is what a thread waited for work, events, time or the end of others (findings.h); it is in
 * no component then; nor is what it yielded, or slept between two looks at what others do. Names
 * belong to the trace. */
#ifndef HEURT_ANALYSIS_FINDINGS_ROLES_H
#define HEURT_ANALYSIS_FINDINGS_ROLES_H

#include "analysis/ledger/profile.h"

struct role {
    const char *program;        /* path, "" where it is not known */
    const char *name;           /* of its threads; NULL: they have none of their own */
    size_t name_bytes;          /* of it, without the number at its end */
    const struct symbol *start; /* start routine, or what of the program's own code the system's
                                   start routine calls; NULL: not known */
    bool is_main;               /* first threads of processes */
    bool is_of_openmp;          /* without a name, and started by its runtime */
    bool had_work;
    uint32_t thread; /* the first one: index into trace__threads */
    uint64_t threads;
    uint64_t lifetime_ns, idle_ns;
    uint64_t joined_ns; /* of the idle time: waited for the end of other threads */
    uint64_t asked_ns;  /* yielded in a loop, or slept while it asked for something */
    uint64_t component_ns[COMPONENTS]; /* with idle_ns and asked_ns they add up to lifetime_ns */
};

#endif
