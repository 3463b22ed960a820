/* hot_known.cc: CPU time in known parts.  Each function turns a loop until its thread
 * has had that much CPU time, however fast the machine is at that moment; of 8 parts
 *
 *     known::heavy     3     in a second thread
 *     known::operator<<  1   its demangled name has a character that means something in a glob
 *     in_child         2     in a program that is started by fork and exec
 *     plugged          2     in the library that argv[1] names, loaded by dlopen
 *
 * Prints "ended" on stdout; the exit status is 7.  "hot_known child" is the child. */
#include "known.h"

#include <ctime>
#include <dlfcn.h>
#include <sys/wait.h>

enum { PART_NS = 50000000, TURNS = 1000000 };

static inline __attribute__((always_inline)) long cpu_ns(void)
{
    timespec now;
    KNOWN_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return now.tv_sec * 1000000000l + now.tv_nsec;
}

static inline __attribute__((always_inline)) void turn(long parts)
{
    long until = cpu_ns() + parts * PART_NS;
    while (cpu_ns() < until) {
        long left = TURNS;
        __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(left));
    }
}

namespace known
{
struct Sink {
    int taken;
};

KNOWN_FUNCTION void heavy(long parts)
{
    turn(parts);
}

KNOWN_FUNCTION Sink &operator<<(Sink &sink, const char *text)
{
    turn(1);
    sink.taken += text[0];
    return sink;
}
} // namespace known

extern "C" KNOWN_FUNCTION void in_child(void)
{
    turn(2);
}

static void *second(void *)
{
    known::heavy(3);
    return nullptr;
}

static void load_and_call(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    KNOWN_CHECK(library);
    auto plugged = reinterpret_cast<void (*)(long)>(dlsym(library, "plugged"));
    KNOWN_CHECK(plugged);
    plugged(2l * PART_NS);
}

int main(int argc, char **argv)
{
    KNOWN_CHECK(argc == 2);
    if (strcmp(argv[1], "child") == 0) {
        in_child();
        return 0;
    }
    pthread_t thread;
    known::Sink sink = {0};
    KNOWN_CHECK(pthread_create(&thread, nullptr, second, nullptr) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "hot_known", "child", (char *)nullptr);
        _exit(99);
    }
    sink << "x";
    load_and_call(argv[1]);
    int status;
    KNOWN_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    pthread_join(thread, nullptr);
    puts("ended");
    return 7;
}
