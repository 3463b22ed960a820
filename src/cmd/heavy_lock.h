/* heavy_lock.h: the lock of a program that its threads wait for most, by the places that take it:
 * heurt induce lock holds it longer.
 *
 * A lock has another address in each run, and its places have the same one where the system does
 * not lay the program out by chance: that is asked of it, for this process and what it starts. In
 * goes a command, out come places, from one recorded run. It stands on single_run.h and
 * analysis/locks/. One thread. */
#ifndef HEURT_CMD_HEAVY_LOCK_H
#define HEURT_CMD_HEAVY_LOCK_H

struct heavy_lock {
    char *name;  /* "queue->lock": owned */
    char *sites; /* return addresses in base 16, with commas; owned */
};

/* 0, or the exit status after a sentence; heavy_lock__free it in any case. */
int heavy_lock__find(char *const *words, struct heavy_lock *lock);
/* What --hold-longer is told for that level (1: twice as long): free() it. NULL: level 0. */
char *heavy_lock__longer(const struct heavy_lock *lock, double level);
void heavy_lock__free(struct heavy_lock *lock);

#endif
