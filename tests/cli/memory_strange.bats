#!/usr/bin/env bats
# heurt memory where something is missing, or much too much: a sentence tells it, and the rest of the report stands.
load ../helpers

PERF_EVENT_OPEN=298
TIMER_CREATE=222
EACCES=13

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    cat >strange.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static volatile long own[16];

/* At a variable of the program's own, for enough CPU time to be sampled. */
static void work(volatile long *place)
{
    struct timespec now, begin;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    do {
        for (int i = 0; i < 1000000; i++)
            (*place)++;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 300000000L);
}

static void *called(const char *path, const char *function)
{
    void *library = dlopen(path, RTLD_NOW);
    void *(*call)(void) = library ? (void *(*)(void))dlsym(library, function) : NULL;
    void *result = call ? call() : NULL;
    if (library)
        dlclose(library);
    return result;
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? atol(argv[2]) : 0, made = 0;
    if (argc > 2 && strcmp(argv[1], "allocations") == 0)
        for (; made < count; made++) {
            volatile long *place = malloc(16 + (size_t)(made % 64));
            *place = made;
            free((void *)place);
        }
    if (argc > 2 && strcmp(argv[1], "mappings") == 0)
        for (; made < count; made++) /* neighbours that are alike would be one */
            if (mmap(NULL, 4096, made % 2 ? PROT_READ : PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
                break;
    if (argc > 3 && strcmp(argv[1], "libraries") == 0) {
        void *at[3] = {called(argv[2], "work"), called(argv[3], "work"), called(argv[2], "work")};
        made = at[0] && at[0] == at[1] && at[1] == at[2];
    } else {
        work(&own[0]);
    }
    printf("%ld\n", made);
    return 0;
}
END
    gcc -g -O1 strange.c -o strange -ldl
    cat >library.c <<'END'
#include <pthread.h>

pthread_mutex_t LOCK = PTHREAD_MUTEX_INITIALIZER;
volatile long DATA;

void *FUNCTION(void)
{
    for (long i = 0; i < 60000000; i++)
        DATA++;
    pthread_mutex_lock(&LOCK);
    pthread_mutex_unlock(&LOCK);
    return (void *)&LOCK;
}

void *work(void)
{
    return FUNCTION();
}
END
    local name
    for name in alpha gamma; do
        gcc -g -O1 -shared -fPIC "-DLOCK=${name}_lock" "-DDATA=${name}_data" "-DFUNCTION=${name}_work" library.c \
            -o "$name.so"
    done
}

setup() {
    cd "$BATS_FILE_TMPDIR"
}

# The variable that the program works at is told, whatever else there is.
stands() { # TRACE
    "$HEURT" memory -i "$1" --json >json
    "$JSON_GET" json 'objects[].title' >titles
    grep -q 'own' titles || fail "$(cat titles)"
    "$HEURT" memory -i "$1" >screen
    "$HEURT" report -i "$1" >report
}

@test "two libraries one after the other at one address: each has its names" {
    "$HEURT" record -q -o libraries ./strange libraries ./alpha.so ./gamma.so >out
    [ "$(cat out)" = 1 ] || skip "the second library lies elsewhere"
    "$HEURT" locks -i libraries --width 200 >locks
    grep -q 'alpha_lock (alpha.so), later gamma_lock (gamma.so)' locks || fail "$(cat locks)"
    "$HEURT" memory -i libraries --json >json
    "$JSON_GET" json 'objects[].title' >titles
    grep -q 'alpha_data' titles && grep -q 'gamma_data' titles || fail "$(cat titles)"
}

@test "a library that is loaded again where it was has its names, once" {
    "$HEURT" record -q -o again ./strange libraries ./alpha.so ./alpha.so >out
    "$HEURT" locks -i again --width 200 >locks
    grep -q 'alpha_lock' locks || fail "$(cat locks)"
    ! grep -q later locks
}

@test "a million allocations" {
    "$HEURT" record -q -o allocations ./strange allocations 1000000 >out
    [ "$(cat out)" = 1000000 ]
    stands allocations
    # Some are told, and not all of them.
    [ "$("$JSON_GET" json allocations)" -ge 8192 ]
    [ "$("$JSON_GET" json allocations)" -lt 1000000 ]
}

@test "as many mappings as the kernel allows" {
    "$HEURT" record -q -o mappings ./strange mappings 100000 >out
    [ "$(cat out)" -ge 10000 ]
    stands mappings
}

@test "neither perf nor timers: it is said that nothing was sampled, and calls are told" {
    status=0
    "$PROGRAMS/without_call" $PERF_EVENT_OPEN $EACCES "$PROGRAMS/without_call" $TIMER_CREATE $EACCES \
        "$HEURT" record -q -o blind ./strange allocations 10 >out </dev/null || status=$?
    [ "$status" != 77 ] || skip "no filter of system calls can be set here"
    [ "$status" = 0 ]
    "$HEURT" memory -i blind >screen
    cat screen
    grep -qi 'no sample' screen
    "$HEURT" report -i blind | grep -q 'not sampled'
}
