/* cut_file.h: a mapped file that became shorter than it was, or whose device failed, is SIGBUS for
 * who touches what is no longer there. For the whole process; each call replaces the one before. */
#ifndef HEURT_CMD_CUT_FILE_H
#define HEURT_CMD_CUT_FILE_H

/* From now on heurt ends with a sentence then: who reads has nothing more to show. */
void cut_file__ends(void);

/* From now on it says so once and goes on with empty pages: who records has a program to wait for.
 */
void cut_file__is_survived(void);

#endif
