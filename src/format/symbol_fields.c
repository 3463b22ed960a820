#include "format/symbol_fields.h"

#include "base/memory.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct kept_field {
    uint64_t process, instruction;
    struct symbol_field field;
};

struct kept_type {
    uint64_t process, address;
    struct symbol_type type;
};

struct symbol_fields symbol_fields__new(void)
{
    return (struct symbol_fields){.fields = VEC_OF(struct kept_field *),
                                  .types = VEC_OF(struct kept_type *),
                                  .layouts = VEC_OF(struct symbol_type *),
                                  .asked = VEC_OF(struct made_site)};
}

static void free_texts(struct symbol_field *field)
{
    free((char *)field->name);
    free((char *)field->type);
    free((char *)field->field);
}

static void clear_type(struct symbol_type *type)
{
    for (size_t i = 0; i < type->member_count; i++)
        free((char *)type->members[i].path);
    free((struct symbol_member *)type->members);
    free((char *)type->name);
}

void symbol_fields__free(struct symbol_fields *self)
{
    VEC_EACH (kept, &self->fields, struct kept_field *) {
        free_texts(&(*kept)->field);
        free(*kept);
    }
    VEC_EACH (kept, &self->types, struct kept_type *) {
        clear_type(&(*kept)->type);
        free(*kept);
    }
    VEC_EACH (layout, &self->layouts, struct symbol_type *) {
        clear_type(*layout);
        free(*layout);
    }
    map__free(&self->layout_index);
    vec__free(&self->layouts);
    map__free(&self->field_index);
    map__free(&self->type_index);
    map__free(&self->asked_index);
    vec__free(&self->fields);
    vec__free(&self->types);
    vec__free(&self->asked);
}

/* ---- keeping --------------------------------------------------------------------------------- */

/* The place of a key; is_new: the caller has to push what belongs there. */
static uint64_t place_of(struct map *index, uint32_t process, uint64_t address, uint64_t next,
                         bool *is_new)
{
    uint64_t key[] = {process, address};
    uint64_t place = map__put(index, key, sizeof key, next);
    *is_new = place == next;
    return place;
}

static struct symbol_type copy_of(const struct symbol_type *type)
{
    struct symbol_type copy = *type;
    struct symbol_member *members = memory__zeroed(type->member_count, sizeof *members);
    for (size_t i = 0; i < type->member_count; i++) {
        members[i] = type->members[i];
        members[i].path = memory__text(type->members[i].path);
    }
    copy.name = memory__text(type->name);
    copy.members = members;
    return copy;
}

/* Two types of one name may differ: in which process, and by size. */
static uint64_t layout_place(struct symbol_fields *self, const struct symbol_type *type)
{
    char *key = memory__format("%s %" PRIu64 " %zu %s", type->name, type->size, type->member_count,
                               type->member_count ? type->members[0].path : "");
    uint64_t next = self->layouts.count;
    uint64_t place = map__put(&self->layout_index, key, strlen(key), next);
    free(key);
    if (place == next) {
        struct symbol_type *kept = memory__zeroed(1, sizeof *kept);
        *kept = copy_of(type);
        vec__push(&self->layouts, &kept);
    }
    return place;
}

static const struct symbol_type *layout_at(const struct symbol_fields *self, uint64_t place)
{
    return *VEC_AT(&self->layouts, struct symbol_type *, place);
}

void symbol_fields__put(struct symbol_fields *self, uint32_t process, uint64_t instruction,
                        const struct symbol_field *field)
{
    bool is_new;
    place_of(&self->field_index, process, instruction, self->fields.count, &is_new);
    if (!is_new)
        return;
    struct kept_field *kept = memory__zeroed(1, sizeof *kept);
    *kept = (struct kept_field){process, instruction, *field};
    kept->field.name = memory__text(field->name);
    kept->field.type = memory__text(field->type ? field->type : "");
    kept->field.field = memory__text(field->field ? field->field : "");
    if (field->layout)
        kept->field.layout = layout_at(self, layout_place(self, field->layout));
    vec__push(&self->fields, &kept);
}

const struct symbol_field *symbol_fields__get(const struct symbol_fields *self, uint32_t process,
                                              uint64_t instruction)
{
    uint64_t key[] = {process, instruction};
    uint64_t place = map__get(&self->field_index, key, sizeof key);
    return place == MAP_ABSENT ? NULL
                               : &(*VEC_AT(&self->fields, struct kept_field *, place))->field;
}

void symbol_fields__ask_type(struct symbol_fields *self, uint32_t process, uint64_t address)
{
    bool is_new;
    place_of(&self->asked_index, process, address, self->asked.count, &is_new);
    if (is_new)
        vec__push(&self->asked, &(struct made_site){process, address});
}

