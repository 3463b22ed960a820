/* types.c: arguments and results of every kind, in every place where the ABI puts them, and what
 * callers keep in registers across a call. */
#include "known.h"

#include <complex.h>
#include <stdarg.h>

enum { CALLS = 500 };

/* ---- results --------------------------------------------------------------------------------- */

struct two_words {
    long first, second;
};
struct word_and_real {
    long word;
    double real;
};
struct real_and_word {
    double real;
    long word;
};
struct two_reals {
    double first, second;
};
struct four_floats {
    float values[4];
};
struct three_words {
    long values[3];
};
struct large {
    long values[40];
};
struct long_real {
    long double value;
};
struct bytes {
    char text[13];
};
typedef float vector __attribute__((vector_size(16)));
typedef __int128 wide;

#define FUNCTION static KNOWN_FUNCTION

FUNCTION struct two_words t_two_words(long n)
{
    return (struct two_words){n, -n};
}
FUNCTION struct word_and_real t_word_and_real(long n)
{
    return (struct word_and_real){n, (double)n / 2};
}
FUNCTION struct real_and_word t_real_and_word(long n)
{
    return (struct real_and_word){(double)n / 4, n + 1};
}
FUNCTION struct two_reals t_two_reals(double x)
{
    return (struct two_reals){x * 2, x * 3};
}
FUNCTION struct four_floats t_four_floats(float x)
{
    return (struct four_floats){{x, x + 1, x + 2, x + 3}};
}
FUNCTION struct three_words t_three_words(long n)
{
    return (struct three_words){{n, n * 2, n * 3}};
}
FUNCTION struct large t_large(long n)
{
    struct large large;
    for (int i = 0; i < 40; i++)
        large.values[i] = n * i;
    return large;
}
FUNCTION struct long_real t_long_real(long n)
{
    return (struct long_real){(long double)n / 3};
}
FUNCTION struct bytes t_bytes(char first)
{
    struct bytes bytes = {"abcdefghijkl"};
    bytes.text[0] = first;
    return bytes;
}
FUNCTION vector t_vector(vector a, vector b)
{
    return a * b;
}
FUNCTION long double t_long_double(int n)
{
    return 1.0L / (n + 1);
}
FUNCTION long double t_long_double_argument(long double x, int n, long double y)
{
    return x * n + y;
}
FUNCTION float complex t_complex_float(float x)
{
    return x + 2 * x * I;
}
FUNCTION double complex t_complex_double(double complex x)
{
    return x * (1 + 2 * I);
}
FUNCTION long double complex t_complex_long(int n)
{
    return (long double)n + 0.5L * I;
}
FUNCTION wide t_wide(long a, long b)
{
    return (wide)a * b << 40;
}
FUNCTION wide t_wide_argument(long a, wide b, wide c, wide d)
{
    return b + c * 3 + d * 5 + a; /* the last does not fit any more */
}
FUNCTION bool t_bool(int n)
{
    return n % 3 == 0;
}

static void results(void)
{
    double reals = 0;
    long long words = 0;
    long double longs = 0;
    wide wides = 0;
    for (int i = 0; i < CALLS; i++) {
        struct two_words two = t_two_words(i);
        struct word_and_real word_real = t_word_and_real(i);
        struct real_and_word real_word = t_real_and_word(i);
        struct two_reals two_reals = t_two_reals(i);
        struct four_floats floats = t_four_floats((float)i);
        struct three_words three = t_three_words(i);
        struct large large = t_large(i);
        struct bytes bytes = t_bytes((char)('a' + i % 26));
        vector v = t_vector((vector){1, 2, 3, (float)i}, (vector){4, 5, 6, 7});
        double complex complex_double = t_complex_double(i + I);
        float complex complex_float = t_complex_float((float)i);
        long double complex complex_long = t_complex_long(i);
        words = words * 31 + two.first * 3 + two.second + word_real.word + real_word.word +
                three.values[0] + three.values[1] * 5 + three.values[2] * 7 + large.values[39] +
                bytes.text[0] + bytes.text[11] + t_bool(i);
        reals += word_real.real + real_word.real + two_reals.first * 1.5 + two_reals.second +
                 (double)floats.values[3] + (double)v[3] + creal(complex_double) +
                 cimag(complex_double) * 3 + (double)crealf(complex_float) +
                 (double)cimagf(complex_float) * 5;
        longs += t_long_real(i).value + t_long_double(i) + creall(complex_long) +
                 cimagl(complex_long) * 3 + t_long_double_argument(0.1L, i, 0.7L);
        wides = wides * 7 + t_wide(i, i + 1) + t_wide_argument(i, i, -i, wides);
    }
    printf("words %lld reals %.17g longs %.21Lg wides %llx%016llx\n", words, reals, longs,
           (unsigned long long)(wides >> 64), (unsigned long long)wides);
    static const char *const names[] = {
        "t_two_words",     "t_word_and_real",  "t_real_and_word", "t_two_reals",
        "t_four_floats",   "t_three_words",    "t_large",         "t_long_real",
        "t_bytes",         "t_vector",         "t_long_double",   "t_long_double_argument",
        "t_complex_float", "t_complex_double", "t_complex_long",  "t_wide",
        "t_wide_argument", "t_bool",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        known__count(names[i], CALLS);
    known__refusable("t_vector", "shorter than");
}

/* ---- arguments ------------------------------------------------------------------------------- */

FUNCTION long t_eight_words(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f + 17 * g + 19 * h;
}
FUNCTION double t_ten_reals(double a, double b, double c, double d, double e, double f, double g,
                            double h, double i, double j)
{
    return a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f + 17 * g + 19 * h + 23 * i + 29 * j;
}
FUNCTION long t_structs(struct two_words a, struct three_words b, struct word_and_real c,
                        struct large d)
{
    return a.first + 3 * a.second + 5 * b.values[2] + c.word + (long)(c.real * 4) + d.values[39];
}
FUNCTION long t_narrow(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f,
                       char g, short h)
{
    return a + 3 * b + 5 * c + 7 * d + 11L * e + 13L * f + 17 * g + 19 * h;
}
FUNCTION long t_variadic_words(int count, ...)
{
    va_list list;
    long sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum = sum * 3 + va_arg(list, int);
    va_end(list);
    return sum;
}
FUNCTION double t_variadic_reals(int count, ...)
{
    va_list list;
    double sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum = sum * 1.5 + va_arg(list, double);
    va_end(list);
    return sum;
}
FUNCTION double t_takes_list(const char *kinds, va_list list)
{
    double sum = 0;
    for (; *kinds; kinds++)
        sum = sum * 2 + (*kinds == 'd'   ? va_arg(list, double)
                         : *kinds == 'i' ? (double)va_arg(list, int)
                                         : (double)va_arg(list, long double));
    return sum;
}
FUNCTION double t_passes_list(const char *kinds, ...)
{
    va_list list, copy;
    va_start(list, kinds);
    va_copy(copy, list);
    double sum = t_takes_list(kinds, list) + t_takes_list(kinds, copy);
    va_end(copy);
    va_end(list);
    return sum;
}
FUNCTION int t_prints(char *text, size_t size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, size, format, list);
    va_end(list);
    return length;
}

