/* plugin.c: the library that dlopener opens. */
#include "known.h"

long plugin_function(long value);
long plugin_locks(long times);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

KNOWN_FUNCTION long plugin_function(long value)
{
    return value * 2 + 1;
}

/* Hooked calls whose site is unmapped later. */
KNOWN_FUNCTION long plugin_locks(long times)
{
    for (long i = 0; i < times; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return times;
}
