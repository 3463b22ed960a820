/* symbols.c: the file, in JSON so that it can be read without heurt:
 *
 *     { "schema": "heurt.symbols/1",
 *       "texts": ["main", "/usr/bin/app", "app.c", …],
 *       "frames": [[function, module, file, line, named, inlined_by], …],
 *       "addresses": [[process, address, frame], …],
 *       "variables": [[process, address, frame], …],
 *       "sleeps": [[process, address, asks], …],
 *       "retries": [[process, address, exchange, is_static], …],
 *       "types": [[type, size, [[offset, bytes, path, stride, count, …], …]], …],
 *       "fields": [[process, instruction, name, type, field, size, offset, is_guess, layout], …],
 *       "made": [[process, address, type, size, [[offset, bytes, path, …], …]], …],
 *       "stacks": [[thread, tick, [address, …]], …],
 *       "warnings": ["…"] }
 *
 * function, module and file are indices into texts, inlined_by and frame into frames; file and
 * inlined_by are -1 where there is none, and inlined_by is smaller than the frame's own index.
 * Names and types of fields and of what is made are texts themselves; layout is an index into
 * types, left off where there is none. Files of older recordings have no variables, sleeps,
 * retries, types, fields or made. */
#include "format/symbols.h"

#include "base/descriptor.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "format/attach_layout.h"
#include "format/layout.h"
#include "format/symbol_fields.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA "heurt.symbols/1"
#define NONE UINT64_MAX
#define FRAME_FIELDS 6

/* A frame with its texts by index: what makes it the same as another one. */
struct frame_key {
    uint64_t function, module, file, line, named, inlined_by;
};

struct symbol_frame {
    struct symbol symbol;
    struct frame_key key;
};

struct named_address {
    uint64_t process, address;
    uint64_t frame;
};

struct stack {
    uint64_t thread, tick;
    uint64_t *frames;
    size_t count;
};

struct symbols {
    struct map text_index, frame_index, address_index, variable_index, stack_index, warning_index;
    struct map sleep_index;
    struct vec texts;     /* char * */
    struct vec frames;    /* struct symbol_frame *: symbols that were given out must not move */
    struct vec addresses; /* struct named_address */
    struct vec variables; /* struct named_address */
    struct vec sleeps;    /* struct sleep_site */
    struct map retry_index;
    struct vec retries;  /* struct retry_site */
    struct vec stacks;   /* struct stack */
    struct vec warnings; /* const char * (of texts) */
    struct symbol_fields memory;
};

bool symbol__is_of_library(const struct symbol *symbol, const char *beginning)
{
    return symbol->module && strncmp(path__name(symbol->module), beginning, strlen(beginning)) == 0;
}

bool symbol__is_of_runtime(const struct symbol *symbol)
{
    return symbol__is_of_library(symbol, "libheurt.so") ||
           symbol__is_of_library(symbol, HEURT_ATTACH_FILE) ||
           symbol__is_of_library(symbol, "libheurt-access.so");
}

/* "sums" of "sums[3].sx": the variable, with the scopes that it is in. */
size_t symbol__variable_bytes(const char *name)
{
    if (strstr(name, SYMBOL_LATER))
        return strlen(name);
    return strcspn(name, ".[");
}

static bool is_same_text(const char *one, const char *other)
{
    return one == other || (one && other && strcmp(one, other) == 0);
}

bool symbol__is_same_variable(const struct symbol *one, const struct symbol *other)
{
    size_t bytes = one && other ? symbol__variable_bytes(one->function) : 0;
    return one && other && bytes == symbol__variable_bytes(other->function) &&
           strncmp(one->function, other->function, bytes) == 0 && one->line == other->line &&
           is_same_text(one->file, other->file) && is_same_text(one->module, other->module);
}

