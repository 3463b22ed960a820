#include "symbol/stack_objects.h"

#include "symbol/local.h"
#include "symbol/lookup.h"

enum { FRAMES_MAX = 4096, OBJECTS_MAX = 4096 };

struct stack_frame {
    size_t process;
    uint64_t low, high, address, tick; /* address: inside of the call */
};

struct stack_object {
    size_t process;
    uint32_t serial;
    uint64_t address, tick;
};

/* Whether it is the first of its kind, and there is room. */
static bool is_new(struct map *known, const uint64_t key[4], size_t most)
{
    return known->count < most &&
           map__put(known, key, 4 * sizeof *key, known->count) + 1 == known->count;
}

void stack_objects__add_frame(struct stack_objects *self, size_t process,
                              const struct unwound_frame *frame, uint64_t tick)
{
    uint64_t low = frame->state.registers[REGISTER_RSP], high = frame->state.frame_address;
    uint64_t key[4] = {process, frame->address, low, high};
    if (!high || !is_new(&self->known_frames, key, FRAMES_MAX))
        return;
    if (!self->frames.item_bytes)
        self->frames = VEC_OF(struct stack_frame);
    struct stack_frame added = {process, low, high, frame->address - !frame->is_exact, tick};
    vec__push(&self->frames, &added);
}

void stack_objects__add(struct stack_objects *self, size_t process, uint32_t serial,
                        uint64_t address, uint64_t tick)
{
    uint64_t key[4] = {process, address, 0, 0};
    if (!is_new(&self->known_objects, key, OBJECTS_MAX))
        return;
    if (!self->objects.item_bytes)
        self->objects = VEC_OF(struct stack_object);
    struct stack_object added = {process, serial, address, tick};
    vec__push(&self->objects, &added);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a < b ? b - a : a - b;
}

/* That which held the address nearest to the time at which the object was met; NULL: none did. */
static const struct stack_frame *frame_of(const struct stack_objects *self,
                                          const struct stack_object *object)
{
    const struct stack_frame *nearest = NULL;
    VEC_EACH (frame, &self->frames, struct stack_frame) {
        if (frame->process != object->process || object->address < frame->low ||
            object->address >= frame->high)
            continue;
        if (!nearest || apart(frame->tick, object->tick) < apart(nearest->tick, object->tick))
            nearest = frame;
    }
    return nearest;
}

void stack_objects__resolve(struct stack_objects *self, struct space *spaces,
                            struct symbols *symbols)
{
    VEC_EACH (object, &self->objects, struct stack_object) {
        const struct stack_frame *frame = frame_of(self, object);
        if (frame)
            lookup__put_local(symbols, object->serial, &spaces[frame->process],
                              &(struct local_frame){frame->address, frame->low, frame->high},
                              object->address, frame->tick);
    }
}

void stack_objects__free(struct stack_objects *self)
{
    vec__free(&self->frames);
    vec__free(&self->objects);
    map__free(&self->known_frames);
    map__free(&self->known_objects);
}
