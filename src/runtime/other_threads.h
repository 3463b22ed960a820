/* other_threads.h: what of the process's other threads has to be waited for. */
#ifndef HEURT_RUNTIME_OTHER_THREADS_H
#define HEURT_RUNTIME_OTHER_THREADS_H

/* Waits until none of them makes a system call of ours that it had begun to make. With signals as
 * they are; some hundred us, as long as they get a CPU. */
void other_threads__wait(void);

#endif
