/* What the recorder takes from rings that the program writes (recorder/timed_samples.h): a program
 * may write there what it likes, and the recorder stays within its mapping and looks at no process
 * of somebody else. */
#include "writing.h"

#include "recorder/timed_samples.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- a hostile program ----------------------------------------------------------------------- */

struct ring_scene {
    struct trace_writer *writer;
    struct heurt_session *session;
    struct timed_samples *samples;
    uint64_t limit; /* units that are mapped */
};

static struct heurt_chunk *chunk_at(const struct ring_scene *scene, uint64_t unit)
{
    return (void *)((char *)scene->session + unit * HEURT_UNIT_BYTES);
}

static void put_chunk(const struct ring_scene *scene, uint64_t unit, uint32_t kind, uint64_t units,
                      uint32_t pid)
{
    struct heurt_chunk *chunk = chunk_at(scene, unit);
    *chunk = (struct heurt_chunk){
        .magic = HEURT_CHUNK_MAGIC, .kind = kind, .units = (uint32_t)units, .pid = pid};
}

/* A ring with one sample. */
static struct heurt_chunk *put_ring(const struct ring_scene *scene, uint64_t unit, uint32_t pid)
{
    put_chunk(scene, unit, HEURT_CHUNK_SAMPLES, HEURT_RING_UNITS, pid);
    struct heurt_timed_ring *ring = (void *)(chunk_at(scene, unit) + 1);
    ring->samples[0] = (struct heurt_timed_sample){
        .number = 1, .monotonic_ns = 5000, .weight_ns = 1000, .instruction = 1, .tid = pid};
    ring->taken = 1;
    return chunk_at(scene, unit);
}

static struct ring_scene begin(void)
{
    struct ring_scene scene = {.writer = create("t")};
    scene.session = trace_writer__session(scene.writer);
    scene.limit = scene.session->limit_units;
    scene.samples = timed_samples__new(scene.writer, 997, 199);
    return scene;
}

static void end(struct ring_scene *scene)
{
    timed_samples__free(scene->samples);
    trace_writer__discard(scene->writer);
}

/* ---- what comes of it ------------------------------------------------------------------------ */

struct seen {
    unsigned samples, maps, of_others;
    uint64_t lost;
    uint32_t pid;
};

static bool knows_none(uint32_t pid, uint64_t address, void *context)
{
    (void)pid, (void)address, (void)context;
    return false;
}

static void see(const struct record *record, void *context)
{
    struct seen *seen = context;
    seen->samples += record->kind == RECORD_SAMPLE;
    seen->maps += record->kind == RECORD_MAP;
    seen->lost += record->kind == RECORD_LOST ? record->count : 0;
    seen->of_others += record->kind != RECORD_LOST && record->pid != seen->pid;
}

static struct seen drain(const struct ring_scene *scene)
{
    struct seen seen = {.pid = (uint32_t)getpid()};
    timed_samples__drain(scene->samples, knows_none, see, &seen);
    return seen;
}

/* ---- tests ----------------------------------------------------------------------------------- */

#define SKIP_WITHOUT(scene)  \
    if (!(scene)->samples) { \
        end(scene);          \
        skip();              \
    }

static void what_a_process_of_this_user_wrote_is_taken(void **state)
{
    (void)state;
    struct ring_scene scene = begin();
    SKIP_WITHOUT(&scene);
    uint64_t unit = scene.session->next_unit;
    put_ring(&scene, unit, (uint32_t)getpid());
    scene.session->next_unit = unit + HEURT_RING_UNITS;
    struct seen seen = drain(&scene);
    assert_int_equal(seen.samples, 1);
    assert_true(seen.maps > 0);
    assert_int_equal(seen.of_others, 0);
    end(&scene);
}

