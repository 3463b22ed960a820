/* package.h: the package of the distribution in which the names of a file are that it was built
 * without.
 *
 * In goes the path of a file, out comes the name of a package, as Debian's list of what it has
 * installed tells: the file's own with "-dbgsym" behind it ("-dbg" for the C library). Nothing is
 * run, and the file is not opened. It costs a search of that list, some MB, and stands on libc and
 * base/. */
#ifndef HEURT_SYMBOL_PACKAGE_H
#define HEURT_SYMBOL_PACKAGE_H

#define PACKAGE_LISTS "/var/lib/dpkg/info"

/* lists: a directory of files "PACKAGE.list" and "PACKAGE:ARCHITECTURE.list", a path a line.
 * NULL: the file is of none. free() it. */
char *package__with_names(const char *lists, const char *path);

#endif
