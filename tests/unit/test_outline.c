/* Outlines of programs whose loops are known. */
#include "analysis/analysis.h"
#include "analysis/structure/outline.h"
#include "analysis/structure/sequences.h"
#include "base/memory.h"
#include "scene.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OWN 10 /* ticks that every function takes for itself */

/* What the threads do is told by letters: each is a function, which calls what stands in the
 * parentheses behind it, and a blank is OWN ticks of what is not recorded. */
struct told {
    struct scene *scene;
    uint64_t at[SCENE_THREADS]; /* ticks */
};

static uint32_t id_of(char letter)
{
    return HEURT_EVENT_FUNCTIONS + 2 * (uint32_t)(letter - 'a');
}

static struct told tell(struct scene *scene)
{
    struct told told = {.scene = scene};
    for (char letter = 'a'; letter <= 'z'; letter++)
        scene__function(scene, 0, id_of(letter), 0x401000 + 0x100u * (uint32_t)letter,
                        (char[]){letter, '\0'}, "");
    return told;
}

/* Until the parenthesis that ends it; returns what stands behind. */
static const char *put_calls(struct told *told, uint32_t thread, const char *letters)
{
    uint64_t *at = &told->at[thread];
    while (*letters && *letters != ')') {
        char letter = *letters++;
        if (letter != ' ')
            PUT(told->scene, thread, *at, id_of(letter));
        if (*letters == '(')
            letters = put_calls(told, thread, letters + 1);
        *at += OWN;
        if (letter != ' ')
            PUT(told->scene, thread, *at, id_of(letter) | 1);
    }
    return *letters ? letters + 1 : letters;
}

static void thread_does(struct told *told, uint32_t thread, unsigned times, const char *letters)
{
    if (!told->at[thread]) {
        told->at[thread] = 2000;
        scene__start(told->scene, thread, 2000);
    }
    while (times--)
        put_calls(told, thread, letters);
}

static void finish(struct told *told)
{
    struct error error = {""};
    struct scene *scene = told->scene;
    for (uint32_t i = 0; i < SCENE_THREADS; i++)
        if (told->at[i])
            scene__end(scene, i, told->at[i]);
    assert_int_equal(trace_writer__finish(scene->writer, 0, scene->end, &error), 0);
    assert_int_equal(trace__open(scene->directory, &scene->trace, &error), 0);
    scene->writer = NULL;
}

/* ---- what an outline says -------------------------------------------------------------------- */

static void write_row(FILE *out, const struct structure *structure, const struct outline_row *row)
{
    static const char *const names[] = {
        [OUTLINE_LOOP] = "loop", [OUTLINE_UNRECORDED] = "unrecorded", [OUTLINE_REST] = "rest"};
    const char *name =
        row->kind == OUTLINE_OCCURRENCE || row->kind == OUTLINE_SCATTERED
            ? VEC_AT(&structure->places, struct structure_place, row->place)->what.at.function
            : names[row->kind];
    fprintf(out, "%*s%s", (int)row->depth + 1, "", name);
    if (row->kind == OUTLINE_LOOP)
        fprintf(out, " %" PRIu64 "-%" PRIu64, row->iterations.min, row->iterations.max);
    if (row->count)
        fprintf(out, " %sx%" PRIu64, row->is_count_estimated ? "~" : "", row->count);
    fprintf(out, " %s%" PRIu64, row->is_estimated ? "~" : "", row->sum_ns);
    if (row->excess_ns)
        fprintf(out, " lost %s%" PRIu64, row->is_excess_estimated ? "~" : "", row->excess_ns);
    if (row->shapes > 1)
        fprintf(out, " shapes %" PRIu32, row->shapes);
    if (row->kind == OUTLINE_SCATTERED)
        fprintf(out, " scattered");
    if (row->same_as != OUTLINE_NONE)
        fprintf(out, " as %" PRIu32, row->same_as);
    fprintf(out, "%s\n", row->is_cut ? " ..." : "");
}

