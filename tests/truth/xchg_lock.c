/* Accounts behind a lock that is an exchange and a pause, written in assembler.
 * TRUTH: spinning; place=lock_account|book|teller
 * Fixed: accounts, and a lock, for each thread. */
#include "truth.h"

#include <pthread.h>

static struct bank {
    volatile int taken;
    uint64_t accounts[16];
} banks[2] __attribute__((aligned(128)));
static int fixed;

static inline void lock_account(volatile int *taken)
{
    int before = 1;
    for (;;) {
        __asm__ volatile("xchgl %0, %1" : "+r"(before), "+m"(*taken) : : "memory");
        if (!before)
            return;
        while (*taken)
            __asm__ volatile("pause" ::: "memory");
        before = 1;
    }
}

static inline void unlock_account(volatile int *taken)
{
    __asm__ volatile("movl $0, %0" : "=m"(*taken) : : "memory");
}

static void book(struct bank *bank, uint64_t order)
{
    lock_account(&bank->taken);
    bank->accounts[order % 16] += mix(order, 300);
    unlock_account(&bank->taken);
}

static void *teller(void *argument)
{
    long number = (long)argument;
    uint64_t order = (uint64_t)number + 1;
    for (int i = 0; i < 1200000; i++) {
        order = mix(order, 110);
        book(&banks[fixed ? number : 0], order);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    fixed = is_fixed(argc, argv);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, teller, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lu\n", (unsigned long)(banks[0].accounts[1] ^ banks[1].accounts[1]));
    return 0;
}
