#include "place/place_actuator.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define BATCH 512u           /* pages a call, so that the process waits for none long */
#define PAGE_NS_FIRST 2000.0 /* before any was moved */
#define PAGE_NS_AGED 0.8     /* what the calls before weigh */
#define SMALL_BYTES 4096u
#define UNTOLD INT_MIN /* no status */

/* ---- the kernel ------------------------------------------------------------------------------ */

static long kernel_move(pid_t pid, unsigned long count, void **pages, const int *nodes, int *status,
                        int flags)
{
    return syscall(SYS_move_pages, pid, count, pages, nodes, status, flags);
}

static long kernel_split(int pidfd, void *address)
{
    const struct iovec page = {address, SMALL_BYTES};
    return syscall(SYS_process_madvise, pidfd, &page, 1ul, MADV_COLD, 0u);
}

const struct place_calls place_calls__kernel = {kernel_move, kernel_split};

/* ---- what became of it ----------------------------------------------------------------------- */

const char *place_effect__name(enum place_effect effect)
{
    static const char *const names[PLACE_EFFECTS] = {"none", "done", "several", "busy",
                                                     "gone", "full", "refused", "other"};
    return names[effect];
}

static enum place_effect effect_of(int code)
{
    switch (code) {
    case EACCES:
        return EFFECT_SEVERAL;
    case EBUSY:
    case EAGAIN:
        return EFFECT_BUSY;
    case ENOENT:
    case EFAULT:
    case ESRCH:
        return EFFECT_GONE;
    case ENOMEM:
        return EFFECT_FULL;
    case ENODEV:
    case EPERM:
    case ENOSYS:
    case EINVAL:
        return EFFECT_REFUSED;
    default:
        return EFFECT_OTHER;
    }
}

struct place_actuator place_actuator__of(const struct place_calls *calls, const uint32_t *node_ids,
                                         uint32_t nodes)
{
    return (struct place_actuator){
        .calls = calls, .node_ids = node_ids, .nodes = nodes, .page_ns = PAGE_NS_FIRST};
}

/* ---- moving ---------------------------------------------------------------------------------- */

struct ordered_decision {
    const struct place_decision *decision;
    size_t index;
};

/* By process and node; else as they were decided: those with most accesses first. */
static int by_target(const void *a, const void *b)
{
    const struct ordered_decision *left = a, *right = b;
    return ORDER(left->decision->application, right->decision->application)
               ?: ORDER(left->decision->to, right->decision->to)
               ?: ORDER(left->index, right->index);
}

struct doing {
    struct place_actuator *actuator;
    struct place_target *target;
    uint8_t *effects;
};

static bool has_ended(const struct place_target *target)
{
    struct pollfd ended = {target->pidfd, POLLIN, 0};
    return target->pidfd >= 0 && poll(&ended, 1, 0) > 0;
}

static void tell(struct doing *self, const struct ordered_decision *of, enum place_effect effect)
{
    self->effects[of->index] = (uint8_t)effect;
    self->actuator->pages[effect] += of->decision->is_huge ? PLACE_HUGE_PAGES : 1;
}

static void tell_all(struct doing *self, const struct ordered_decision *first, size_t count,
                     enum place_effect effect)
{
    for (size_t i = 0; i < count; i++)
        tell(self, &first[i], effect);
}

/* A call that failed as a whole: of one node, so that this node is none for the process, or of
 * rights. EACCES of a call is that the process may not have memory of the node. */
static void fail(struct doing *self, const struct ordered_decision *first, size_t count, int code)
{
    enum place_effect effect = code == EACCES ? EFFECT_REFUSED : effect_of(code);
    if (effect == EFFECT_REFUSED)
        self->target->barred_nodes |= 1ull << first->decision->to;
    tell_all(self, first, count, effect);
}

