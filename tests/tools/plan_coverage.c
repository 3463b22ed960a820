/* plan_coverage.c: how many functions of a file can be instrumented, how, and what is in the way of
 * the others.
 *
 *     plan_coverage FILE [CACHE-DIRECTORY]
 *
 * Plans for all functions of FILE, as a process has it that has loaded the libraries which FILE
 * needs, and prints lines "key value": functions asked for, planned (by mechanism), the time of
 * planning, and every reason with its count. */
#include "base/memory.h"
#include "patch/plan.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void load_needed(Elf *elf)
{
    Elf_Scn *scn = NULL;
    while ((scn = elf_nextscn(elf, scn))) {
        GElf_Shdr header;
        GElf_Dyn entry;
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_DYNAMIC)
            continue;
        Elf_Data *data = elf_getdata(scn, NULL);
        for (int i = 0; data && gelf_getdyn(data, i, &entry); i++)
            if (entry.d_tag == DT_NEEDED)
                dlopen(elf_strptr(elf, header.sh_link, entry.d_un.d_val), RTLD_LAZY);
    }
}

/* Appends the file; its build-id stays the file's, which stays open. */
static Elf *add_module(struct vec *modules, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const void *build_id = NULL;
    ssize_t bytes = elf ? dwelf_elf_gnu_build_id(elf, &build_id) : -1;
    if (elf)
        vec__push(modules, &(struct trace_module){.gone_tick = UINT64_MAX,
                                                  .build_id = build_id,
                                                  .build_id_bytes = bytes > 0 ? (uint32_t)bytes : 0,
                                                  .path = memory__text(path)});
    return elf;
}

static int add_loaded(struct dl_phdr_info *info, size_t size, void *modules)
{
    (void)size;
    if (info->dlpi_name[0] == '/')
        add_module(modules, info->dlpi_name);
    return 0;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Names of other functions in a reason would make each reason its own. */
static char *general(const char *reason)
{
    const char *name = strstr(reason, " jump to ");
    const char *colon = name ? strrchr(name, ':') : NULL;
    if (!colon)
        return memory__text(reason);
    return memory__format("%.*s jump to ANOTHER%s", (int)(name - reason), reason, colon);
}

static void print_reasons(const struct vec *refusals)
{
    struct vec reasons = VEC_OF(char *);
    VEC_EACH (refusal, refusals, struct refused_function) {
        char *reason = general(refusal->reason);
        vec__push(&reasons, &reason);
    }
    if (reasons.count)
        qsort(reasons.items, reasons.count, sizeof(char *), by_text);
    size_t first = 0;
    for (size_t i = 0; i < reasons.count; i++) {
        const char *text = *VEC_AT(&reasons, char *, i);
        if (i + 1 < reasons.count && strcmp(text, *VEC_AT(&reasons, char *, i + 1)) == 0)
            continue;
        printf("refused %zu %s\n", i + 1 - first, text);
        first = i + 1;
    }
}

static double cpu_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "plan_coverage: no %zu bytes of memory are left\n", bytes);
    exit(1);
}

int main(int count, char **arguments)
{
    struct vec modules = VEC_OF(struct trace_module);
    elf_version(EV_CURRENT);
    Elf *elf = count > 1 ? add_module(&modules, arguments[1]) : NULL;
    if (!elf) {
        fprintf(stderr, "plan_coverage: needs an ELF file that can be read\n");
        return 2;
    }
    load_needed(elf);
    dl_iterate_phdr(add_loaded, &modules);
    struct plan_request request = {VEC_OF(char *), VEC_OF(char *), VEC_OF(struct plan_arguments),
                                   NULL};
    request.cache = count > 2 ? arguments[2] : NULL;
    const char *all = "*", *base = strrchr(arguments[1], '/');
    base = base ? base + 1 : arguments[1];
    vec__push(&request.functions, &all);
    vec__push(&request.modules, &base);
    struct plan *plan;
    struct error error;
    double start = cpu_time();
    if (plan__make(&request, modules.items, modules.count, &plan, &error) < 0) {
        fprintf(stderr, "plan_coverage: %s\n", error.text);
        return 1;
    }
    double end = cpu_time();
    size_t return_slot = 0, planned = plan->functions.count;
    VEC_EACH (function, &plan->functions, struct planned_function)
        return_slot += function->plan.mechanism == HEURT_MECHANISM_RETURN_SLOT;
    size_t asked = planned + plan->refusals.count;
    printf("functions %zu\nplanned %zu\nframe %zu\npopped %zu\n", asked, planned,
           planned - return_slot, return_slot);
    printf("share %.2f %%\nseconds %.3f\n", 100.0 * (double)planned / (double)(asked ? asked : 1),
           end - start);
    print_reasons(&plan->refusals);
    plan__free(plan);
    return 0;
}
