#include "analysis/memory/oracle.h"

#include "analysis/callsite/program_frame.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How much of something is at an object, by its number. */
struct object_part {
    uint64_t object;
    double weight;
};

/* What one instruction does, or what one place counts. */
struct code_use {
    uint64_t line, function; /* numbers of texts; line 0: not known */
    bool reads, writes;
    double all;
    uint64_t samples;
    struct vec parts; /* struct object_part */
};

struct judging {
    struct memory_oracle *oracle;
    struct map objects, places;  /* text → number, from 1 for places */
    uint64_t stack;              /* the object that stands for all stacks; UINT64_MAX: none */
    struct vec sampled, counted; /* struct code_use */
};

/* ---- texts that are the same in both runs ---------------------------------------------------- */

/* What is inlined depends on how the program is compiled: the program's own code that asked. */
static const struct symbol *who_asked(const struct symbol *symbol)
{
    for (const struct symbol *at = symbol; at; at = at->inlined_by)
        if (!symbol__is_system(at) && !symbol__allocates(at))
            return at;
    return symbol;
}

static char *place_text(const struct oracle_side *side, uint32_t serial, uint64_t site)
{
    const struct symbol *symbol = who_asked(symbols__get(side->symbols, serial, site));
    if (!symbol || !symbol->line)
        return memory__text(symbol ? symbol->function : "code without a name");
    return memory__format("%s %s:%u", symbol->function, path__name(symbol->file), symbol->line);
}

static char *object_text(const struct oracle_side *side, const struct memory_object *object)
{
    static const char *const names[] = {
        [MEMORY_HEAP] = "heap",   [MEMORY_MAPPED] = "mapping",       [MEMORY_STATIC] = "static",
        [MEMORY_STACK] = "stack", [MEMORY_SHARED] = "shared memory", [MEMORY_OTHER] = "memory",
    };
    uint32_t serial = trace__process_at(side->trace, object->process)->serial;
    if (object->name)
        return memory__format("%.*s", (int)symbol__variable_bytes(object->name), object->name);
    if (!object->site || object->kind == MEMORY_STACK)
        return memory__text(names[object->kind]);
    char *place = place_text(side, serial, object->site);
    char *text = memory__format("%s, made at %s", names[object->kind], place);
    free(place);
    return text;
}

static uint64_t number_of_object(struct judging *self, const struct oracle_side *side,
                                 const struct memory_object *object)
{
    char *text = object_text(side, object);
    uint64_t number = map__put(&self->objects, text, strlen(text), self->oracle->rows.count);
    if (number < self->oracle->rows.count) {
        free(text);
        return number;
    }
    vec__push(&self->oracle->texts, &text);
    vec__push(&self->oracle->rows, &(struct oracle_row){.object = text});
    return number;
}

static uint64_t number_of_place(struct judging *self, const char *kind, const char *name,
                                unsigned line)
{
    char *text = memory__format("%s %s:%u", kind, name, line);
    uint64_t number = map__put(&self->places, text, strlen(text), self->places.count + 1);
    free(text);
    return number;
}

/* ---- what code does -------------------------------------------------------------------------- */

/* One instruction or place of a process, in whichever objects. */
struct code_uses {
    struct vec *uses;
    struct map index;
};

static struct code_use *use_at(struct judging *self, struct code_uses *uses,
                               const struct oracle_side *side, uint32_t process, uint64_t address,
                               enum heurt_access access)
{
    uint64_t key[] = {process, address, access__reads(access), access__writes(access)};
    uint64_t at = map__put(&uses->index, key, sizeof key, uses->uses->count);
    if (at < uses->uses->count)
        return VEC_AT(uses->uses, struct code_use, at);
    struct code_use *use = vec__push(uses->uses, NULL);
    *use = (struct code_use){.reads = access__reads(access),
                             .writes = access__writes(access),
                             .parts = VEC_OF(struct object_part)};
    const struct symbol *symbol =
        symbols__get(side->symbols, trace__process_at(side->trace, process)->serial, address);
    if (!symbol)
        return use;
    use->function = number_of_place(self, "function", symbol->function, 0);
    if (symbol->line && symbol->file)
        use->line = number_of_place(self, "line", path__name(symbol->file), symbol->line);
    return use;
}