struct symbols *symbols__new(void)
{
    struct symbols *symbols = memory__zeroed(1, sizeof *symbols);
    symbols->texts = VEC_OF(char *);
    symbols->frames = VEC_OF(struct symbol_frame *);
    symbols->addresses = VEC_OF(struct named_address);
    symbols->variables = VEC_OF(struct named_address);
    symbols->sleeps = VEC_OF(struct sleep_site);
    symbols->retries = VEC_OF(struct retry_site);
    symbols->stacks = VEC_OF(struct stack);
    symbols->warnings = VEC_OF(const char *);
    symbols->memory = symbol_fields__new();
    return symbols;
}

void symbols__free(struct symbols *symbols)
{
    if (!symbols)
        return;
    VEC_EACH (text, &symbols->texts, char *)
        free(*text);
    VEC_EACH (frame, &symbols->frames, struct symbol_frame *)
        free(*frame);
    VEC_EACH (stack, &symbols->stacks, struct stack)
        free(stack->frames);
    map__free(&symbols->text_index);
    map__free(&symbols->frame_index);
    map__free(&symbols->address_index);
    map__free(&symbols->variable_index);
    map__free(&symbols->sleep_index);
    map__free(&symbols->retry_index);
    map__free(&symbols->stack_index);
    map__free(&symbols->warning_index);
    vec__free(&symbols->texts);
    vec__free(&symbols->frames);
    vec__free(&symbols->addresses);
    vec__free(&symbols->variables);
    vec__free(&symbols->sleeps);
    vec__free(&symbols->retries);
    vec__free(&symbols->stacks);
    vec__free(&symbols->warnings);
    symbol_fields__free(&symbols->memory);
    free(symbols);
}

/* ---- keeping --------------------------------------------------------------------------------- */

static uint64_t keep_text(struct symbols *symbols, const char *text)
{
    uint64_t index =
        map__put(&symbols->text_index, text, strlen(text), (uint64_t)symbols->texts.count);
    if (index == symbols->texts.count) {
        char *copy = memory__text(text);
        vec__push(&symbols->texts, &copy);
    }
    return index;
}

static const char *text_at(const struct symbols *symbols, uint64_t index)
{
    return index == NONE ? NULL : *VEC_AT(&symbols->texts, char *, index);
}

static struct symbol_frame *frame_at(const struct symbols *symbols, uint64_t index)
{
    return *VEC_AT(&symbols->frames, struct symbol_frame *, index);
}

static uint64_t keep_frame(struct symbols *symbols, struct frame_key key)
{
    uint64_t index = map__put(&symbols->frame_index, &key, sizeof key, symbols->frames.count);
    if (index < symbols->frames.count)
        return index;
    struct symbol_frame *frame = memory__zeroed(1, sizeof *frame);
    frame->key = key;
    frame->symbol = (struct symbol){
        .function = text_at(symbols, key.function),
        .module = text_at(symbols, key.module),
        .file = text_at(symbols, key.file),
        .line = (uint32_t)key.line,
        .named = key.named,
        .inlined_by = key.inlined_by == NONE ? NULL : &frame_at(symbols, key.inlined_by)->symbol,
    };
    vec__push(&symbols->frames, &frame);
    return index;
}

/* Keeps the outer frames first, since each frame names the one around it. */
static uint64_t keep_chain(struct symbols *symbols, const struct symbol *symbol)
{
    struct vec chain = VEC_OF(const struct symbol *);
    for (; symbol; symbol = symbol->inlined_by)
        vec__push(&chain, &symbol);
    uint64_t index = NONE;
    for (size_t i = chain.count; i-- > 0;) {
        const struct symbol *at = *VEC_AT(&chain, const struct symbol *, i);
        index = keep_frame(symbols,
                           (struct frame_key){
                               .function = keep_text(symbols, at->function ? at->function : "?"),
                               .module = keep_text(symbols, at->module ? at->module : ""),
                               .file = at->file ? keep_text(symbols, at->file) : NONE,
                               .line = at->line,
                               .named = at->named,
                               .inlined_by = index,
                           });
    }
    vec__free(&chain);
    return index;
}

