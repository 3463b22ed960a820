/* import_states.h: times off the CPU, of sources that heurt itself has written: which state a
 * thread is in from some moment on, by the words of present/export/span_names.c ("wanted a CPU").
 *
 * In go states in the order of their times, out come OFF_CPU and FAULT events of the thread: a wait
 * and what the thread then waited for a CPU are one. Zeroes are a thread that told no state yet. */
#ifndef HEURT_IMPORT_IMPORT_STATES_H
#define HEURT_IMPORT_IMPORT_STATES_H

#include "import/import.h"

#define IMPORT_ON_CPU "on a CPU"

struct import_states {
    bool has_any, is_off, is_fault, is_wanted;
    enum heurt_off why;
    int64_t from_ns, wanted_ns;
};

void import_states__change(struct import *import, uint32_t thread, struct import_states *states,
                           int64_t ns, const char *state);

#endif
