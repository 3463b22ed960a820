#include "runtime/arena.h"
#include "runtime/new_image.h"

static struct image_room *map(size_t bytes)
{
    struct image_room *room = pages__map(bytes);
    if (room)
        room->bytes = bytes;
    return room;
}

void image_room__free(void)
{
    struct thread *thread = &heurt_thread;
    if (thread->image_room)
        RAW2(munmap, thread->image_room, thread->image_room->bytes);
    thread->image_room = NULL;
}

/* A child of vfork that has begun its image has left the room taken: by another process than the
 * one that asks next. */
struct image_room *image_room__take(size_t slots)
{
    struct thread *thread = &heurt_thread;
    size_t bytes = (sizeof(struct image_room) + slots * sizeof(char *) + 4095) & ~4095ull;
    uint32_t pid = (uint32_t)RAW0(getpid);
    if (thread->image_room_user == pid)
        return NULL;
    thread->image_room_user = pid;
    if (thread->image_room && thread->image_room->bytes < bytes)
        image_room__free();
    if (!thread->image_room)
        thread->image_room = map(bytes);
    if (!thread->image_room)
        image_room__give_back();
    return thread->image_room;
}

void image_room__give_back(void)
{
    heurt_thread.image_room_user = 0;
}
