#include "recorder/hot_table.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/sanitize.h"
#include "base/text.h"
#include "recorder/function_list.h"
#include "symbol/functions.h"
#include "symbol/name.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

struct hot_file {
    struct module_functions *symbols; /* NULL: not opened yet, or it cannot be read */
    char *unreadable;                 /* why */
};

/* Where a module's spots go while its file is open. */
struct summing {
    struct vec *functions;
    struct map function_of_place;
    const struct hotspots_module *module;
    struct module_functions *symbols; /* NULL: the file cannot be read */
    char *unreadable;                 /* why */
};

/* The loader may know libz.so.1.2.13 as libz.so.1: the glob fits both. */
static char *module_glob(const struct summing *summing)
{
    const char *base = path__name(summing->module->path);
    const char *soname = summing->symbols ? module_functions__soname(summing->symbols) : NULL;
    if (!soname || !*soname || strcmp(soname, base) == 0)
        return function_list__quote(base);
    char *quoted = function_list__quote(soname);
    if (strncmp(base, soname, strlen(soname)) != 0)
        return quoted;
    char *glob = memory__format("%s*", quoted);
    free(quoted);
    return glob;
}

/* The symbol without version. The part of a function that the compiler moved out of the way is
 * never called: it counts as the function. */
static char *whole_function(const char *symbol)
{
    char *name = memory__text(symbol);
    char *version = strchr(name, '@');
    if (version && version != name)
        *version = 0;
    char *cold = strstr(name, ".cold");
    if (cold && cold != name && (cold[5] == 0 || cold[5] == '.'))
        *cold = 0;
    return name;
}

static void describe_named(struct hot_function *function, const char *symbol)
{
    function->symbol = whole_function(symbol);
    function->demangled = symbol_name__demangle(function->symbol);
    if (!text__is_harmless(function->symbol))
        function->reason = memory__text("a name with control characters");
    else if (function_list__is_plain(function->demangled) &&
             symbol_name__matches(function->demangled, function->symbol))
        function->pattern = memory__text(function->demangled);
    else
        function->pattern = function_list__quote(function->symbol);
}

static void describe_nameless(struct hot_function *function, const struct summing *summing)
{
    if (!summing->module->is_file) {
        function->reason = memory__text("not in a file");
        return;
    }
    if (!summing->symbols) {
        function->reason = memory__text(summing->unreadable);
        return;
    }
    const char *section = module_functions__section(summing->symbols, function->address);
    bool linkage = section && strncmp(section, ".plt", 4) == 0;
    if (linkage)
        function->reason = memory__format("%s: jumps to other modules", section);
    else
        function->pattern = memory__format("+0x%llx", (unsigned long long)function->address);
}

static struct hot_function describe(const struct summing *summing, const char *symbol,
                                    uint64_t start)
{
    struct hot_function function = {.address = start};
    if (symbol)
        describe_named(&function, symbol);
    else
        describe_nameless(&function, summing);
    function.module =
        summing->module->is_file ? module_glob(summing) : memory__text(summing->module->path);
    if (summing->module->is_file)
        function.path = memory__text(summing->module->path);
    return function;
}

static void add_spot(struct summing *summing, const struct hotspot *spot)
{
    const char *symbol = NULL;
    uint64_t address = spot->file_offset, start = 0;
    if (summing->symbols && module_functions__address(summing->symbols, address, &address))
        symbol = module_functions__find(summing->symbols, address, &start);
    char *whole = symbol ? whole_function(symbol) : NULL;
    uint64_t next = summing->functions->count;
    uint64_t index = whole ? map__put(&summing->function_of_place, whole, strlen(whole) + 1, next)
                           : map__put(&summing->function_of_place, &start, sizeof start, next);
    free(whole);
    if (index == next) {
        struct hot_function function = describe(summing, symbol, start);
        vec__push(summing->functions, &function);
    }
    struct hot_function *function = VEC_AT(summing->functions, struct hot_function, index);
    function->samples += spot->samples;
    function->weight_ns += spot->weight_ns;
}

static struct hot_file *file_of(struct hot_files *files, const struct hotspots_module *module,
                                uint32_t index)
{
    if (!files->opened.item_bytes)
        files->opened = VEC_OF(struct hot_file);
    struct hot_file *file = VEC_REACH(&files->opened, struct hot_file, index);
    struct error error;
    if (module->is_file && !file->symbols && !file->unreadable &&
        module_functions__open(module->path, &file->symbols, &error) < 0)
        file->unreadable = memory__text(error.text);
    return file;
}

const struct module_functions *
hot_files__functions(struct hot_files *files, const struct hotspots_module *module, uint32_t index)
{
    return file_of(files, module, index)->symbols;
}

void hot_files__close(struct hot_files *files)
{
    VEC_EACH (file, &files->opened, struct hot_file) {
        module_functions__close(file->symbols);
        free(file->unreadable);
    }
    vec__free(&files->opened);
}

