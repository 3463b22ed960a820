/* clones.c: functions of which the compiler makes copies and parts of their own. What it makes is
 * its affair: the copies of a whole function (.isra, .constprop) count as the function, its seldom
 * run parts (.cold) not at all. */
#include "known.h"

enum { CALLS = 3000 };

#define FUNCTION static __attribute__((noinline))

struct point {
    long x, y, unused[10];
};

/* Its parameter becomes two numbers. */
static long isra_calls;
FUNCTION long t_isra(const struct point *point)
{
    isra_calls++;
    return point->x * 3 + point->y;
}

/* Always called with the same second argument. */
FUNCTION long t_constprop(long x, int shift)
{
    long sum = 0;
    for (int i = 0; i < shift; i++)
        sum = sum * 3 + x;
    return sum;
}

/* The end is seldom run: it lies elsewhere. */
static long failures;
__attribute__((cold, noinline)) static void fails(long x)
{
    failures += x;
    __asm__ volatile("" ::: "memory");
}
FUNCTION long t_cold(long x)
{
    if (__builtin_expect(x % 1000 == 999, 0)) {
        fails(x);
        fails(x + 1);
        fails(x * 2);
        return -1;
    }
    return x + 1;
}

/* Its beginning is taken into its callers, the rest stays a function, if the compiler does so. */
extern __attribute__((weak)) const char part_made_by_compiler[] __asm__("t_part.part.0");
static long parts;
static long t_part(long *list, long n)
{
    if (n < 10)
        return 0;
    parts++;
    long sum = 0;
    for (long i = 0; i < n; i++) {
        list[i % 16] = list[(i + 3) % 16] * 5 + i;
        sum ^= list[i % 16] << i % 7;
        if (sum % 1013 == 5)
            printf("seldom %lx\n", (unsigned long)sum);
    }
    for (long i = 0; i < n; i++)
        sum += list[i % 16] * i;
    return sum;
}
__attribute__((noinline)) static long part_one(long *list, long n)
{
    return t_part(list, n) + 1;
}
__attribute__((noinline)) static long part_two(long *list, long n)
{
    return t_part(list, n + 1) + 2;
}

int main(int count, char **words)
{
    (void)words;
    unsigned long sum = 0;
    long list[16] = {count};
    for (long i = 0; i < CALLS; i++) {
        struct point point = {i, i + 1, {0}};
        sum = sum * 3 + (unsigned long)t_isra(&point) + (unsigned long)t_constprop(i, 5) +
              (unsigned long)t_cold(i) + (unsigned long)part_one(list, i % 20) +
              (unsigned long)part_two(list, i % 20);
    }
    printf("%lx %ld %ld\n", sum, failures, parts);
    known__count("t_isra", isra_calls);
    known__count("t_constprop", CALLS);
    known__count("t_cold", CALLS);
    if (part_made_by_compiler)
        known__count("t_part.part.0", parts);
    return 0;
}
