#include "recorder/memory_names.h"

#include "base/map.h"
#include "base/memory.h"
#include "format/sampled_lines.h"
#include "patch/field_access.h"
#include "symbol/address_space.h"

#include <stdlib.h>
#include <time.h>

enum { SITES_MOST = 2000 };

#define CPU_MOST_NS 100000000u

/* An instruction, or a return address, in a process. */
struct memory_site {
    uint64_t weight_ns;
    size_t process; /* index into trace__processes */
    uint64_t address;
};

struct memory_names {
    const struct trace *trace;
    struct symbols *symbols;
    struct images images;
    struct space *spaces; /* one a process */
    struct vec code;      /* struct code_of_image */
    uint64_t end_ns;      /* of the thread's CPU time */
};

struct code_of_image {
    const struct image *image;
    struct typed_code *code;
};

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void start(struct memory_names *names)
{
    const struct vec *processes = trace__processes(names->trace);
    names->spaces = memory__zeroed(processes->count, sizeof *names->spaces);
    struct space *space = names->spaces;
    VEC_EACH (process, processes, const struct trace_process) {
        const struct trace_process *parent =
            trace__process_of(names->trace, process->parent_serial);
        space__start(space++, &names->images, process->modules.items, process->modules.count,
                     parent ? &names->spaces[parent - (struct trace_process *)processes->items]
                            : NULL);
    }
}

static void end(struct memory_names *names)
{
    VEC_EACH (of, &names->code, struct code_of_image)
        typed_code__free(of->code);
    vec__free(&names->code);
    for (size_t i = 0; i < trace__processes(names->trace)->count; i++)
        space__end(&names->spaces[i]);
    free(names->spaces);
    images__free(&names->images);
}

/* The code of the file at an address; NULL: of none whose types tell anything. */
static struct typed_code *code_at(struct memory_names *names, size_t process, uint64_t address,
                                  uint64_t *in_file)
{
    struct address_place place = space__find(&names->spaces[process], address, UINT64_MAX - 1);
    *in_file = place.address;
    if (!place.image || image__is_c_library(place.image))
        return NULL;
    VEC_EACH (of, &names->code, struct code_of_image)
        if (of->image == place.image)
            return of->code;
    struct code_of_image of = {place.image, NULL};
    if (image__is_open(place.image) && image__source(place.image))
        of.code = typed_code__new(place.image);
    vec__push(&names->code, &of);
    return of.code;
}

static uint32_t serial_of(const struct memory_names *names, size_t process)
{
    return trace__process_at(names->trace, process)->serial;
}

static void name_field(struct memory_names *names, const struct memory_site *site)
{
    struct symbol_field field;
    uint64_t address;
    struct typed_code *code = code_at(names, site->process, site->address, &address);
    if (!code || !field_access__find(code, address, &field))
        return;
    symbols__put_field(names->symbols, serial_of(names, site->process), site->address, &field);
    field_access__clear(&field);
}

static void name_made(struct memory_names *names, size_t process, uint64_t return_address)
{
    struct symbol_type type;
    uint64_t before;
    struct typed_code *code = code_at(names, process, return_address - 1, &before);
    if (!code || !made_type__find(code, before + 1, &type))
        return;
    symbols__put_made_type(names->symbols, serial_of(names, process), return_address, &type);
    made_type__clear(&type);
}

/* ---- which ----------------------------------------------------------------------------------- */

static int heaviest_first(const void *left, const void *right)
{
    const struct memory_site *one = left, *other = right;
    return ORDER(other->weight_ns, one->weight_ns) ?: ORDER(one->process, other->process)
               ?: ORDER(one->address, other->address);
}

struct site_list {
    struct vec sites; /* struct memory_site, each once */
    struct map index;
};

static void add_site(struct site_list *list, size_t process, const struct heurt_sample *sample)
{
    uint64_t key[] = {process, sample->instruction};
    uint64_t place = map__put(&list->index, key, sizeof key, list->sites.count);
    if (place == list->sites.count)
        vec__push(&list->sites, &(struct memory_site){0, process, key[1]});
    VEC_AT(&list->sites, struct memory_site, place)->weight_ns += sample->weight_ns;
}

/* Instructions at lines that several threads use. */
static void add_shared(const struct trace *trace, struct site_list *list)
{
    struct sampled_lines found = sampled_lines__find(trace);
    VEC_EACH (line, &found.lines, const struct sampled_line)
        for (size_t i = 0; i < line->count; i++)
            add_site(list, line->process,
                     VEC_AT(&found.samples, struct line_sample, line->first + i)->sample);
    sampled_lines__free(&found);
}

static void add_every(const struct trace *trace, struct site_list *list)
{
    struct sample_threads *threads = sample_threads__new(trace);
    VEC_EACH (sample, trace__samples(trace), const struct heurt_sample) {
        uint32_t thread = sample->address ? sample_threads__of(threads, sample) : UINT32_MAX;
        if (thread != UINT32_MAX)
            add_site(list, trace__thread_at(trace, thread)->process, sample);
    }
    sample_threads__free(threads);
}

static struct vec sampled_sites(const struct trace *trace, bool every)
{
    struct site_list list = {.sites = VEC_OF(struct memory_site)};
    (every ? add_every : add_shared)(trace, &list);
    map__free(&list.index);
    vec__sort(&list.sites, heaviest_first);
    return list.sites;
}

static void name_fields(struct memory_names *names, bool every)
{
    struct vec sites = sampled_sites(names->trace, every);
    size_t left = SITES_MOST;
    VEC_EACH (site, &sites, const struct memory_site) {
        if (left-- == 0 || cpu_ns() > names->end_ns)
            break;
        name_field(names, site);
    }
    vec__free(&sites);
}

static void name_all_made(struct memory_names *names)
{
    const struct made_site *sites;
    size_t count = symbols__made_sites(names->symbols, &sites);
    const struct vec *processes = trace__processes(names->trace);
    for (size_t i = 0; i < count && i < SITES_MOST && cpu_ns() <= names->end_ns; i++)
        for (size_t process = 0; process < processes->count; process++)
            if (serial_of(names, process) == sites[i].process)
                name_made(names, process, sites[i].return_address);
}

void memory_names__find(const struct trace *trace, struct symbols *symbols, bool every)
{
    struct memory_names names = {.trace = trace,
                                 .symbols = symbols,
                                 .images = IMAGES,
                                 .code = VEC_OF(struct code_of_image),
                                 .end_ns = cpu_ns() + CPU_MOST_NS};
    start(&names);
    name_fields(&names, every);
    name_all_made(&names);
    end(&names);
}
