/* test_dump.c: what heurt dump prints; the program is named by the environment (HEURT). */
#include "base/memory.h"
#include "fixture.h"
#include "format/symbols.h"
#include "writing.h"

#include <sys/wait.h>

static const char contended[] = "start 100\n"
                                "process 0 100 /bin/app\n"
                                "module 0 100 0x400000 0x500000 /bin/app 0x400000\n"
                                "function 0 1024 work 0x401000 x,y\n"
                                "region 0 1026 parse 0x401100 a.c:12\n"
                                "thread 0 main\n"
                                "210 work 3 0x7f0000000\n"
                                "220 lock_wait 0x401010/1 0x7000\n"
                                "230 leave lock_wait 0\n"
                                "235 condition_signalled 0x401010/1 0x8000\n"
                                "240 leave work\n"
                                "1000000300 thread_end 90 -1\n"
                                "thread 1 worker\n"
                                "215 parse\n"
                                "222 io 0x401020/1 5:2 512\n"
                                "224 leave io -1\n"
                                "225 work\n"
                                "226 unwound\n"
                                "227 io 0x401020/16 7:5 -1\n"
                                "228 leave io 1\n"
                                "250 leave parse\n";

static void write_fixture(const char *text)
{
    struct error error = {""};
    if (fixture__write("t", text, &error) < 0)
        fail_msg("%s", error.text);
}

