#include "patch/function_info.h"

#include "base/memory.h"
#include "patch/decode.h"
#include "patch/ifunc.h"
#include "patch/linkage.h"
#include "patch/parameters.h"
#include "patch/plan_cache.h"
#include "patch/preserved.h"
#include "patch/system_calls.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts and names ------------------------------------------------------------------------- */

static uint32_t add_text(struct function_info *info, const char *text)
{
    uint32_t at = (uint32_t)info->texts.count;
    size_t bytes = strlen(text) + 1;
    memcpy(vec__extend(&info->texts, bytes), text, bytes);
    return at;
}

const char *function_info__text(const struct function_info *info, uint32_t text)
{
    return VEC_AT(&info->texts, char, text);
}

static const struct info_name *name_at(const struct function_info *info,
                                       const struct info_function *function, size_t index)
{
    return VEC_AT(&info->names, struct info_name, function->first_name + index);
}

const char *function_info__name(const struct function_info *info,
                                const struct info_function *function, size_t index)
{
    return function_info__text(info, name_at(info, function, index)->text);
}

bool function_info__name_is_local(const struct function_info *info,
                                  const struct info_function *function, size_t index)
{
    return name_at(info, function, index)->local;
}

/* ---- from the file --------------------------------------------------------------------------- */

static void list_functions(struct function_info *info)
{
    add_text(info, "");
    VEC_EACH (name, &info->file->names, struct code_name)
        vec__push(&info->names,
                  &(struct info_name){add_text(info, name->text), name->binding == STB_LOCAL});
    VEC_EACH (function, &info->file->functions, struct code_function)
        vec__push(&info->functions, &(struct info_function){
                                        .start = function->start,
                                        .end = function->end,
                                        .first_name = function->first_name,
                                        .name_count = function->name_count,
                                        .ifunc = function->ifunc,
                                    });
    info->stripped = info->file->stripped;
    info->changed = true;
}

static int open_file(struct function_info *info, struct error *error)
{
    int code =
        code_file__open(info->path, info->build_id, info->build_id_bytes, &info->file, error);
    info->unreadable = code < 0;
    if (code == 0)
        info->checker = frame_checker__new(info->file);
    return code;
}

int function_info__open(const char *path, const uint8_t *build_id, size_t build_id_bytes,
                        const char *cache, struct function_info **result, struct error *error)
{
    struct function_info *info = memory__zeroed(1, sizeof *info);
    info->functions = VEC_OF(struct info_function);
    info->names = VEC_OF(struct info_name);
    info->tails = VEC_OF(struct info_tail);
    info->moves = VEC_OF(uint8_t);
    info->texts = VEC_OF(char);
    info->system_calls = VEC_OF(struct info_system_call);
    info->path = memory__text(path);
    info->cache = build_id_bytes ? cache : NULL;
    info->build_id_bytes = build_id_bytes;
    memcpy(info->build_id, build_id ? build_id : (const uint8_t *)"", build_id_bytes);
    int code = plan_cache__load(info) ? 0 : open_file(info, error);
    if (code < 0) {
        function_info__close(info);
        return code;
    }
    if (info->file)
        list_functions(info);
    *result = info;
    return 0;
}

void function_info__close(struct function_info *info)
{
    if (!info)
        return;
    if (info->changed)
        plan_cache__save(info);
    frame_checker__free(info->checker);
    code_map__free(info->map);
    code_file__close(info->file);
    vec__free(&info->functions);
    vec__free(&info->names);
    vec__free(&info->tails);
    vec__free(&info->moves);
    vec__free(&info->texts);
    vec__free(&info->system_calls);
    free(info->path);
    free(info);
}

const struct code_file *function_info__file(struct function_info *info)
{
    struct error error;
    if (!info->file && !info->unreadable)
        open_file(info, &error);
    /* What was kept is of the same file, but its debug file may have come or gone meanwhile. */
    if (info->file && info->file->functions.count != info->functions.count)
        return NULL;
    return info->file;
}

