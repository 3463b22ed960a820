#include "cmd/class_view.h"

#include "cmd/command.h"

#include <string.h>

int view__parse(const struct command *command, const char *text, enum class_view *view)
{
    bool structure = strcmp(text, "structure") == 0;
    if (!structure && strcmp(text, "site") != 0)
        return wrong_usage(command, "--class: expected site or structure, found '%s'", text);
    *view = structure ? CLASSES_BY_STRUCTURE : CLASSES_BY_SITE;
    return 0;
}