/* The exit status of heurt dump -i t ARGUMENTS; its output, both streams in one. */
static int dump(const char *arguments, char **text)
{
    static char buffer[1 << 16];
    char *command = memory__format("%s dump -i t %s 2>&1", getenv("HEURT"), arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    buffer[fread(buffer, 1, sizeof buffer - 1, pipe)] = 0;
    int status = pclose(pipe);
    free(command);
    *text = buffer;
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void assert_dump(const char *arguments, const char *expected)
{
    char *text;
    assert_int_equal(dump(arguments, &text), 0);
    assert_string_equal(text, expected);
}

static void assert_usage(const char *arguments, const char *expected)
{
    char *text;
    assert_int_equal(dump(arguments, &text), 2);
    assert_string_equal(text, expected);
}

static void the_whole_trace_is_merged_and_nested(void **state)
{
    (void)state;
    write_fixture(contended);
    assert_dump("",
                "0.000000000    1000 main            enter work x=3 y=34091302912 (0x7f0000000)\n"
                "0.000000005    1001 worker          enter parse at=a.c:12\n"
                "0.000000010    1000 main            enter   lock wait (read) site=app+0x1010 "
                "lock=0x7000\n"
                "0.000000012    1001 worker          enter   read site=app+0x1020 fd=5 socket "
                "size=512\n"
                "0.000000014    1001 worker          leave   read result=-1\n"
                "0.000000015    1001 worker          enter   work x=0 y=0\n"
                "0.000000016    1001 worker          point   unwound\n"
                "0.000000017    1001 worker          enter   epoll_wait site=app+0x1020 fd=7 other "
                "timeout=-1 ms\n"
                "0.000000018    1001 worker          leave   epoll_wait result=1\n"
                "0.000000020    1000 main            leave   lock wait (read) result=0\n"
                "0.000000025    1000 main            point   condition signalled (broadcast) "
                "site=app+0x1010 condition=0x8000\n"
                "0.000000030    1000 main            leave work\n"
                "0.000000040    1001 worker          leave parse\n"
                "1.000000090    1000 main            point thread end cpu=90 ns runnable=?\n");
}

static void symbols_name_the_sites(void **state)
{
    (void)state;
    write_fixture(contended);
    struct symbols *symbols = symbols__new();
    struct symbol site = {.function = "queue\033_push",
                          .module = "/bin/app",
                          .file = "q.c",
                          .line = 88,
                          .named = true};
    symbols__put(symbols, 0, 0x401010, &site);
    assert_int_equal(symbols__save(symbols, "t", NULL), 0);
    symbols__free(symbols);
    assert_dump("-f 'lock*' --to 0.000000015",
                "0.000000010    1000 main            enter   lock wait (read) "
                "site=queue?_push q.c:88 lock=0x7000\n");
}

static void filters_leave_the_rest_out(void **state)
{
    (void)state;
    write_fixture(contended);
    assert_dump("-f read",
                "0.000000012    1001 worker          enter   read site=app+0x1020 fd=5 socket "
                "size=512\n"
                "0.000000014    1001 worker          leave   read result=-1\n");
    const char *end = "0.000000040    1001 worker          leave parse\n";
    assert_dump("--thread worker --from 0.00000004", end);
    assert_dump("--thread 1001 --from 0.00000004", end);
    assert_dump("--thread '#1' --from 0.00000004", end);
    assert_dump("--raw --thread '#1' --function io",
                "222 #1 30 0x1000000401020 0x200000005 0x200\n"
                "224 #1 31 0xffffffffffffffff\n"
                "227 #1 30 0x10000000401020 0x500000007 0xffffffffffffffff\n"
                "228 #1 31 0x1\n");
    assert_usage(
        "--thread nobody",
        "heurt: --thread: no thread of this trace has the number or the name nobody; heurt "
        "report lists its threads\n");
    assert_usage("--thread worker --thread wroker",
                 "heurt: --thread: no thread of this trace has the number or the name wroker; did "
                 "you mean 'worker'? heurt report lists its threads\n");
    assert_dump("-f raed -f nothing_like_it",
                "heurt: --function: no event that was asked for has the name 'raed'; did you mean "
                "'read'?\n"
                "heurt: --function: no event that was asked for has the name 'nothing_like_it'\n");
}

static void what_the_kernel_told_is_shown_as_time(void **state)
{
    (void)state;
    /* 2 ticks are a ns. */
    write_fixture("clock tsc\n"
                  "start 1000 0\n"
                  "end 3000 1000\n"
                  "thread 0 main\n"
                  "1000 kernel 3\n"
                  "1200 off_cpu 100/1 0xffffffffffff/7 0\n"
                  "1300 off_cpu 60/0 40/65535 1001\n"
                  "1310 off_cpu 2/2 0/0 0\n"
                  "1320 off_cpu 2/3 0/0 0\n"
                  "1330 off_cpu 2/4 0/0 0\n"
                  "1340 off_cpu 2/9 0/0 0\n"
                  "1400 fault 20/0 0x7f0000001000\n"
                  "1410 fault 22/1 0xffffffffffffffff\n"
                  "1420 fault 24/2 0\n"
                  "1500 instructions 18446744073709551615\n"
                  "1600 kernel_lost 12\n"
                  "1700 paused 80\n");
    assert_dump(
        "",
        "0.000000000    1000 main            point kernel cpu=3\n"
        "0.000000100    1000 main            point off cpu (preempted) off=50 ns runnable=? "
        "cpu=7\n"
        "0.000000150    1000 main            point off cpu (blocked) off=30 ns runnable=20 ns "
        "cpu=65535 waker=1001\n"
        "0.000000155    1000 main            point off cpu (page fault) off=1 ns runnable=0 ns "
        "cpu=0\n"
        "0.000000160    1000 main            point off cpu (futex) off=1 ns runnable=0 ns "
        "cpu=0\n"
        "0.000000165    1000 main            point off cpu (disk) off=1 ns runnable=0 ns "
        "cpu=0\n"
        "0.000000170    1000 main            point off cpu (?) off=1 ns runnable=0 ns cpu=0\n"
        "0.000000200    1000 main            point page fault (measured) took=10 ns "
        "address=0x7f0000001000\n"
        "0.000000205    1000 main            point page fault (estimated) took=11 ns "
        "address=0xffffffffffffffff\n"
        "0.000000210    1000 main            point page fault (counted) took=12 ns address=0x0\n"
        "0.000000250    1000 main            point instructions "
        "retired=18446744073709551615\n"
        "0.000000300    1000 main            point kernel lost records=12\n"
        "0.000000350    1000 main            point paused took=40 ns\n");
    assert_dump("--raw -f 'off cpu' --to 0.0000001",
                "1200 #0 54 0x1000000000064 0x7ffffffffffff 0x0\n");
}

static void functions_with_locked_instructions_are_marked(void **state)
{
    (void)state;
    struct {
        struct heurt_function function;
        char texts[8];
    } definition = {{.id = HEURT_EVENT_FUNCTIONS,
                     .kind = HEURT_FUNCTION_PATCHED,
                     .flags = HEURT_FUNCTION_LOCKED},
                    "push\0\0"};
    struct trace_writer *writer = create("t");
    assert_int_equal(
        trace_writer__define(writer, 0, HEURT_DEFINITION_FUNCTION, &definition, sizeof definition),
        0);
    const struct {
        uint32_t id;
        size_t words;
        uint64_t word;
    } events[] = {
        {HEURT_EVENT_FUNCTIONS, 0, 0},
        {HEURT_EVENT_FUNCTIONS | 1, 0, 0},
        {HEURT_EVENT_SAMPLED, 1, HEURT_SAMPLED(HEURT_EVENT_FUNCTIONS, 3)},
        {HEURT_EVENT_SAMPLED, 1, HEURT_SAMPLED(HEURT_EVENT_FUNCTIONS - 2, 3)},
    };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(trace_writer__event(writer, 0, 0, 1001 + i, events[i].id, &events[i].word,
                                             events[i].words),
                         0);
    finish(writer);
    assert_dump("", "0.000000000    1000                 enter push (locked instructions)\n"
                    "0.000000001    1000                 leave push\n"
                    "0.000000002    1000                 point sampled function=push block=3\n"
                    "0.000000003    1000                 point sampled function=? block=3\n");
}

static void json_has_the_same_fields(void **state)
{
    (void)state;
    write_fixture(contended);
    assert_dump("--json --thread main --to 0.00000009",
                "{\"schema\":\"heurt.dump/1\"}\n"
                "{\"ns\":0,\"tid\":1000,\"serial\":0,\"thread\":\"main\",\"what\":\"enter\","
                "\"depth\":0,\"name\":\"work\",\"detail\":null,"
                "\"fields\":{\"x\":3,\"y\":34091302912}}\n"
                "{\"ns\":10,\"tid\":1000,\"serial\":0,\"thread\":\"main\",\"what\":\"enter\","
                "\"depth\":1,\"name\":\"lock wait\",\"detail\":\"read\","
                "\"fields\":{\"site\":\"app+0x1010\",\"lock\":\"0x7000\"}}\n"
                "{\"ns\":20,\"tid\":1000,\"serial\":0,\"thread\":\"main\",\"what\":\"leave\","
                "\"depth\":1,\"name\":\"lock wait\",\"detail\":\"read\","
                "\"fields\":{\"result\":0}}\n"
                "{\"ns\":25,\"tid\":1000,\"serial\":0,\"thread\":\"main\",\"what\":\"point\","
                "\"depth\":1,\"name\":\"condition signalled\",\"detail\":\"broadcast\","
                "\"fields\":{\"site\":\"app+0x1010\",\"condition\":\"0x8000\"}}\n"
                "{\"ns\":30,\"tid\":1000,\"serial\":0,\"thread\":\"main\",\"what\":\"leave\","
                "\"depth\":0,\"name\":\"work\",\"detail\":null,\"fields\":{}}\n");
    write_fixture("thread 0 \377\"\001\n"
                  "10 off_cpu 60/0 40/3 1001\n"
                  "20 off_cpu 60/1 0xffffffffffff/3 0\n"
                  "30 fault 20/1 0x7f0000001000\n"
                  "40 io 0x401020/14 5:2 -1\n");
    assert_dump("--json",
                "{\"schema\":\"heurt.dump/1\"}\n"
                "{\"ns\":0,\"tid\":1000,\"serial\":0,\"thread\":\"\357\277\275\\\"\\u0001\","
                "\"what\":\"point\",\"depth\":0,\"name\":\"off cpu\",\"detail\":\"blocked\","
                "\"fields\":{\"off_ns\":60,\"runnable_ns\":40,\"cpu\":3,\"waker\":1001}}\n"
                "{\"ns\":10,\"tid\":1000,\"serial\":0,\"thread\":\"\357\277\275\\\"\\u0001\","
                "\"what\":\"point\",\"depth\":0,\"name\":\"off cpu\",\"detail\":\"preempted\","
                "\"fields\":{\"off_ns\":60,\"runnable_ns\":null,\"cpu\":3}}\n"
                "{\"ns\":20,\"tid\":1000,\"serial\":0,\"thread\":\"\357\277\275\\\"\\u0001\","
                "\"what\":\"point\",\"depth\":0,\"name\":\"page fault\",\"detail\":\"estimated\","
                "\"fields\":{\"took_ns\":20,\"address\":\"0x7f0000001000\"}}\n"
                "{\"ns\":30,\"tid\":1000,\"serial\":0,\"thread\":\"\357\277\275\\\"\\u0001\","
                "\"what\":\"enter\",\"depth\":0,\"name\":\"poll\",\"detail\":null,"
                "\"fields\":{\"site\":\"0x401020\",\"fd\":5,\"descriptor\":\"socket\","
                "\"timeout_ms\":-1}}\n");
    char *text;
    assert_int_equal(dump("--json --raw", &text), 2);
}

static void what_is_missing_is_said_at_the_end(void **state)
{
    (void)state;
    write_fixture("thread 0 main\n10 exec\n");
    FILE *file = fopen("t/events", "r+");
    fseek(file, offsetof(struct heurt_session, events_lost), SEEK_SET);
    fwrite(&(uint64_t){7}, 8, 1, file);
    /* Unit 2 is the thread's: an id that nobody knows behind its only event. */
    fseek(file, 2 * HEURT_UNIT_BYTES + sizeof(struct heurt_chunk) + 8, SEEK_SET);
    fwrite(&(uint64_t){0xfff}, 8, 1, file);
    fclose(file);
    assert_dump("",
                "0.000000000    1000 main            point exec\n"
                "heurt: 7 events are missing: the trace was full when they happened (record again "
                "with a larger --max-size)\n"
                "heurt: 1 place of the trace could not be understood; the events there are "
                "missing\n");
}

static void what_is_wrong_has_its_exit_status(void **state)
{
    (void)state;
    char *text;
    assert_int_equal(dump("", &text), 125);
    assert_non_null(strstr(text, "there is no trace t"));
    write_fixture(contended);
    assert_int_equal(dump("--from soon", &text), 2);
    assert_non_null(strstr(text, "--from: expected seconds"));
    assert_int_equal(dump("--nonsense", &text), 2);
    assert_int_equal(dump("t", &text), 2);
    assert_int_equal(dump("> /dev/full", &text), 125);
    assert_int_equal(dump("--help", &text), 0);
    assert_non_null(strstr(text, "usage: heurt dump"));
}

static void a_reader_that_goes_away_is_no_failure(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    for (uint64_t i = 0; i < 50000; i++) /* more than a pipe holds */
        put(writer, 0, 2000 + i, HEURT_EVENT_LOCK_ACQUIRED, 0x401000, 0x7000);
    finish(writer);
    char *command = memory__format("bash -c '%s dump -i t | head -n 1; exit ${PIPESTATUS[0]}' 2>&1",
                                   getenv("HEURT"));
    FILE *pipe = popen(command, "r");
    static char buffer[4096];
    buffer[fread(buffer, 1, sizeof buffer - 1, pipe)] = 0;
    assert_int_equal(pclose(pipe), 0);
    assert_string_equal(buffer, "0.000000000    1000                 point lock acquired (mutex) "
                                "site=0x401000 lock=0x7000\n");
    free(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(the_whole_trace_is_merged_and_nested),
        IN_DIRECTORY(symbols_name_the_sites),
        IN_DIRECTORY(filters_leave_the_rest_out),
        IN_DIRECTORY(what_the_kernel_told_is_shown_as_time),
        IN_DIRECTORY(functions_with_locked_instructions_are_marked),
        IN_DIRECTORY(json_has_the_same_fields),
        IN_DIRECTORY(what_is_missing_is_said_at_the_end),
        IN_DIRECTORY(what_is_wrong_has_its_exit_status),
        IN_DIRECTORY(a_reader_that_goes_away_is_no_failure),
    };
    return cmocka_run_group_tests_name("dump", tests, NULL, NULL);
}
