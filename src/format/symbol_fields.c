#include "format/symbol_fields.h"

#include "base/memory.h"

#include <stdlib.h>

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
                                  .asked = VEC_OF(struct made_site)};
}

static void free_texts(struct symbol_field *field)
{
    free((char *)field->name);
    free((char *)field->type);
    free((char *)field->field);
}

static void free_type(struct kept_type *kept)
{
    for (size_t i = 0; i < kept->type.member_count; i++)
        free((char *)kept->type.members[i].path);
    free((struct symbol_member *)kept->type.members);
    free((char *)kept->type.name);
    free(kept);
}

void symbol_fields__free(struct symbol_fields *self)
{
    VEC_EACH (kept, &self->fields, struct kept_field *) {
        free_texts(&(*kept)->field);
        free(*kept);
    }
    VEC_EACH (kept, &self->types, struct kept_type *)
        free_type(*kept);
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

static const struct symbol_member *copy_members(const struct symbol_type *type)
{
    struct symbol_member *members = memory__zeroed(type->member_count, sizeof *members);
    for (size_t i = 0; i < type->member_count; i++) {
        members[i] = type->members[i];
        members[i].path = memory__text(type->members[i].path);
    }
    return members;
}

const struct symbol_member *symbol_type__member(const struct symbol_type *type, uint64_t offset)
{
    for (size_t i = 0; i < type->member_count; i++)
        if (offset - type->members[i].offset < type->members[i].bytes)
            return &type->members[i];
    return NULL;
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
    kept->type.name = memory__text(type->name);
    kept->type.members = copy_members(type);
    vec__push(&self->types, &kept);
}

const struct symbol_type *symbol_fields__type(const struct symbol_fields *self, uint32_t process,
                                              uint64_t address)
{
    uint64_t key[] = {process, address};
    uint64_t place = map__get(&self->type_index, key, sizeof key);
    return place == MAP_ABSENT ? NULL : &(*VEC_AT(&self->types, struct kept_type *, place))->type;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void add_text(struct json_object *row, const char *text)
{
    json_object_array_add(row, json_object_new_string(text));
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
        json_object_array_add(members, row);
    }
    return members;
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
        json_object_array_add(row, json_object_new_uint64(field->size));
        json_object_array_add(row, json_object_new_uint64(field->offset));
        json_object_array_add(row, json_object_new_int(field->is_guess));
        json_object_array_add(fields, row);
    }
    VEC_EACH (kept, &self->types, struct kept_type *) {
        struct json_object *row = row_of((*kept)->process, (*kept)->address);
        add_text(row, (*kept)->type.name);
        json_object_array_add(row, json_object_new_uint64((*kept)->type.size));
        json_object_array_add(row, members_to_json(&(*kept)->type));
        json_object_array_add(made, row);
    }
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
    struct symbol_field field;
    uint64_t process, instruction, is_guess;
    if (!key_in(row, &process, &instruction) || !text_in(row, 2, &field.name) ||
        !text_in(row, 3, &field.type) || !text_in(row, 4, &field.field) ||
        !number_in(row, 5, &field.size) || !number_in(row, 6, &field.offset) ||
        !number_in(row, 7, &is_guess) || is_guess > 1)
        return false;
    field.is_guess = is_guess;
    symbol_fields__put(self, (uint32_t)process, instruction, &field);
    return true;
}

static bool member_in(struct json_object *row, struct symbol_member *member)
{
    return json_object_is_type(row, json_type_array) && number_in(row, 0, &member->offset) &&
           number_in(row, 1, &member->bytes) && text_in(row, 2, &member->path);
}

bool symbol_fields__load_type(struct symbol_fields *self, struct json_object *row)
{
    struct symbol_type type = {0};
    uint64_t process, address;
    if (!key_in(row, &process, &address) || !text_in(row, 2, &type.name) ||
        !number_in(row, 3, &type.size))
        return false;
    struct json_object *table = json_object_array_get_idx(row, 4);
    if (!json_object_is_type(table, json_type_array))
        return false;
    struct vec members = VEC_OF(struct symbol_member);
    size_t count = json_object_array_length(table);
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = member_in(json_object_array_get_idx(table, i), vec__push(&members, NULL));
    type.members = members.items;
    type.member_count = members.count;
    if (good)
        symbol_fields__put_type(self, (uint32_t)process, address, &type);
    vec__free(&members);
    return good;
}
