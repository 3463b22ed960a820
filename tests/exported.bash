# exported.bash: runs that readers of exports have to bear.

# A program that kills itself with its threads in functions and in a lock.
killed_program() {
    cat >kills_itself.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long count;
__attribute__((noinline)) void work_once(void)
{
    pthread_mutex_lock(&mutex);
    if (++count == 5000)
        kill(getpid(), SIGKILL);
    pthread_mutex_unlock(&mutex);
}
__attribute__((noinline)) void *work_on(void *unused)
{
    for (;;)
        work_once();
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work_on, NULL);
    work_on(NULL);
    return 0;
}
C
    "${CC:-cc}" -O1 -g -pthread -w -o kills_itself kills_itself.c
}

# Control characters, quotes, what formats use as marks, bytes that are not UTF-8, and 10 kB.
strange_names() {
    local long
    long=$(printf 'x%.0s' {1..10000})
    printf 'start 1000\nend 90000\nprocess 0 100 /nowhere/a"b\\c;d\n'
    printf 'function 0 1024 a\x01b\x1b[31m"c"\\d;e<f>&g 0x401000\n'
    printf 'function 0 1026 \xff\xfe\xc3( 0x402000\nfunction 0 1028 %s 0x403000\n' "$long"
    printf 'thread 1 t"\\;\x07\n1000 thread_start 0 -1 0x401000\n2000 %s\n' $'a\x01b\x1b[31m"c"\\d;e<f>&g'
    printf '3000 %b\n4000 %s\n5000 leave %s\n6000 leave %b\n' '\xff\xfe\xc3(' "$long" "$long" '\xff\xfe\xc3('
    printf '7000 leave %s\n8000 thread_end 7000 0\n' $'a\x01b\x1b[31m"c"\\d;e<f>&g'
}