static void keep_address(struct vec *addresses, struct map *index, struct named_address item)
{
    uint64_t key[] = {item.process, item.address};
    uint64_t place = map__put(index, key, sizeof key, addresses->count);
    if (place == addresses->count)
        vec__push(addresses, &item);
    else
        VEC_AT(addresses, struct named_address, place)->frame = item.frame;
}

static const struct symbol *symbol_at(const struct symbols *symbols, const struct vec *addresses,
                                      const struct map *index, uint64_t process, uint64_t address)
{
    uint64_t key[] = {process, address};
    uint64_t place = map__get(index, key, sizeof key);
    if (place == MAP_ABSENT)
        return NULL;
    return &frame_at(symbols, VEC_AT(addresses, struct named_address, place)->frame)->symbol;
}

void symbols__put(struct symbols *symbols, uint32_t process, uint64_t address,
                  const struct symbol *symbol)
{
    if (symbol)
        keep_address(&symbols->addresses, &symbols->address_index,
                     (struct named_address){process, address, keep_chain(symbols, symbol)});
}

const struct symbol *symbols__get(const struct symbols *symbols, uint32_t process, uint64_t address)
{
    return symbol_at(symbols, &symbols->addresses, &symbols->address_index, process, address);
}

void symbols__put_variable(struct symbols *symbols, uint32_t process, uint64_t address,
                           const struct symbol *variable)
{
    if (variable)
        keep_address(&symbols->variables, &symbols->variable_index,
                     (struct named_address){process, address, keep_chain(symbols, variable)});
}

const struct symbol *symbols__variable(const struct symbols *symbols, uint32_t process,
                                       uint64_t address)
{
    return symbol_at(symbols, &symbols->variables, &symbols->variable_index, process, address);
}

void symbols__put_stack(struct symbols *symbols, uint32_t thread, uint64_t tick,
                        const uint64_t *frames, size_t count)
{
    uint64_t key[] = {thread, tick};
    if (map__get(&symbols->stack_index, key, sizeof key) != MAP_ABSENT)
        return;
    map__put(&symbols->stack_index, key, sizeof key, symbols->stacks.count);
    struct stack stack = {
        .thread = thread,
        .tick = tick,
        .frames = memory__zeroed(count, sizeof *frames),
        .count = count,
    };
    if (count)
        memcpy(stack.frames, frames, count * sizeof *frames);
    vec__push(&symbols->stacks, &stack);
}

size_t symbols__get_stack(const struct symbols *symbols, uint32_t thread, uint64_t tick,
                          const uint64_t **frames)
{
    uint64_t key[] = {thread, tick};
    uint64_t index = map__get(&symbols->stack_index, key, sizeof key);
    *frames = NULL;
    if (index == MAP_ABSENT)
        return 0;
    const struct stack *stack = VEC_AT(&symbols->stacks, struct stack, index);
    *frames = stack->frames;
    return stack->count;
}

static struct sleep_site *sleep_at(const struct symbols *symbols, uint32_t process,
                                   uint64_t address)
{
    uint64_t key[] = {process, address};
    uint64_t index = map__get(&symbols->sleep_index, key, sizeof key);
    return index == MAP_ABSENT ? NULL : VEC_AT(&symbols->sleeps, struct sleep_site, index);
}

void symbols__put_sleep(struct symbols *symbols, uint32_t process, uint64_t address, bool asks)
{
    struct sleep_site site = {process, address, asks};
    uint64_t key[] = {process, address};
    uint64_t next = symbols->sleeps.count;
    if (map__put(&symbols->sleep_index, key, sizeof key, next) == next)
        vec__push(&symbols->sleeps, &site);
    else
        *sleep_at(symbols, process, address) = site;
}

bool symbols__sleep_asks(const struct symbols *symbols, uint32_t process, uint64_t address)
{
    const struct sleep_site *site = symbols ? sleep_at(symbols, process, address) : NULL;
    return site && site->asks;
}

