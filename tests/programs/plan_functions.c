/* Functions as compilers make them, for tests/unit/test_plan.c: built with and without
 * optimisation, position-independent and not, with and without endbr64. In each of these forms what
 * begins with ok_ has to be patchable, what begins with pop_ too, but with the return address put
 * aside; what begins with no_ must be refused; may_ depends. */
#include "plan_functions.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

static volatile int number = 17;
static int (*volatile pointer)(int) = ok_add;

static int shared;

int ok_locks(int a)
{
    __asm__ volatile("lock addl %1, %0" : "+m"(shared) : "r"(a));
    return a;
}

int ok_exchanges(int a)
{
    int other = a;
    __asm__ volatile("xchgl %1, %0" : "+m"(shared), "+r"(other));
    return a;
}

int ok_add(int a)
{
    int sum = number;
    for (int i = 0; i < a; i++)
        sum += i * a;
    return sum;
}

int ok_recursive(int n)
{
    return n < 2 ? n : ok_recursive(n - 1) + ok_recursive(n - 2);
}

int ok_switch(int n)
{
    switch (n) {
    case 0:
        return number + 3;
    case 1:
        return number * 7;
    case 2:
        return number - 99;
    case 3:
        return number ^ 12;
    case 4:
        return ok_add(n) + 1;
    case 5:
        return number % 5;
    case 6:
        return -number;
    default:
        return n * 1000;
    }
}

int may_goto(int n)
{
    static const void *const labels[] = {&&zero, &&one, &&two};
    int sum = number;
    goto *labels[n % 3];
zero:
    sum += 1;
one:
    sum *= 3;
two:
    return sum + n;
}

int ok_locals(int n)
{
    char text[200];
    memset(text, n, sizeof text);
    for (unsigned i = 0; i < sizeof text; i += 7)
        text[i] = (char)(text[(i * 3) % sizeof text] + number);
    int sum = 0;
    for (unsigned i = 0; i < sizeof text; i++)
        sum = sum * 31 + text[i];
    return sum;
}

int ok_variable_array(int n)
{
    int values[n + 1];
    for (int i = 0; i <= n; i++)
        values[i] = i * number;
    int sum = 0;
    for (int i = n; i >= 0; i--)
        sum = sum * 3 + values[i];
    return sum;
}

int ok_aligned(int n)
{
    _Alignas(64) volatile char text[128];
    text[n] = 5;
    return (int)((uintptr_t)text % 64) + text[n] + number;
}

int ok_calls_many(int n)
{
    int first = pop_seven(n, 2, 3, 4, 5, 6, 7);
    return first + pop_variadic(3, n, n + 1, n + 2) + number;
}

int ok_tail(int n)
{
    return ok_add(n + 3);
}

int ok_double(int n)
{
    double x = n;
    for (int i = 0; i < 5; i++)
        x = x * 1.5 + number;
    return (int)x;
}

int pop_seven(int a, int b, int c, int d, int e, int f, int g)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + number;
}

/* Hands the seventh on without touching it, when optimised. */
int pop_forward_seven(int a, int b, int c, int d, int e, int f, int g)
{
    return pop_seven(a + 1, b, c, d, e, f, g);
}

int pop_big(struct big big)
{
    return big.values[0] + big.values[9] + number;
}

int pop_variadic(int count, ...)
{
    va_list list;
    va_start(list, count);
    int sum = number;
    for (int i = 0; i < count; i++)
        sum += va_arg(list, int);
    va_end(list);
    return sum;
}

int no_caller(int n)
{
    return (int)(uintptr_t)__builtin_return_address(0) + n + number;
}

int call_through(int n)
{
    return pointer(n);
}

int call_seven(int n)
{
    return pop_seven(n, 2, 3, 4, 5, 6, 7 + n) + number;
}

int call_forward_seven(int n)
{
    return pop_forward_seven(n, 2, 3, 4, 5, 6, 7 + n) + number;
}

int call_big(int n)
{
    struct big big = {{n, 2, 3, 4, 5, 6, 7, 8, 9, 10 + n}};
    return pop_big(big) + number;
}

int call_variadic(int n)
{
    return pop_variadic(8, n, 1, 2, 3, 4, 5, 6, n * n) + number;
}
