/* attach_layout.h: what the recorder and a library that it has brought into a running process agree
 * on. The recorder calls its functions by name, one at a time, and reads this from its memory. */
#ifndef HEURT_FORMAT_ATTACH_LAYOUT_H
#define HEURT_FORMAT_ATTACH_LAYOUT_H

#include <stdint.h>

#define HEURT_ATTACH_FILE "libheurt-attach.so"

/* Of the library: the struct below, and what is called.
 *   enter(directory)   joins the session of that trace and takes the calls of all modules
 *   look()             takes those of modules that were loaded since
 *   release()          gives all calls back
 *   sweep()            the record of each thread ends, the trace is unmapped; all other threads
 *                      stand still, none of them within the library's own work */
#define HEURT_ATTACHMENT "heurt_attachment"
#define HEURT_ATTACH_ENTER "heurt_attach_enter"
#define HEURT_ATTACH_LOOK "heurt_attach_look"
#define HEURT_ATTACH_RELEASE "heurt_attach_release"
#define HEURT_ATTACH_SWEEP "heurt_attach_sweep"

#define HEURT_ATTACHMENT_VERSION 1u

enum heurt_attachment_state {
    HEURT_ATTACHMENT_NONE,     /* parked */
    HEURT_ATTACHMENT_ENTERS,   /* enter is at work */
    HEURT_ATTACHMENT_RECORDS,  /* the calls are taken */
    HEURT_ATTACHMENT_RELEASED, /* and given back */
};

struct heurt_attachment {
    uint32_t version;
    uint32_t state;        /* enum heurt_attachment_state */
    uint32_t recorder_pid; /* of the last session */
    uint32_t sweeps;       /* that were done; one that was not, because a thread was at work, is not
                              counted */
    uint32_t slots;        /* places of calls that are taken */
    uint32_t modules;      /* in which these are */
};

#endif