bool hot_files__address(const struct hot_files *files, uint32_t index, uint64_t file_offset,
                        uint64_t *address)
{
    const struct hot_file *file =
        index < files->opened.count ? VEC_AT(&files->opened, struct hot_file, index) : NULL;
    return file && file->symbols && module_functions__address(file->symbols, file_offset, address);
}

static void add_module(struct hot_table *table, const struct hotspots *hotspots, uint32_t index,
                       struct hot_files *files)
{
    const struct hotspots_module *module =
        VEC_AT(hotspots__modules(hotspots), struct hotspots_module, index);
    const struct hot_file *file = file_of(files, module, index);
    struct summing summing = {
        .functions = &table->functions,
        .module = module,
        .symbols = file->symbols,
        .unreadable = file->unreadable,
    };
    VEC_EACH (spot, hotspots__spots(hotspots), const struct hotspot)
        if (spot->module == index)
            add_spot(&summing, spot);
    map__free(&summing.function_of_place);
}

static void free_function(struct hot_function *function)
{
    free(function->symbol);
    free(function->demangled);
    free(function->pattern);
    free(function->module);
    free(function->path);
    free(function->reason);
}

static double percent_of(const struct hot_table *table, uint64_t weight_ns)
{
    return table->totals.weight_ns ? 100.0 * (double)weight_ns / (double)table->totals.weight_ns
                                   : 0;
}

static int by_weight(const void *a, const void *b)
{
    const struct hot_function *left = a, *right = b;
    int order = ORDER(right->weight_ns, left->weight_ns) ?: strcmp(left->module, right->module);
    return order ?: ORDER(left->address, right->address);
}

static void drop_light(struct hot_table *table, double min_percent)
{
    struct hot_function *items = table->functions.items;
    size_t kept = 0;
    for (size_t i = 0; i < table->functions.count; i++) {
        if (percent_of(table, items[i].weight_ns) >= min_percent)
            items[kept++] = items[i];
        else
            free_function(&items[i]);
    }
    table->functions.count = kept;
    if (kept)
        qsort(items, kept, sizeof *items, by_weight);
}

struct hot_table hot_table__make(const struct hotspots *hotspots, double min_percent,
                                 struct hot_files *files)
{
    struct hot_files own = {0};
    struct hot_table table = {.totals = hotspots__totals(hotspots),
                              .functions = VEC_OF(struct hot_function)};
    size_t modules = hotspots__modules(hotspots)->count;
    uint64_t *weights_ns = memory__zeroed(modules, sizeof *weights_ns);
    VEC_EACH (spot, hotspots__spots(hotspots), const struct hotspot)
        weights_ns[spot->module] += spot->weight_ns;
    for (size_t i = 0; i < modules; i++) /* files of light modules need not be read */
        if (weights_ns[i] && percent_of(&table, weights_ns[i]) >= min_percent)
            add_module(&table, hotspots, (uint32_t)i, files ? files : &own);
    hot_files__close(&own);
    free(weights_ns);
    drop_light(&table, min_percent);
    return table;
}

void hot_table__free(struct hot_table *table)
{
    VEC_EACH (function, &table->functions, struct hot_function)
        free_function(function);
    vec__free(&table->functions);
}

