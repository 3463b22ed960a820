/* What is kept of a file must give the plan that the file itself gives, or not be used. Whether it
 * is used is seen on a file whose contents have been taken away. */
#include "base/memory.h"
#include "patch/plan.h"
#include "patch/plan_cache.h"
#include "recorder/kept_plans.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct scene {
    char *directory; /* of everything below */
    char *module;    /* a copy of a library */
    char *cache;
    char *entry; /* of the module in the cache */
    uint8_t build_id[HEURT_BUILD_ID_MAX];
    size_t build_id_bytes;
};

static void *read_file(const char *path, size_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    assert_true(fd >= 0 && fstat(fd, &status) == 0);
    *bytes = (size_t)status.st_size;
    void *content = memory__zeroed(*bytes + 1, 1);
    assert_int_equal(read(fd, content, *bytes), status.st_size);
    close(fd);
    return content;
}

static void write_file(const char *path, const void *content, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, bytes), bytes);
    close(fd);
}

static void read_build_id(struct scene *scene)
{
    elf_version(EV_CURRENT);
    int fd = open(scene->module, O_RDONLY | O_CLOEXEC);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    const void *id;
    ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);
    assert_in_range(bytes, 8, HEURT_BUILD_ID_MAX);
    memcpy(scene->build_id, id, (size_t)bytes);
    scene->build_id_bytes = (size_t)bytes;
    elf_end(elf);
    close(fd);
}

static void start(struct scene *scene)
{
    char template[] = "/tmp/heurt-plan-cache-XXXXXX";
    scene->directory = memory__text(mkdtemp(template));
    assert_non_null(scene->directory);
    scene->module = memory__format("%s/module.so", scene->directory);
    scene->cache = memory__format("%s/cache/plans", scene->directory);
    size_t bytes;
    void *content = read_file(PROGRAMS "/symbol_chain.so", &bytes);
    write_file(scene->module, content, bytes);
    free(content);
    read_build_id(scene);
    char id[2 * HEURT_BUILD_ID_MAX + 1];
    for (size_t i = 0; i < scene->build_id_bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", scene->build_id[i]);
    scene->entry = memory__format("%s/%s.plan", scene->cache, id);
}

static void end(struct scene *scene)
{
    char *command = memory__format("rm -rf '%s'", scene->directory);
    assert_int_equal(system(command), 0);
    free(command);
    free(scene->directory);
    free(scene->module);
    free(scene->cache);
    free(scene->entry);
}

/* Another file of the same size and time. */
static void take_contents_away(const struct scene *scene)
{
    struct stat status;
    assert_int_equal(stat(scene->module, &status), 0);
    void *zeroes = memory__zeroed((size_t)status.st_size, 1);
    write_file(scene->module, zeroes, (size_t)status.st_size);
    free(zeroes);
    struct timespec times[2] = {status.st_atim, status.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, scene->module, times, 0), 0);
}

static struct trace_module module_at(const struct scene *scene, uint64_t bias)
{
    return (struct trace_module){.path = scene->module,
                                 .bias = bias,
                                 .build_id = scene->build_id,
                                 .build_id_bytes = scene->build_id_bytes};
}

static struct plan *plan_at(const struct scene *scene, const char *pattern, char *cache,
                            uint64_t bias)
{
    struct trace_module module = module_at(scene, bias);
    struct plan_request request = {VEC_OF(char *), VEC_OF(char *), VEC_OF(struct plan_arguments),
                                   cache};
    struct plan *result = NULL;
    struct error error;
    vec__push(&request.functions, &pattern);
    assert_int_equal(plan__make(&request, &module, 1, &result, &error), 0);
    vec__free(&request.functions);
    return result;
}

static struct plan *plan(const struct scene *scene, const char *pattern, char *cache)
{
    return plan_at(scene, pattern, cache, 0x7000000);
}

static void assert_same_refusals(const struct vec *left, const struct vec *right)
{
    assert_int_equal(left->count, right->count);
    for (size_t i = 0; i < left->count; i++) {
        const struct refused_function *a = VEC_AT(left, struct refused_function, i);
        const struct refused_function *b = VEC_AT(right, struct refused_function, i);
        assert_string_equal(a->function, b->function);
        assert_string_equal(a->module, b->module);
        assert_string_equal(a->reason, b->reason);
    }
}

static void assert_same(const struct plan *left, const struct plan *right)
{
    assert_int_equal(left->functions.count, right->functions.count);
    for (size_t i = 0; i < left->functions.count; i++) {
        const struct planned_function *a = VEC_AT(&left->functions, struct planned_function, i);
        const struct planned_function *b = VEC_AT(&right->functions, struct planned_function, i);
        assert_string_equal(a->name, b->name);
        assert_string_equal(a->argument_names, b->argument_names);
        assert_memory_equal(&a->plan, &b->plan, sizeof a->plan);
    }
    assert_same_refusals(&left->refusals, &right->refusals);
    assert_same_refusals(&left->unmatched, &right->unmatched);
}