/* All that it can say of how long the file is: in the session, and in a ring's header. */
static void a_wrong_limit_leads_out_of_nothing(void **state)
{
    (void)state;
    struct ring_scene scene = begin();
    SKIP_WITHOUT(&scene);
    uint64_t unit = scene.session->next_unit, last = scene.limit - HEURT_RING_UNITS / 2;
    put_chunk(&scene, unit, HEURT_CHUNK_FREE, last - unit, (uint32_t)getpid());
    put_chunk(&scene, last, HEURT_CHUNK_SAMPLES, HEURT_RING_UNITS, (uint32_t)getpid());
    put_ring(&scene, last, (uint32_t)getpid());
    scene.session->limit_units = UINT64_MAX;
    scene.session->next_unit = UINT64_MAX;
    for (unsigned looks = 0; looks < 200; looks++) {
        struct seen seen = drain(&scene);
        assert_int_equal(seen.samples + seen.maps, 0);
    }
    scene.session->limit_units = scene.limit;
    scene.session->next_unit = scene.limit;
    end(&scene);
}

static void what_a_ring_says_of_itself_is_bounded(void **state)
{
    (void)state;
    struct ring_scene scene = begin();
    SKIP_WITHOUT(&scene);
    uint64_t unit = scene.session->next_unit;
    struct heurt_chunk *chunk = put_ring(&scene, unit, (uint32_t)getpid());
    scene.session->next_unit = unit + HEURT_RING_UNITS;
    assert_int_equal(drain(&scene).samples, 1);
    struct heurt_timed_ring *ring = (void *)(chunk + 1);
    ring->taken = UINT64_MAX;
    ring->samples[HEURT_RING_SAMPLES - 1].number = UINT64_MAX;
    struct seen seen = drain(&scene);
    assert_true(seen.samples <= HEURT_RING_SAMPLES);
    assert_true(seen.lost > 0);
    assert_int_equal(seen.of_others, 0);
    ring->taken = 0; /* backwards */
    seen = drain(&scene);
    assert_true(seen.samples <= HEURT_RING_SAMPLES);
    end(&scene);
}

/* A process of another user: a child that became one, where that is allowed; else the first one,
 * if that is. 0: there is none. */
static pid_t somebody(void)
{
    struct stat status;
    if (geteuid() != 0)
        return stat("/proc/1", &status) == 0 && status.st_uid != geteuid() ? 1 : 0;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        /* It ends with this test, however that ends, and holds nothing of it open. */
        bool is_other = setuid(65534) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
        if (is_other && write(ready[1], "x", 1) == 1 && close(1) == 0 && close(2) == 0)
            pause();
        _exit(1);
    }
    close(ready[1]);
    bool is_there = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    return is_there ? child : 0;
}

static void end_somebody(pid_t pid)
{
    if (geteuid() != 0 || pid <= 1)
        return;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void no_map_of_anothers_process_is_read(void **state)
{
    (void)state;
    struct ring_scene scene = begin();
    SKIP_WITHOUT(&scene);
    pid_t other = somebody();
    if (!other) {
        end(&scene);
        skip();
    }
    uint64_t unit = scene.session->next_unit;
    put_ring(&scene, unit, (uint32_t)other);
    struct heurt_chunk *own = put_ring(&scene, unit + HEURT_RING_UNITS, (uint32_t)getpid());
    scene.session->next_unit = unit + 2 * HEURT_RING_UNITS;
    struct seen seen = drain(&scene);
    assert_int_equal(seen.samples, 1);
    assert_int_equal(seen.of_others, 0);
    /* Nor is one that comes later, in the header of a ring that was taken for one's own. */
    struct heurt_timed_ring *ring = (void *)(own + 1);
    own->pid = (uint32_t)other;
    ring->samples[1] = ring->samples[0];
    ring->samples[1].number = ring->taken = 2;
    usleep(110000); /* maps are read again after 0.1 s */
    seen = drain(&scene);
    assert_int_equal(seen.samples, 1);
    assert_true(seen.maps > 0);
    assert_int_equal(seen.of_others, 0);
    end(&scene);
    end_somebody(other);
}

int main(void)
{
#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(what_a_process_of_this_user_wrote_is_taken),
        IN_DIRECTORY(a_wrong_limit_leads_out_of_nothing),
        IN_DIRECTORY(what_a_ring_says_of_itself_is_bounded),
        IN_DIRECTORY(no_map_of_anothers_process_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
