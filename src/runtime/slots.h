/* slots.h: the places in the modules' memory from which they take the addresses of functions of
 * others (the GOT), led to our hooks and back.
 *
 * A place that holds the function behind a hook, or that the loader has not filled in yet, gets the
 * hook's address; back, each that holds a hook's gets that of the function behind it. So nothing is
 * kept of places, and a module that was unloaded meanwhile is no matter. What is written is one
 * word, at which other threads may look at any time. Not taken are the places of the C library and
 * the loader themselves, and functions that a module has otherwise (a dlsym, a pointer of its own).
 */
#ifndef HEURT_RUNTIME_SLOTS_H
#define HEURT_RUNTIME_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

struct slot_count {
    uint32_t slots, modules; /* that were changed */
};

/* Finds the functions behind our hooks. Calls dlsym. False: no memory. */
bool slots__find(void);
/* Call dl_iterate_phdr, whose lock keeps modules where they are. */
struct slot_count slots__take(void);
struct slot_count slots__give_back(void);

#endif