static void add_part(struct code_use *use, uint64_t object, double weight)
{
    use->all += weight;
    VEC_EACH (part, &use->parts, struct object_part)
        if (part->object == object) {
            part->weight += weight;
            return;
        }
    vec__push(&use->parts, &(struct object_part){object, weight});
}

static void gather_samples(struct judging *self, const struct oracle_side *side)
{
    struct code_uses uses = {.uses = &self->sampled};
    VEC_EACH (object, &side->use->objects, const struct memory_object) {
        if (!object->accesses.count)
            continue;
        uint64_t number = number_of_object(self, side, object);
        if (object->kind == MEMORY_STACK && !object->name)
            self->stack = number;
        VEC_EACH (access, &object->accesses, const struct line_access) {
            struct code_use *use =
                use_at(self, &uses, side, object->process, access->instruction, access->access);
            add_part(use, number, (double)access->sampled_ns);
            use->samples += access->samples;
        }
    }
    map__free(&uses.index);
}

static void gather_counts(struct judging *self, const struct oracle_side *side)
{
    struct code_uses uses = {.uses = &self->counted};
    double all = (double)(side->use->counted.reads + side->use->counted.writes);
    VEC_EACH (object, &side->use->objects, const struct memory_object) {
        if (!object->counted.rows.count)
            continue;
        uint64_t number = number_of_object(self, side, object);
        VEC_EACH (row, &object->counted.rows, const struct counted_row)
            add_part(use_at(self, &uses, side, object->process, row->site, row->access), number,
                     (double)row->count);
        VEC_AT(&self->oracle->rows, struct oracle_row, number)->counted +=
            (double)(object->counted.reads + object->counted.writes) / (all > 0 ? all : 1);
    }
    map__free(&uses.index);
}

/* ---- one instruction ------------------------------------------------------------------------- */

static double share_of(const struct code_use *use, uint64_t object)
{
    VEC_EACH (part, &use->parts, const struct object_part)
        if (part->object == object)
            return part->weight / use->all;
    return 0;
}

/* Half the L1 distance of what both do. */
static double apart(const struct code_use *one, const struct code_use *other)
{
    double common = 0;
    VEC_EACH (part, &one->parts, const struct object_part)
        common += fmin(part->weight / one->all, share_of(other, part->object));
    return 1 - common;
}

/* How a counting place is found for an instruction: the first way that finds any. What was
 * compiled into another place, and what has no line, is looked for in the function. */
enum likeness { SAME_LINE_AND_KIND, SAME_LINE, SAME_FUNCTION_WITHOUT_LINE, LIKENESSES };

static bool is_like(const struct code_use *sampled, const struct code_use *counted,
                    enum likeness likeness)
{
    bool is_same_kind = sampled->writes ? counted->writes : counted->reads;
    bool is_same_line = sampled->line && sampled->line == counted->line;
    if (likeness == SAME_FUNCTION_WITHOUT_LINE)
        return is_same_kind && sampled->function && sampled->function == counted->function &&
               !counted->line;
    return is_same_line && (is_same_kind || likeness == SAME_LINE);
}

/* The places that are like it as one: parts of them all; nearest: the one that is most like it. */
static struct code_use places_like(const struct judging *self, const struct code_use *sampled,
                                   const struct code_use **nearest)
{
    struct code_use together = {.parts = VEC_OF(struct object_part)};
    *nearest = NULL;
    for (enum likeness likeness = 0; likeness < LIKENESSES && !*nearest; likeness++)
        VEC_EACH (counted, &self->counted, const struct code_use) {
            if (!is_like(sampled, counted, likeness))
                continue;
            if (!*nearest || apart(sampled, counted) < apart(sampled, *nearest))
                *nearest = counted;
            VEC_EACH (part, &counted->parts, const struct object_part)
                add_part(&together, part->object, part->weight);
        }
    return together;
}

static struct oracle_row *row_of(const struct judging *self, const struct object_part *part)
{
    return VEC_AT(&self->oracle->rows, struct oracle_row, part->object);
}