size_t symbols__sleeps(const struct symbols *symbols, const struct sleep_site **sites)
{
    *sites = symbols->sleeps.items;
    return symbols->sleeps.count;
}

void symbols__put_retry(struct symbols *symbols, const struct retry_site *site)
{
    uint64_t key[] = {site->process, site->address}, next = symbols->retries.count;
    if (map__put(&symbols->retry_index, key, sizeof key, next) == next)
        vec__push(&symbols->retries, site);
}

const struct retry_site *symbols__retry(const struct symbols *symbols, uint32_t process,
                                        uint64_t address)
{
    uint64_t key[] = {process, address};
    uint64_t index = symbols ? map__get(&symbols->retry_index, key, sizeof key) : MAP_ABSENT;
    return index == MAP_ABSENT ? NULL : VEC_AT(&symbols->retries, struct retry_site, index);
}

void symbols__put_field(struct symbols *symbols, uint32_t process, uint64_t instruction,
                        const struct symbol_field *field)
{
    symbol_fields__put(&symbols->memory, process, instruction, field);
}

const struct symbol_field *symbols__field(const struct symbols *symbols, uint32_t process,
                                          uint64_t instruction)
{
    return symbols ? symbol_fields__get(&symbols->memory, process, instruction) : NULL;
}

void symbols__ask_made_type(struct symbols *symbols, uint32_t process, uint64_t return_address)
{
    symbol_fields__ask_type(&symbols->memory, process, return_address);
}

void symbols__put_made_type(struct symbols *symbols, uint32_t process, uint64_t return_address,
                            const struct symbol_type *type)
{
    symbol_fields__put_type(&symbols->memory, process, return_address, type);
}

const struct symbol_type *symbols__made_type(const struct symbols *symbols, uint32_t process,
                                             uint64_t return_address)
{
    return symbols ? symbol_fields__type(&symbols->memory, process, return_address) : NULL;
}

size_t symbols__made_sites(const struct symbols *symbols, const struct made_site **sites)
{
    *sites = symbols->memory.asked.items;
    return symbols->memory.asked.count;
}

void symbols__warn(struct symbols *symbols, const char *sentence)
{
    const char *text = text_at(symbols, keep_text(symbols, sentence));
    size_t count = symbols->warnings.count;
    if (map__put(&symbols->warning_index, sentence, strlen(sentence), count) == count)
        vec__push(&symbols->warnings, &text);
}

size_t symbols__warnings(const struct symbols *symbols, const char *const **sentences)
{
    *sentences = symbols->warnings.items;
    return symbols->warnings.count;
}

/* ---- saving ---------------------------------------------------------------------------------- */

static void add_number(struct json_object *row, uint64_t number)
{
    json_object_array_add(row, number == NONE ? json_object_new_int(-1)
                                              : json_object_new_uint64(number));
}

/* A row of numbers, appended to table. */
static struct json_object *add_row(struct json_object *table, const uint64_t *numbers, size_t count)
{
    struct json_object *row = json_object_new_array_ext((int)count);
    for (size_t i = 0; i < count; i++)
        add_number(row, numbers[i]);
    json_object_array_add(table, row);
    return row;
}

static struct json_object *texts_to_json(const struct vec *texts)
{
    struct json_object *table = json_object_new_array();
    VEC_EACH (text, texts, const char *)
        json_object_array_add(table, json_object_new_string(*text));
    return table;
}

static struct json_object *addresses_to_json(const struct vec *addresses)
{
    struct json_object *table = json_object_new_array();
    VEC_EACH (item, addresses, struct named_address)
        add_row(table, (uint64_t[]){item->process, item->address, item->frame}, 3);
    return table;
}