/* One line a group and row. free() it. */
static char *written(const struct structure *structure, const struct outline *outline)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    VEC_EACH (group, &outline->groups, struct outline_group) {
        fprintf(out, "%zu threads %" PRIu64 "\n", group->threads.count, group->lifetime_ns);
        for (uint32_t i = 0; i < group->row_count; i++) {
            const struct outline_row *row =
                VEC_AT(&outline->rows, struct outline_row, group->first_row + i);
            write_row(out, structure, row);
            if (row->kind <= OUTLINE_LOOP && row->threads != group->threads.count)
                fprintf(out, "%*sin %" PRIu32 "\n", (int)row->depth + 2, "", row->threads);
        }
    }
    fclose(out);
    return text;
}

static void assert_outline(const struct scene *scene, struct outline_options options,
                           const char *expected)
{
    struct structure *structure;
    struct error error;
    assert_int_equal(
        run__one(scene->trace, NULL, &structure_analysis, NULL, (void **)&structure, &error), 0);
    struct outline *outline = outline__new(scene->trace, structure, &options);
    char *text = written(structure, outline);
    assert_string_equal(text, expected);
    free(text);
    outline__free(outline);
    structure__free(structure);
}

static const struct outline_options everything = {0};

/* ---- tests ----------------------------------------------------------------------------------- */

static void loops_and_what_they_consist_of(void **state)
{
    struct told told = tell(*state);
    thread_does(&told, 0, 1, "a");
    thread_does(&told, 0, 4, "b(cc)d ");
    thread_does(&told, 0, 1, "e");
    finish(&told);
    assert_outline(*state, everything,
                   "1 threads 220\n"
                   " a x1 10\n"
                   " loop 4-4 x4 190\n"
                   "  b x4 120\n"
                   "   loop 2-2 x8 80\n"
                   "    c x8 80\n"
                   "   unrecorded 40\n"
                   "  d x4 40\n"
                   "  unrecorded 30\n"
                   " e x1 10\n"
                   " unrecorded 10\n");
}

static void equal_threads_are_one(void **state)
{
    struct told told = tell(*state);
    thread_does(&told, 0, 1, "m");
    for (uint32_t i = 1; i <= 3; i++)
        thread_does(&told, i, 2 + i, "ab");
    finish(&told);
    assert_outline(*state, everything,
                   "3 threads 240\n"
                   " loop 3-5 x12 240\n"
                   "  a x12 120\n"
                   "  b x12 120\n"
                   "1 threads 10\n"
                   " m x1 10\n");
}

/* What is the same in both stands in one row, each of the others where its thread has it. */
static void threads_that_differ_in_part_are_laid_beside_each_other(void **state)
{
    struct told told = tell(*state);
    thread_does(&told, 0, 1, "sp");
    thread_does(&told, 0, 9, "ab");
    thread_does(&told, 1, 1, "s");
    thread_does(&told, 1, 9, "a(c)b");
    thread_does(&told, 1, 1, "q");
    finish(&told);
    assert_outline(*state, everything,
                   "2 threads 490\n"
                   " s x2 20\n"
                   " p x1 10\n"
                   "  in 1\n"
                   " loop 9-9 x18 450 shapes 2\n"
                   "  a x18 270 shapes 2\n"
                   "   c x9 90\n"
                   "    in 1\n"
                   "   unrecorded 180\n"
                   "  b x18 180\n"
                   " q x1 10\n"
                   "  in 1\n");
}

/* f calls g for 10 ticks in either place, as far as anybody measured. */
static void what_is_in_several_places_is_divided(void **state)
{
    struct told told = tell(*state);
    thread_does(&told, 0, 1, "af(g( )h)bf(gh)cf(gh)d");
    finish(&told);
    assert_outline(*state, everything,
                   "1 threads 140\n"
                   " a x1 10\n"
                   " f x1 40 lost 10\n"
                   "  g x1 ~16 lost ~4\n"
                   "  h x1 ~12\n"
                   "  unrecorded 12\n"
                   " b x1 10\n"
                   " f x1 30 as 1\n"
                   " c x1 10\n"
                   " f x1 30 as 1\n"
                   " d x1 10\n");
}

static void neighbours_of_one_place_are_one_row(void **state)
{
    struct told told = tell(*state);
    thread_does(&told, 0, 1, "w(f(g)f(h)f(gk)m)");
    finish(&told);
    assert_outline(*state, everything,
                   "1 threads 90\n"
                   " w x1 90\n"
                   "  f x3 70 shapes 3\n"
                   "   g x2 20\n"
                   "   k x1 10\n"
                   "   h x1 10\n"
                   "   unrecorded 30\n"
                   "  m x1 10\n"
                   "  unrecorded 10\n");
}

