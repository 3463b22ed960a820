#include "recorder/session.h"

#include "base/memory.h"
#include "base/text.h"
#include "format/message_layout.h"
#include "kernel/machine_time.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static char *join(char *const *texts)
{
    char *joined = memory__text(texts[0]);
    for (texts++; *texts; texts++) {
        char *longer = memory__format("%s\n%s", joined, *texts);
        free(joined);
        joined = longer;
    }
    return joined;
}

static void write_processor(struct trace_writer *writer)
{
    char line[256];
    FILE *in = fopen("/proc/cpuinfo", "re");
    while (in && fgets(line, sizeof line, in)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        value[strcspn(value, "\n")] = 0;
        trace_writer__meta(writer, "processor", value + 2);
        break;
    }
    if (in)
        fclose(in);
}

void session__name_program(struct trace_writer *writer, const char *path)
{
    char *file = realpath(path, NULL), directory[PATH_MAX];
    if (file && strcmp(path__name(file), path__name(path)) != 0 && getcwd(directory, PATH_MAX)) {
        char *name = *path == '/' ? memory__text(path) : memory__format("%s/%s", directory, path);
        trace_writer__meta(writer, "program_file", file);
        trace_writer__meta(writer, "program_name", name);
        free(name);
    }
    free(file);
}

/* What a launcher binds a rank to is not what all of them have. */
static unsigned cpus_of_program(void)
{
    static const char *const of_ranks[] = HEURT_MPI_VARIABLES;
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    for (size_t i = 0; i < sizeof of_ranks / sizeof *of_ranks; i++)
        if (getenv(of_ranks[i]) && all > 0)
            return (unsigned)all;
    return machine_time__cpus();
}

void session__describe(struct trace_writer *writer, char *const *command_line)
{
    char *command = join(command_line);
    char number[32], directory[PATH_MAX];
    struct utsname name;
    trace_writer__meta(writer, "command", command);
    trace_writer__meta(writer, "version", HEURT_PROGRAM_VERSION);
    snprintf(number, sizeof number, "%u", cpus_of_program());
    trace_writer__meta(writer, "cpus", number);
    if (getcwd(directory, sizeof directory))
        trace_writer__meta(writer, "directory", directory);
    if (uname(&name) == 0) {
        char *kernel = memory__format("%s %s %s", name.sysname, name.release, name.machine);
        trace_writer__meta(writer, "host", name.nodename);
        trace_writer__meta(writer, "kernel", kernel);
        free(kernel);
    }
    write_processor(writer);
    free(command);
}
