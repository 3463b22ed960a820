#include "place/place_sites.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

static void found_module(struct place_policy *policy, uint64_t bias, const uint8_t *id,
                         uint32_t bytes)
{
    for (uint32_t i = 0; i < policy->count; i++) {
        struct place_rule *rule = &policy->rules[i];
        if (rule->build_id_bytes == bytes && memcmp(rule->build_id, id, bytes) == 0)
            __atomic_store_n(&rule->address, bias + rule->offset, __ATOMIC_RELAXED);
    }
}

/* The notes of a segment: of them the build-id. */
static void read_notes(struct place_policy *policy, uint64_t bias, const char *at, const char *end)
{
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const void *)at;
        const char *name = at + sizeof *note;
        const char *body = name + ((note->n_namesz + 3u) & ~3u);
        const char *next = body + ((note->n_descsz + 3u) & ~3u);
        if (next > end || next <= at)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
            found_module(policy, bias, (const uint8_t *)body, note->n_descsz);
        at = next;
    }
}

static int each_module(struct dl_phdr_info *module, size_t bytes, void *context)
{
    (void)bytes;
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        const char *at = (const char *)(module->dlpi_addr + part->p_vaddr);
        if (part->p_type == PT_NOTE)
            read_notes(context, module->dlpi_addr, at, at + part->p_memsz);
    }
    return 0;
}

void place_sites__find(struct place_policy *policy)
{
    dl_iterate_phdr(each_module, policy);
}

static int count_modules(struct dl_phdr_info *module, size_t bytes, void *added)
{
    *(uint64_t *)added = bytes > offsetof(struct dl_phdr_info, dlpi_adds) ? module->dlpi_adds : 0;
    return 1;
}

uint64_t place_sites__modules(void)
{
    uint64_t added = 0;
    dl_iterate_phdr(count_modules, &added);
    return added;
}

struct looked_for {
    const char *name;
    struct place_range range;
};

static int find_range(struct dl_phdr_info *module, size_t bytes, void *context)
{
    struct looked_for *wanted = context;
    size_t length = strlen(module->dlpi_name), name = strlen(wanted->name);
    (void)bytes;
    if (length < name || strcmp(module->dlpi_name + length - name, wanted->name) != 0)
        return 0;
    wanted->range.start = UINT64_MAX;
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uint64_t start = module->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        if (part->p_type != PT_LOAD)
            continue;
        wanted->range.start = start < wanted->range.start ? start : wanted->range.start;
        wanted->range.end = end > wanted->range.end ? end : wanted->range.end;
    }
    return 1;
}

struct place_range place_sites__range(const char *name)
{
    struct looked_for wanted = {name, {0, 0}};
    dl_iterate_phdr(find_range, &wanted);
    return wanted.range;
}