static void move_batch(struct doing *self, const struct ordered_decision *first, size_t count)
{
    void *pages[BATCH];
    int nodes[BATCH], status[BATCH];
    const struct place_actuator *actuator = self->actuator;
    int to = (int)actuator->node_ids[first->decision->to];
    for (size_t i = 0; i < count; i++) {
        pages[i] = (void *)(uintptr_t)(first[i].decision->page * SMALL_BYTES);
        nodes[i] = to;
        status[i] = UNTOLD;
    }
    long result =
        actuator->calls->move_pages(self->target->pid, count, pages, nodes, status, MPOL_MF_MOVE);
    if (result < 0) {
        fail(self, first, count, errno);
        return;
    }
    bool is_untold = false;
    for (size_t i = 0; i < count; i++)
        is_untold |= status[i] == UNTOLD;
    /* Where one page could not be copied the kernel stops, and does not tell where which is. */
    if (is_untold)
        actuator->calls->move_pages(self->target->pid, count, pages, NULL, status, 0);
    for (size_t i = 0; i < count; i++)
        tell(self, &first[i],
             status[i] == to                         ? EFFECT_DONE
             : status[i] >= 0 || status[i] == UNTOLD ? EFFECT_BUSY /* it stayed where it was */
                                                     : effect_of(-status[i]));
}

static void split(struct doing *self, const struct ordered_decision *of)
{
    void *address = (void *)(uintptr_t)(of->decision->page * SMALL_BYTES);
    bool is_done = self->actuator->calls->split(self->target->pidfd, address) >= 0;
    self->effects[of->index] = (uint8_t)(is_done ? EFFECT_DONE : effect_of(errno));
    self->actuator->split += is_done;
}

static void measure(struct place_actuator *self, uint64_t begun_ns, uint64_t moved_before)
{
    uint64_t moved = self->pages[EFFECT_DONE] - moved_before;
    double ns = (double)(clock__ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns);
    if (moved)
        self->page_ns =
            PAGE_NS_AGED * self->page_ns + (1 - PAGE_NS_AGED) * fmax(ns / (double)moved, 1);
}

static bool moves(enum place_decision_kind kind)
{
    return kind == PLACE_MIGRATE || kind == PLACE_SPREAD || kind == PLACE_BACK;
}

/* Decisions of one process and node. */
static void do_group(struct doing *self, const struct ordered_decision *first, size_t count)
{
    uint64_t begun_ns = clock__ns(CLOCK_THREAD_CPUTIME_ID),
             moved = self->actuator->pages[EFFECT_DONE];
    for (size_t done = 0, some; done < count; done += some) {
        some = count - done < BATCH ? count - done : BATCH;
        if (has_ended(self->target))
            tell_all(self, first + done, some, EFFECT_GONE);
        else if (self->target->barred_nodes >> first->decision->to & 1)
            tell_all(self, first + done, some, EFFECT_REFUSED);
        else
            move_batch(self, first + done, some);
    }
    measure(self->actuator, begun_ns, moved);
}

static struct place_target *target_of(struct place_target *targets, size_t count,
                                      uint32_t application)
{
    size_t at = FIRST_WHERE(place, count, targets[place].application >= application);
    return at < count && targets[at].application == application ? &targets[at] : NULL;
}

void place_actuator__do(struct place_actuator *self, const struct place_outcome *outcome,
                        struct place_target *targets, size_t count, uint8_t *effects)
{
    struct vec ordered = VEC_OF(struct ordered_decision);
    struct doing doing = {.actuator = self, .effects = effects};
    memset(effects, EFFECT_NONE, outcome->decisions.count);
    VEC_EACH (decision, &outcome->decisions, struct place_decision) {
        const struct ordered_decision of = {
            decision, (size_t)(decision - (struct place_decision *)outcome->decisions.items)};
        doing.target = target_of(targets, count, decision->application);
        if (decision->is_advice || !doing.target)
            continue;
        if (moves(decision->kind))
            vec__push(&ordered, &of);
        else if (decision->kind == PLACE_SPLIT)
            split(&doing, &of);
    }
    vec__sort(&ordered, by_target);
    const struct ordered_decision *all = ordered.items;
    for (size_t i = 0, next; i < ordered.count; i = next) {
        for (next = i + 1; next < ordered.count &&
                           all[next].decision->application == all[i].decision->application &&
                           all[next].decision->to == all[i].decision->to;)
            next++;
        doing.target = target_of(targets, count, all[i].decision->application);
        do_group(&doing, all + i, next - i);
    }
    vec__free(&ordered);
}