/* The function as its file has it. NULL: the file is gone. */
static const struct code_function *in_file(struct function_info *info,
                                           const struct info_function *function)
{
    const struct code_file *file = function_info__file(info);
    const struct info_function *first = info->functions.items;
    return file ? VEC_AT(&file->functions, struct code_function, function - first) : NULL;
}

/* ---- tails ----------------------------------------------------------------------------------- */

static void add_tail(struct function_info *info, const struct frame_tail *tail)
{
    struct info_tail fact = {tail->address, INFO_NO_FUNCTION, 0};
    const struct code_section *section =
        tail->address ? code_file__section(info->file, tail->address) : NULL;
    const char *name = tail->name;
    if (section && section->linkage)
        name = linkage__name(info->file, tail->address);
    else if (tail->address) {
        const struct code_function *first = info->file->functions.items;
        const struct code_function *function = code_file__function(info->file, tail->address);
        if (function)
            fact.function = (uint32_t)(function - first);
    }
    if (name && *name)
        fact.name = add_text(info, name);
    vec__push(&info->tails, &fact);
}

void function_info__judge(struct function_info *info, struct info_function *function)
{
    if (function->judged)
        return;
    const struct code_function *code = in_file(info, function);
    if (!code) {
        function->frame.fault = FRAME_NOT_IN_FILE;
        return;
    }
    struct vec tails = VEC_OF(struct frame_tail);
    function->frame = frame_checker__check(info->checker, code, &tails);
    function->first_tail = (uint32_t)info->tails.count;
    function->tail_count = (uint32_t)tails.count;
    function->judged = true;
    info->changed = true;
    VEC_EACH (tail, &tails, struct frame_tail)
        add_tail(info, tail);
    vec__free(&tails);
}

/* ---- what is asked of few -------------------------------------------------------------------- */

static bool answer(struct function_info *info, struct info_function *function, uint8_t *fact,
                   bool (*find)(const struct code_file *file, const struct code_function *function))
{
    const struct code_function *code = *fact ? NULL : in_file(info, function);
    if (code) {
        *fact = find(info->file, code) ? INFO_YES : INFO_NO;
        info->changed = true;
    }
    return *fact == INFO_YES;
}

bool function_info__fits_registers(struct function_info *info, struct info_function *function)
{
    return answer(info, function, &function->fits, parameters__fit_registers);
}

bool function_info__keeps_rbx(struct function_info *info, struct info_function *function)
{
    return answer(info, function, &function->keeps_rbx, preserved__rbx);
}

const char *function_info__choice(struct function_info *info, struct info_function *function)
{
    const struct code_function *code = function->choice ? NULL : in_file(info, function);
    if (code) {
        char *text = ifunc__refusal(info->file, code);
        function->choice = add_text(info, text);
        info->changed = true;
        free(text);
    }
    return function_info__text(info, function->choice);
}

/* ---- moved code: four numbers, the original bytes, the code, the fixups ---------------------- */

enum { MOVED_SKIP, MOVED_BYTES, MOVED_CODE_BYTES, MOVED_FIXUPS, MOVED_NUMBERS };

static uint32_t keep_move(struct function_info *info, const struct heurt_plan *plan)
{
    size_t fixups = plan->fixup_count * sizeof *plan->fixups;
    uint32_t place = (uint32_t)info->moves.count;
    uint8_t *at =
        vec__extend(&info->moves, MOVED_NUMBERS + plan->moved + plan->code_bytes + fixups);
    at[MOVED_SKIP] = plan->skip;
    at[MOVED_BYTES] = plan->moved;
    at[MOVED_CODE_BYTES] = plan->code_bytes;
    at[MOVED_FIXUPS] = plan->fixup_count;
    at += MOVED_NUMBERS;
    memcpy(at, plan->original, plan->moved);
    memcpy(at + plan->moved, plan->code, plan->code_bytes);
    memcpy(at + plan->moved + plan->code_bytes, plan->fixups, fixups);
    return place;
}