static struct json_object *to_json(const struct symbols *symbols)
{
    struct json_object *root = json_object_new_object();
    struct json_object *frames = json_object_new_array();
    struct json_object *stacks = json_object_new_array(), *sleeps = json_object_new_array();
    struct json_object *retries = json_object_new_array();
    VEC_EACH (frame, &symbols->frames, struct symbol_frame *) {
        const struct frame_key *key = &(*frame)->key;
        add_row(frames,
                (uint64_t[FRAME_FIELDS]){key->function, key->module, key->file, key->line,
                                         key->named, key->inlined_by},
                FRAME_FIELDS);
    }
    VEC_EACH (stack, &symbols->stacks, struct stack)
        add_row(add_row(stacks, (uint64_t[]){stack->thread, stack->tick}, 2), stack->frames,
                stack->count);
    VEC_EACH (site, &symbols->sleeps, struct sleep_site)
        add_row(sleeps, (uint64_t[]){site->process, site->address, site->asks}, 3);
    VEC_EACH (site, &symbols->retries, struct retry_site)
        add_row(retries,
                (uint64_t[]){site->process, site->address, site->exchange, site->is_static}, 4);
    json_object_object_add(root, "schema", json_object_new_string(SCHEMA));
    json_object_object_add(root, "texts", texts_to_json(&symbols->texts));
    json_object_object_add(root, "frames", frames);
    json_object_object_add(root, "addresses", addresses_to_json(&symbols->addresses));
    json_object_object_add(root, "variables", addresses_to_json(&symbols->variables));
    json_object_object_add(root, "sleeps", sleeps);
    json_object_object_add(root, "retries", retries);
    symbol_fields__to_json(&symbols->memory, root);
    json_object_object_add(root, "stacks", stacks);
    json_object_object_add(root, "warnings", texts_to_json(&symbols->warnings));
    return root;
}

