#include "recorder/retry_sites.h"

#include "base/descriptor.h"
#include "base/map.h"
#include "format/sampled_lines.h"
#include "patch/retry_loop.h"
#include "symbol/functions.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FUNCTION_BYTES_MOST 65536u /* of a function that is looked into */

/* A file of which code was sampled. */
struct sampled_file {
    const char *path;
    struct module_functions *functions; /* NULL: it cannot be read, as is bytes */
    const uint8_t *bytes;
    uint64_t size;
    struct map number_of_start; /* functions that were looked into: places in loops */
    struct vec loops;           /* struct vec of struct retry_loop */
};

static void map_file(struct sampled_file *file)
{
    struct stat status;
    int fd = descriptor__open_plain(file->path);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        file->bytes = bytes == MAP_FAILED ? NULL : bytes;
        file->size = file->bytes ? (uint64_t)status.st_size : 0;
    }
    if (fd >= 0)
        close(fd);
}

static struct sampled_file *file_of(struct vec *files, const char *path)
{
    VEC_EACH (file, files, struct sampled_file)
        if (strcmp(file->path, path) == 0)
            return file;
    struct sampled_file file = {.path = path, .loops = VEC_OF(struct vec)};
    struct error error;
    if (module_functions__open(path, &file.functions, &error) < 0)
        file.functions = NULL;
    else
        map_file(&file);
    return vec__push(files, &file);
}

static void close_files(struct vec *files)
{
    VEC_EACH (file, files, struct sampled_file) {
        VEC_EACH (loops, &file->loops, struct vec)
            retry_loops__free(loops);
        vec__free(&file->loops);
        map__free(&file->number_of_start);
        module_functions__close(file->functions);
        if (file->bytes)
            munmap((void *)(uintptr_t)file->bytes, file->size);
    }
    vec__free(files);
}

/* The end of the function that begins there: where another one does. */
static uint64_t end_of(const struct sampled_file *file, uint64_t start)
{
    uint64_t low = start, high = start + FUNCTION_BYTES_MOST, found;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        module_functions__find(file->functions, middle, &found);
        if (found == start)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Of the function around an address in the file; NULL: it cannot be read. */
static const struct vec *loops_around(struct sampled_file *file, uint64_t address)
{
    uint64_t start, offset;
    module_functions__find(file->functions, address, &start);
    uint64_t number = map__put(&file->number_of_start, &start, sizeof start, file->loops.count);
    if (number < file->loops.count)
        return VEC_AT(&file->loops, struct vec, number);
    if (!module_functions__offset(file->functions, start, &offset) || offset >= file->size)
        return vec__push(&file->loops, &VEC_OF(struct retry_loop));
    uint64_t bytes = end_of(file, start) - start;
    bytes = bytes < file->size - offset ? bytes : file->size - offset;
    struct vec loops = retry_loops__find(file->bytes + offset, bytes, offset);
    return vec__push(&file->loops, &loops);
}

static void look_at(struct vec *files, struct symbols *symbols, const struct trace_process *process,
                    uint64_t instruction)
{
    const struct trace_module *module = trace_process__module(process, instruction, UINT64_MAX - 1);
    struct sampled_file *file = module ? file_of(files, module->path) : NULL;
    uint64_t offset;
    if (!file || !file->bytes ||
        !module_functions__offset(file->functions, instruction - module->bias, &offset))
        return;
    const struct retry_loop *loop =
        retry_loops__at(loops_around(file, instruction - module->bias), offset);
    if (loop)
        symbols__put_retry(symbols, &(struct retry_site){process->serial, instruction,
                                                         instruction + loop->exchange - offset,
                                                         loop->is_static});
}

void retry_sites__find(const struct trace *trace, struct symbols *symbols)
{
    struct vec files = VEC_OF(struct sampled_file);
    struct map seen = {0};
    struct sample_threads *known = sample_threads__new(trace);
    VEC_EACH (sample, trace__samples(trace), const struct heurt_sample) {
        uint32_t thread = sample_threads__of(known, sample);
        if (thread >= trace__threads(trace)->count)
            continue;
        const uint64_t key[] = {trace__thread_at(trace, thread)->process, sample->instruction};
        size_t count = seen.count;
        map__put(&seen, key, sizeof key, 1);
        if (seen.count > count)
            look_at(&files, symbols, trace__process_at(trace, (size_t)key[0]), key[1]);
    }
    sample_threads__free(known);
    map__free(&seen);
    close_files(&files);
}