/* Iterations of two kinds, by iterations, are one loop of both. */
static void loops_of_loops_are_one(void **state)
{
    struct told told = tell(*state);
    for (int i = 0; i < 5; i++) {
        thread_does(&told, 0, 2 + i % 3, "f(g)");
        thread_does(&told, 0, 1 + i % 2, "f(h)");
    }
    finish(&told);
    assert_outline(*state, everything,
                   "1 threads 420\n"
                   " loop 21-21 x21 420 shapes 2\n"
                   "  f x21 420 shapes 2\n"
                   "   g x14 140\n"
                   "   h x7 70\n"
                   "   unrecorded 210\n");
}

/* Of the same places, here and there, none of which takes enough for a row. */
static void small_ones_are_gathered_by_place(void **state)
{
    struct told told = tell(*state);
    thread_does(&told, 0, 1, "ab(wwww)cdb(ww)eafb(w)gb(wwwwwwwwww)h");
    finish(&told);
    assert_outline(*state, (struct outline_options){.least_share = 0.2},
                   "1 threads 290\n"
                   " b x1 110 lost 80\n"
                   "  loop 2-10 ~x5 ~92\n"
                   "   w ~x5 ~92\n"
                   " b x3 100 lost 20 shapes 2 scattered\n"
                   " rest x11 80\n");
}

static void depth_is_cut(void **state)
{
    struct told told = tell(*state);
    thread_does(&told, 0, 3, "f(g(h)x)");
    finish(&told);
    assert_outline(*state, (struct outline_options){.depth = 2},
                   "1 threads 120\n"
                   " loop 3-3 x3 120\n"
                   "  f x3 120 ...\n");
}

/* As many rows as fit, those that take the most time. */
static void an_outline_fits(void **state)
{
    struct told told = tell(*state);
    char body[128] = "a(";
    for (char letter = 'b'; letter <= 'p'; letter++)
        strncat(body, (char[]){letter, letter % 2 ? 'q' : 'r', '\0'}, 3);
    thread_does(&told, 0, 1, strcat(body, ")z(yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy)"));
    finish(&told);
    struct structure *structure;
    struct error error;
    const struct scene *scene = *state;
    struct outline_options options = {0};
    assert_int_equal(
        run__one(scene->trace, NULL, &structure_analysis, NULL, (void **)&structure, &error), 0);
    struct outline *whole = outline__new(scene->trace, structure, &options);
    struct outline *fitting = outline__fitting(scene->trace, structure, &options, 8);
    assert_true(whole->rows.count > 30);
    assert_in_range(fitting->rows.count, 3, 8);
    assert_true(options.least_share > 0);
    outline__free(whole);
    outline__free(fitting);
    structure__free(structure);
}

static void the_outermost_loop_is_found(void **state)
{
    struct told told = tell(*state);
    thread_does(&told, 0, 1, "m(ss(cc)p(q(abababab)))");
    finish(&told);
    struct structure *structure;
    struct error error;
    const struct scene *scene = *state;
    assert_int_equal(
        run__one(scene->trace, NULL, &structure_analysis, NULL, (void **)&structure, &error), 0);
    struct outline *outline = outline__new(scene->trace, structure, &everything);
    uint32_t row = outline__outermost(outline, 0);
    assert_int_not_equal(row, OUTLINE_NONE);
    assert_int_equal(VEC_AT(&outline->rows, struct outline_row, row)->iterations.max, 4);
    outline__free(outline);
    structure__free(structure);
}

static void write_sequence(char **to, const struct structure *structure,
                           const struct sequences *sequences, const struct sequence *sequence)
{
    VEC_EACH (item, &sequence->items, struct sequence_item)
        if (item->is_sequence)
            write_sequence(to, structure, sequences,
                           VEC_AT(&sequences->rows, struct sequence, item->what));
        else
            *(*to)++ = *VEC_AT(&structure->places, struct structure_place,
                               shapes__get(structure->shapes, item->what)->symbol)
                            ->what.at.function;
}

