/* hot_plugin.c: the part of hot_known that lies in a library. */
void plugged(long turns);

__attribute__((noinline)) void plugged(long turns)
{
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns));
}