static void assert_plans(const struct scene *scene, char *cache, const struct plan *expected)
{
    struct plan *made = plan(scene, "*", cache);
    assert_same(made, expected);
    plan__free(made);
}

static bool is_used(const struct scene *scene)
{
    struct plan *made = plan(scene, "*", scene->cache);
    bool used = made->functions.count > 0;
    plan__free(made);
    return used;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void what_was_kept_gives_the_same_plan(void **state)
{
    (void)state;
    struct scene scene;
    start(&scene);
    struct plan *expected = plan(&scene, "*", NULL);
    assert_true(expected->functions.count > 0);
    assert_int_not_equal(access(scene.cache, F_OK), 0);
    assert_plans(&scene, scene.cache, expected);
    assert_int_equal(access(scene.entry, R_OK), 0);
    assert_plans(&scene, scene.cache, expected);
    take_contents_away(&scene);
    assert_plans(&scene, scene.cache, expected); /* without looking into the file */
    assert_false(is_used(&(struct scene){
        .module = scene.module, .cache = NULL, .build_id_bytes = scene.build_id_bytes}));
    plan__free(expected);
    end(&scene);
}

static void what_was_kept_grows_with_what_is_asked(void **state)
{
    (void)state;
    struct scene scene;
    start(&scene);
    struct plan *expected = plan(&scene, "*", NULL);
    for (size_t i = 0; i < expected->functions.count; i++) {
        const struct planned_function *one =
            VEC_AT(&expected->functions, struct planned_function, i);
        struct plan *made = plan(&scene, one->name, scene.cache);
        assert_int_equal(made->functions.count, 1);
        plan__free(made);
    }
    assert_plans(&scene, scene.cache, expected);
    plan__free(expected);
    end(&scene);
}

static void what_was_planned_in_the_session_is_moved_to_where_the_file_is(void **state)
{
    (void)state;
    enum { ALL = 1, OTHERS = 2 };
    const uint64_t places[] = {0x7000000, 0x12345000, 0x7fff12345000, 0x7000000};
    struct kept_plans kept;
    struct scene scene;
    start(&scene);
    kept_plans__start(&kept);
    struct trace_module module = module_at(&scene, places[0]);
    assert_null(kept_plans__find(&kept, ALL, &module, 1));
    kept_plans__keep(&kept, plan_at(&scene, "*", NULL, places[0]));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        module.bias = places[i];
        struct plan *expected = plan_at(&scene, "*", NULL, places[i]);
        struct plan *found = kept_plans__find(&kept, ALL, &module, 1);
        assert_non_null(found);
        assert_true(found->functions.count > 0);
        assert_same(found, expected);
        plan__free(expected);
    }
    assert_null(kept_plans__find(&kept, OTHERS, &module, 1));
    struct trace_module twice[] = {module, module};
    assert_null(kept_plans__find(&kept, ALL, twice, 2));
    assert_int_equal(truncate(scene.module, 10), 0); /* another file */
    assert_null(kept_plans__find(&kept, ALL, &module, 1));
    kept_plans__free(&kept);
    end(&scene);
}

static void what_is_damaged_is_not_used(void **state)
{
    (void)state;
    struct scene scene;
    start(&scene);
    assert_true(is_used(&scene));
    size_t bytes;
    uint8_t *whole = read_file(scene.entry, &bytes);
    take_contents_away(&scene);
    assert_true(is_used(&scene));
    for (size_t at = 0; at < bytes; at += at < 512 ? 1 : 37) {
        whole[at] ^= 0x10;
        write_file(scene.entry, whole, bytes);
        if (is_used(&scene))
            fail_msg("used with a wrong byte at %zu", at);
        whole[at] ^= 0x10;
    }
    for (size_t length = 0; length < bytes; length += bytes / 7 + 1) {
        write_file(scene.entry, whole, length);
        assert_false(is_used(&scene));
    }
    write_file(scene.entry, whole, bytes);
    assert_true(is_used(&scene));
    free(whole);
    end(&scene);
}

static void what_is_damaged_is_replaced(void **state)
{
    (void)state;
    struct scene scene;
    start(&scene);
    struct plan *expected = plan(&scene, "*", NULL);
    assert_plans(&scene, scene.cache, expected);
    write_file(scene.entry, "nothing", 7);
    assert_plans(&scene, scene.cache, expected);
    take_contents_away(&scene);
    assert_plans(&scene, scene.cache, expected);
    plan__free(expected);
    end(&scene);
}

