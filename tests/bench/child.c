#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void words__add(struct words *words, const char *const *more)
{
    for (; *more; more++) {
        if (words->count < CHILD_WORDS_MAX - 1)
            words->word[words->count] = *more;
        words->count++;
    }
    if (words->count < CHILD_WORDS_MAX)
        words->word[words->count] = NULL;
}

static int start(const struct words *words, const char *log, int output, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (log)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log,
                                         O_WRONLY | O_CREAT | O_APPEND, 0644);
    int code =
        posix_spawnp(child, words->word[0], &actions, NULL, (char *const *)words->word, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -code;
}

static char *read_all(int descriptor)
{
    char *text = NULL, buffer[4096];
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    ssize_t got;
    while (out &&
           ((got = read(descriptor, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR)))
        fwrite(buffer, 1, got > 0 ? (size_t)got : 0, out);
    if (out)
        fclose(out);
    return text;
}

static int check_status(const struct words *words, const char *log, int status, struct error *error)
{
    char command[256] = "";
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    for (int i = 0; i < words->count && strlen(command) + 2 < sizeof command; i++)
        snprintf(command + strlen(command), sizeof command - strlen(command), "%s%s", i ? " " : "",
                 words->word[i]);
    return error__set(error, -ECHILD, "%s: ended by %s %d%s%s", command,
                      WIFEXITED(status) ? "status" : "signal",
                      WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
                      log ? "; what it said is in " : "", log ? log : "");
}

int child__run(const struct words *words, const char *log, char **output, struct error *error)
{
    int ends[2], status = 0;
    pid_t child;
    *output = NULL;
    if (words->count >= CHILD_WORDS_MAX)
        return error__set(error, -E2BIG, "the command has more than %d words", CHILD_WORDS_MAX - 1);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error__set(error, -errno, "no pipe: %s", strerror(errno));
    int code = start(words, log, ends[1], &child);
    close(ends[1]);
    if (code != 0) {
        close(ends[0]);
        return error__set(error, code, "cannot run %s: %s", words->word[0], strerror(-code));
    }
    *output = read_all(ends[0]);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    code = check_status(words, log, status, error);
    if (code == 0 && !*output)
        code = error__set(error, -ENOMEM, "no memory for what %s wrote", words->word[0]);
    if (code != 0) {
        free(*output);
        *output = NULL;
    }
    return code;
}

void child__reason(const char *log, const struct error *error, char *text, size_t bytes)
{
    char line[512];
    FILE *in = fopen(log, "re");
    snprintf(text, bytes, "%s", error->text);
    while (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            snprintf(text, bytes, "%s", line);
    }
    if (in)
        fclose(in);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

void directory__remove(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
