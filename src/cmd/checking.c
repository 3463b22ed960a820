#include "cmd/checking.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/html_file.h"

#include <stdlib.h>

int checking__parse(const struct vec *texts, struct checking *checking)
{
    *checking = (struct checking){VEC_OF(struct fail_condition), VEC_OF(struct checked)};
    VEC_EACH (text, texts, const char *) {
        struct fail_condition condition;
        struct error error;
        if (condition__parse(*text, &condition, &error) < 0) {
            say("--fail-if %s", error.text);
            return EXIT_USAGE;
        }
        vec__push(&checking->conditions, &condition);
    }
    return 0;
}

int checking__judge(struct checking *checking, condition_judge *judge, const void *subject)
{
    VEC_EACH (condition, &checking->conditions, struct fail_condition) {
        struct checked checked = {CHECK_UNDECIDED, condition->text, NULL};
        struct error error;
        if (judge(subject, condition, &checked, &error) < 0) {
            say("--fail-if '%.200s': %s", condition->text, error.text);
            return EXIT_USAGE;
        }
        vec__push(&checking->checks, &checked);
    }
    return 0;
}

int checking__status(const struct checking *checking)
{
    int status = 0;
    VEC_EACH (check, &checking->checks, struct checked) {
        if (check->outcome == CHECK_HOLDS)
            continue;
        say("%s: %s", check_outcome__name(check->outcome), check->sentence);
        if (check->outcome == CHECK_FAILS)
            status = EXIT_CHECK_FAILED;
        else if (!status)
            status = EXIT_CHECK_UNDECIDED;
    }
    return status;
}

struct junit {
    const char *suite;
    const struct vec *checks;
};

static void put_junit(const void *subject, FILE *out)
{
    const struct junit *junit = subject;
    checks__put_junit(junit->suite, junit->checks, out);
}

int checking__write_junit(const struct checking *checking, const char *suite, const char *directory,
                          const char *path)
{
    const struct junit junit = {suite, &checking->checks};
    return path ? html_file__write(directory, path, put_junit, &junit) : 0;
}

void checking__free(struct checking *checking)
{
    VEC_EACH (condition, &checking->conditions, struct fail_condition)
        condition__free(condition);
    VEC_EACH (check, &checking->checks, struct checked)
        free(check->sentence);
    vec__free(&checking->conditions);
    vec__free(&checking->checks);
}

void checked__set(struct checked *checked, const struct fail_condition *condition,
                  enum check_outcome outcome, const char *name, char *figure)
{
    char *limit = condition__limit(condition);
    checked->outcome = outcome;
    checked->sentence = memory__format("%s: %s, and it fails if %s", name, figure, limit);
    free(limit);
    free(figure);
}