static void what_others_may_write_is_not_used(void **state)
{
    (void)state;
    struct scene scene;
    start(&scene);
    assert_true(is_used(&scene));
    take_contents_away(&scene);
    assert_int_equal(chmod(scene.entry, 0622), 0);
    assert_false(is_used(&scene));
    assert_int_equal(chmod(scene.entry, 0600), 0);
    assert_true(is_used(&scene));
    if (geteuid() == 0) {
        assert_int_equal(chown(scene.entry, 1, 1), 0);
        assert_false(is_used(&scene));
    }
    end(&scene);
}

static void what_belongs_to_another_file_is_not_used(void **state)
{
    (void)state;
    struct scene scene;
    start(&scene);
    assert_true(is_used(&scene));
    take_contents_away(&scene);
    struct stat status;
    assert_int_equal(stat(scene.module, &status), 0);
    struct timespec times[2] = {status.st_atim, status.st_mtim};
    times[1].tv_nsec ^= 1;
    assert_int_equal(utimensat(AT_FDCWD, scene.module, times, 0), 0);
    assert_false(is_used(&scene));
    assert_int_equal(
        utimensat(AT_FDCWD, scene.module, (struct timespec[]){status.st_atim, status.st_mtim}, 0),
        0);
    assert_true(is_used(&scene));
    char *other = memory__text(scene.entry);
    char *digit = strrchr(other, '/') + 1;
    *digit = *digit == '0' ? '1' : '0';
    assert_int_equal(rename(scene.entry, other), 0);
    sscanf(digit, "%2hhx", scene.build_id);
    assert_false(is_used(&scene));
    free(other);
    end(&scene);
}

static void files_without_a_build_id_are_not_kept(void **state)
{
    (void)state;
    struct scene scene;
    start(&scene);
    scene.build_id_bytes = 0;
    assert_true(is_used(&scene));
    assert_int_not_equal(access(scene.cache, F_OK), 0);
    end(&scene);
}

static void without_a_place_nothing_is_kept(void **state)
{
    (void)state;
    struct scene scene;
    start(&scene);
    struct plan *expected = plan(&scene, "*", NULL);
    char *impossible = memory__format("%s/plans", scene.module);
    assert_plans(&scene, impossible, expected);
    free(impossible);
    plan__free(expected);
    end(&scene);
}

static void several_processes_share_it(void **state)
{
    (void)state;
    enum { PROCESSES = 4, ROUNDS = 8 };
    struct scene scene;
    start(&scene);
    struct plan *expected = plan(&scene, "*", NULL);
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        for (int round = 0; children[i] == 0 && round < ROUNDS; round++) {
            assert_plans(&scene, scene.cache, expected);
            unlink(scene.entry);
        }
        if (children[i] == 0)
            _exit(0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_plans(&scene, scene.cache, expected);
    char *command = memory__format("test \"$(ls '%s' | wc -l)\" = 1", scene.cache);
    assert_int_equal(system(command), 0); /* nothing half-written is left */
    free(command);
    plan__free(expected);
    end(&scene);
}

static void it_does_not_grow_for_ever(void **state)
{
    (void)state;
    struct scene scene;
    start(&scene);
    assert_true(is_used(&scene));
    char *old = memory__format("%s/00.plan", scene.cache);
    char *newer = memory__format("%s/01.plan", scene.cache);
    write_file(old, "", 0);
    write_file(newer, "", 0);
    assert_int_equal(truncate(old, (off_t)PLAN_CACHE_BYTES_MAX), 0);
    assert_int_equal(utimensat(AT_FDCWD, old, (struct timespec[]){{1, 0}, {1, 0}}, 0), 0);
    unlink(scene.entry);
    assert_true(is_used(&scene)); /* writes it again */
    assert_int_not_equal(access(old, F_OK), 0);
    assert_int_equal(access(newer, F_OK), 0);
    assert_int_equal(access(scene.entry, F_OK), 0);
    free(old);
    free(newer);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_kept_gives_the_same_plan),
        cmocka_unit_test(what_was_kept_grows_with_what_is_asked),
        cmocka_unit_test(what_was_planned_in_the_session_is_moved_to_where_the_file_is),
        cmocka_unit_test(what_is_damaged_is_not_used),
        cmocka_unit_test(what_is_damaged_is_replaced),
        cmocka_unit_test(what_others_may_write_is_not_used),
        cmocka_unit_test(what_belongs_to_another_file_is_not_used),
        cmocka_unit_test(files_without_a_build_id_are_not_kept),
        cmocka_unit_test(without_a_place_nothing_is_kept),
        cmocka_unit_test(several_processes_share_it),
        cmocka_unit_test(it_does_not_grow_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
