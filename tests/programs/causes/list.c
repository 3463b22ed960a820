/* Each of two threads has a list of its own. INSERT: a call inserts a key where it belongs by its
 * order; else it looks for one. How far it has to go no argument of the call tells. */
#include "cause.h"

struct node {
    struct node *next;
    unsigned long key;
};

enum { NODES = 12000 };
static struct list {
    struct node *first;
    struct node nodes[NODES];
    unsigned count;
    unsigned long key; /* that the next call is about */
} lists[2];

#ifdef INSERT

enum { CALLS = NODES };
#define NAME "insertion"

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    struct list *list = &lists[thread->number];
    struct node **place = &list->first, *node = &list->nodes[list->count++];
    (void)amount;
    while (*place && (*place)->key < list->key)
        place = &(*place)->next;
    *node = (struct node){.next = *place, .key = list->key};
    *place = node;
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__compute(cause__draw(thread, 5000));
    lists[thread->number].key = cause__draw(thread, 1ul << 30);
    return 0;
}

#else

enum { CALLS = 8000 };
#define NAME "search"

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    const struct node *node = lists[thread->number].first;
    (void)amount;
    while (node->key != lists[thread->number].key)
        node = node->next;
    __asm__ volatile("" : : "r"(node));
}

static void fill(struct list *list)
{
    for (; list->count < NODES; list->count++) {
        list->nodes[list->count] = (struct node){.next = list->first, .key = list->count};
        list->first = &list->nodes[list->count];
    }
}

static unsigned long prepare(struct cause_thread *thread)
{
    struct list *list = &lists[thread->number];
    if (!list->first)
        fill(list);
    cause__compute(cause__draw(thread, 5000));
    list->key = cause__draw(thread, NODES);
    return 0;
}

#endif

int main(void)
{
    return cause__run(&(struct cause){.name = NAME,
                                      .parts = {"workload"},
                                      .measure = CAUSE_ON_CPU,
                                      .threads = 2,
                                      .calls = CALLS,
                                      .prepare = prepare});
}
