#include "base/memory.h"
#include "format/symbols.h"
#include "format/writer.h"
#include "symbol/interval.h"
#include "symbol/lookup.h"
#include "symbol/name.h"
#include "symbol/resolve.h"
#include "symbol/unwind.h"
#include "symbol_chain.h"

#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include <cmocka.h>

#define PROCESS 3
#define NOINLINE __attribute__((noinline))

/* ---- this process as a trace would describe it ----------------------------------------------- */

static void find_build_id(const struct dl_phdr_info *info, struct trace_module *module)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const char *at = (const char *)(info->dlpi_addr + header->p_vaddr);
        const char *end = at + header->p_memsz;
        if (header->p_type != PT_NOTE || header->p_align == 8)
            continue;
        while (at + sizeof(ElfW(Nhdr)) < end) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *name = at + sizeof *note, *bytes = name + (note->n_namesz + 3) / 4 * 4;
            if (note->n_type == NT_GNU_BUILD_ID && strcmp(name, "GNU") == 0) {
                module->build_id = (const uint8_t *)bytes;
                module->build_id_bytes = note->n_descsz;
            }
            at = bytes + (note->n_descsz + 3) / 4 * 4;
        }
    }
}

static int add_module(struct dl_phdr_info *info, size_t size, void *modules)
{
    (void)size;
    struct trace_module module = {
        .bias = info->dlpi_addr, .start = UINT64_MAX, .gone_tick = UINT64_MAX};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD)
            continue;
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        if (start < module.start)
            module.start = start;
        if (start + header->p_memsz > module.end)
            module.end = start + header->p_memsz;
    }
    find_build_id(info, &module);
    module.path = *info->dlpi_name ? strdup(info->dlpi_name) : realpath("/proc/self/exe", NULL);
    vec__push(modules, &module);
    return 0;
}

struct fixture {
    void *chain, *stripped, *split, *cxx; /* as of dlopen */
    struct vec modules;                   /* struct trace_module */
    struct images images;
    struct space space;
    struct symbols *symbols;
};

static void *load(const char *path)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        fail_msg("%s", dlerror());
    return module;
}

static int set_up(void **state)
{
    struct fixture *fixture = memory__zeroed(1, sizeof *fixture);
    fixture->chain = load(PROGRAMS "/symbol_chain.so");
    fixture->stripped = load(PROGRAMS "/symbol_stripped.so");
    fixture->split = load(PROGRAMS "/symbol_split.so");
    fixture->cxx = load(PROGRAMS "/symbol_cxx.so");
    fixture->modules = VEC_OF(struct trace_module);
    dl_iterate_phdr(add_module, &fixture->modules);
    fixture->images = IMAGES;
    space__start(&fixture->space, &fixture->images, fixture->modules.items, fixture->modules.count,
                 NULL);
    fixture->symbols = symbols__new();
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    symbols__free(fixture->symbols);
    space__end(&fixture->space);
    images__free(&fixture->images);
    VEC_EACH (module, &fixture->modules, struct trace_module)
        free((char *)module->path);
    vec__free(&fixture->modules);
    dlclose(fixture->chain);
    dlclose(fixture->stripped);
    dlclose(fixture->split);
    dlclose(fixture->cxx);
    free(fixture);
    return 0;
}

static const struct symbol *looked_up(struct fixture *fixture, uint64_t address, bool is_return)
{
    lookup__put(fixture->symbols, PROCESS, &fixture->space, address, 0, is_return);
    const struct symbol *symbol = symbols__get(fixture->symbols, PROCESS, address);
    assert_non_null(symbol);
    return symbol;
}

