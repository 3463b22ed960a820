/* changes.h: what heurt whatif is asked, as its command line says it.
 *
 * In goes the text of an option, out comes a struct asked, or a sentence. It costs nothing to
 * speak of, and stands on analysis/replay/whatif.h for what can be changed. */
#ifndef HEURT_CMD_CHANGES_H
#define HEURT_CMD_CHANGES_H

#include "analysis/replay/whatif.h"

/* What a change is made to. */
enum asked_of { ASKED_OF_CLASS, ASKED_OF_FUNCTION, ASKED_OF_LOCK, ASKED_OF_REGION, ASKED_OF_ALL };

/* One option. */
struct asked {
    enum change_type type;
    enum asked_of of;
    size_t rank;  /* CLASS: from 1 */
    char *target; /* FUNCTION: a glob; LOCK: 0x… or the name of a variable; REGION: its number or a
                     part of its title; else NULL */
    double factor;  /* SPEED, SHRINK */
    uint32_t count; /* SPLIT, THREADS */
    bool by_site;   /* SPLIT */
    char *option;   /* "--remove 1" */
    bool is_shared; /* BALANCE: by chunks of count (0: guided); else evenly */
};

/* Each reads the value of its option. -EINVAL with a sentence that begins with the option;
 * asked__free in any case. */
int asked__remove(const char *value, struct asked *asked, struct error *error);
int asked__speed(const char *value, struct asked *asked, struct error *error);
int asked__shrink(const char *value, struct asked *asked, struct error *error);
int asked__split(const char *value, struct asked *asked, struct error *error);
int asked__schedule(const char *value, struct asked *asked, struct error *error);
int asked__balance(const char *value, struct asked *asked, struct error *error);
int asked__threads(const char *value, struct asked *asked, struct error *error);
void asked__free(struct asked *asked);

#endif
