#include "cmd/cut_file.h"

#include "cmd/command.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define SAY(sentence) (void)!write(STDERR_FILENO, sentence, sizeof sentence - 1)

static void say_and_end(int signal_number)
{
    (void)signal_number;
    SAY("heurt: a file was cut short, or could not be read, while it was in use\n");
    _exit(EXIT_HEURT);
}

static volatile sig_atomic_t was_said;

static void replace_page(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    uintptr_t bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)info->si_addr & ~(bytes - 1));
    bool is_replaced =
        info->si_code == BUS_ADRERR && mmap(page, bytes, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
    if (!is_replaced)
        say_and_end(signal_number);
    if (!was_said)
        SAY("heurt: the trace was cut short, or its disk failed, while it was recorded: what was "
            "there is lost\n");
    was_said = true;
}

void cut_file__ends(void)
{
    signal(SIGBUS, say_and_end);
}

void cut_file__is_survived(void)
{
    struct sigaction action = {.sa_sigaction = replace_page, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGBUS, &action, NULL);
}