static void arguments(void)
{
    unsigned long sum = 0;
    double reals = 0;
    char text[64];
    for (int i = 0; i < CALLS; i++) {
        sum = sum * 5 + (unsigned long)t_eight_words(1, 2, 3, 4, 5, 6, 7, i);
        sum += (unsigned long)t_structs((struct two_words){i, 2}, (struct three_words){{1, 2, i}},
                                        (struct word_and_real){i, i / 4.0},
                                        (struct large){.values[39] = i});
        sum += (unsigned long)t_narrow(-1, 255, -2, 65535, -3, 4000000000u, 'x', (short)-i);
        sum += (unsigned long)t_variadic_words(3, i, 2, 3);
        sum += (unsigned long)t_variadic_words(20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                               15, 16, 17, 18, 19, i);
        reals += t_ten_reals(1, 2, 3, 4, 5, 6, 7, 8, i, 10);
        reals += t_variadic_reals(20, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12., 13., 14.,
                                  15., 16., 17., 18., 19., (double)i);
        reals +=
            t_passes_list("diLdddddddddi", 1., i, 2.5L, 3., 4., 5., 6., 7., 8., 9., 10., 11., 5);
        sum += (unsigned long)t_prints(text, sizeof text, "%d %s %g %ld %c %x %d %g", i, "text",
                                       i * .5, 1L << 40, 'c', 255, -i, 1e9);
        sum += (unsigned char)text[i % 8];
    }
    printf("sum %lx reals %.17g text %s\n", sum, reals, text);
    known__count("t_eight_words", CALLS);
    known__count("t_structs", CALLS);
    known__count("t_narrow", CALLS);
    known__count("t_variadic_words", 2 * CALLS);
    known__count("t_ten_reals", CALLS);
    known__count("t_variadic_reals", CALLS);
    known__count("t_passes_list", CALLS);
    known__count("t_takes_list", 2 * CALLS);
    known__refusable("t_takes_list", "jumps into its first"); /* its loop, with clang -Os */
    known__count("t_prints", CALLS);
}

/* ---- what callers keep in registers ---------------------------------------------------------- */

/* Not noipa: with -fipa-ra its callers know which registers it leaves alone. */
static __attribute__((noinline)) long t_light(long x)
{
    __asm__("" : "+r"(x));
    return x + 1;
}

static __attribute__((noinline)) double t_light_real(double x)
{
    __asm__("" : "+x"(x));
    return x + 0.5;
}

static void kept(void)
{
    unsigned long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7;
    double x = 1, y = 2, z = 3;
    for (int i = 0; i < CALLS; i++) {
        unsigned long got = (unsigned long)t_light(i);
        a = a * 3 + got, b += a ^ got, c = c * 5 + b, d ^= c + got, e += d * 7, f = f * 9 + e;
        g += f ^ got;
        double real = t_light_real(i);
        x += real * 3, y = y / 2 + x, z += y * real;
    }
    printf("kept %lx %lx %lx %lx %lx %lx %lx %.17g %.17g %.17g\n", a, b, c, d, e, f, g, x, y, z);
    known__count("t_light", CALLS);
    known__count("t_light_real", CALLS);
}

/* ---- functions in functions ------------------------------------------------------------------ */

#ifndef __clang__
static int apply(int (*function)(int), int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += function(i);
    return sum;
}

FUNCTION int t_outer(int n)
{
    int calls = 0;
    __attribute__((noinline)) int t_nested(int i) /* finds n and calls through r10 */
    {
        calls++;
        return i * n + calls;
    }
    int direct = t_nested(3);
    return apply(t_nested, 10) * 7 + direct + calls; /* through a trampoline on the stack */
}

static void nested(void)
{
    long sum = 0;
    for (int i = 0; i < CALLS; i++)
        sum = sum * 3 + t_outer(i);
    printf("nested %lx\n", (unsigned long)sum);
    known__count("t_outer", CALLS);
    known__count("t_nested", 11 * CALLS);
}
#else
static void nested(void)
{
}
#endif

int main(void)
{
    results();
    arguments();
    kept();
    nested();
    return 0;
}
