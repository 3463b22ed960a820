/* Every request is logged: a line is made and flushed to the file while a mutex is held.
 * TRUTH: lock|stdio|disk; place=log_line|handle|serve; object=log_mutex|access|FILE
 * Fixed: each thread gathers its lines and writes them at the end. */
#include "truth.h"

#include <pthread.h>
#include <time.h>

#define REQUESTS 40000

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE *log_file;
static int fixed;

static int format_line(char *line, size_t size, int client, int request, uint64_t answer)
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    return snprintf(
        line, size, "%04d-%02d-%02d %02d:%02d:%02d.%06ld client %d GET /item/%d 200 %lx\n",
        parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
        parts.tm_sec, now.tv_nsec / 1000, client, request, (unsigned long)answer);
}

static void log_line(int client, int request, uint64_t answer)
{
    char line[200];
    pthread_mutex_lock(&log_mutex);
    format_line(line, sizeof line, client, request, answer);
    fputs(line, log_file);
    fflush(log_file);
    pthread_mutex_unlock(&log_mutex);
}

static void *serve(void *argument)
{
    int client = (int)(intptr_t)argument;
    char *lines = malloc(REQUESTS * 100);
    size_t length = 0;
    for (int i = 0; i < REQUESTS; i++) {
        uint64_t answer = mix((uint64_t)(i + client), 500);
        if (fixed)
            length += (size_t)format_line(lines + length, 100, client, i, answer);
        else
            log_line(client, i, answer);
    }
    pthread_mutex_lock(&log_mutex);
    fwrite(lines, 1, length, log_file);
    pthread_mutex_unlock(&log_mutex);
    free(lines);
    return NULL;
}

int main(int argc, char **argv)
{
    char name[] = "/tmp/access-XXXXXX";
    pthread_t threads[2];
    fixed = is_fixed(argc, argv);
    log_file = fdopen(mkstemp(name), "w");
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, serve, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    fclose(log_file);
    remove(name);
    return 0;
}
