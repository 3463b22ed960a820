/* rank_meeting.h: whether the heurts of all ranks of a job are there, of several hosts.
 *
 *     rank 1   heurt.data.rank1-4711.here ──┐
 *     rank 2   heurt.data.rank2-4711.here ──┴─ rank 0 sees all ──► ….met, which each takes away
 *
 * What ranks do over MPI of themselves, all or none of them must do; a launcher may have started
 * some without heurt. So rank 0 says it for all, in the directory where the parts will be. In goes
 * the job, out comes one answer for all. It waits no longer than MEETING_PATIENCE_NS. */
#ifndef HEURT_CMD_RANK_MEETING_H
#define HEURT_CMD_RANK_MEETING_H

#include "cmd/ranks.h"

/* Before programs start. False: not all came in time; rank 0 says so. */
bool rank_meeting__all_come(const struct job_ranks *ranks, const char *directory);

#endif
