/* function_list.h: the text that heurt hot prints and heurt record -F reads: one function a line.
 *
 *     line     = [ function [ blanks "@" module ] ] [ "#" comment ]
 *     function = a glob (fnmatch) of a function's name, plain as in the symbol table or demangled
 *     module   = a glob of the base name of the file that holds it
 *
 * Blanks (spaces, tabs, a carriage return at the end) around each part do not count. What makes it
 * unambiguous for names like `operator<<(std::ostream&, A const&)` or `{lambda()#1}`:
 *   - '#' begins a comment, and '@' a module, only at the beginning of a line or after a blank;
 *   - blanks inside of a name belong to it;
 *   - a backslash makes the next character an ordinary one, here as in fnmatch.
 *
 * The writer puts the mangled name where the demangled one has a character that means something in
 * a glob or here, and the demangled one into the comment. */
#ifndef HEURT_RECORDER_FUNCTION_LIST_H
#define HEURT_RECORDER_FUNCTION_LIST_H

#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdio.h>

/* Appends to patterns (of char *, each to be freed) "function" or "function @module" a line.
 * -EINVAL names the line that is none; what came before it has been appended. */
int function_list__read(FILE *in, struct vec *patterns, struct error *error);

/* The pattern that matches exactly this name as text: special characters with backslashes. */
char *function_list__quote(const char *name);

/* Whether name is its own pattern. */
bool function_list__is_plain(const char *name);

#endif
