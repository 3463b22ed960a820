/* session.h: what a trace says about the run as a whole. */
#ifndef HEURT_RECORDER_SESSION_H
#define HEURT_RECORDER_SESSION_H

#include "format/writer.h"

/* Writes the command, its directory, the machine and heurt's version. */
void session__describe(struct trace_writer *writer, char *const *command_line);

#endif
