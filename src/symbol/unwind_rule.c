#include "symbol/unwind_rule.h"

#include "base/map.h"
#include "base/memory.h"
#include "symbol/unwind.h"

#include <stdlib.h>

struct unwind_table {
    Dwarf_CFI *eh_frame;    /* NULL: none */
    Dwarf_CFI *debug_frame; /* NULL: none, or not asked for yet */
    Dwarf_Addr eh_bias, debug_bias;
    struct map by_address;
    struct vec rules; /* struct unwind_rule * */
};

void unwind_table__free(struct unwind_table *table)
{
    if (!table)
        return;
    VEC_EACH (rule, &table->rules, struct unwind_rule *) {
        free((*rule)->ops);
        free(*rule);
    }
    vec__free(&table->rules);
    map__free(&table->by_address);
    free(table);
}

static struct unwind_table *table_of(struct image *image)
{
    if (!image->unwind) {
        struct unwind_table *table = image->unwind = memory__zeroed(1, sizeof *table);
        table->rules = VEC_OF(struct unwind_rule *);
        if (image__is_open(image))
            table->eh_frame = dwfl_module_eh_cfi(image->module, &table->eh_bias);
    }
    return image->unwind;
}

/* Copies operations behind those that the rule has. */
static void append(struct vec *ops, struct register_rule *which, const Dwarf_Op *from, size_t count)
{
    which->kind = RULE_EXPRESSION;
    which->first = (uint32_t)ops->count;
    which->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        vec__push(ops, &from[i]);
}

static void decode_register(Dwarf_Frame *frame, int number, struct unwind_rule *rule,
                            struct vec *ops)
{
    Dwarf_Op memory[3], *found;
    size_t count;
    struct register_rule *which = &rule->registers[number];
    if (dwarf_frame_register(frame, number, memory, &found, &count) != 0)
        return;
    if (count)
        append(ops, which, found, count);
    else if (!found)
        which->kind = RULE_SAME;
}

static void decode(Dwarf_Frame *frame, struct unwind_rule *rule)
{
    Dwarf_Op *found;
    size_t count;
    bool is_signal = false;
    struct vec ops = VEC_OF(Dwarf_Op);
    dwarf_frame_info(frame, NULL, NULL, &is_signal);
    rule->is_signal = is_signal;
    if (dwarf_frame_cfa(frame, &found, &count) == 0 && count)
        append(&ops, &rule->frame_address, found, count);
    for (int i = 0; i < REGISTERS; i++)
        decode_register(frame, i, rule, &ops);
    rule->ops = ops.items;
}

/* The file's DWARF is opened for it, which .eh_frame alone does not need. */
static bool find_in_debug_frame(struct image *image, uint64_t address, Dwarf_Frame **frame)
{
    struct unwind_table *table = image->unwind;
    if (!table->debug_frame && image__is_open(image))
        table->debug_frame = dwfl_module_dwarf_cfi(image->module, &table->debug_bias);
    return table->debug_frame &&
           dwarf_cfi_addrframe(table->debug_frame, address - table->debug_bias, frame) == 0;
}

static struct unwind_rule *rule__new(struct image *image, uint64_t address)
{
    struct unwind_table *table = image->unwind;
    struct unwind_rule *rule = memory__zeroed(1, sizeof *rule);
    Dwarf_Frame *frame = NULL;
    bool found = table->eh_frame &&
                 dwarf_cfi_addrframe(table->eh_frame, address - table->eh_bias, &frame) == 0;
    found = found || find_in_debug_frame(image, address, &frame);
    if (found)
        decode(frame, rule);
    rule->is_missing = !found;
    free(frame);
    return rule;
}

const struct unwind_rule *unwind_table__rule(struct image *image, uint64_t address)
{
    struct unwind_table *table = table_of(image);
    size_t count = table->rules.count;
    size_t index = map__put(&table->by_address, &address, sizeof address, count);
    if (index == count) {
        struct unwind_rule *rule = rule__new(image, address);
        vec__push(&table->rules, &rule);
    }
    return *VEC_AT(&table->rules, struct unwind_rule *, index);
}
