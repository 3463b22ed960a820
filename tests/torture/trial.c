#include "trial.h"

#include "base/memory.h"
#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATIENCE_SECONDS = 60, OUTPUT_BYTES_MAX = 1 << 24 };

/* ---- lists ----------------------------------------------------------------------------------- */

static void take_trial(char *line, struct vec *trials)
{
    struct trial *trial = vec__push(trials, NULL);
    trial->options = trial->patterns = trial->command = VEC_OF(char *);
    trial->name = memory__text(strsep(&line, "|"));
    struct vec *into = &trial->options;
    for (char *word, *before = NULL; (word = strsep(&line, "|")); before = word) {
        if (into == &trial->options && strcmp(word, "--") == 0) {
            into = &trial->command;
            continue;
        }
        word = memory__text(word);
        if (into == &trial->options && strcmp(word, "skip") == 0)
            trial->skip = line ? memory__text(strsep(&line, "|")) : word;
        else
            vec__push(into, &word);
        if (into == &trial->options && before && strcmp(before, "-f") == 0)
            vec__push(&trial->patterns, &word);
    }
}

static void take_awaited(char *line, struct vec *awaited)
{
    struct awaited *one = vec__push(awaited, NULL);
    one->trial = memory__text(strsep(&line, " "));
    one->function = memory__text(line ? strsep(&line, " ") : "");
    one->text = memory__text(line ? line : "");
}

static bool read_lines(const char *path, struct vec *into, void (*take)(char *, struct vec *))
{
    FILE *file = fopen(path, "re");
    if (!file) {
        fprintf(stderr, "torture: %s: %s\n", path, strerror(errno));
        return false;
    }
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, file) >= 0) {
        line[strcspn(line, "\n")] = 0;
        if (*line && *line != '#')
            take(line, into);
    }
    free(line);
    fclose(file);
    return true;
}

bool trials__read(const char *path, struct vec *trials)
{
    return read_lines(path, trials, take_trial);
}

bool awaited__read(const char *path, struct vec *awaited)
{
    return read_lines(path, awaited, take_awaited);
}

/* ---- running --------------------------------------------------------------------------------- */

static pid_t start(char *const *words, const char *output, const char *errors)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT, 0644);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT, 0644);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    if (posix_spawnp(&child, words[0], &actions, &attributes, words, environ) != 0)
        child = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

/* The wait status, or -1 when it did not start or not end in time. */
static int run(char *const *words, const char *output, const char *errors)
{
    pid_t child = start(words, output, errors);
    if (child < 0)
        return -1;
    int status = -1;
    const struct timespec step = {.tv_nsec = 2000000};
    struct timespec now, begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (waitpid(child, &status, WNOHANG) == 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - begin.tv_sec > PATIENCE_SECONDS) {
            kill(-child, SIGKILL);
            waitpid(child, &status, 0);
            return -1;
        }
        nanosleep(&step, NULL);
    }
    kill(-child, SIGKILL); /* what it may have left running */
    return status;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = memory__zeroed(OUTPUT_BYTES_MAX, 1);
    size_t got = file ? fread(text, 1, OUTPUT_BYTES_MAX - 1, file) : 0;
    if (file)
        fclose(file);
    text[got] = 0;
    return text;
}

static void add_words(struct vec *words, const struct vec *more)
{
    VEC_EACH (word, more, char *)
        vec__push(words, word);
}

static void add_word(struct vec *words, const char *word)
{
    vec__push(words, &word);
}

static int run_plain(const struct trial *trial)
{
    struct vec words = VEC_OF(char *);
    add_words(&words, &trial->command);
    add_word(&words, NULL);
    int status = run(words.items, "plain", "plain.err");
    vec__free(&words);
    return status;
}

static int run_recorded(const struct trial *trial, const char *heurt)
{
    static const char *const first[] = {"record", "-q", "-o", "trace"};
    struct vec words = VEC_OF(char *);
    add_word(&words, heurt);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        add_word(&words, first[i]);
    add_words(&words, &trial->options);
    add_word(&words, "--");
    add_words(&words, &trial->command);
    add_word(&words, NULL);
    int status = run(words.items, "recorded", "recorded.err");
    vec__free(&words);
    return status;
}

static struct json_object *read_report(const char *heurt)
{
    char *const words[] = {(char *)(uintptr_t)heurt, "report", "-i", "trace", "--json", NULL};
    if (run(words, "report", "report.err") != 0)
        return NULL;
    return json_object_from_file("report");
}

/* ---- judging --------------------------------------------------------------------------------- */

struct judge {
    const struct trial *trial;
    const struct vec *awaited;
    FILE *rows;
    bool good;
};

static bool is_awaited(const struct judge *judge, const char *function, const char *verdict)
{
    VEC_EACH (one, judge->awaited, struct awaited)
        if (fnmatch(one->trial, judge->trial->name, 0) == 0 &&
            fnmatch(one->function, function, 0) == 0 && strstr(verdict, one->text))
            return true;
    return false;
}

/* One row of the table; a verdict that is not fine has to be awaited. */
static void row(struct judge *judge, const char *function, const char *expected,
                const char *counted, bool fine, const char *verdict)
{
    bool awaited = !fine && is_awaited(judge, function, verdict);
    fprintf(judge->rows, "  %-44s %9s %9s  %s%s\n", function, expected, counted,
            fine      ? ""
            : awaited ? "awaited: "
                      : "WRONG: ",
            verdict);
    judge->good = judge->good && (fine || awaited);
}

