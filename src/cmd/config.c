#include "cmd/config.h"

#include "base/memory.h"
#include "base/vec.h"
#include "cmd/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

/* Lines and their words, which options point into. */
static struct vec kept = {.item_bytes = sizeof(void *)};

static void *keep(void *memory)
{
    vec__push(&kept, &memory);
    return memory;
}

/* Cuts a word out of the text, quotes taken off; *text moves on. NULL: there is none. */
static char *next_word(char **text)
{
    char *from = *text + strspn(*text, BLANKS), *to = from, *word = from, quote = 0;
    if (!*from || *from == '#')
        return NULL;
    for (; *from && (quote || !strchr(BLANKS, *from)); from++) {
        if (*from == quote)
            quote = 0;
        else if (!quote && (*from == '\'' || *from == '"'))
            quote = *from;
        else
            *to++ = *from;
    }
    *text = *from ? from + 1 : from;
    *to = 0;
    return word;
}

/* The words of a line behind the command's name. */
static int take_line(const char *command, char *line,
                     int (*take)(void *context, int count, char **words), void *context)
{
    struct vec words = VEC_OF(char *);
    char *name = (char *)command, *end = NULL;
    vec__push(&words, &name);
    for (char *word; (word = next_word(&line));)
        vec__push(&words, &word);
    int count = (int)words.count;
    vec__push(&words, &end);
    return take(context, count, keep(words.items));
}

static char *path_of_file(void)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (base && *base)
        return memory__format("%s/heurt/config", base);
    return home ? memory__format("%s/.config/heurt/config", home) : NULL;
}

static int take_lines(FILE *file, const char *path, const char *command,
                      int (*take)(void *context, int count, char **words), void *context)
{
    char *line = NULL;
    size_t size = 0, number = 0;
    int status = 0;
    while (status == 0 && getline(&line, &size, file) >= 0) {
        char *copy = keep(memory__text(line)), *rest = copy, *word = next_word(&rest);
        number++;
        if (word && strcmp(word, command) == 0)
            status = take_line(command, rest, take, context);
        if (status > 0)
            say("that stands in %s, line %zu", path, number);
    }
    free(line);
    return status;
}

static int take_file(const char *command, int (*take)(void *context, int count, char **words),
                     void *context)
{
    char *path = path_of_file();
    FILE *file = path ? fopen(path, "re") : NULL;
    int status = file ? take_lines(file, path, command, take, context) : 0;
    if (file)
        fclose(file);
    free(path);
    return status;
}

int config__each(const char *command, int (*take)(void *context, int count, char **words),
                 void *context)
{
    int status = take_file(command, take, context);
    const char *variable = getenv("HEURT_OPTIONS");
    if (status || !variable || strcmp(command, "record") != 0)
        return status;
    status = take_line(command, keep(memory__text(variable)), take, context);
    if (status > 0)
        say("that stands in the variable HEURT_OPTIONS");
    return status;
}
