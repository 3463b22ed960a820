#include "base/vec.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void *vec__push(struct vec *vec, const void *item)
{
    if (vec->count == vec->capacity) {
        vec->capacity = vec->capacity ? vec->capacity * 2 : 8;
        vec->items = memory__resize(vec->items, vec->capacity, vec->item_bytes);
    }
    char *place = (char *)vec->items + vec->count++ * vec->item_bytes;
    if (item)
        memcpy(place, item, vec->item_bytes);
    else
        memset(place, 0, vec->item_bytes);
    return place;
}

void vec__free(struct vec *vec)
{
    free(vec->items);
    vec->items = NULL;
    vec->count = vec->capacity = 0;
}