/* Without what it does on a stack: the rest. */
static struct code_use without_stack(const struct judging *self, const struct code_use *use)
{
    struct code_use rest = *use;
    rest.all = 0;
    rest.parts = VEC_OF(struct object_part);
    VEC_EACH (part, &use->parts, const struct object_part)
        if (part->object != self->stack)
            add_part(&rest, part->object, part->weight);
    return rest;
}

static void deal_out(struct judging *self, const struct code_use *sampled,
                     const struct code_use *nearest, const struct code_use *together)
{
    self->oracle->judged_ns += (uint64_t)sampled->all;
    VEC_EACH (part, &sampled->parts, const struct object_part)
        row_of(self, part)->sampled += part->weight;
    VEC_EACH (part, &nearest->parts, const struct object_part)
        row_of(self, part)->expected += part->weight / nearest->all * sampled->all;
    VEC_EACH (part, &together->parts, const struct object_part)
        row_of(self, part)->by_line += part->weight / together->all * sampled->all;
}

static void judge(struct judging *self, const struct code_use *sampled)
{
    const struct code_use *nearest;
    struct code_use together = places_like(self, sampled, &nearest);
    if (nearest && share_of(&together, self->stack) > 0) {
        deal_out(self, sampled, nearest, &together);
        self->oracle->samples += sampled->samples;
    } else {
        struct code_use rest = without_stack(self, sampled);
        self->oracle->stack_ns += (uint64_t)(sampled->all - rest.all);
        self->oracle->samples += nearest ? sampled->samples : 0;
        if (nearest && rest.all > 0)
            deal_out(self, &rest, nearest, &together);
        else
            self->oracle->unjudged_ns += (uint64_t)rest.all;
        vec__free(&rest.parts);
    }
    vec__free(&together.parts);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int by_sampled_share(const void *a, const void *b)
{
    const struct oracle_row *left = a, *right = b;
    return ORDER(right->sampled, left->sampled) ?: ORDER(right->expected, left->expected)
               ?: ORDER(right->counted, left->counted) ?: strcmp(left->object, right->object);
}

static void finish(struct memory_oracle *oracle)
{
    double all = oracle->judged_ns ? (double)oracle->judged_ns : 1;
    VEC_EACH (row, &oracle->rows, struct oracle_row) {
        row->sampled /= all;
        row->expected /= all;
        row->by_line /= all;
        row->distance = fabs(row->sampled - row->expected) / 2;
        row->line_distance = fabs(row->sampled - row->by_line) / 2;
        oracle->distance += row->distance;
        oracle->line_distance += row->line_distance;
    }
    vec__sort(&oracle->rows, by_sampled_share);
}

static void free_uses(struct vec *uses)
{
    VEC_EACH (use, uses, struct code_use)
        vec__free(&use->parts);
    vec__free(uses);
}

struct memory_oracle *memory_oracle__compare(const struct oracle_side *samples,
                                             const struct oracle_side *counts)
{
    if (!samples->use || !samples->use->samples || !counts->use || !counts->use->counted.is_told)
        return NULL;
    struct memory_oracle *oracle = memory__zeroed(1, sizeof *oracle);
    oracle->rows = VEC_OF(struct oracle_row);
    oracle->texts = VEC_OF(char *);
    struct judging self = {.oracle = oracle,
                           .stack = UINT64_MAX,
                           .sampled = VEC_OF(struct code_use),
                           .counted = VEC_OF(struct code_use)};
    gather_samples(&self, samples);
    gather_counts(&self, counts);
    VEC_EACH (sampled, &self.sampled, const struct code_use)
        judge(&self, sampled);
    finish(oracle);
    free_uses(&self.sampled);
    free_uses(&self.counted);
    map__free(&self.objects);
    map__free(&self.places);
    return oracle;
}

void memory_oracle__free(struct memory_oracle *oracle)
{
    if (!oracle)
        return;
    VEC_EACH (text, &oracle->texts, char *)
        free(*text);
    vec__free(&oracle->texts);
    vec__free(&oracle->rows);
    free(oracle);
}