void symbol_fields__put_type(struct symbol_fields *self, uint32_t process, uint64_t address,
                             const struct symbol_type *type)
{
    bool is_new;
    place_of(&self->type_index, process, address, self->types.count, &is_new);
    if (!is_new)
        return;
    struct kept_type *kept = memory__zeroed(1, sizeof *kept);
    *kept = (struct kept_type){process, address, *type};
    kept->type = copy_of(type);
    vec__push(&self->types, &kept);
}

const struct symbol_type *symbol_fields__type(const struct symbol_fields *self, uint32_t process,
                                              uint64_t address)
{
    uint64_t key[] = {process, address};
    uint64_t place = map__get(&self->type_index, key, sizeof key);
    return place == MAP_ABSENT ? NULL : &(*VEC_AT(&self->types, struct kept_type *, place))->type;
}

/* ---- what lies in a type --------------------------------------------------------------------- */

/* The element of each array that an offset is in. begin: gets where the member is in them. */
static bool element_at(const struct symbol_member *member, uint64_t offset,
                       uint64_t indices[SYMBOL_ARRAYS_MOST], uint64_t *begin)
{
    if (offset < member->offset)
        return false;
    uint64_t within = offset - member->offset;
    for (unsigned i = 0; i < member->array_count; i++) {
        const struct symbol_array *array = &member->arrays[i];
        indices[i] = within / array->stride;
        if (array->count && indices[i] >= array->count)
            return false;
        within %= array->stride;
    }
    *begin = offset - within;
    return within < member->bytes;
}

const struct symbol_member *symbol_type__member(const struct symbol_type *type, uint64_t offset)
{
    uint64_t indices[SYMBOL_ARRAYS_MOST], begin;
    for (size_t i = 0; i < type->member_count; i++)
        if (element_at(&type->members[i], offset, indices, &begin))
            return &type->members[i];
    return NULL;
}

