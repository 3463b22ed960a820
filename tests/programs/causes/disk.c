/* Some calls write to a file past the page cache, and wait until the disk has it. --cure: none do.
 */
#include "cause.h"

enum { BYTES = 1048576 };
static int file;
static bool cured;

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    static char block[2][BYTES] __attribute__((aligned(4096)));
    cause__compute(100000);
    if (!amount)
        return;
    off_t place = (off_t)thread->number * BYTES;
    injected__begin(thread);
    KNOWN_CHECK(pwrite(file, block[thread->number], BYTES, place) == BYTES);
    injected__end(thread, 0);
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 50));
    return cause__draw(thread, 2) && !cured;
}

int main(int count, char **words)
{
    cured = cause__read(count, words);
    file = known__temporary_file();
    if (fcntl(file, F_SETFL, O_DIRECT) != 0) {
        fputs("the file system of TMPDIR has no O_DIRECT\n", stderr);
        return 77;
    }
    return cause__run(&(struct cause){
        .name = "disk", .parts = {"disk"}, .threads = 2, .calls = 300, .prepare = prepare});
}
