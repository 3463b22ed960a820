/* facilities.h: facts and trials judged: what of a machine is there, what it buys, what would
 * bring more. Pure: the same facts give the same judgement.
 *
 * In go the facts and trials of machine_info.h, on which it stands; out come rows of a table. It
 * makes no system call. */
#ifndef HEURT_KERNEL_FACILITIES_H
#define HEURT_KERNEL_FACILITIES_H

#include "base/vec.h"
#include "kernel/machine_info.h"

enum facility_state {
    FACILITY_NO,
    FACILITY_PARTLY,
    FACILITY_YES,
};

/* What facilities are for, in the order of the table. */
enum facility_purpose {
    FACILITY_RECORDING,
    FACILITY_REASONS,   /* why threads lose time */
    FACILITY_WAKING,    /* what root adds to it */
    FACILITY_FUNCTIONS, /* choosing and patching them */
    FACILITY_LATER,     /* nothing of it is used yet */
};

struct facility {
    const char *key; /* for programs that read the table */
    enum facility_purpose purpose;
    const char *name;
    const char *buys;
    enum facility_state state;
    bool is_required; /* without it nothing can be recorded */
    char *found;      /* what was seen; never NULL */
    char *enable;     /* what to do for more, or NULL */
};

/* Appends struct facility to facilities (VEC_OF(struct facility)); facilities__free it. */
void facilities__judge(const struct machine_info *info, const struct machine_trials *trials,
                       struct vec *facilities);
void facilities__free(struct vec *facilities);

const char *facility_purpose__name(enum facility_purpose purpose);
const char *facility_state__name(enum facility_state state); /* "no", "partly", "yes" */

#endif
