#include "symbol/outlined.h"

#include "base/memory.h"

#include <stddef.h>
#include <string.h>

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

bool outlined__is_nameless(const char *name)
{
    return name && (begins_with(name, ".omp_") || begins_with(name, ".omp."));
}

char *outlined__name(const char *name, const char *user, const char *label)
{
    if (user)
        return memory__format("%s%s", user, name);
    if (begins_with(name, ".omp_outlined"))
        return memory__format("parallel region %s", label);
    if (begins_with(name, ".omp_task_entry"))
        return memory__format("task %s", label);
    return memory__text(name);
}