char *symbol_type__path(const struct symbol_type *type, uint64_t offset, uint64_t *begin)
{
    uint64_t indices[SYMBOL_ARRAYS_MOST] = {0};
    const struct symbol_member *member = symbol_type__member(type, offset);
    if (!member || !element_at(member, offset, indices, begin))
        return NULL;
    char *text = memory__text("");
    const char *rest = member->path;
    for (unsigned i = 0; i < member->array_count; i++) {
        const char *open = strstr(rest, "[]");
        if (!open)
            break;
        text = text__append(text, "%.*s[%" PRIu64 "]", (int)(open - rest), rest, indices[i]);
        rest = open + 2;
    }
    return text__append(text, "%s", rest);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void add_text(struct json_object *row, const char *text)
{
    json_object_array_add(row, json_object_new_string(text));
}

static void add_number(struct json_object *row, uint64_t number)
{
    json_object_array_add(row, json_object_new_uint64(number));
}

static struct json_object *row_of(uint64_t process, uint64_t address)
{
    struct json_object *row = json_object_new_array();
    json_object_array_add(row, json_object_new_uint64(process));
    json_object_array_add(row, json_object_new_uint64(address));
    return row;
}

static struct json_object *members_to_json(const struct symbol_type *type)
{
    struct json_object *members = json_object_new_array();
    for (size_t i = 0; i < type->member_count; i++) {
        struct json_object *row = row_of(type->members[i].offset, type->members[i].bytes);
        add_text(row, type->members[i].path);
        for (unsigned k = 0; k < type->members[i].array_count; k++) {
            add_number(row, type->members[i].arrays[k].stride);
            add_number(row, type->members[i].arrays[k].count);
        }
        json_object_array_add(members, row);
    }
    return members;
}

/* Behind what tells whose type it is. */
static void add_type(struct json_object *row, const struct symbol_type *type)
{
    add_text(row, type->name);
    add_number(row, type->size);
    json_object_array_add(row, members_to_json(type));
}

static struct json_object *layouts_to_json(const struct symbol_fields *self)
{
    struct json_object *types = json_object_new_array();
    VEC_EACH (layout, &self->layouts, struct symbol_type *) {
        struct json_object *row = json_object_new_array();
        add_type(row, *layout);
        json_object_array_add(types, row);
    }
    return types;
}

static uint64_t place_of_layout(const struct symbol_fields *self, const struct symbol_type *layout)
{
    uint64_t place = 0;
    while (layout_at(self, place) != layout)
        place++;
    return place;
}

void symbol_fields__to_json(const struct symbol_fields *self, struct json_object *root)
{
    struct json_object *fields = json_object_new_array(), *made = json_object_new_array();
    VEC_EACH (kept, &self->fields, struct kept_field *) {
        const struct symbol_field *field = &(*kept)->field;
        struct json_object *row = row_of((*kept)->process, (*kept)->instruction);
        add_text(row, field->name);
        add_text(row, field->type);
        add_text(row, field->field);
        add_number(row, field->size);
        add_number(row, field->offset);
        add_number(row, field->is_guess);
        if (field->layout)
            add_number(row, place_of_layout(self, field->layout));
        json_object_array_add(fields, row);
    }
    VEC_EACH (kept, &self->types, struct kept_type *) {
        struct json_object *row = row_of((*kept)->process, (*kept)->address);
        add_type(row, &(*kept)->type);
        json_object_array_add(made, row);
    }
    json_object_object_add(root, "types", layouts_to_json(self));
    json_object_object_add(root, "fields", fields);
    json_object_object_add(root, "made", made);
}

static bool number_in(struct json_object *row, size_t index, uint64_t *number)
{
    struct json_object *item = json_object_array_get_idx(row, index);
    if (!json_object_is_type(item, json_type_int))
        return false;
    *number = json_object_get_uint64(item);
    return true;
}

static bool text_in(struct json_object *row, size_t index, const char **text)
{
    struct json_object *item = json_object_array_get_idx(row, index);
    if (!json_object_is_type(item, json_type_string))
        return false;
    *text = json_object_get_string(item);
    return true;
}

static bool key_in(struct json_object *row, uint64_t *process, uint64_t *address)
{
    return json_object_is_type(row, json_type_array) && number_in(row, 0, process) &&
           number_in(row, 1, address) && *process <= UINT32_MAX;
}

bool symbol_fields__load(struct symbol_fields *self, struct json_object *row)
{
    struct symbol_field field = {0};
    uint64_t process, instruction, is_guess, layout;
    if (!key_in(row, &process, &instruction) || !text_in(row, 2, &field.name) ||
        !text_in(row, 3, &field.type) || !text_in(row, 4, &field.field) ||
        !number_in(row, 5, &field.size) || !number_in(row, 6, &field.offset) ||
        !number_in(row, 7, &is_guess) || is_guess > 1)
        return false;
    field.is_guess = is_guess;
    if (json_object_array_length(row) > 8) {
        if (!number_in(row, 8, &layout) || layout >= self->layouts.count)
            return false;
        field.layout = layout_at(self, layout);
    }
    symbol_fields__put(self, (uint32_t)process, instruction, &field);
    return true;
}

static bool member_in(struct json_object *row, struct symbol_member *member)
{
    if (!json_object_is_type(row, json_type_array) || !number_in(row, 0, &member->offset) ||
        !number_in(row, 1, &member->bytes) || !text_in(row, 2, &member->path))
        return false;
    size_t count = json_object_array_length(row);
    for (size_t i = 3; i < count; i += 2) {
        if (member->array_count == SYMBOL_ARRAYS_MOST)
            return false;
        struct symbol_array *array = &member->arrays[member->array_count++];
        if (!number_in(row, i, &array->stride) || !array->stride ||
            !number_in(row, i + 1, &array->count))
            return false;
    }
    return true;
}

/* From that column on; what it points to is the row's, but for members, which are the caller's. */
static bool type_in(struct json_object *row, size_t column, struct symbol_type *type)
{
    *type = (struct symbol_type){0};
    struct json_object *table = json_object_array_get_idx(row, column + 2);
    if (!text_in(row, column, &type->name) || !number_in(row, column + 1, &type->size) ||
        !json_object_is_type(table, json_type_array))
        return false;
    struct symbol_member *members =
        memory__zeroed(json_object_array_length(table) + 1, sizeof *members);
    type->members = members;
    for (size_t count = json_object_array_length(table); type->member_count < count;
         type->member_count++)
        if (!member_in(json_object_array_get_idx(table, type->member_count),
                       &members[type->member_count])) {
            free(members);
            return false;
        }
    return true;
}

bool symbol_fields__load_layout(struct symbol_fields *self, struct json_object *row)
{
    struct symbol_type type;
    if (!json_object_is_type(row, json_type_array) || !type_in(row, 0, &type))
        return false;
    size_t before = self->layouts.count;
    layout_place(self, &type);
    bool is_new = self->layouts.count > before;
    free((struct symbol_member *)type.members);
    return is_new;
}

bool symbol_fields__load_type(struct symbol_fields *self, struct json_object *row)
{
    struct symbol_type type;
    uint64_t process, address;
    if (!key_in(row, &process, &address) || !type_in(row, 2, &type))
        return false;
    symbol_fields__put_type(self, (uint32_t)process, address, &type);
    free((struct symbol_member *)type.members);
    return true;
}
