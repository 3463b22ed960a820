/* locks_tables.h: parts that the document of locks and its tables have in common. Private to this
 * room. */
#ifndef HEURT_PRESENT_LOCKS_LOCKS_TABLES_H
#define HEURT_PRESENT_LOCKS_LOCKS_TABLES_H

#include "base/table.h"

extern const struct table on_path_table; /* struct lock_on_path */

#endif
