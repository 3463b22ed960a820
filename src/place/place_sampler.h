/* place_sampler.h: which pages processes access, and from which nodes, by samples of their threads.
 *
 *     cpu-clock with registers ──► the instruction that was at memory ──► its address ──► its page
 *     (kernel/thread_samples.h)    (patch/access.h)                       move_pages(2): its node
 *
 * Where the processor tells accesses, those are taken in place of decoded ones. In go processes,
 * out come struct place_access of a round. A sample costs some us, a function its decoding when it
 * is met first, a page a query of its node once a round. Memory is bounded by the number of files
 * that are kept open and of samples of a round. It stands on kernel, patch and symbol. One thread
 * at a time. */
#ifndef HEURT_PLACE_PLACE_SAMPLER_H
#define HEURT_PLACE_PLACE_SAMPLER_H

#include "format/machine_nodes.h"
#include "place/place_calls.h"
#include "place/place_engine.h"
#include "place/place_processes.h"

struct place_sampler;

struct place_sampler_settings {
    const struct place_calls *calls;
    const struct machine_nodes *nodes;
    unsigned hz;
    bool has_huge_pages; /* the kernel makes them: whether a page is in one is looked up */
};

/* What became of the samples of a round. */
struct place_sampled {
    uint64_t samples;      /* of threads that are followed */
    uint64_t at_memory;    /* at an instruction that accesses memory */
    uint64_t without_code; /* the instruction could not be read: no file is there, or it is gone */
    uint64_t without_address;
    uint64_t without_node; /* the page is in no memory, or the kernel does not tell of it */
    uint64_t lost;         /* that the kernel could not write */
};

/* The settings are copied, what they point to is kept. NULL after a sentence: the kernel samples
 * nothing for this user. */
struct place_sampler *place_sampler__new(const struct place_sampler_settings *settings,
                                         struct error *error);
void place_sampler__free(struct place_sampler *self); /* NULL is allowed */

/* Whose threads are sampled from now on: of those that use CPUs enough. */
void place_sampler__follow(struct place_sampler *self, const struct place_process *process);
void place_sampler__forget(struct place_sampler *self, const struct place_process *process);
/* Samples a second of a running thread, from now on. */
void place_sampler__rate(struct place_sampler *self, unsigned hz);
/* Takes what the kernel has until now; several times a second, as its rings are small. */
void place_sampler__drain(struct place_sampler *self);
/* Ends a round: accesses since the last one, with nodes; valid until the next call. */
const struct vec *place_sampler__take(struct place_sampler *self, struct place_sampled *sampled);
/* The page was refused: from now on its accesses have these flags, too (enum place_flag). */
void place_sampler__flag(struct place_sampler *self, uint32_t application, uint64_t page,
                         uint8_t flags);
/* It is asked anew which pages of the application are large. */
void place_sampler__split(struct place_sampler *self, uint32_t application);
/* "the heap", "/usr/lib/…", "[anonymous memory at 0x7f…]": what the page is in. free() it. */
char *place_sampler__name(const struct place_sampler *self, uint32_t application, uint64_t page);

/* Of the samples, as in struct place_facts; who tells of accesses. */
double place_sampler__quality(const struct place_sampler *self);
const char *place_sampler__accesses_by(const struct place_sampler *self); /* NULL: heurt decodes */
size_t place_sampler__threads(const struct place_sampler *self);
/* By move_pages(2); false: by /proc/PID/numa_maps, as that is refused. */
bool place_sampler__asks_pages(const struct place_sampler *self);

#endif
