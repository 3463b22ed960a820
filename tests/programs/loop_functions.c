/* Functions with loops as compilers make them, for tests/unit/test_loops.c: called with 0 … 9,
 * before and after their loops are marked. */
#include <setjmp.h>
#include <string.h>

long l_sum(long n);
long l_matrix(long n);
long l_collatz(long n);
long l_text(long n);
long l_choice(long n);
long l_float(long n);
long l_left(long n);
long l_recursive(long n);
long l_jumped_out(long n);
long l_deep(long n);

static volatile long sink;

long l_sum(long n)
{
    long sum = 0;
    for (long i = 0; i < 10 * n + 3; i++)
        sum += i ^ (sum >> 1);
    return sum;
}

long l_matrix(long n)
{
    long cells[12][12], sum = 0;
    for (long i = 0; i < 12; i++)
        for (long j = 0; j < 12; j++)
            cells[i][j] = i * n + j;
    for (long k = 0; k < n; k++)
        for (long i = 1; i < 12; i++)
            for (long j = 1; j < 12; j++)
                cells[i][j] = (cells[i - 1][j] + cells[i][j - 1] * 3) % 1009;
    for (long i = 0; i < 12; i++)
        sum = sum * 31 + cells[i][11 - i];
    return sum;
}

long l_collatz(long n)
{
    long steps = 0;
    for (long at = n + 27; at != 1; steps++) {
        if (at % 2)
            at = 3 * at + 1;
        else
            at /= 2;
    }
    return steps;
}

long l_text(long n)
{
    char text[64];
    long sum = 0;
    for (long i = 0; i <= n; i++) {
        memset(text, 'a' + (int)i, sizeof text);
        text[20 + i] = 0;
        sum += (long)strlen(text) + text[i];
    }
    return sum;
}

long l_choice(long n)
{
    long state = 0, sum = 0;
    for (long i = 0; i < 50 + n; i++) {
        switch (state) {
        case 0:
            sum += 3;
            state = 4;
            break;
        case 1:
            sum ^= i;
            state = (i & 1) ? 5 : 2;
            break;
        case 2:
            sum *= 3;
            state = 6;
            break;
        case 3:
            sum -= n;
            state = 1;
            break;
        case 4:
            sum += i;
            state = 3;
            break;
        case 5:
            sum |= 1;
            state = 0;
            break;
        case 6:
            sum &= 0xffffff;
            state = 7;
            break;
        default:
            state = 0;
            break;
        }
    }
    return sum;
}

long l_float(long n)
{
    double x = 1.0, sum = 0;
    for (long i = 1; i < 40 + n; i++) {
        x = x * 0.75 + (double)i / 3;
        sum += x > 20 ? x : -x;
    }
    return (long)(sum * 1000);
}

long l_left(long n)
{
    for (long i = 0; i < 1000; i++) {
        sink = i;
        if (i * i > n * 7 + 50)
            return i;
    }
    return -1;
}

long l_recursive(long n)
{
    long sum = n;
    for (long i = 0; i < n && n < 6; i++)
        sum += l_recursive(i) + 1;
    return sum;
}

static jmp_buf out;

static void leave_at(long i, long n)
{
    if (i == n + 3)
        longjmp(out, (int)i + 1);
}

long l_jumped_out(long n)
{
    volatile long seen = 0;
    int how = setjmp(out);
    if (how)
        return seen * 100 + how;
    for (long i = 0; i < 100; i++) {
        seen += i;
        leave_at(i, n);
    }
    return -1;
}

long l_deep(long n)
{
    long sum = 0;
    for (long a = 0; a < 3; a++)
        for (long b = 0; b <= n % 4; b++)
            for (long c = 0; c < 3; c++)
                for (long d = 0; d < 4; d++)
                    sum = sum * 5 + (a ^ b) + (c | d) + sink % 2;
    return sum;
}
