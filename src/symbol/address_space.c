#include "symbol/address_space.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

void space__start(struct space *space, struct images *images, const struct trace_module *modules,
                  size_t module_count, struct space *parent)
{
    *space = (struct space){
        .modules = modules, .module_count = module_count, .parent = parent, .images = images};
    space->opened = memory__zeroed(module_count, sizeof(struct image *));
}

void space__end(struct space *space)
{
    free(space->opened);
    *space = (struct space){0};
}

static bool holds(const struct trace_module *module, uint64_t address)
{
    return address >= module->start && address < module->end;
}

static bool is_mapped(const struct trace_module *module, uint64_t tick)
{
    return module->tick <= tick && tick < module->gone_tick;
}

/* Index of the module, or module_count. */
static size_t index_of(const struct space *space, uint64_t address, uint64_t tick)
{
    size_t last = space->last, other = space->module_count;
    if (last < space->module_count && holds(&space->modules[last], address) &&
        is_mapped(&space->modules[last], tick))
        return last;
    for (size_t i = 0; i < space->module_count; i++) {
        if (!holds(&space->modules[i], address))
            continue;
        if (is_mapped(&space->modules[i], tick))
            return i;
        other = i;
    }
    return other;
}

enum { ANCESTORS_MAX = 64 };

struct address_place space__find(struct space *space, uint64_t address, uint64_t tick)
{
    for (unsigned i = 0; space && i < ANCESTORS_MAX; i++, space = space->parent) {
        size_t index = index_of(space, address, tick);
        if (index == space->module_count)
            continue;
        space->last = index;
        const struct trace_module *module = &space->modules[index];
        if (!space->opened[index])
            space->opened[index] = images__get(space->images, module);
        return (struct address_place){module, space->opened[index], address - module->bias};
    }
    return (struct address_place){0};
}
