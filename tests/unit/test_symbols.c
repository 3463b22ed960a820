/* test_symbols.c: the names of addresses are kept, saved, and loaded without being believed. */
#include "format/symbols.h"
#include "writing.h"

#include <errno.h>
#include <sys/stat.h>

static void add_some(struct symbols *symbols)
{
    const uint64_t frames[] = {0x401001, 0x402000, UINT64_MAX - 1};
    const struct symbol_member members[] = {
        {0, 4, "calls"}, {8, 4, "sums[].one", {{8, 5}}, 1}, {12, 4, "sums[].other", {{8, 5}}, 1}};
    const struct symbol_type layout = {"stats", 48, members, 3};
    struct symbol outer = {.function = "outer",
                           .module = "/bin/app",
                           .file = "/src/a \"quoted\".c",
                           .line = 12,
                           .named = true};
    struct symbol inner = {
        .function = "in\xff\nner", .module = "/bin/app", .named = true, .inlined_by = &outer};
    struct symbol stripped = {.function = "[lib.so+0x12]", .module = "/lib/lib.so"};
    symbols__put(symbols, 0, 0x401000, &inner);
    symbols__put(symbols, 0, 0x401001, &outer);
    symbols__put(symbols, 7, 0x401000, &stripped);
    /* An address may be both; nobody asks a data address for its code. */
    symbols__put_variable(symbols, 0, 0x401000,
                          &(struct symbol){.function = "tables[3].lock",
                                           .module = "/bin/app",
                                           .file = "/src/a.h",
                                           .line = 7,
                                           .named = true});
    symbols__put_stack(symbols, 3, 5ull << 50, frames, 3);
    symbols__put_sleep(symbols, 7, 0x401000, false);
    symbols__put_sleep(symbols, 0, 0x401000, false);
    symbols__put_sleep(symbols, 0, 0x401000, true);
    symbols__put_field(symbols, 0, 0x401000,
                       &(struct symbol_field){"stats.sum", "stats", "sum", 48, 8, true, &layout});
    symbols__put_field(symbols, 0, 0x401004,
                       &(struct symbol_field){"stats.sum", "stats", "sum", 48, 8, true, &layout});
    symbols__put_field(symbols, 7, 0x401000,
                       &(struct symbol_field){"counts[]", "int", "", 4, 0, false, NULL});
    symbols__put_made_type(symbols, 0, 0x401000, &(struct symbol_type){"stats", 48, members, 3});
    symbols__ask_made_type(symbols, 0, 0x401000);
    symbols__ask_made_type(symbols, 0, 0x401000);
    symbols__warn(symbols, "lib.so is stripped");
    symbols__warn(symbols, "app has changed");
    symbols__warn(symbols, "lib.so is stripped");
}

static void assert_some(const struct symbols *symbols)
{
    const struct symbol *inner = symbols__get(symbols, 0, 0x401000);
    assert_string_equal(inner->function, "in\xff\nner");
    assert_string_equal(inner->module, "/bin/app");
    assert_null(inner->file);
    assert_true(inner->named);
    assert_string_equal(inner->inlined_by->function, "outer");
    assert_ptr_equal(inner->inlined_by, symbols__get(symbols, 0, 0x401001)); /* kept once */
    assert_string_equal(inner->inlined_by->file, "/src/a \"quoted\".c");
    assert_int_equal(inner->inlined_by->line, 12);
    assert_null(inner->inlined_by->inlined_by);
    assert_false(symbols__get(symbols, 7, 0x401000)->named);
    assert_null(symbols__get(symbols, 1, 0x401000));
    assert_null(symbols__get(symbols, 0, 0x401002));
    const struct symbol *variable = symbols__variable(symbols, 0, 0x401000);
    assert_string_equal(variable->function, "tables[3].lock");
    assert_string_equal(variable->module, "/bin/app");
    assert_string_equal(variable->file, "/src/a.h");
    assert_int_equal(variable->line, 7);
    assert_null(symbols__variable(symbols, 7, 0x401000));
    assert_null(symbols__variable(symbols, 0, 0x401001));
    const struct sleep_site *sleeps;
    assert_int_equal(symbols__sleeps(symbols, &sleeps), 2);
    assert_true(symbols__sleep_asks(symbols, 0, 0x401000));
    assert_false(symbols__sleep_asks(symbols, 7, 0x401000));
    assert_false(symbols__sleep_asks(symbols, 0, 0x401001));
    const struct symbol_field *field = symbols__field(symbols, 0, 0x401000);
    assert_string_equal(field->name, "stats.sum");
    assert_string_equal(field->type, "stats");
    assert_string_equal(field->field, "sum");
    assert_int_equal(field->size, 48);
    assert_int_equal(field->offset, 8);
    assert_true(field->is_guess);
    assert_false(symbols__field(symbols, 7, 0x401000)->is_guess);
    assert_null(symbols__field(symbols, 0, 0x401001));
    assert_string_equal(symbols__made_type(symbols, 0, 0x401000)->name, "stats");
    assert_int_equal(symbols__made_type(symbols, 0, 0x401000)->size, 48);
    const struct symbol_type *made = symbols__made_type(symbols, 0, 0x401000);
    assert_int_equal(made->member_count, 3);
    assert_string_equal(symbol_type__member(made, 3)->path, "calls");
    assert_null(symbol_type__member(made, 4));
    assert_string_equal(symbol_type__member(made, 47)->path, "sums[].other");
    assert_null(symbol_type__member(made, 48));
    uint64_t begin;
    char *path = symbol_type__path(made, 47, &begin);
    assert_string_equal(path, "sums[4].other");
    assert_int_equal(begin, 44);
    assert_null(symbol_type__path(made, 7, &begin));
    free(path);
    assert_int_equal(field->layout->member_count, 3);
    assert_string_equal(field->layout->members[1].path, "sums[].one");
    assert_ptr_equal(field->layout, symbols__field(symbols, 0, 0x401004)->layout); /* kept once */
    assert_null(symbols__field(symbols, 7, 0x401000)->layout);
    assert_null(symbols__made_type(symbols, 7, 0x401000));
    const uint64_t *frames;
    assert_int_equal(symbols__get_stack(symbols, 3, 5ull << 50, &frames), 3);
    assert_int_equal(frames[1], 0x402000);
    assert_true(frames[2] == UINT64_MAX - 1);
    assert_int_equal(symbols__get_stack(symbols, 3, 5, &frames), 0);
    const char *const *warnings;
    assert_int_equal(symbols__warnings(symbols, &warnings), 2);
    assert_string_equal(warnings[0], "lib.so is stripped");
    assert_string_equal(warnings[1], "app has changed");
}

