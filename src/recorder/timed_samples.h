/* timed_samples.h: samples that the recorded program takes of itself, where the kernel refuses
 * them: its threads' timers write them into rings in the trace (runtime/cpu_timer.h), and here they
 * become what kernel/sampling.h would have told.
 *
 * The rings have to be emptied while the program runs. Which files a process has mapped is read
 * when its ring is found, and again when a sample lies in none of them. In the rings stands what
 * the program likes: numbers that are looked up, nothing else. One thread at a time. */
#ifndef HEURT_RECORDER_TIMED_SAMPLES_H
#define HEURT_RECORDER_TIMED_SAMPLES_H

#include "format/writer.h"
#include "kernel/sampling.h"

struct timed_samples;

/* Before the program's exec: asks it for as many a second. NULL: this kernel would cut its calls
 * short. rest_hz: from timed_samples__rest on. */
struct timed_samples *timed_samples__new(struct trace_writer *writer, unsigned hz,
                                         unsigned rest_hz);
void timed_samples__free(struct timed_samples *self); /* NULL is allowed */

void timed_samples__rest(struct timed_samples *self);

/* As sampling__drain; is_known tells whether an address of a process is in a file that was told. */
void timed_samples__drain(struct timed_samples *self,
                          bool (*is_known)(uint32_t pid, uint64_t address, void *context),
                          void (*each)(const struct record *record, void *context), void *context);

/* When the program has ended, behind the last drain: rings are free chunks from now on. */
void timed_samples__end(struct timed_samples *self);

#endif