/* Nothing that a program is called may begin a line of its own or move a terminal's cursor. */
static void print_clean(const char *text, FILE *out)
{
    char *clean = memory__text(text);
    text__blunt(clean, "");
    fputs(clean, out);
    free(clean);
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void print_head(const struct hot_table *table, const struct hot_run *run, FILE *out)
{
    fputs("# heurt hot --", out);
    for (char **word = run->command; *word; word++) {
        fputc(' ', out);
        print_clean(*word, out);
    }
    fprintf(out,
            "\n# %.3f s wall, CPU time %.3f s (user %.3f s, kernel %.3f s), %llu samples at %u a "
            "second\n",
            seconds(run->wall_ns), seconds(run->user_ns + run->system_ns), seconds(run->user_ns),
            seconds(run->system_ns), (unsigned long long)table->totals.samples, run->frequency_hz);
    if (!run->sees_kernel)
        fputs("# only time outside of the kernel is sampled (perf_event_paranoid): shares are of "
              "that\n",
              out);
    uint64_t spent_ns = run->user_ns + (run->sees_kernel ? run->system_ns : 0);
    if (table->totals.weight_ns < spent_ns / 2)
        fprintf(out,
                "# only %.3f s were sampled: threads that end within a %uth of a second are not "
                "seen; a higher --frequency sees more\n",
                seconds(table->totals.weight_ns), run->frequency_hz);
    if (table->totals.lost)
        fprintf(out, "# %llu records were lost\n", (unsigned long long)table->totals.lost);
    if (table->totals.throttled)
        fprintf(out, "# the kernel held samples back %llu times: a lower --frequency may help\n",
                (unsigned long long)table->totals.throttled);
    if (run->damaged)
        fprintf(out, "# %llu records could not be understood\n", (unsigned long long)run->damaged);
}

#define NAME_COLUMNS_MOST 60

static size_t name_columns(const struct hot_table *table)
{
    size_t columns = 0;
    VEC_EACH (function, &table->functions, const struct hot_function) {
        if (!function->pattern)
            continue;
        size_t length = strlen(function->pattern) + 2 + strlen(function->module);
        if (length > columns && length <= NAME_COLUMNS_MOST)
            columns = length;
    }
    return columns;
}

static void print_unnamed(const struct hot_function *function, double percent, FILE *out)
{
    fprintf(out, "# %.1f %%  ", percent);
    if (!function->path) {
        fputs(function->module, out);
    } else {
        fputs(function->symbol ? "[no pattern] " : "[no symbol] ", out);
        print_clean(path__name(function->path), out);
        fprintf(out, "+0x%llx (", (unsigned long long)function->address);
        print_clean(function->reason, out);
        fputc(')', out);
    }
    fputc('\n', out);
}

static void print_named(const struct hot_function *function, double percent, size_t columns,
                        FILE *out)
{
    int printed = fprintf(out, "%s @%s", function->pattern, function->module);
    for (size_t at = printed > 0 ? (size_t)printed : 0; at < columns; at++)
        fputc(' ', out);
    fprintf(out, "  # %4.1f %%", percent);
    if (!function->demangled) {
        fputs("  (stripped)", out);
    } else if (strcmp(function->pattern, function->demangled) != 0) {
        fputs("  ", out);
        print_clean(function->demangled, out);
    }
    fputc('\n', out);
}

void hot_table__print(const struct hot_table *table, const struct hot_run *run, FILE *out)
{
    print_head(table, run, out);
    size_t columns = name_columns(table);
    VEC_EACH (function, &table->functions, const struct hot_function) {
        double percent = percent_of(table, function->weight_ns);
        if (function->pattern)
            print_named(function, percent, columns, out);
        else
            print_unnamed(function, percent, out);
    }
}

static struct json_object *text_or_null(const char *text)
{
    if (!text)
        return NULL;
    char *clean = text__utf8(text);
    struct json_object *string = json_object_new_string(clean);
    free(clean);
    return string;
}

static struct json_object *function_to_json(const struct hot_table *table,
                                            const struct hot_function *function)
{
    struct json_object *json = json_object_new_object();
    json_object_object_add(json, "function", text_or_null(function->demangled));
    json_object_object_add(json, "symbol", text_or_null(function->symbol));
    json_object_object_add(json, "pattern", text_or_null(function->pattern));
    json_object_object_add(
        json, "module",
        text_or_null(function->path ? path__name(function->path) : function->module));
    json_object_object_add(json, "module_glob",
                           text_or_null(function->path ? function->module : NULL));
    json_object_object_add(json, "path", text_or_null(function->path));
    json_object_object_add(json, "address", json_object_new_uint64(function->address));
    json_object_object_add(json, "reason", text_or_null(function->reason));
    json_object_object_add(json, "samples", json_object_new_uint64(function->samples));
    json_object_object_add(json, "sampled_ns", json_object_new_uint64(function->weight_ns));
    json_object_object_add(json, "share",
                           json_object_new_double(percent_of(table, function->weight_ns) / 100));
    return json;
}

void hot_table__print_json(const struct hot_table *table, const struct hot_run *run, FILE *out)
{
    struct json_object *json = json_object_new_object(), *command = json_object_new_array(),
                       *functions = json_object_new_array();
    for (char **word = run->command; *word; word++)
        json_object_array_add(command, text_or_null(*word));
    VEC_EACH (function, &table->functions, const struct hot_function)
        json_object_array_add(functions, function_to_json(table, function));
    json_object_object_add(json, "schema", json_object_new_string("heurt.hot/1"));
    json_object_object_add(json, "command", command);
    json_object_object_add(json, "wall_ns", json_object_new_uint64(run->wall_ns));
    json_object_object_add(json, "user_ns", json_object_new_uint64(run->user_ns));
    json_object_object_add(json, "kernel_ns", json_object_new_uint64(run->system_ns));
    json_object_object_add(json, "frequency_hz", json_object_new_uint64(run->frequency_hz));
    json_object_object_add(json, "kernel_sampled", json_object_new_boolean(run->sees_kernel));
    json_object_object_add(json, "samples", json_object_new_uint64(table->totals.samples));
    json_object_object_add(json, "sampled_ns", json_object_new_uint64(table->totals.weight_ns));
    json_object_object_add(json, "records_lost", json_object_new_uint64(table->totals.lost));
    json_object_object_add(json, "throttled", json_object_new_uint64(table->totals.throttled));
    json_object_object_add(json, "functions", functions);
    const int form = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE;
    json__put_harmless(json_object_to_json_string_ext(json, form), out);
    fputc('\n', out);
    json_object_put(json);
}
