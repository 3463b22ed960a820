#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 16, LINE_MAX_WIDTH = 100 };
enum { HELP = OPTIONS_MAX };

static void usage(FILE *out, const char *program, const struct bench_option *options,
                  const char *note)
{
    const char *name = strrchr(program, '/');
    int width = fprintf(out, "usage: %s", name ? name + 1 : program);
    for (; options->name; options++) {
        char word[64];
        snprintf(word, sizeof word, "[--%s%s%s]", options->name, options->argument ? " " : "",
                 options->argument ? options->argument : "");
        if (width + 1 + (int)strlen(word) > LINE_MAX_WIDTH)
            width = fprintf(out, "\n      ") - 1;
        width += fprintf(out, " %s", word);
    }
    fprintf(out, "\n%s", note);
}

static void usage__choices(FILE *out, const struct bench_option *options)
{
    for (; options->name; options++) {
        if (!options->choice)
            continue;
        fprintf(out, "%s:", options->argument);
        for (size_t i = 0; options->choice(i); i++)
            fprintf(out, " %s", options->choice(i));
        fputc('\n', out);
    }
}

static bool possible(const struct bench_option *option, const char *argument)
{
    for (size_t i = 0; option->choice && option->choice(i); i++)
        if (strcmp(option->choice(i), argument) == 0)
            return true;
    return !option->choice;
}

static bool take(const struct bench_option *option, const char *argument)
{
    char *end;
    if (option->flag) {
        *option->flag = true;
    } else if (option->text) {
        *option->text = argument;
        return possible(option, argument);
    } else {
        long value = strtol(argument, &end, 10);
        *option->number = (size_t)value;
        return !*end && end != argument && value >= (long)option->least &&
               value <= (long)option->most;
    }
    return true;
}

static void names__fill(struct option *names, const struct bench_option *options)
{
    int count = 0;
    for (; options[count].name && count < OPTIONS_MAX; count++)
        names[count] =
            (struct option){options[count].name,
                            options[count].argument ? required_argument : no_argument, NULL, count};
    names[count] = (struct option){"help", no_argument, NULL, HELP};
}

bool options__read(int argc, char **argv, const struct bench_option *options, const char *note,
                   int *status)
{
    struct option names[OPTIONS_MAX + 2] = {{0}};
    bool good = true, help = false;
    names__fill(names, options);
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == HELP)
            help = true;
        else
            good = option != '?' && take(&options[option], optarg) && good;
    }
    if (good && !help && optind == argc)
        return true;
    *status = help ? 0 : 2;
    usage(help ? stdout : stderr, argv[0], options, note);
    usage__choices(help ? stdout : stderr, options);
    return false;
}
