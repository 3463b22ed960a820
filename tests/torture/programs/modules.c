/* modules.c: functions that are called from several modules: of a library by the program, by
 * another library, through pointers, through libc (qsort, bsearch, atexit), through the PLT, lazily
 * and at once; functions that are chosen as the program is loaded (IFUNC). */
#include "modules.h"

#include "known.h"

enum { CALLS = 1000, SORTED = 500 };

static long compared;

static KNOWN_FUNCTION int t_compares(const void *a, const void *b)
{
    long one = *(const long *)a, other = *(const long *)b;
    compared++;
    return (one > other) - (one < other);
}

static KNOWN_FUNCTION int t_compares_with(const void *a, const void *b, void *calls)
{
    ++*(long *)calls;
    return t_compares(b, a);
}

/* Called back by the library, the other library and libc. */
static KNOWN_FUNCTION long t_called_back(long n)
{
    return n * 3;
}

static KNOWN_FUNCTION long t_chosen_slow(long n)
{
    return n + 7;
}
static KNOWN_FUNCTION long t_chosen_fast(long n)
{
    return n + 7;
}

/* Runs as the program is loaded, before anything is ready. */
#ifdef KNOWN_ADDRESS_SANITIZER /* not ready yet, either */
#define t_chosen t_chosen_fast
#else
typedef long chosen(long);
static __attribute__((used)) chosen *choose(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse2") ? t_chosen_fast : t_chosen_slow;
}
long t_chosen(long n) __attribute__((ifunc("choose")));
#endif

static long sort(void)
{
    long values[SORTED], calls = 0, sum = 0;
    for (long i = 0; i < SORTED; i++)
        values[i] = i * 7919 % 1009;
    qsort(values, SORTED, sizeof *values, t_compares);
    for (long i = 0; i < SORTED; i++)
        sum = sum * 3 % 1000003 + values[i];
    qsort_r(values, SORTED, sizeof *values, t_compares_with, &calls);
    for (long i = 0; i < SORTED; i++)
        sum = sum * 3 % 1000003 + values[i];
    long wanted = values[17];
    qsort(values, SORTED, sizeof *values, t_compares);
    const long *found = bsearch(&wanted, values, SORTED, sizeof *values, t_compares);
    known__count("t_compares", compared);
    known__count("t_compares_with", calls);
    return sum + *found;
}

int main(void)
{
    unsigned long sum = 0;
    long (*volatile pointer)(long) = m_shared;
    for (long i = 0; i < CALLS; i++) {
        sum = sum * 3 + (unsigned long)m_shared(i) + (unsigned long)pointer(i);
        sum += (unsigned long)m_calls_shared(i) + (unsigned long)m_other_calls_shared(i);
        sum += (unsigned long)m_calls_back(t_called_back, i);
        sum += (unsigned long)m_stack(1, 2, 3, 4, 5, 6, i) + (unsigned long)t_chosen(i);
    }
    printf("modules %lx sorted %ld\n", sum, sort());
    known__count("m_shared", 4 * CALLS);
    known__count("m_calls_shared", CALLS);
    known__count("m_other_calls_shared", CALLS);
    known__count("m_calls_back", 2 * CALLS); /* also by m_other_calls_shared */
    known__count("m_identity", CALLS);
    known__count("m_stack", CALLS);
    known__count("t_called_back", CALLS);
    known__count("t_chosen_fast", CALLS);
    known__count("t_chosen_slow", 0);
    return 0;
}