/* Fails the test unless the sequence is there, so often in so many places, and took so long. */
static void assert_sequence(const struct structure *structure, const struct sequences *sequences,
                            const char *letters, uint64_t occurrences, uint64_t places,
                            uint64_t sum_ns)
{
    VEC_EACH (sequence, &sequences->rows, struct sequence) {
        char text[64] = "", *end = text;
        write_sequence(&end, structure, sequences, sequence);
        *end = '\0';
        if (strcmp(text, letters) != 0)
            continue;
        assert_int_equal(sequence->occurrences, occurrences);
        assert_int_equal(sequence->places, places);
        assert_int_equal(sequence->sum_ns, sum_ns);
        return;
    }
    fail_msg("no sequence %s", letters);
}

/* a b three times, a b c twice, whatever stands between them; what is in a body that occurred
 * twice counts twice. */
static void sequences_in_several_places(void **state)
{
    struct told told = tell(*state);
    thread_does(&told, 0, 1, "abcbdabeabc");
    thread_does(&told, 0, 1, "f(xyu)gf(xyu)h(xyv)");
    finish(&told);
    struct structure *structure;
    struct error error;
    const struct scene *scene = *state;
    assert_int_equal(
        run__one(scene->trace, NULL, &structure_analysis, NULL, (void **)&structure, &error), 0);
    struct sequences *sequences = sequences__find(scene->trace, structure);
    assert_int_equal(sequences->rows.count, 3);
    assert_sequence(structure, sequences, "ab", 3, 3, 60);
    assert_sequence(structure, sequences, "abc", 2, 2, 60);
    assert_sequence(structure, sequences, "xy", 3, 2, 60);
    sequences__free(sequences);
    structure__free(structure);
}

/* How often the place stands in the outline, in rows of that depth; ticks are added to *sum. */
static uint64_t counted(const struct structure *structure, const struct outline *outline,
                        char place, uint32_t depth, uint64_t *sum)
{
    uint64_t count = 0;
    VEC_EACH (row, &outline->rows, struct outline_row)
        if (row->kind == OUTLINE_OCCURRENCE && row->depth == depth &&
            *VEC_AT(&structure->places, struct structure_place, row->place)->what.at.function ==
                place) {
            count += row->count;
            *sum += row->sum_ns;
        }
    return count;
}

/* Iterations of several kinds, by chance: one loop, in which each place has the count of those
 * iterations that it is in. */
static void iterations_of_several_kinds_are_one_loop(void **state)
{
    static const char *const kinds[] = {"habcdefgijk", "haefdgikbj", "hijklmnoabc",
                                        "hkjidcba",    "hzyxwvuts",  "hsabuvcwxd"};
    struct told told = tell(*state);
    uint64_t random = 1, iterations[26] = {0}, times = 2000;
    for (unsigned i = 0; i < times; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const char *kind = kinds[(random >> 33) % 6];
        thread_does(&told, 0, 1, kind);
        for (; *kind; kind++)
            iterations[*kind - 'a']++;
    }
    finish(&told);
    struct structure *structure;
    struct error error;
    const struct scene *scene = *state;
    assert_int_equal(
        run__one(scene->trace, NULL, &structure_analysis, NULL, (void **)&structure, &error), 0);
    struct outline *outline = outline__new(scene->trace, structure, &everything);
    const struct outline_row *loop = VEC_AT(&outline->rows, struct outline_row, 0);
    assert_int_equal(loop->kind, OUTLINE_LOOP);
    assert_int_equal(loop->kinds, 6);
    assert_int_equal(loop->count, times);
    for (char place = 'a'; place <= 'z'; place++) {
        uint64_t sum = 0;
        assert_int_equal(counted(structure, outline, place, 1, &sum), iterations[place - 'a']);
        assert_int_equal(sum, 10 * iterations[place - 'a']);
    }
    outline__free(outline);
    structure__free(structure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loops_and_what_they_consist_of, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(equal_threads_are_one, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(threads_that_differ_in_part_are_laid_beside_each_other,
                                        scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(what_is_in_several_places_is_divided, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(neighbours_of_one_place_are_one_row, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(loops_of_loops_are_one, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(small_ones_are_gathered_by_place, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(sequences_in_several_places, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(iterations_of_several_kinds_are_one_loop, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(depth_is_cut, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(an_outline_fits, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(the_outermost_loop_is_found, scene__setup, scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
