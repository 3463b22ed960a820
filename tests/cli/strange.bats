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
    needs_plain_heurt
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

# Takes a lock a few thousand times after it has done what the argument says, by itself and in a
# thread; forbidden system calls are its end.
caged() {
    cat >cage.c <<'C'
#include <linux/seccomp.h>
#include <sys/syscall.h>
void cage(const void *program)
{
    long result = SYS_seccomp;
    __asm__ volatile("syscall" : "+a"(result)
        : "D"(SECCOMP_SET_MODE_FILTER), "S"(0L), "d"(program) : "rcx", "r11", "memory");
}
C
    cat >caged.c <<'C'
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
void cage(const void *program);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused)
{
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
#define ALLOW(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(read), ALLOW(write), ALLOW(exit), ALLOW(exit_group), ALLOW(futex), ALLOW(brk),
    ALLOW(mmap), ALLOW(munmap), ALLOW(mprotect), ALLOW(madvise), ALLOW(clone), ALLOW(clone3),
    ALLOW(set_robust_list), ALLOW(rseq), ALLOW(rt_sigaction), ALLOW(rt_sigprocmask),
    ALLOW(getrandom), ALLOW(sched_yield),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
int main(int count, char **argument)
{
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    const char *how = argument[1];
    pthread_t thread;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!strcmp(how, "strict"))
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    else if (!strcmp(how, "prctl"))
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    else if (!strcmp(how, "instruction"))
        cage(&program);
    else
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                strcmp(how, "all") ? 0 : SECCOMP_FILTER_FLAG_TSYNC, &program);
    work(NULL);
    if (strcmp(how, "strict")) {
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    }
    write(1, "done\n", 5);
    syscall(SYS_exit, 4);
}
C
    compile caged cage.c <caged.c
    compile libcage.so -shared -fPIC <cage.c
    compile caged_by_library -L. -lcage -Wl,-rpath,"$PWD" <caged.c
    ./caged prctl || [ $? = 4 ] || skip "no filter of system calls can be set here"
}

@test "a program that lets only its own system calls through goes on, what is lost is told" {
    caged
    local how option
    for how in 'caged prctl' 'caged seccomp' 'caged all' 'caged strict' 'caged instruction' \
        'caged_by_library instruction'; do
        for option in '--stack-every=0' '--stack-every=1' '-f*'; do
            record -o t "$option" ./$how # two words
            expect_status 4
            [ "$output" = "done" ]
            says 'events were lost.*seccomp'
        done
    done
    "$HEURT" report -i t | grep -q 'limits its own system calls'
}

@test "a child of clone that writes into its parent's thread-local storage ends nobody" {
    compile shares -D_GNU_SOURCE <<'C'
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile int done;
static pthread_spinlock_t one, other;
static int run(void *unused)
{
    for (int i = 0; i < 100000; i++)
        if (pthread_spin_trylock(&one) == 0)
            pthread_spin_unlock(&one);
    done++;
    for (;;)
        syscall(SYS_exit, 0);
}
int main(void)
{
    pthread_spin_init(&one, 0);
    pthread_spin_init(&other, 0);
    for (int i = 1; i <= 3; i++) {
        char *stack = mmap(NULL, 1 << 18, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        clone(run, stack + (1 << 18), CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
              NULL);
        while (done < i)
            if (pthread_spin_trylock(&other) == 0)
                pthread_spin_unlock(&other);
    }
    return 4;
}
C
    local option
    for option in --no-choice --aggregate --aggregate --aggregate '-f*'; do
        record -q -o t --locks all "$option" ./shares
        expect_status 4
    done
    "$HEURT" report -i t | grep -q 'no thread-local storage of its own'
}

limited() {
    compile limited <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
static void *work(void *unused)
{
    return unused;
}
int main(int count, char **argument)
{
    pthread_t thread;
    long locked = 0;
    char line[256];
    struct rlimit limit = {1l << 30, 1l << 30};
    if (!strcmp(argument[1], "space"))
        setrlimit(RLIMIT_AS, &limit);
    else if (mlockall(MCL_CURRENT) != 0)
        return 77;
    FILE *in = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, in))
        sscanf(line, "VmLck: %ld", &locked);
    puts(locked < 300000 ? "little is locked" : "much is locked");
    puts(malloc(500 << 20) ? "memory" : "no memory");
    puts(pthread_create(&thread, NULL, work, NULL) == 0 ? "thread" : "no thread");
    return 0;
}
C
}

@test "a program that limits its address space, or locks it, has as much as without heurt" {
    limited
    record -o t ./limited space
    [ "$output" = $'little is locked\nmemory\nthread' ]
    ./limited lock || skip "memory cannot be locked here"
    record -o t ./limited lock
    [ "$output" = $'little is locked\nmemory\nthread' ]
}

@test "under a limit of address space a program is recorded, as far as there is room" {
    needs_plain_heurt
    (
        ulimit -v 300000
        record -o t "$EXAMPLES/queue" --iterations 2000
        expect_status 0
        report_json t
        is_number_above 0 "$(json 'classes[kind=lock].count' | sum)"
    )
}

@test "a trace that is removed meanwhile is told as that" {
    heurt record -o t sh -c 'rm -rf t; exit 4'
    expect_status 4
    says 'removed or moved'
}

@test "call stacks of threads begin in the thread's own function, however small its frame" {
    compile shallow -O2 <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *routine(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void)
{
    static const size_t sizes[] = {16 << 10, 64 << 10, 1 << 20, 64 << 20};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    for (int i = 0; i < 4; i++) {
        pthread_attr_setstacksize(&attributes, sizes[i]);
        pthread_create(&thread, &attributes, routine, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}
C
    record -o t --stack-every 1 ./shallow
    expect_status 0
    "$HEURT" dump -i t | grep 'point stack' >stacks
    [ "$(grep -c 'point stack routine .* < ' stacks)" = 400 ]
}

@test "an option that is wrong is named, in one sentence" {
    heurt record -z true
    expect_status 2
    says "'-z' is no option"
    heurt record --frobnicate true
    expect_status 2
    says "'--frobnicate' is no option"
    heurt record -o
    expect_status 2
    says "'-o' lacks its value: DIR"
    [ "$(grep -c '^heurt: \|^usage: ' <<<"$stderr")" = 2 ]
}
