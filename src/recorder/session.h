/* session.h: what a trace says about the run as a whole. */
#ifndef HEURT_RECORDER_SESSION_H
#define HEURT_RECORDER_SESSION_H

#include "format/writer.h"

/* Writes the command, its directory, the machine and heurt's version. */
void session__describe(struct trace_writer *writer, char *const *command_line);

/* Where path, by which the program is started, is a link to a file of another name: both, so that
 * it is called by the name that the user gave. */
void session__name_program(struct trace_writer *writer, const char *path);

#endif
