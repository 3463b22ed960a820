/* limits.h: what a shell limits (ulimit) is meant for the program. heurt itself, which reads and
 * writes more than the program may have room for, takes what it can get; the program gets back what
 * was there. */
#ifndef HEURT_CMD_LIMITS_H
#define HEURT_CMD_LIMITS_H

#include <sys/resource.h>

/* At the very beginning of this process: its limits become as high as it may make them; a file that
 * becomes too long is an error of write(2), and no signal. */
void limits__lift(void);
/* What was found at the beginning of a resource of getrlimit(2), which is the program's. */
rlim_t limits__of_program(int resource);
/* In a child, before it becomes the program. */
void limits__restore(void);

/* Calls the function, on a stack of its own when the one that is there is short. */
int limits__with_stack(int (*function)(int argc, char **argv), int argc, char **argv);

#endif