char *symbols__text(const struct symbols *symbols, size_t *bytes)
{
    struct json_object *root = to_json(symbols);
    char *text = memory__text(json_object_to_json_string_ext(
        root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    if (!text)
        out_of_memory(0);
    *bytes = strlen(text);
    json_object_put(root);
    return text;
}

/* Negative errno. */
static int write_file(const char *path, const char *text, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    int code = descriptor__write_all(fd, text, bytes) ? 0 : -errno;
    if (close(fd) < 0 && code == 0)
        code = -errno;
    return code;
}

int symbols__save(const struct symbols *symbols, const char *directory, struct error *error)
{
    char *path = memory__format("%s/" HEURT_SYMBOLS_FILE, directory);
    char *fresh = memory__format("%s.%d", path, (int)getpid());
    size_t bytes;
    char *text = symbols__text(symbols, &bytes);
    int code = write_file(fresh, text, bytes);
    if (code == 0 && rename(fresh, path) < 0)
        code = -errno;
    if (code < 0) {
        unlink(fresh);
        error__set(error, code,
                   "the names of the trace's addresses cannot be kept in %s: %s; the trace itself "
                   "is whole",
                   path, strerrordesc_np(-code));
    }
    free(text);
    free(fresh);
    free(path);
    return code;
}

/* ---- loading: nothing in the file is believed ------------------------------------------------ */

/* The number at index of a row; NONE for -1. False when there is none. */
static bool number_at(struct json_object *row, size_t index, uint64_t *number)
{
    struct json_object *item = json_object_array_get_idx(row, index);
    if (!json_object_is_type(item, json_type_int))
        return false;
    *number = json_object_get_int64(item) < 0 ? NONE : json_object_get_uint64(item);
    return true;
}

/* A row of at least count numbers. */
static bool read_row(struct json_object *row, uint64_t *numbers, size_t count)
{
    if (!json_object_is_type(row, json_type_array) || json_object_array_length(row) < count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!number_at(row, i, &numbers[i]))
            return false;
    return true;
}

static bool load_text(struct symbols *symbols, struct json_object *item)
{
    if (!json_object_is_type(item, json_type_string))
        return false;
    /* The index in the file must stay the index here, so texts are not made one when equal. */
    char *copy = memory__text(json_object_get_string(item));
    map__put(&symbols->text_index, copy, strlen(copy), symbols->texts.count);
    vec__push(&symbols->texts, &copy);
    return true;
}

static bool load_frame(struct symbols *symbols, struct json_object *row)
{
    struct frame_key key = {0};
    uint64_t fields[FRAME_FIELDS];
    if (!read_row(row, fields, FRAME_FIELDS))
        return false;
    key = (struct frame_key){fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]};
    size_t texts = symbols->texts.count, frames = symbols->frames.count;
    if (key.function >= texts || key.module >= texts || (key.file != NONE && key.file >= texts) ||
        key.line > UINT32_MAX || key.named > 1 ||
        (key.inlined_by != NONE && key.inlined_by >= frames))
        return false;
    return keep_frame(symbols, key) == frames; /* one that was there would shift the indices */
}

static bool read_address(const struct symbols *symbols, struct json_object *row,
                         struct named_address *item)
{
    uint64_t fields[3];
    if (!read_row(row, fields, 3) || fields[0] > UINT32_MAX || fields[2] >= symbols->frames.count)
        return false;
    *item = (struct named_address){fields[0], fields[1], fields[2]};
    return true;
}

static bool load_address(struct symbols *symbols, struct json_object *row)
{
    struct named_address item;
    bool good = read_address(symbols, row, &item);
    if (good)
        keep_address(&symbols->addresses, &symbols->address_index, item);
    return good;
}

static bool load_variable(struct symbols *symbols, struct json_object *row)
{
    struct named_address item;
    bool good = read_address(symbols, row, &item);
    if (good)
        keep_address(&symbols->variables, &symbols->variable_index, item);
    return good;
}

static bool load_stack(struct symbols *symbols, struct json_object *row)
{
    uint64_t fields[2];
    if (!read_row(row, fields, 2) || fields[0] > UINT32_MAX)
        return false;
    struct json_object *addresses = json_object_array_get_idx(row, 2);
    if (!json_object_is_type(addresses, json_type_array))
        return false;
    size_t count = json_object_array_length(addresses);
    uint64_t *frames = memory__zeroed(count, sizeof *frames);
    bool good = read_row(addresses, frames, count);
    if (good)
        symbols__put_stack(symbols, (uint32_t)fields[0], fields[1], frames, count);
    free(frames);
    return good;
}

static bool load_retry(struct symbols *symbols, struct json_object *row)
{
    uint64_t fields[4];
    if (!read_row(row, fields, 4) || fields[0] > UINT32_MAX || fields[3] > 1)
        return false;
    symbols__put_retry(symbols, &(struct retry_site){fields[0], fields[1], fields[2], fields[3]});
    return true;
}

static bool load_sleep(struct symbols *symbols, struct json_object *row)
{
    uint64_t fields[3];
    if (!read_row(row, fields, 3) || fields[0] > UINT32_MAX || fields[2] > 1)
        return false;
    symbols__put_sleep(symbols, (uint32_t)fields[0], fields[1], fields[2]);
    return true;
}

static bool load_layout(struct symbols *symbols, struct json_object *row)
{
    return symbol_fields__load_layout(&symbols->memory, row);
}

static bool load_field(struct symbols *symbols, struct json_object *row)
{
    return symbol_fields__load(&symbols->memory, row);
}

static bool load_made(struct symbols *symbols, struct json_object *row)
{
    return symbol_fields__load_type(&symbols->memory, row);
}

static bool load_warning(struct symbols *symbols, struct json_object *item)
{
    if (!json_object_is_type(item, json_type_string))
        return false;
    symbols__warn(symbols, json_object_get_string(item));
    return true;
}

static bool load_table(struct symbols *symbols, struct json_object *root, const char *name,
                       bool (*load)(struct symbols *, struct json_object *))
{
    struct json_object *table;
    if (!json_object_object_get_ex(root, name, &table) ||
        !json_object_is_type(table, json_type_array))
        return false;
    for (size_t i = 0; i < json_object_array_length(table); i++)
        if (!load(symbols, json_object_array_get_idx(table, i)))
            return false;
    return true;
}

/* A table that files of older recordings have not. */
static bool load_later(struct symbols *symbols, struct json_object *root, const char *name,
                       bool (*load)(struct symbols *, struct json_object *))
{
    return !json_object_object_get_ex(root, name, NULL) || load_table(symbols, root, name, load);
}

static bool has_schema(struct json_object *root)
{
    struct json_object *schema;
    return json_object_object_get_ex(root, "schema", &schema) &&
           json_object_is_type(schema, json_type_string) &&
           strcmp(json_object_get_string(schema), SCHEMA) == 0;
}

static struct json_object *parse(const char *text, size_t bytes)
{
    struct json_tokener *tokener = bytes < INT_MAX ? json_tokener_new() : NULL;
    if (!tokener)
        return NULL;
    struct json_object *root = json_tokener_parse_ex(tokener, text, (int)bytes);
    json_tokener_free(tokener);
    return root;
}

int symbols__load_memory(const char *text, size_t bytes, struct symbols **result,
                         struct error *error)
{
    *result = NULL;
    struct json_object *root = parse(text, bytes);
    if (!has_schema(root)) {
        json_object_put(root);
        return error__set(error, -EPROTONOSUPPORT,
                          "the names of the trace's addresses (file %s) cannot be understood: they "
                          "are not in the form " SCHEMA "; remove that file to have them looked up "
                          "again",
                          HEURT_SYMBOLS_FILE);
    }
    struct symbols *symbols = symbols__new();
    bool good = load_table(symbols, root, "texts", load_text) &&
                load_table(symbols, root, "frames", load_frame) &&
                load_table(symbols, root, "addresses", load_address) &&
                load_later(symbols, root, "variables", load_variable) &&
                load_later(symbols, root, "sleeps", load_sleep) &&
                load_later(symbols, root, "retries", load_retry) &&
                load_later(symbols, root, "types", load_layout) &&
                load_later(symbols, root, "fields", load_field) &&
                load_later(symbols, root, "made", load_made) &&
                load_table(symbols, root, "stacks", load_stack) &&
                load_table(symbols, root, "warnings", load_warning);
    json_object_put(root);
    if (!good) {
        symbols__free(symbols);
        return error__set(error, -EINVAL,
                          "the names of the trace's addresses (file %s) are damaged; remove that "
                          "file to have them looked up again",
                          HEURT_SYMBOLS_FILE);
    }
    *result = symbols;
    return 0;
}

/* The whole file; negative errno. */
static int read_file(const char *path, char **text, size_t *bytes)
{
    struct stat status;
    *text = NULL;
    *bytes = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int code = fd < 0 || fstat(fd, &status) < 0 ? -errno : 0;
    if (code == 0 && (!S_ISREG(status.st_mode) || status.st_size >= INT_MAX))
        code = -EFBIG;
    if (code == 0)
        *text = memory__zeroed((size_t)status.st_size + 1, 1);
    while (code == 0 && *bytes < (size_t)status.st_size) {
        ssize_t got = read(fd, *text + *bytes, (size_t)status.st_size - *bytes);
        if (got < 0 && errno != EINTR)
            code = -errno;
        if (got == 0)
            break;
        *bytes += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return code;
}

int symbols__load(const char *directory, struct symbols **symbols, struct error *error)
{
    char *path = memory__format("%s/" HEURT_SYMBOLS_FILE, directory), *text;
    size_t bytes;
    *symbols = NULL;
    int code = read_file(path, &text, &bytes);
    if (code < 0)
        error__set(error, code, "the names of the trace's addresses in %s cannot be read: %s", path,
                   strerrordesc_np(-code));
    else
        code = symbols__load_memory(text, bytes, symbols, error);
    free(text);
    free(path);
    return code;
}