static const char *base_name(const char *path)
{
    return path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static void is_symbol(const struct symbol *symbol, const char *function, const char *file,
                      uint32_t line)
{
    assert_non_null(symbol);
    assert_string_equal(symbol->function, function);
    assert_true(symbol->named);
    if (!file) {
        assert_null(symbol->file);
        return;
    }
    assert_non_null(symbol->file);
    assert_string_equal(base_name(symbol->file), file);
    assert_int_equal(symbol->line, line);
}

/* ---- a snapshot, as the runtime takes it ----------------------------------------------------- */

enum { SNAPSHOT_WORDS = 4096, FRAMES = 512 };

static struct taken {
    uint64_t registers[HEURT_STACK_REGISTERS];
    uint64_t memory[SNAPSHOT_WORDS];
    size_t words;
    void *truth[FRAMES]; /* by libgcc's unwinder; [0] is in take itself */
    int truth_count;
} taken;

/* Addresses at the top of the stack, so that a copy does not run past it. */
static uint64_t *stack_end;

__attribute__((no_sanitize("address"))) static void copy_stack(void)
{
    const volatile uint64_t *from = (const uint64_t *)taken.registers[1];
    size_t words = 0;
    while (words < SNAPSHOT_WORDS && from + words < stack_end)
        words++;
    for (size_t i = 0; i < words; i++)
        taken.memory[i] = from[i];
    taken.words = words;
}

/* Not by backtrace(), which sanitizers wrap. */
static _Unwind_Reason_Code add_truth(struct _Unwind_Context *context, void *unused)
{
    (void)unused;
    uint64_t address = _Unwind_GetIP(context);
    if (!address || taken.truth_count == FRAMES)
        return _URC_END_OF_STACK;
    taken.truth[taken.truth_count++] = (void *)address;
    return _URC_NO_REASON;
}

__attribute__((no_sanitize("address"))) static NOINLINE void take(void)
{
    taken.truth_count = 0;
    _Unwind_Backtrace(add_truth, NULL);
    __asm__ volatile("lea 0(%%rip), %%rcx\n\t"
                     "mov %%rcx, (%0)\n\tmov %%rsp, 8(%0)\n\tmov %%rbp, 16(%0)\n\t"
                     "mov %%rbx, 24(%0)\n\tmov %%r12, 32(%0)\n\tmov %%r13, 40(%0)\n\t"
                     "mov %%r14, 48(%0)\n\tmov %%r15, 56(%0)"
                     :
                     : "a"(taken.registers)
                     : "rcx", "memory");
    copy_stack();
}

static struct snapshot snapshot(void)
{
    return (struct snapshot){.registers = taken.registers,
                             .memory = {taken.registers[1], taken.memory, taken.words}};
}

/* The unwinder agrees with libgcc's on every frame but the first, which is in take. */
static void agrees_with_truth(struct fixture *fixture)
{
    struct unwound_frame frames[UNWIND_FRAMES_MAX];
    struct snapshot whole = snapshot();
    size_t count = unwind__frames(&fixture->space, &whole, frames);
    size_t expected = (size_t)taken.truth_count;
    assert_int_equal(count, expected < UNWIND_FRAMES_MAX ? expected : UNWIND_FRAMES_MAX);
    assert_true(frames[0].is_exact);
    assert_int_equal(frames[0].address, taken.registers[0]);
    for (size_t i = 1; i < count; i++)
        assert_int_equal(frames[i].address, (uint64_t)taken.truth[i]);
}

typedef void begin_function(chain_callback *take, int bytes);

static begin_function *begin_of(void *module)
{
    return (begin_function *)dlsym(module, "chain_begin");
}

/* ---- names ----------------------------------------------------------------------------------- */

static void is_demangled(const char *symbol, const char *expected)
{
    char *name = symbol_name__demangle(symbol);
    assert_string_equal(name, expected);
    free(name);
}

static void names_are_demangled(void **state)
{
    (void)state;
    is_demangled("main", "main");
    is_demangled("f", "f");
    is_demangled("write@@GLIBC_2.2.5", "write");
    is_demangled("_ZN5shelf3BoxIiE4callEiPFvvE", "shelf::Box<int>::call(int, void (*)())");
    is_demangled("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
    is_demangled("_RNvC6_123foo3bar", "123foo::bar");
    is_demangled("_D3std5stdio7writelnFZv", "std.stdio.writeln()");
    is_demangled("_Z", "_Z");
    is_demangled("", "");
}

static void patterns_match_every_form_of_a_name(void **state)
{
    (void)state;
    const char *symbol = "_ZN5shelf3BoxIiE4callEiPFvvE";
    assert_true(symbol_name__matches("_ZN5shelf*", symbol));
    assert_true(symbol_name__matches("shelf::Box<int>::call", symbol));
    assert_true(symbol_name__matches("shelf::*::call", symbol));
    assert_true(symbol_name__matches("shelf::Box<int>::call(int, void (*)())", symbol));
    assert_false(symbol_name__matches("call", symbol));
    assert_false(symbol_name__matches("shelf::Box", symbol));
    assert_true(symbol_name__matches("queue_*", "queue_push"));
    assert_false(symbol_name__matches("queue", "queue_push"));
    assert_true(symbol_name__matches("write", "write@@GLIBC_2.2.5"));
    assert_true(symbol_name__matches("A::operator[](int)", "_ZN1AixEi"));
}

static void the_innermost_interval_is_found(void **state)
{
    (void)state;
    struct vec intervals = INTERVALS;
    intervals__add(&intervals, 10, 100, 0, 1);
    intervals__add(&intervals, 20, 30, 0, 2);
    intervals__add(&intervals, 20, 30, 1, 3);
    intervals__add(&intervals, 40, 50, 0, 4);
    intervals__add(&intervals, 200, 200, 0, 5);
    intervals__sort(&intervals);
    assert_null(intervals__find(&intervals, 9));
    assert_int_equal(intervals__find(&intervals, 10)->value, 1);
    assert_int_equal(intervals__find(&intervals, 29)->value, 3);
    assert_int_equal(intervals__find(&intervals, 30)->value, 1);
    assert_int_equal(intervals__find(&intervals, 49)->value, 4);
    assert_int_equal(intervals__find(&intervals, 99)->value, 1);
    assert_null(intervals__find(&intervals, 100));
    assert_null(intervals__find(&intervals, 200));
    vec__free(&intervals);
}

/* ---- look-ups -------------------------------------------------------------------------------- */

static void an_entry_is_found_with_file_and_line(void **state)
{
    struct fixture *fixture = *state;
    uint64_t address = (uint64_t)dlsym(fixture->chain, "chain_recurse");
    const struct symbol *symbol = looked_up(fixture, address, false);
    assert_string_equal(symbol->function, "chain_recurse");
    assert_string_equal(base_name(symbol->file), "symbol_chain.c");
    assert_string_equal(base_name(symbol->module), "symbol_chain.so");
    assert_true(symbol->line > 0);
    assert_null(symbol->inlined_by);
}

/* Frames: take, private, inner in outer in middle, begin. */
static void chain_is_resolved(struct fixture *fixture, void *module)
{
    begin_of(module)(take, 100);
    const int *lines = dlsym(module, "chain_lines");
    agrees_with_truth(fixture);
    const struct symbol *symbol = looked_up(fixture, (uint64_t)taken.truth[1], true);
    is_symbol(symbol, "chain_private", "symbol_chain.c", (uint32_t)lines[CHAIN_PRIVATE]);
    assert_null(symbol->inlined_by);
    symbol = looked_up(fixture, (uint64_t)taken.truth[2], true);
    is_symbol(symbol, "chain_inlined_inner", "symbol_chain.c", (uint32_t)lines[CHAIN_INNER]);
    symbol = symbol->inlined_by;
    is_symbol(symbol, "chain_inlined_outer", "symbol_chain.c", (uint32_t)lines[CHAIN_OUTER]);
    symbol = symbol->inlined_by;
    is_symbol(symbol, "chain_middle", "symbol_chain.c", (uint32_t)lines[CHAIN_MIDDLE]);
    assert_null(symbol->inlined_by);
    symbol = looked_up(fixture, (uint64_t)taken.truth[3], true);
    is_symbol(symbol, "chain_begin", "symbol_chain.c", (uint32_t)lines[CHAIN_BEGIN]);
}

static void inlined_functions_are_told(void **state)
{
    struct fixture *fixture = *state;
    chain_is_resolved(fixture, fixture->chain);
}

static void a_debug_file_of_its_own_is_used(void **state)
{
    struct fixture *fixture = *state;
    chain_is_resolved(fixture, fixture->split);
    size_t warnings;
    const char *const *sentences;
    warnings = symbols__warnings(fixture->symbols, &sentences);
    assert_int_equal(warnings, 0);
}

static struct image *image_at(struct fixture *fixture, uint64_t address)
{
    return space__find(&fixture->space, address, 0).image;
}

static void is_unnamed(struct fixture *fixture, uint64_t address, const char *label)
{
    const struct symbol *symbol = looked_up(fixture, address, true);
    assert_false(symbol->named);
    assert_null(symbol->file);
    assert_int_equal(strncmp(symbol->function, label, strlen(label)), 0);
    char offset[32];
    struct address_place place = space__find(&fixture->space, address, 0);
    snprintf(offset, sizeof offset, "+0x%" PRIx64 "]", address - place.module->bias);
    assert_string_equal(strchr(symbol->function, '+'), offset);
}

static void warns_once(struct fixture *fixture, uint64_t address, const char *words)
{
    const char *const *sentences;
    lookup__warn(fixture->symbols, image_at(fixture, address));
    lookup__warn(fixture->symbols, image_at(fixture, address));
    assert_int_equal(symbols__warnings(fixture->symbols, &sentences), 1);
    assert_non_null(strstr(sentences[0], words));
}

static void stripped_modules_keep_exported_names(void **state)
{
    struct fixture *fixture = *state;
    begin_of(fixture->stripped)(take, 100);
    agrees_with_truth(fixture);
    is_unnamed(fixture, (uint64_t)taken.truth[1], "[symbol_stripped.so+0x");
    is_symbol(looked_up(fixture, (uint64_t)taken.truth[2], true), "chain_middle", NULL, 0);
    is_symbol(looked_up(fixture, (uint64_t)taken.truth[3], true), "chain_begin", NULL, 0);
    warns_once(fixture, (uint64_t)taken.truth[1], "symbol_stripped.so: stripped");
}

static struct trace_module *module_named(struct fixture *fixture, const char *name)
{
    VEC_EACH (module, &fixture->modules, struct trace_module)
        if (strcmp(base_name(module->path), name) == 0)
            return module;
    fail_msg("no module %s", name);
    return NULL;
}

static void a_missing_file_gives_module_and_offset(void **state)
{
    struct fixture *fixture = *state;
    uint64_t address = (uint64_t)dlsym(fixture->chain, "chain_middle");
    struct trace_module *module = module_named(fixture, "symbol_chain.so");
    free((char *)module->path);
    module->path = strdup("/nowhere/gone.so (deleted)");
    is_unnamed(fixture, address, "[gone.so+0x");
    warns_once(fixture, address, "/nowhere/gone.so: the file is gone");
}

static void a_replaced_file_is_not_believed(void **state)
{
    struct fixture *fixture = *state;
    uint64_t address = (uint64_t)dlsym(fixture->chain, "chain_middle");
    struct trace_module *module = module_named(fixture, "symbol_chain.so");
    uint8_t other[HEURT_BUILD_ID_MAX];
    assert_in_range(module->build_id_bytes, 8, sizeof other);
    memcpy(other, module->build_id, module->build_id_bytes);
    other[7] ^= 1;
    module->build_id = other;
    is_unnamed(fixture, address, "[symbol_chain.so+0x");
    warns_once(fixture, address, "symbol_chain.so: the file was rebuilt");
}

static void addresses_in_no_file_are_shown_as_they_are(void **state)
{
    struct fixture *fixture = *state;
    const struct symbol *symbol = looked_up(fixture, 0x1234, true);
    assert_string_equal(symbol->function, "[0x1234]");
    assert_string_equal(symbol->module, "");
    assert_false(symbol->named);
}

static void modules_are_told_apart_by_time(void **state)
{
    (void)state;
    struct trace_module modules[] = {
        {.tick = 100, .gone_tick = 200, .start = 0x1000, .end = 0x9000, .path = "[first]"},
        {.tick = 300, .gone_tick = UINT64_MAX, .start = 0x2000, .end = 0x3000, .path = "[second]"},
    };
    struct images images = IMAGES;
    struct space space, child;
    space__start(&space, &images, modules, 2, NULL);
    space__start(&child, &images, NULL, 0, &space);
    assert_ptr_equal(space__find(&space, 0x2800, 150).module, &modules[0]);
    assert_ptr_equal(space__find(&space, 0x2800, 350).module, &modules[1]);
    assert_ptr_equal(space__find(&child, 0x2800, 150).module, &modules[0]);
    assert_ptr_equal(space__find(&space, 0x5000, 350).module, &modules[0]);
    assert_null(space__find(&space, 0x9000, 150).module);
    space__end(&child);
    space__end(&space);
    images__free(&images);
}

static void programs_at_fixed_addresses_are_found(void **state)
{
    (void)state;
    void *entry, *site;
    int line;
    FILE *output = popen(PROGRAMS "/symbol_fixed", "r");
    assert_non_null(output);
    assert_int_equal(fscanf(output, "%p %p %d", &entry, &site, &line), 3);
    assert_int_equal(pclose(output), 0);
    struct trace_module module = {.gone_tick = UINT64_MAX,
                                  .start = 0x400000,
                                  .end = 0x500000,
                                  .path = PROGRAMS "/symbol_fixed"};
    struct fixture fixture = {.images = IMAGES, .symbols = symbols__new()};
    space__start(&fixture.space, &fixture.images, &module, 1, NULL);
    const struct symbol *symbol = looked_up(&fixture, (uint64_t)entry, false);
    assert_string_equal(symbol->function, "fixed_here");
    is_symbol(looked_up(&fixture, (uint64_t)site, true), "main", "symbol_fixed.c", (uint32_t)line);
    symbols__free(fixture.symbols);
    space__end(&fixture.space);
    images__free(&fixture.images);
}

/* ---- unwinding ------------------------------------------------------------------------------- */

static uint64_t cxx_sites[2];
static unsigned cxx_calls;

static void take_cxx(void)
{
    take();
    cxx_sites[cxx_calls++ % 2] = (uint64_t)taken.truth[2];
}

static void cxx_names_have_parameters(void **state)
{
    struct fixture *fixture = *state;
    int (*begin)(void (*)(void)) = (int (*)(void (*)(void)))dlsym(fixture->cxx, "cxx_begin");
    begin(take_cxx);
    agrees_with_truth(fixture);
    const struct symbol *symbol = looked_up(fixture, cxx_sites[0], true);
    is_symbol(symbol, "shelf::Box<int>::inlined(void (*)())", "symbol_cxx.cc", symbol->line);
    is_symbol(symbol->inlined_by, "cxx_begin", "symbol_cxx.cc", symbol->inlined_by->line);
    assert_true(symbol->line < symbol->inlined_by->line);
    symbol = looked_up(fixture, cxx_sites[1], true);
    is_symbol(symbol, "shelf::Box<int>::call(int, void (*)())", "symbol_cxx.cc", symbol->line);
}

static void what_is_inlined_into_a_closure_is_told(void **state)
{
    struct fixture *fixture = *state;
    int (*in_block)(void (*)(void)) = (int (*)(void (*)(void)))dlsym(fixture->cxx, "cxx_in_block");
    in_block(take_cxx);
    const struct symbol *symbol = looked_up(fixture, cxx_sites[(cxx_calls - 1) % 2], true);
    is_symbol(symbol, "shelf::Box<int>::inlined(void (*)())", "symbol_cxx.cc", symbol->line);
    assert_non_null(strstr(symbol->inlined_by->function, "{lambda(void (*)())#1}"));
}

static void deep_stacks_are_cut(void **state)
{
    struct fixture *fixture = *state;
    begin_function *recurse = (begin_function *)dlsym(fixture->chain, "chain_recurse");
    recurse(take, 60);
    agrees_with_truth(fixture);
    assert_string_equal(looked_up(fixture, (uint64_t)taken.truth[60], true)->function,
                        "chain_recurse");
    assert_string_not_equal(looked_up(fixture, (uint64_t)taken.truth[61], true)->function,
                            "chain_recurse");
    recurse(take, 300);
    assert_true(taken.truth_count > 300);
    agrees_with_truth(fixture);
}

static jmp_buf before_last;

static void take_and_leave(void)
{
    take();
    longjmp(before_last, 1);
}

static void calls_that_do_not_return_are_told(void **state)
{
    struct fixture *fixture = *state;
    void (*last)(chain_callback *) =
        (void (*)(chain_callback *))dlsym(fixture->chain, "chain_last");
    const int *lines = dlsym(fixture->chain, "chain_lines");
    if (setjmp(before_last) == 0)
        last(take_and_leave);
    agrees_with_truth(fixture);
    is_symbol(looked_up(fixture, (uint64_t)taken.truth[2], true), "chain_last", "symbol_chain.c",
              (uint32_t)lines[CHAIN_LAST]);
}

static void on_signal(int number)
{
    (void)number;
    take();
}

static void raise_signal(void)
{
    raise(SIGUSR1);
}

static void signal_frames_are_passed(void **state)
{
    struct fixture *fixture = *state;
    struct sigaction old, action = {.sa_handler = on_signal};
    assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
    begin_of(fixture->chain)(raise_signal, 64);
    sigaction(SIGUSR1, &old, NULL);
    agrees_with_truth(fixture);
    struct unwound_frame frames[UNWIND_FRAMES_MAX];
    struct snapshot whole = snapshot();
    size_t count = unwind__frames(&fixture->space, &whole, frames), exact = 0;
    for (size_t i = 1; i < count; i++)
        exact += frames[i].is_exact;
    assert_int_equal(exact, 1); /* the interrupted address */
}

/* However little of the stack there is, what comes out is the beginning of the truth. */
static void unwinding_ends_where_the_snapshot_ends(void **state)
{
    struct fixture *fixture = *state;
    struct unwound_frame frames[UNWIND_FRAMES_MAX];
    begin_of(fixture->chain)(take, 100);
    size_t before = 1;
    for (size_t words = 0; words <= taken.words; words++) {
        struct snapshot part = snapshot();
        part.memory.words = words;
        part.memory.memory =
            memory__zeroed(words, sizeof(uint64_t)); /* an overrun is seen by ASan */
        memcpy((void *)part.memory.memory, taken.memory, words * sizeof(uint64_t));
        size_t count = unwind__frames(&fixture->space, &part, frames);
        free((void *)part.memory.memory);
        assert_true(count >= before && count <= (size_t)taken.truth_count);
        for (size_t i = 1; i < count; i++)
            assert_int_equal(frames[i].address, (uint64_t)taken.truth[i]);
        before = count;
    }
    assert_int_equal(before, taken.truth_count);
}

static void frames_inside_the_runtime_are_left_out(void **state)
{
    struct fixture *fixture = *state;
    begin_of(fixture->chain)(take, 100);
    /* The runtime's name, but found where the file is: the rules still apply. */
    struct trace_module *module = module_named(fixture, "symbol_chain.so");
    char link[] = "/tmp/heurt-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(link));
    snprintf(path, sizeof path, "%s/libheurt.so", link);
    assert_int_equal(symlink(module->path, path), 0);
    free((char *)module->path);
    module->path = strdup(path);
    struct unwound_frame frames[UNWIND_FRAMES_MAX];
    struct snapshot whole = snapshot();
    size_t count = unwind__frames(&fixture->space, &whole, frames);
    unlink(path);
    rmdir(link);
    assert_int_equal(count, taken.truth_count - 3); /* private, middle, begin */
    assert_int_equal(frames[1].address, (uint64_t)taken.truth[4]);
}

/* ---- whole traces ---------------------------------------------------------------------------- */

static void define_module(struct trace_writer *writer, const struct trace_module *module)
{
    size_t path_bytes = strlen(module->path) + 1;
    struct heurt_module body = {.tick = 1000,
                                .bias = module->bias,
                                .start = module->start,
                                .end = module->end,
                                .build_id_bytes = (uint32_t)module->build_id_bytes};
    if (module->build_id_bytes)
        memcpy(body.build_id, module->build_id, module->build_id_bytes);
    char *bytes = memory__zeroed(sizeof body + path_bytes, 1);
    memcpy(bytes, &body, sizeof body);
    memcpy(bytes + sizeof body, module->path, path_bytes);
    assert_int_equal(trace_writer__define(writer, PROCESS, HEURT_DEFINITION_MODULE, bytes,
                                          sizeof body + path_bytes),
                     0);
    free(bytes);
}

static void define_process(struct trace_writer *writer, struct fixture *fixture)
{
    struct {
        struct heurt_process process;
        char path[8];
    } body = {{.pid = 1, .tick = 1000, .parent_process = HEURT_NO_SERIAL}, "/bin/p"};
    assert_int_equal(
        trace_writer__define(writer, PROCESS, HEURT_DEFINITION_PROCESS, &body, sizeof body), 0);
    VEC_EACH (module, &fixture->modules, struct trace_module)
        define_module(writer, module);
    struct {
        struct heurt_function function;
        char strings[16];
    } function = {{.id = HEURT_EVENT_FUNCTIONS,
                   .kind = HEURT_FUNCTION_PATCHED,
                   .address = (uint64_t)dlsym(fixture->chain, "chain_recurse")},
                  "chain_recurse\0"};
    assert_int_equal(trace_writer__define(writer, PROCESS, HEURT_DEFINITION_FUNCTION, &function,
                                          sizeof function),
                     0);
}

static void put_event(struct trace_writer *writer, uint64_t tick, uint32_t id,
                      const uint64_t *payload, size_t words)
{
    assert_int_equal(trace_writer__event(writer, PROCESS, 7, tick, id, payload, words), 0);
}

static void put_stack(struct trace_writer *writer, uint64_t tick)
{
    size_t words = HEURT_STACK_REGISTERS + taken.words;
    uint64_t *payload = memory__zeroed(words + 1, sizeof *payload);
    payload[0] = words;
    memcpy(payload + 1, taken.registers, sizeof taken.registers);
    memcpy(payload + 1 + HEURT_STACK_REGISTERS, taken.memory, taken.words * sizeof(uint64_t));
    put_event(writer, tick, HEURT_EVENT_STACK, payload, words + 1);
    free(payload);
}

static struct {
    long before[3];
    struct {
        pthread_mutex_t lock;
        pthread_cond_t filled;
    } rows[2];
} resolved;

/* One with a call stack as it begins, one with a call stack as it ends, two with none. */
static void put_waits(struct trace_writer *writer, uint64_t site)
{
    uint64_t lock[] = {HEURT_SITE(site, HEURT_LOCK_MUTEX), (uint64_t)&resolved.rows[1].lock};
    uint64_t condition[] = {site, (uint64_t)&resolved.rows[0].filled,
                            (uint64_t)&resolved.rows[0].lock};
    const uint64_t result = 0;
    put_stack(writer, 1990);
    put_event(writer, 2000, HEURT_EVENT_LOCK_WAIT, lock, 2);
    put_event(writer, 2050, HEURT_EVENT_LOCK_WAIT | 1, &result, 1);
    put_event(writer, 2100, HEURT_EVENT_LOCK_WAIT, lock, 2);
    put_stack(writer, 2500);
    put_event(writer, 2500, HEURT_EVENT_LOCK_WAIT | 1, &result, 1);
    put_event(writer, 2600, HEURT_EVENT_CONDITION_WAIT, condition, 3);
    put_event(writer, 2700, HEURT_EVENT_CONDITION_WAIT | 1, &result, 1);
    put_stack(writer, 2790);
    put_event(writer, 2800, HEURT_EVENT_LOCK_ACQUIRED, lock, 2);
    put_event(writer, 2900, HEURT_EVENT_LOCK_WAIT, lock, 2);
    put_event(writer, 2950, HEURT_EVENT_LOCK_WAIT | 1, &result, 1);
}

static void put_events(struct trace_writer *writer, struct fixture *fixture)
{
    uint64_t start[] = {1, HEURT_NO_SERIAL, (uint64_t)dlsym(fixture->cxx, "cxx_begin")};
    uint64_t site = (uint64_t)dlsym(fixture->split, "chain_middle") + 1; /* on no stack */
    uint64_t lock[] = {HEURT_SITE(site, HEURT_LOCK_SPIN), 0x7000};
    put_event(writer, 1500, HEURT_EVENT_THREAD_START, start, 3);
    put_stack(writer, 1600);
    put_event(writer, 1700, HEURT_EVENT_LOCK_ACQUIRED, lock, 2);
    put_event(writer, 1800, HEURT_EVENT_LOCK_RELEASED, lock, 2);
    put_waits(writer, site);
}

static struct trace *write_trace(struct fixture *fixture, const char *directory)
{
    const struct heurt_session settings = {
        .clock = HEURT_CLOCK_MONOTONIC, .limit_units = 16384, .start = {1000, 1000}};
    struct trace_writer *writer;
    struct trace *trace;
    struct error error = {""};
    if (trace_writer__create(directory, &settings, &writer, &error) < 0)
        fail_msg("%s", error.text);
    define_process(writer, fixture);
    put_events(writer, fixture);
    assert_int_equal(trace_writer__finish(writer, 0, (struct heurt_clock_pair){9000, 9000}, &error),
                     0);
    if (trace__open(directory, &trace, &error) < 0)
        fail_msg("%s", error.text);
    return trace;
}

static void assert_variables(const struct symbols *symbols)
{
    const struct {
        const void *address;
        const char *name;
    } known[] = {{&resolved.rows[1].lock, "resolved.rows[1].lock"},
                 {&resolved.rows[0].filled, "resolved.rows[0].filled"},
                 {&resolved.rows[0].lock, "resolved.rows[0].lock"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct symbol *variable =
            symbols__variable(symbols, PROCESS, (uint64_t)known[i].address);
        assert_non_null(variable);
        assert_string_equal(variable->function, known[i].name);
        assert_string_equal(base_name(variable->file), "test_symbol.c");
    }
    assert_null(symbols__variable(symbols, PROCESS, 0x7000));
}

/* Found by the tick at which the wait began. */
static void assert_stacks_of_waits(const struct symbols *symbols)
{
    const uint64_t *frames;
    assert_int_equal(symbols__get_stack(symbols, 7, 2000, &frames), taken.truth_count);
    assert_int_equal(symbols__get_stack(symbols, 7, 2100, &frames), taken.truth_count);
    assert_int_equal(symbols__get_stack(symbols, 7, 2500, &frames), taken.truth_count);
    assert_int_equal(symbols__get_stack(symbols, 7, 2600, &frames), 0);
    assert_int_equal(symbols__get_stack(symbols, 7, 2800, &frames), 0);
    assert_int_equal(symbols__get_stack(symbols, 7, 2900, &frames), 0);
}

static void a_whole_trace_is_resolved(void **state)
{
    struct fixture *fixture = *state;
    char directory[] = "/tmp/heurt-test-XXXXXX", path[64], command[96];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/t", directory);
    begin_of(fixture->chain)(take, 100);
    struct trace *trace = write_trace(fixture, path);
    struct symbols *symbols;
    struct error error = {""};
    assert_int_equal(symbols__resolve(trace, NULL, &symbols, &error), 0);
    uint64_t recurse = (uint64_t)dlsym(fixture->chain, "chain_recurse");
    uint64_t begin = (uint64_t)dlsym(fixture->cxx, "cxx_begin");
    assert_string_equal(symbols__get(symbols, PROCESS, recurse)->function, "chain_recurse");
    assert_string_equal(symbols__get(symbols, PROCESS, begin)->function, "cxx_begin");
    const uint64_t *frames;
    assert_int_equal(symbols__get_stack(symbols, 7, 1600, &frames), taken.truth_count);
    for (int i = 1; i < taken.truth_count; i++)
        assert_int_equal(frames[i], (uint64_t)taken.truth[i]);
    const struct symbol *symbol = symbols__get(symbols, PROCESS, (uint64_t)taken.truth[3]);
    is_symbol(symbol, "chain_begin", "symbol_chain.c", symbol->line);
    uint64_t middle = (uint64_t)dlsym(fixture->split, "chain_middle");
    symbol = symbols__get(symbols, PROCESS, middle + 1);
    is_symbol(symbol, "chain_middle", "symbol_chain.c", symbol->line);
    assert_null(symbols__get(symbols, PROCESS, middle + 2));
    assert_variables(symbols);
    assert_stacks_of_waits(symbols);
    assert_string_equal(symbols__get(symbols, PROCESS, frames[0])->function, "take");
    symbols__free(symbols);
    trace__close(trace);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
}

static struct symbols *resolve_with(struct trace *trace, const char *cache)
{
    struct symbols *symbols;
    struct error error = {""};
    assert_int_equal(symbols__resolve(trace, cache, &symbols, &error), 0);
    return symbols;
}

/* Names are of one length, so that what is kept stays as it was otherwise. */
static void names_are_kept_by_build_id(void **state)
{
    struct fixture *fixture = *state;
    char directory[] = "/tmp/heurt-test-XXXXXX", path[64], cache[64], command[160];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/t", directory);
    snprintf(cache, sizeof cache, "%s/cache/names", directory);
    begin_of(fixture->chain)(take, 100);
    struct trace *trace = write_trace(fixture, path);
    uint64_t recurse = (uint64_t)dlsym(fixture->chain, "chain_recurse");
    struct symbols *first = resolve_with(trace, cache), *again = resolve_with(trace, cache);
    size_t bytes;
    char *text = symbols__text(first, &bytes), *same = symbols__text(again, &bytes);
    assert_string_equal(text, same);
    snprintf(command, sizeof command, "sed -i s/chain_recurse/chain_altered/ %s/*.names", cache);
    assert_int_equal(system(command), 0);
    struct symbols *kept = resolve_with(trace, cache);
    assert_string_equal(symbols__get(kept, PROCESS, recurse)->function, "chain_altered");
    assert_variables(kept);
    snprintf(command, sizeof command, "sed -i s/^heurtnam/heurtmap/ %s/*.names", cache);
    assert_int_equal(system(command), 0);
    struct symbols *anew = resolve_with(trace, cache);
    assert_string_equal(symbols__get(anew, PROCESS, recurse)->function, "chain_recurse");
    snprintf(command, sizeof command, "grep -rq chain_recurse %s && rm -r %s", cache, directory);
    assert_int_equal(system(command), 0);
    symbols__free(first);
    symbols__free(again);
    symbols__free(kept);
    symbols__free(anew);
    free(text);
    free(same);
    trace__close(trace);
}

#define WITH_MODULES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv)
{
    (void)argc;
    stack_end = (uint64_t *)(((uint64_t)argv) & ~7ull);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_demangled),
        cmocka_unit_test(patterns_match_every_form_of_a_name),
        cmocka_unit_test(the_innermost_interval_is_found),
        cmocka_unit_test(modules_are_told_apart_by_time),
        cmocka_unit_test(programs_at_fixed_addresses_are_found),
        WITH_MODULES(an_entry_is_found_with_file_and_line),
        WITH_MODULES(inlined_functions_are_told),
        WITH_MODULES(a_debug_file_of_its_own_is_used),
        WITH_MODULES(stripped_modules_keep_exported_names),
        WITH_MODULES(a_missing_file_gives_module_and_offset),
        WITH_MODULES(a_replaced_file_is_not_believed),
        WITH_MODULES(addresses_in_no_file_are_shown_as_they_are),
        WITH_MODULES(cxx_names_have_parameters),
        WITH_MODULES(what_is_inlined_into_a_closure_is_told),
        WITH_MODULES(deep_stacks_are_cut),
        WITH_MODULES(calls_that_do_not_return_are_told),
        WITH_MODULES(signal_frames_are_passed),
        WITH_MODULES(unwinding_ends_where_the_snapshot_ends),
        WITH_MODULES(frames_inside_the_runtime_are_left_out),
        WITH_MODULES(a_whole_trace_is_resolved),
        WITH_MODULES(names_are_kept_by_build_id),
    };
    return cmocka_run_group_tests_name("symbol", tests, NULL, NULL);
}
