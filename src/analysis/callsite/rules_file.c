#include "analysis/callsite/rules_file.h"

#include "analysis/callsite/rules.h"
#include "base/memory.h"
#include "format/layout.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RULES_BYTES_MAX (16 << 20)

/* Without a second slash. */
static char *path_in(const char *trace_directory)
{
    size_t length = strlen(trace_directory);
    while (length > 1 && trace_directory[length - 1] == '/')
        length--;
    return memory__format("%.*s/" HEURT_RULES_FILE, (int)length, trace_directory);
}

/* ---- one line -------------------------------------------------------------------------------- */

static bool are_arguments(const char *names)
{
    bool begun = false;
    for (; *names; names++) {
        if (*names == ',' && !begun)
            return false;
        if (*names != ',' && !isalnum((unsigned char)*names) && *names != '_')
            return false;
        begun = *names != ',';
    }
    return begun;
}

static int parse_key(const char *text, struct profile_rule *rule, struct error *error)
{
    const char *equals = strrchr(text, '='); /* the last: operator== is a function */
    if (!equals || equals == text || !are_arguments(equals + 1))
        return error__set(error, -EINVAL,
                          "expected a key FUNCTION=ARGUMENT[,ARGUMENT] (as parse=arg1), found '%s'",
                          text);
    rule->type = RULE_KEY;
    rule->caller = NULL;
    rule->function = memory__format("%.*s", (int)(equals - text), text);
    rule->arguments = memory__text(equals + 1);
    return 0;
}

#define CALLED_IN " in "

/* "FUNCTION", or "FUNCTION in CALLER". */
static int parse_ignore(const char *text, struct profile_rule *rule, struct error *error)
{
    const char *in = strstr(text, CALLED_IN), *caller = in ? in + strlen(CALLED_IN) : NULL;
    size_t length = strlen(text);
    bool lacks_caller = caller ? !*caller : length >= 3 && strcmp(text + length - 3, " in") == 0;
    if (!*text || in == text || lacks_caller)
        return error__set(error, -EINVAL,
                          "expected a function to ignore, or 'FUNCTION in CALLER', found '%s'",
                          text);
    rule->type = RULE_IGNORE;
    rule->function = in ? memory__format("%.*s", (int)(in - text), text) : memory__text(text);
    rule->caller = caller ? memory__text(caller) : NULL;
    rule->arguments = NULL;
    return 0;
}

char *rule__subject(const struct profile_rule *rule)
{
    return rule->caller ? memory__format("%s" CALLED_IN "%s", rule->function, rule->caller)
                        : memory__text(rule->function);
}

/* The rest of a line after its word, or NULL when it begins with another word. */
static const char *after_word(const char *line, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(line, word, length) != 0 || (line[length] && !isblank((unsigned char)line[length])))
        return NULL;
    return line + length + strspn(line + length, " \t");
}

/* 1: a rule, which the caller frees; 0: blank or a comment; negative: malformed. */
static int parse_line(const char *line, struct profile_rule *rule, struct error *error)
{
    char *copy = memory__text(line + strspn(line, " \t"));
    size_t length = strlen(copy);
    while (length && isspace((unsigned char)copy[length - 1]))
        copy[--length] = 0;
    const char *key = after_word(copy, "key"), *ignore = after_word(copy, "ignore");
    int result = 0;
    if (key)
        result = parse_key(key, rule, error);
    else if (ignore)
        result = parse_ignore(ignore, rule, error);
    else if (*copy && *copy != '#')
        result = error__set(error, -EINVAL,
                            "expected 'key FUNCTION=ARGUMENT', 'ignore FUNCTION [in CALLER]' or "
                            "'# comment', found '%s'",
                            copy);
    bool is_rule = (key || ignore) && result == 0;
    free(copy);
    return is_rule ? 1 : result;
}

