#include "golden.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    char *text = memory__zeroed(1, 1 << 20);
    size_t bytes = fread(text, 1, (1 << 20) - 1, file);
    assert_true(bytes < (1 << 20) - 1);
    fclose(file);
    return text;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

void golden__assert(const char *name, char *text)
{
    char path[512];
    snprintf(path, sizeof path, GOLDEN_DIRECTORY "/%s", name);
    if (getenv("HEURT_UPDATE_GOLDEN"))
        write_file(path, text);
    char *expected = read_file(path);
    if (!expected)
        fail_msg("there is no %s; HEURT_UPDATE_GOLDEN=1 writes it", path);
    if (strcmp(text, expected) != 0)
        fail_msg("differs from %s; this came:\n%s", path, text);
    free(expected);
    free(text);
}
