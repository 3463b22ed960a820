/* entries.c: calls the functions of entries.S. What can be seen of a call is checked: its result,
 * all registers, and how often it happened. */
#include "known.h"

enum { CALLS = 10 };

struct given {
    long (*helper)(long);
    long (**helpers)(long);
};

long e_helper(long value);
long e_behind(long value);
long e_behind_four(long value);
void e_touches_nothing(void);
void e_touches_stack(void);
int registers_kept(void (*function)(void), const uint64_t *values);
const uint64_t *kept_in_general(void);
const uint64_t (*kept_in_vectors(void))[2];

/* Every one is called with the same arguments; what it returns is 32 bits wide. */
typedef int entry(long value, long (*helper)(long), long (**helpers)(long), long count);

/* X(name, why it may be refused, calls of e_helper by one call) */
/* clang-format off */
#define ENTRIES(X)                                                                              \
    X(e_one_byte, NULL, 0) X(e_two_bytes, NULL, 0) X(e_four_bytes, NULL, 0)                     \
    X(e_one_tight, "shorter than", 0) X(e_four_tight, "shorter than", 0)                        \
    X(e_loop0, "loop begins at its first", 0) X(e_loop1, "jumps into its first", 0)             \
    X(e_loop2, "jumps into its first", 0) X(e_loop3, "jumps into its first", 0)                 \
    X(e_loop4, "jumps into its first", 0) X(e_loop5, NULL, 0)                                   \
    X(e_jcc_first, NULL, 0) X(e_jcc_very_first, NULL, 0) X(e_jrcxz_first, NULL, 0) X(e_jecxz_first, "32-bit addresses", 0)   \
    X(e_loop_first, NULL, 0) X(e_loopne_first, NULL, 0) X(e_loope_first, NULL, 0)               \
    X(e_jmp_short, NULL, 0) X(e_jmp_memory, NULL, 1) X(e_jmp_register, NULL, 1)                 \
    X(e_jmp_register_first, NULL, 1)                                                            \
    X(e_call_first, NULL, 1) X(e_call_second, NULL, 1) X(e_call_register, "returns into what would be overwritten", 1)              \
    X(e_call_memory, NULL, 1) X(e_call_memory_register, "returns into what would be overwritten", 1)                                \
    X(e_call_next, "return address", 0)                                                         \
    X(e_rip_cmp, NULL, 0) X(e_rip_cmp_byte, NULL, 0) X(e_rip_cmp_long, NULL, 0)                 \
    X(e_rip_sse, NULL, 0) X(e_rip_sse_second, NULL, 0) X(e_rip_mov, NULL, 0)                    \
    X(e_rip_store, NULL, 0) X(e_rip_push, NULL, 0)                                              \
    X(e_long_immediate, NULL, 0) X(e_thread_local, NULL, 0) X(e_locked, NULL, 0)                \
    X(e_enter, "not understood", 0) X(e_flags, NULL, 0) X(e_align, NULL, 0) X(e_system_call, NULL, 0)       \
    X(e_string, NULL, 0) X(e_nops, NULL, 0) X(e_calls_pops, "does not tell where its stack pointer is", 0)
/* clang-format on */

#define DECLARE(name, reason, helped) entry name;
ENTRIES(DECLARE)

struct subject {
    const char *name;
    entry *function;
    const char *reason;
    int helped;
};

static const struct subject subjects[] = {
#define SUBJECT(name, reason, helped) {#name, name, reason, helped},
    ENTRIES(SUBJECT)};

static long (*volatile helper)(long) = e_helper;
static long (*helpers[])(long) = {e_helper};

static int returns_nothing(const char *name)
{
    return strcmp(name, "e_one_byte") == 0 || strcmp(name, "e_two_bytes") == 0 ||
           strcmp(name, "e_one_tight") == 0;
}

static int call(const struct subject *subject)
{
    int helped = 0;
    printf("%s:", subject->name);
    for (long i = 0; i < CALLS; i++) {
        int result = subject->function(i, helper, helpers, i % 3);
        printf(" %d", returns_nothing(subject->name) ? 0 : result);
        helped += subject->helped;
    }
    printf("\n");
    known__count(subject->name, CALLS);
    if (subject->reason)
        known__refusable(subject->name, subject->reason);
    return helped;
}

static void keep(const char *name, void (*function)(void))
{
    uint64_t values[16];
    for (unsigned i = 0; i < 16; i++)
        values[i] = 0x0101010101010101u * (i + 1);
    for (int i = 0; i < CALLS; i++) {
        KNOWN_CHECK(registers_kept(function, values) == 0);
        for (unsigned j = 0; j < 15; j++)
            KNOWN_CHECK(kept_in_general()[j] == values[j]);
        for (unsigned j = 0; j < 16; j++)
            KNOWN_CHECK(kept_in_vectors()[j][0] == values[j] &&
                        kept_in_vectors()[j][1] == values[j]);
    }
    known__count(name, CALLS);
}

int main(void)
{
    int helped = 0;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        helped += call(&subjects[i]);
    printf("%ld %ld\n", e_behind(1), e_behind_four(2));
    known__count("e_helper", helped);
    known__count("e_behind", 1);
    known__count("e_behind_four", 1);
    known__count("e_pops", CALLS); /* by e_calls_pops */
    keep("e_touches_nothing", e_touches_nothing);
    keep("e_touches_stack", e_touches_stack);
    return 0;
}