static struct symbols *load(const char *directory)
{
    struct symbols *symbols;
    struct error error = {""};
    if (symbols__load(directory, &symbols, &error) < 0)
        fail_msg("%s", error.text);
    return symbols;
}

static void what_is_saved_is_loaded(void **state)
{
    (void)state;
    struct symbols *symbols = symbols__new();
    add_some(symbols);
    assert_some(symbols);
    assert_int_equal(symbols__save(symbols, ".", NULL), 0);
    symbols__free(symbols);
    symbols = load(".");
    assert_some(symbols);
    /* What was loaded can be added to and saved again. */
    struct symbol more = {.function = "more", .module = "/bin/app", .named = true};
    symbols__put(symbols, 0, 0x401000, &more);
    assert_string_equal(symbols__get(symbols, 0, 0x401000)->function, "more");
    assert_int_equal(symbols__save(symbols, ".", NULL), 0);
    symbols__free(symbols);
    symbols = load(".");
    assert_string_equal(symbols__get(symbols, 0, 0x401000)->function, "more");
    assert_int_equal(access("symbols", F_OK), 0);
    symbols__free(symbols);
}

static void many_addresses_are_found_again(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    struct symbols *symbols = symbols__new();
    for (uint64_t i = 0; i < MANY; i++) {
        char function[32];
        snprintf(function, sizeof function, "f%d", (int)i / 10);
        struct symbol symbol = {
            .function = function, .module = "/bin/app", .line = (uint32_t)i / 2, .named = true};
        symbols__put(symbols, (uint32_t)i % 2, 0x400000 + i, &symbol);
    }
    assert_int_equal(symbols__save(symbols, ".", NULL), 0);
    symbols__free(symbols);
    symbols = load(".");
    for (uint64_t i = 0; i < MANY; i++) {
        const struct symbol *symbol = symbols__get(symbols, (uint32_t)i % 2, 0x400000 + i);
        assert_int_equal(symbol->line, i / 2);
        assert_int_equal(atoi(symbol->function + 1), i / 10);
    }
    symbols__free(symbols);
}

static void what_cannot_be_saved_or_loaded_is_told(void **state)
{
    (void)state;
    struct error error = {""};
    struct symbols *symbols = symbols__new();
    assert_int_equal(symbols__save(symbols, "nowhere", &error), -ENOENT);
    assert_non_null(strstr(error.text, "nowhere/symbols"));
    symbols__free(symbols);
    assert_int_equal(mkdir("t", 0700), 0);
    assert_int_equal(symbols__load("t", &symbols, &error), -ENOENT);
    assert_null(symbols);
}

static void assert_refused(const char *text)
{
    struct symbols *symbols = (void *)1;
    struct error error = {""};
    assert_true(symbols__load_memory(text, strlen(text), &symbols, &error) < 0);
    assert_null(symbols);
    assert_non_null(strstr(error.text, "remove that file"));
}

#define FILE_WITH(texts, frames, addresses, stacks)                             \
    "{\"schema\":\"heurt.symbols/1\",\"texts\":[" texts "],\"frames\":[" frames \
    "],\"addresses\":[" addresses "],\"stacks\":[" stacks "],\"warnings\":[]}"