static void recall_move(const struct function_info *info, uint32_t moved, struct heurt_plan *plan)
{
    const uint8_t *at = VEC_AT(&info->moves, uint8_t, moved);
    plan->skip = at[MOVED_SKIP];
    plan->moved = at[MOVED_BYTES];
    plan->code_bytes = at[MOVED_CODE_BYTES];
    plan->fixup_count = at[MOVED_FIXUPS];
    at += MOVED_NUMBERS;
    memcpy(plan->original, at, plan->moved);
    memcpy(plan->code, at + plan->moved, plan->code_bytes);
    memcpy(plan->fixups, at + plan->moved + plan->code_bytes,
           plan->fixup_count * sizeof *plan->fixups);
}

bool function_info__move_is_whole(const struct function_info *info, uint32_t moved)
{
    size_t left = moved < info->moves.count ? info->moves.count - moved : 0;
    if (left < MOVED_NUMBERS)
        return false;
    const uint8_t *at = VEC_AT(&info->moves, uint8_t, moved);
    return at[MOVED_BYTES] >= HEURT_PATCH_BYTES &&
           at[MOVED_BYTES] <= sizeof((struct heurt_plan *)0)->original &&
           at[MOVED_CODE_BYTES] <= HEURT_PLAN_CODE_MAX &&
           at[MOVED_FIXUPS] <= HEURT_PLAN_FIXUPS_MAX &&
           left - MOVED_NUMBERS >= (size_t)at[MOVED_BYTES] + at[MOVED_CODE_BYTES] +
                                       at[MOVED_FIXUPS] * sizeof(struct heurt_plan_fixup);
}

enum move_fault function_info__move(struct function_info *info, struct info_function *function,
                                    struct heurt_plan *plan)
{
    if (function->move == INFO_NOT_ASKED) {
        const struct code_function *code = in_file(info, function);
        if (!code)
            return MOVE_NOT_CODE;
        if (!info->map)
            info->map = code_map__make(info->file);
        struct heurt_plan found = {0};
        function->move_fault = (uint8_t)move__plan(info->file, info->map, code, &found);
        function->move = function->move_fault ? INFO_NO : INFO_YES;
        if (function->move == INFO_YES)
            function->moved = keep_move(info, &found);
        info->changed = true;
    }
    if (function->move == INFO_YES) {
        plan->address = function->start;
        recall_move(info, function->moved, plan);
    }
    return function->move_fault;
}

/* ---- system calls ---------------------------------------------------------------------------- */

static void find_system_calls(struct function_info *info)
{
    const struct code_file *file = function_info__file(info);
    struct vec calls = VEC_OF(struct inline_system_call), plans = VEC_OF(struct heurt_plan);
    const char *slash = strrchr(info->path, '/');
    if (!file)
        return;
    system_calls__list(file, slash ? slash + 1 : info->path, &calls);
    if (calls.count && !info->map)
        info->map = code_map__make(file);
    system_calls__plan(file, info->map, &calls, &plans);
    VEC_EACH (plan, &plans, const struct heurt_plan)
        vec__push(&info->system_calls,
                  &(struct info_system_call){plan->address, keep_move(info, plan), 0});
    info->has_system_calls = info->changed = true;
    vec__free(&plans);
    vec__free(&calls);
}

void function_info__system_calls(struct function_info *info, struct vec *plans)
{
    if (!info->has_system_calls)
        find_system_calls(info);
    VEC_EACH (call, &info->system_calls, const struct info_system_call) {
        struct heurt_plan *plan = vec__push(plans, NULL);
        plan->address = call->address;
        plan->mechanism = HEURT_MECHANISM_SYSTEM_CALL;
        recall_move(info, call->moved, plan);
    }
}
