/* class_view.h: --class site|structure, of the commands that number classes. */
#ifndef HEURT_CMD_CLASS_VIEW_H
#define HEURT_CMD_CLASS_VIEW_H

#include "analysis/ledger/profile.h"

struct command;

/* 0, or the exit status of wrong usage of the command. */
int view__parse(const struct command *command, const char *text, enum class_view *view);

#define VIEW_HELP \
    "  --class site|structure      what calls other things is another class (structure), or not\n"

#endif
