/* config.h: options that a user wants always: a file, and a variable of the environment.
 *
 *     ~/.config/heurt/config (or below XDG_CONFIG_HOME)     HEURT_OPTIONS
 *         # a comment                                           --overhead 1% -o /tmp/traces
 *         record --overhead 1%
 *         report --width 80
 *
 * A line is of the command that it begins with; the variable is of heurt record. Words are divided
 * by blanks, and may stand in single or double quotes.
 *
 * In goes the name of a command, out come words, line by line. It costs one small file. It stands
 * on nothing but base/; words live until the process ends. */
#ifndef HEURT_CMD_CONFIG_H
#define HEURT_CMD_CONFIG_H

/* Calls take with the words of each line that is the command's: words[0] is its name, and a NULL is
 * behind the last. The file comes before the variable. Where take returns something else than 0, it
 * is said where the words stand, and that is returned. */
int config__each(const char *command, int (*take)(void *context, int count, char **words),
                 void *context);

#endif