static void a_file_without_variables_is_read(void **state)
{
    (void)state;
    struct symbols *symbols;
    const char *old = FILE_WITH("\"f\"", "[0,0,-1,0,1,-1]", "[0,1,0]", "");
    assert_int_equal(symbols__load_memory(old, strlen(old), &symbols, NULL), 0);
    assert_non_null(symbols__get(symbols, 0, 1));
    assert_null(symbols__variable(symbols, 0, 1));
    assert_null(symbols__field(symbols, 0, 1));
    assert_null(symbols__made_type(symbols, 0, 1));
    symbols__free(symbols);
    assert_refused(FILE_WITH("\"f\"", "[0,0,-1,0,1,-1]", "[0,1,0]", "],\"variables\":[[0,1,1]"));
    assert_refused(FILE_WITH("\"f\"", "[0,0,-1,0,1,-1]", "[0,1,0]", "],\"variables\":[7"));
    assert_refused(FILE_WITH("", "", "", "],\"fields\":[[0,1,\"a.b\",\"a\",\"b\",8,0]"));
    assert_refused(FILE_WITH("", "", "", "],\"fields\":[[0,1,\"a.b\",\"a\",7,8,0,0]"));
    assert_refused(FILE_WITH("", "", "", "],\"fields\":[[0,1,\"a.b\",\"a\",\"b\",8,0,2]"));
    assert_refused(FILE_WITH("", "", "", "],\"made\":[[0,1,\"a\"]"));
    assert_refused(FILE_WITH("", "", "", "],\"made\":[[0,1,\"a\",8]"));
    assert_refused(FILE_WITH("", "", "", "],\"made\":[[0,1,\"a\",8,[[0,8]]]"));
    assert_refused(FILE_WITH("", "", "", "],\"made\":[7"));
    assert_refused(FILE_WITH("", "", "", "],\"made\":[[0,1,\"a\",8,[[0,8,\"b[]\",8]]]"));
    assert_refused(FILE_WITH("", "", "", "],\"made\":[[0,1,\"a\",8,[[0,8,\"b[]\",0,1]]]"));
    assert_refused(
        FILE_WITH("", "", "", "],\"made\":[[0,1,\"a\",8,[[0,1,\"b\",1,1,1,1,1,1,1,1]]]"));
    assert_refused(FILE_WITH("", "", "", "],\"types\":[7"));
    assert_refused(FILE_WITH("", "", "", "],\"types\":[[\"a\",8]"));
    assert_refused(FILE_WITH("", "", "", "],\"fields\":[[0,1,\"a.b\",\"a\",\"b\",8,0,0,0]"));
}

static void what_is_damaged_is_refused(void **state)
{
    (void)state;
    struct symbols *symbols;
    const char *good = FILE_WITH("\"f\"", "[0,0,-1,0,1,-1]", "[0,1,0]", "[0,1,[2]]");
    assert_int_equal(symbols__load_memory(good, strlen(good), &symbols, NULL), 0);
    symbols__free(symbols);
    for (size_t cut = 0; cut < strlen(good); cut++)
        assert_true(symbols__load_memory(good, cut, &symbols, NULL) < 0);
    assert_refused("");
    assert_refused("[]");
    assert_refused("{\"schema\":\"heurt.symbols/2\"}");
    assert_refused("{\"schema\":\"heurt.symbols/1\"}");
    assert_refused(FILE_WITH("7", "", "", ""));
    assert_refused(FILE_WITH("\"f\"", "[1,0,-1,0,1,-1]", "", ""));
    assert_refused(FILE_WITH("\"f\"", "[0,-1,-1,0,1,-1]", "", ""));
    assert_refused(FILE_WITH("\"f\"", "[0,0,1,0,1,-1]", "", ""));
    assert_refused(FILE_WITH("\"f\"", "[0,0,-1,0,1,0]", "", "")); /* inlined into itself */
    assert_refused(FILE_WITH("\"f\"", "[0,0,-1,0,1]", "", ""));
    assert_refused(FILE_WITH("\"f\"", "[0,0,-1,0,1,-1]", "[0,1,1]", ""));
    assert_refused(FILE_WITH("\"f\"", "[0,0,-1,0,1,-1]", "[0,1,-1]", ""));
    assert_refused(FILE_WITH("\"f\"", "[0,0,-1,0,1,-1]", "[4294967296,1,0]", ""));
    assert_refused(FILE_WITH("\"f\"", "[0,0,-1,0,1,-1]", "", "[0,1,2]"));
    assert_refused(FILE_WITH("\"f\"", "[0,0,-1,0,1,-1]", "", "[0,1,[\"x\"]]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(what_is_saved_is_loaded),
        IN_DIRECTORY(many_addresses_are_found_again),
        IN_DIRECTORY(what_cannot_be_saved_or_loaded_is_told),
        IN_DIRECTORY(a_file_without_variables_is_read),
        IN_DIRECTORY(what_is_damaged_is_refused),
    };
    return cmocka_run_group_tests_name("symbols", tests, NULL, NULL);
}
