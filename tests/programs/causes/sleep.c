/* Some calls sleep. */
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

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 50));
    return cause__draw(thread, 2) ? 200 + cause__draw(thread, 400) : 0;
}

int main(void)
{
    return cause__run(&(struct cause){
        .name = "sleep", .parts = {"sleep"}, .threads = 2, .calls = 500, .prepare = prepare});
}
