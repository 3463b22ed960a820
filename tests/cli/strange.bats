# heurt record and programs that ask more of it: sanitizers, filters of system calls, limits.
load ../helpers

# sanitized NAME: a program with threads, made by gcc with a sanitizer, whose library insists on
# being the first that is loaded.
sanitized() {
    gcc -O1 -g -pthread -fsanitize=address -w -x c -o "$1" - 2>gcc.log <<'C' ||
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    const char *preload = getenv("LD_PRELOAD");
    printf("LD_PRELOAD %s\n", preload ? preload : "is not set");
    return 3;
}
C
        skip "gcc has no address sanitizer here"
}

@test "a program of the address sanitizer runs and is recorded, LD_PRELOAD is the user's" {
    sanitized program
    record -o t ./program
    expect_status 3
    [ "$output" = "LD_PRELOAD is not set" ]
    report_json t
    [ "$(json 'classes[kind=lock].count' | sum)" = 1000 ]
    LD_PRELOAD=libm.so.6 record -o t ./program
    expect_status 3
    [ "$output" = "LD_PRELOAD libm.so.6" ]
}

@test "so does one that a shell starts" {
    sanitized program
    record -o t sh -c './program; ./program'
    expect_status 3
    [ "$(grep -c '^LD_PRELOAD is not set$' <<<"$output")" = 2 ]
    report_json t
    [ "$(json 'classes[kind=lock].count' | sum)" = 2000 ]
}
