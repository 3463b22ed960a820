/* Some calls sleep. --cure: none do. */
#include "cause.h"

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    cause__compute(100000);
    if (!amount)
        return;
    injected__begin(thread);
    usleep((useconds_t)amount);
    injected__end(thread, 0);
}

static bool cured;

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 50));
    unsigned long us = cause__draw(thread, 2) ? 200 + cause__draw(thread, 400) : 0;
    return cured ? 0 : us;
}

int main(int count, char **words)
{
    cured = cause__read(count, words);
    return cause__run(&(struct cause){
        .name = "sleep", .parts = {"sleep"}, .threads = 2, .calls = 500, .prepare = prepare});
}