static void free_rule(struct profile_rule *rule)
{
    free(rule->function);
    free(rule->caller);
    free(rule->arguments);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int read_lines(FILE *file, struct rules *rules, struct error *error)
{
    char *line = NULL;
    size_t size = 0, number = 0;
    int result = 0;
    for (ssize_t length; result >= 0 && (length = getline(&line, &size, file)) >= 0;) {
        struct profile_rule rule;
        struct error detail;
        if (length && line[length - 1] == '\n')
            line[length - 1] = 0;
        number++;
        result = parse_line(line, &rule, &detail);
        if (result < 0)
            error__set(error, result,
                       "%s, line %zu: %s; correct or delete the line, or use --no-rules",
                       rules->path, number, detail.text);
        if (result > 0)
            free_rule(&rule);
        char *copy = memory__text(line);
        vec__push(&rules->lines, &copy);
    }
    free(line);
    return result < 0 ? result : 0;
}

/* A pipe or device, which may never end or never begin, is no file of rules, nor is a huge file. */
static FILE *open_regular(const char *path)
{
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return NULL;
    bool is_readable = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                       status.st_size <= RULES_BYTES_MAX;
    FILE *file = is_readable ? fdopen(descriptor, "r") : NULL;
    if (file)
        return file;
    close(descriptor);
    errno = is_readable ? ENOMEM : EFBIG;
    if (!is_readable && !S_ISREG(status.st_mode))
        errno = EINVAL;
    return NULL;
}

int rules__load(const char *trace_directory, struct rules *rules, struct error *error)
{
    *rules = (struct rules){path_in(trace_directory), VEC_OF(char *), false};
    FILE *file = open_regular(rules->path);
    if (!file && errno == ENOENT)
        return 0;
    if (!file)
        return error__set(error, -errno, "cannot read %s: %s; --no-rules goes without it",
                          rules->path, strerror(errno));
    int result = read_lines(file, rules, error);
    fclose(file);
    return result;
}

void rules__free(struct rules *rules)
{
    VEC_EACH (line, &rules->lines, char *)
        free(*line);
    vec__free(&rules->lines);
    free(rules->path);
    rules->path = NULL;
}

static int write_lines(const struct rules *rules, const char *path)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0)
        return -errno;
    FILE *file = fdopen(descriptor, "w");
    if (!file) {
        int result = -errno;
        close(descriptor);
        return result;
    }
    VEC_EACH (line, &rules->lines, char *)
        fprintf(file, "%s\n", *line);
    bool failed = fflush(file) != 0 || ferror(file);
    int result = failed ? -errno : 0;
    if (fclose(file) != 0 && result == 0)
        result = -errno;
    return result;
}

int rules__save(struct rules *rules, struct error *error)
{
    char *fresh = memory__format("%s.new", rules->path);
    int result = write_lines(rules, fresh);
    if (result == 0 && rename(fresh, rules->path) < 0)
        result = -errno;
    if (result < 0) {
        unlink(fresh);
        error__set(error, result, "cannot write %s: %s", rules->path, strerror(-result));
    } else {
        rules->changed = false;
    }
    free(fresh);
    return result;
}

/* ---- changes --------------------------------------------------------------------------------- */

static bool line_is_about(const char *line, const char *subject, int type)
{
    struct profile_rule rule;
    if (parse_line(line, &rule, NULL) <= 0)
        return false;
    char *own = rule__subject(&rule);
    bool same = strcmp(own, subject) == 0 && (type < 0 || (int)rule.type == type);
    free(own);
    free_rule(&rule);
    return same;
}

/* type < 0: any */
static size_t remove_lines(struct rules *rules, const char *subject, int type)
{
    size_t kept = 0, all = rules->lines.count;
    for (size_t i = 0; i < all; i++) {
        char *line = *VEC_AT(&rules->lines, char *, i);
        if (line_is_about(line, subject, type))
            free(line);
        else
            *VEC_AT(&rules->lines, char *, kept++) = line;
    }
    rules->lines.count = kept;
    return all - kept;
}

/* Takes over line. */
static void add_line(struct rules *rules, char *line)
{
    VEC_EACH (old, &rules->lines, char *)
        if (strcmp(*old, line) == 0) {
            free(line);
            return;
        }
    struct profile_rule rule;
    if (parse_line(line, &rule, NULL) > 0) {
        char *subject = rule__subject(&rule);
        remove_lines(rules, subject, (int)rule.type);
        free(subject);
        free_rule(&rule);
    }
    vec__push(&rules->lines, &line);
    rules->changed = true;
}

static int add(struct rules *rules, const char *word, const char *text, struct error *error)
{
    struct profile_rule rule;
    if (strpbrk(text, "\n\r"))
        return error__set(error, -EINVAL, "the name of a function has no line breaks");
    char *line = memory__format("%s %s", word, text);
    int result = parse_line(line, &rule, error);
    if (result <= 0) {
        free(line);
        return result;
    }
    free_rule(&rule);
    add_line(rules, line);
    return 0;
}

int rules__add_key(struct rules *rules, const char *assignment, struct error *error)
{
    return add(rules, "key", assignment, error);
}

int rules__add_ignore(struct rules *rules, const char *function, struct error *error)
{
    return add(rules, "ignore", function, error);
}

size_t rules__forget(struct rules *rules, const char *subject)
{
    size_t count = remove_lines(rules, subject, -1);
    rules->changed |= count > 0;
    return count;
}

/* ---- as the analysis takes them -------------------------------------------------------------- */

struct vec rules__list(const struct rules *rules)
{
    struct vec list = VEC_OF(struct profile_rule);
    VEC_EACH (line, &rules->lines, char *) {
        struct profile_rule rule;
        if (parse_line(*line, &rule, NULL) > 0)
            vec__push(&list, &rule);
    }
    return list;
}

void rules__free_list(struct vec *list)
{
    VEC_EACH (rule, list, struct profile_rule)
        free_rule(rule);
    vec__free(list);
}
