/* plan_cache.h: function info of files, kept from run to run (inside of function_info.c), one file
 * of a directory for each build-id. What is there is used only when it is this user's, whole, made
 * by this very build of heurt, and of the same file and debug file; else it is found out again and
 * replaced. Nothing here fails loudly: without a cache everything only takes longer. */
#ifndef HEURT_PATCH_PLAN_CACHE_H
#define HEURT_PATCH_PLAN_CACHE_H

#include "patch/function_info.h"

#define PLAN_CACHE_BYTES_MAX (256ull << 20) /* of the whole directory: the oldest go */

/* Fills the empty info of path, build_id and cache. False: there is nothing to be used. */
bool plan_cache__load(struct function_info *info);
void plan_cache__save(struct function_info *info);

#endif