/* A sentence about the program as a whole. */
static void say(struct judge *judge, bool fine, const char *what, const char *verdict)
{
    row(judge, what, "", "", fine, verdict);
}

/* Whether the reason holds one of the texts that stand in allowed with a '|' between them. */
static bool is_allowed(const char *reason, const char *allowed)
{
    bool found = false;
    char *copy = memory__text(allowed), *at = copy;
    for (char *text; reason && (text = strsep(&at, "|"));)
        found |= strstr(reason, text) != NULL;
    free(copy);
    return found;
}

static bool is_true(const struct finding *finding, const struct truth *truth)
{
    return finding->instrumented && llabs(finding->count - truth->count) <= truth->uncertain &&
           finding->unfinished >= truth->unfinished &&
           finding->unfinished <= truth->unfinished + truth->abandoned;
}

/* In words; free() it. */
static char *describe(const struct finding *finding, const struct truth *truth)
{
    if (is_true(finding, truth))
        return finding->unfinished ? memory__format("ok, %lld unfinished", finding->unfinished)
                                   : memory__text("ok");
    if (finding->reason)
        return memory__format("refused: %s", finding->reason);
    if (!finding->instrumented)
        return memory__text("missing: neither instrumented nor refused");
    if (llabs(finding->count - truth->count) > truth->uncertain)
        return memory__text("the count differs");
    return memory__format("%lld unfinished, not %lld", finding->unfinished, truth->unfinished);
}

static void judge_function(struct judge *judge, struct json_object *report,
                           const struct truth *truth)
{
    struct finding finding = report__find(report, truth->name);
    bool fine = is_true(&finding, truth) || is_allowed(finding.reason, truth->may_be_refused);
    char expected[32], counted[32], *verdict = describe(&finding, truth);
    snprintf(expected, sizeof expected, "%lld", truth->count);
    snprintf(counted, sizeof counted, "%lld", finding.count);
    row(judge, truth->name, expected, finding.instrumented ? counted : "-", fine, verdict);
    free(verdict);
}

static void judge_status(struct judge *judge, int plain, int recorded)
{
    char verdict[96];
    if (plain == -1 || (WIFEXITED(plain) && WEXITSTATUS(plain) == 99)) {
        say(judge, false, "(alone)", "the program itself failed without heurt");
        return;
    }
    snprintf(verdict, sizeof verdict, "the wait status is %#x, not %#x", (unsigned)recorded,
             (unsigned)plain);
    say(judge, recorded == plain, "(exit status)",
        recorded == -1      ? "it does not end"
        : recorded == plain ? "ok"
                            : verdict);
}

static void judge_result(struct judge *judge, const char *plain, const char *recorded)
{
    size_t at = 0;
    while (plain[at] && plain[at] == recorded[at])
        at++;
    bool same = plain[at] == recorded[at];
    size_t line = at;
    while (line && recorded[line - 1] != '\n')
        line--;
    char *verdict = memory__format("the output differs: \"%.*s\" is now \"%.*s\"",
                                   (int)strcspn(plain + line, "\n"), plain + line,
                                   (int)strcspn(recorded + line, "\n"), recorded + line);
    say(judge, same, "(result)", same ? "ok" : verdict);
    free(verdict);
}

/* Whether heurt chooses the functions while the program runs, if it runs for long enough. */
static bool is_live(const struct trial *trial)
{
    VEC_EACH (option, &trial->options, char *)
        if (strcmp(*option, "--choose-after") == 0)
            return true;
    return false;
}

static void judge_whole(struct judge *judge, struct json_object *report)
{
    struct json_object *coverage = NULL, *lost = NULL, *instrumented = NULL;
    json_object_object_get_ex(report, "coverage", &coverage);
    json_object_object_get_ex(coverage, "events_lost", &lost);
    json_object_object_get_ex(coverage, "instrumented", &instrumented);
    char *functions = memory__format("%s instrumented", json_object_get_string(instrumented));
    bool asked = judge->trial->patterns.count || !is_live(judge->trial);
    if (report)
        say(judge, !asked || json_object_get_int64(instrumented), "(functions)", functions);
    if (json_object_get_int64(lost) != 0)
        say(judge, false, "(events)", "some were lost");
    free(functions);
}

/* What the program printed alone is only its result: how often a signal came differs. */
bool trial__run(const struct trial *trial, const struct vec *awaited, const char *heurt, FILE *rows)
{
    struct judge judge = {trial, awaited, rows, true};
    struct vec alone = VEC_OF(struct truth), truths = VEC_OF(struct truth);
    judge_status(&judge, run_plain(trial), run_recorded(trial, heurt));
    char *plain_output = read_file("plain"), *recorded_output = read_file("recorded");
    char *plain = truths__read(plain_output, &trial->patterns, &alone);
    char *recorded = truths__read(recorded_output, &trial->patterns, &truths);
    judge_result(&judge, plain, recorded);
    struct json_object *report = read_report(heurt);
    if (!report)
        say(&judge, false, "(report)", "there is none");
    judge_whole(&judge, report);
    VEC_EACH (truth, &truths, struct truth)
        if (truth->counted && trial->patterns.count)
            judge_function(&judge, report, truth);
    if (alone.count == 0)
        say(&judge, false, "(alone)", "the program did not come to its counts without heurt");
    if (alone.count != truths.count)
        say(&judge, false, "(end)", "it did not come as far as without heurt");
    json_object_put(report);
    free(plain_output);
    free(recorded_output);
    free(plain);
    free(recorded);
    truths__free(&alone);
    truths__free(&truths);
    return judge.good;
}
