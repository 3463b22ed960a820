/* fixture.h: traces for tests from readable text, one item a line. Empty lines and what follows a
 * '#' at the start of a word are skipped.
 *
 *     clock tsc                              # else monotonic: ticks are ns
 *     start 1000 [NS]                        # tick and ns; else 0
 *     end 9000 [NS] [WAIT_STATUS]            # else the tick of the last event
 *     limit 64                               # units; else 65536
 *     meta command ./app -x                  # the value is the rest of the line
 *     process 0 100 /bin/app [PARENT] [TICK] # serial, pid; only needed for its fields
 *     module 0 500 0x400000 0x500000 /bin/app [BIAS]   # process, tick, start, end
 *     gone 0 900 0x400000                    # process, tick, start
 *     function 0 1024 work 0x401000 [x,y]    # process, id, name, address, argument names
 *     region 0 1026 parse 0x401100 a.c:12    # a marked region, and an
 *     iteration 0 1028 row 0x401200 a.c:20   # iteration
 *     refusal 0 f /bin/app it is too short   # the reason is the rest of the line
 *     note 0 a sentence                      # likewise
 *     sample 900 100 103 500 0x401004 0x7000 2 [9]     # ns, pid, tid, weight in ns, instruction,
 *                                            # address, enum heurt_access, iterations
 *     thread 3 worker [PROCESS]              # the events that follow are this thread's
 *     1000 lock_wait 0x401000/1 0x7000       # tick, event, payload words
 *     2000 leave lock_wait 0
 *     3000 work 7 8                          # a function of the thread's process
 *     3500 io 0x401010/1 5:2 512
 *     4000 leave work
 *     4500 stack 0x401000 0x7ffd0000         # its count is put in front
 *
 * Events are those of layout.h in lower case. Numbers are decimal, 0x… or negative; A/H is
 * HEURT_SITE(A, H), L:H is L | H << 32; payload words that are not given are 0. A thread may be
 * returned to by another thread line; its name is given the first time. */
#ifndef HEURT_TESTS_FIXTURE_H
#define HEURT_TESTS_FIXTURE_H

#include "base/error.h"
#include "format/reader.h"

/* Writes the trace. The error names the line. */
int fixture__write(const char *directory, const char *text, struct error *error);

/* Writes a trace to a temporary place, opens it and leaves nothing behind: trace__close it.
 * Ends the test program with a message when the text is wrong. */
struct trace *fixture__open(const char *text);

#endif
