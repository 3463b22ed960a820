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

static uint32_t add_text(struct facts *facts, const char *text)
{
    uint32_t at = (uint32_t)facts->texts.count;
    size_t bytes = strlen(text) + 1;
    memcpy(vec__extend(&facts->texts, bytes), text, bytes);
    return at;
}

const char *facts__text(const struct facts *facts, uint32_t text)
{
    return VEC_AT(&facts->texts, char, text);
}

static const struct fact_name *name_at(const struct facts *facts,
                                       const struct fact_function *function, size_t index)
{
    return VEC_AT(&facts->names, struct fact_name, function->first_name + index);
}

const char *facts__name(const struct facts *facts, const struct fact_function *function,
                        size_t index)
{
    return facts__text(facts, name_at(facts, function, index)->text);
}

bool facts__name_is_local(const struct facts *facts, const struct fact_function *function,
                          size_t index)
{
    return name_at(facts, function, index)->local;
}

/* ---- from the file --------------------------------------------------------------------------- */

static void list_functions(struct facts *facts)
{
    add_text(facts, "");
    VEC_EACH (name, &facts->file->names, struct code_name)
        vec__push(&facts->names,
                  &(struct fact_name){add_text(facts, name->text), name->binding == STB_LOCAL});
    VEC_EACH (function, &facts->file->functions, struct code_function)
        vec__push(&facts->functions, &(struct fact_function){
                                         .start = function->start,
                                         .end = function->end,
                                         .first_name = function->first_name,
                                         .name_count = function->name_count,
                                         .ifunc = function->ifunc,
                                     });
    facts->stripped = facts->file->stripped;
    facts->changed = true;
}

static int open_file(struct facts *facts, struct error *error)
{
    int code =
        code_file__open(facts->path, facts->build_id, facts->build_id_bytes, &facts->file, error);
    facts->unreadable = code < 0;
    if (code == 0)
        facts->checker = frame_checker__new(facts->file);
    return code;
}

int facts__open(const char *path, const uint8_t *build_id, size_t build_id_bytes, const char *cache,
                struct facts **result, struct error *error)
{
    struct facts *facts = memory__zeroed(1, sizeof *facts);
    facts->functions = VEC_OF(struct fact_function);
    facts->names = VEC_OF(struct fact_name);
    facts->tails = VEC_OF(struct fact_tail);
    facts->moves = VEC_OF(uint8_t);
    facts->texts = VEC_OF(char);
    facts->system_calls = VEC_OF(struct fact_system_call);
    facts->path = memory__text(path);
    facts->cache = build_id_bytes ? cache : NULL;
    facts->build_id_bytes = build_id_bytes;
    memcpy(facts->build_id, build_id ? build_id : (const uint8_t *)"", build_id_bytes);
    int code = plan_cache__load(facts) ? 0 : open_file(facts, error);
    if (code < 0) {
        facts__close(facts);
        return code;
    }
    if (facts->file)
        list_functions(facts);
    *result = facts;
    return 0;
}

void facts__close(struct facts *facts)
{
    if (!facts)
        return;
    if (facts->changed)
        plan_cache__save(facts);
    frame_checker__free(facts->checker);
    code_map__free(facts->map);
    code_file__close(facts->file);
    vec__free(&facts->functions);
    vec__free(&facts->names);
    vec__free(&facts->tails);
    vec__free(&facts->moves);
    vec__free(&facts->texts);
    vec__free(&facts->system_calls);
    free(facts->path);
    free(facts);
}

const struct code_file *facts__file(struct facts *facts)
{
    struct error error;
    if (!facts->file && !facts->unreadable)
        open_file(facts, &error);
    /* What was kept is of the same file, but its debug file may have come or gone meanwhile. */
    if (facts->file && facts->file->functions.count != facts->functions.count)
        return NULL;
    return facts->file;
}

/* The function as its file has it. NULL: the file is gone. */
static const struct code_function *in_file(struct facts *facts,
                                           const struct fact_function *function)
{
    const struct code_file *file = facts__file(facts);
    const struct fact_function *first = facts->functions.items;
    return file ? VEC_AT(&file->functions, struct code_function, function - first) : NULL;
}

/* ---- tails ----------------------------------------------------------------------------------- */

static void add_tail(struct facts *facts, const struct frame_tail *tail)
{
    struct fact_tail fact = {tail->address, FACT_NO_FUNCTION, 0};
    const struct code_section *section =
        tail->address ? code_file__section(facts->file, tail->address) : NULL;
    const char *name = tail->name;
    if (section && section->linkage)
        name = linkage__name(facts->file, tail->address);
    else if (tail->address) {
        const struct code_function *first = facts->file->functions.items;
        const struct code_function *function = code_file__function(facts->file, tail->address);
        if (function)
            fact.function = (uint32_t)(function - first);
    }
    if (name && *name)
        fact.name = add_text(facts, name);
    vec__push(&facts->tails, &fact);
}

void facts__judge(struct facts *facts, struct fact_function *function)
{
    if (function->judged)
        return;
    const struct code_function *code = in_file(facts, function);
    if (!code) {
        function->frame.fault = FRAME_NOT_IN_FILE;
        return;
    }
    struct vec tails = VEC_OF(struct frame_tail);
    function->frame = frame_checker__check(facts->checker, code, &tails);
    function->first_tail = (uint32_t)facts->tails.count;
    function->tail_count = (uint32_t)tails.count;
    function->judged = true;
    facts->changed = true;
    VEC_EACH (tail, &tails, struct frame_tail)
        add_tail(facts, tail);
    vec__free(&tails);
}

/* ---- what is asked of few -------------------------------------------------------------------- */

static bool answer(struct facts *facts, struct fact_function *function, uint8_t *fact,
                   bool (*find)(const struct code_file *file, const struct code_function *function))
{
    const struct code_function *code = *fact ? NULL : in_file(facts, function);
    if (code) {
        *fact = find(facts->file, code) ? FACT_YES : FACT_NO;
        facts->changed = true;
    }
    return *fact == FACT_YES;
}

bool facts__fits_registers(struct facts *facts, struct fact_function *function)
{
    return answer(facts, function, &function->fits, parameters__fit_registers);
}

bool facts__keeps_rbx(struct facts *facts, struct fact_function *function)
{
    return answer(facts, function, &function->keeps_rbx, preserved__rbx);
}

const char *facts__choice(struct facts *facts, struct fact_function *function)
{
    const struct code_function *code = function->choice ? NULL : in_file(facts, function);
    if (code) {
        char *text = ifunc__refusal(facts->file, code);
        function->choice = add_text(facts, text);
        facts->changed = true;
        free(text);
    }
    return facts__text(facts, function->choice);
}

/* ---- moved code: four numbers, the original bytes, the code, the fixups ---------------------- */

enum { MOVED_SKIP, MOVED_BYTES, MOVED_CODE_BYTES, MOVED_FIXUPS, MOVED_NUMBERS };

static uint32_t keep_move(struct facts *facts, const struct heurt_plan *plan)
{
    size_t fixups = plan->fixup_count * sizeof *plan->fixups;
    uint32_t place = (uint32_t)facts->moves.count;
    uint8_t *at =
        vec__extend(&facts->moves, MOVED_NUMBERS + plan->moved + plan->code_bytes + fixups);
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

static void recall_move(const struct facts *facts, uint32_t moved, struct heurt_plan *plan)
{
    const uint8_t *at = VEC_AT(&facts->moves, uint8_t, moved);
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

bool facts__move_is_whole(const struct facts *facts, uint32_t moved)
{
    size_t left = moved < facts->moves.count ? facts->moves.count - moved : 0;
    if (left < MOVED_NUMBERS)
        return false;
    const uint8_t *at = VEC_AT(&facts->moves, uint8_t, moved);
    return at[MOVED_BYTES] >= HEURT_PATCH_BYTES &&
           at[MOVED_BYTES] <= sizeof((struct heurt_plan *)0)->original &&
           at[MOVED_CODE_BYTES] <= HEURT_PLAN_CODE_MAX &&
           at[MOVED_FIXUPS] <= HEURT_PLAN_FIXUPS_MAX &&
           left - MOVED_NUMBERS >= (size_t)at[MOVED_BYTES] + at[MOVED_CODE_BYTES] +
                                       at[MOVED_FIXUPS] * sizeof(struct heurt_plan_fixup);
}

enum move_fault facts__move(struct facts *facts, struct fact_function *function,
                            struct heurt_plan *plan)
{
    if (function->move == FACT_NOT_ASKED) {
        const struct code_function *code = in_file(facts, function);
        if (!code)
            return MOVE_NOT_CODE;
        if (!facts->map)
            facts->map = code_map__make(facts->file);
        struct heurt_plan found = {0};
        function->move_fault = (uint8_t)move__plan(facts->file, facts->map, code, &found);
        function->move = function->move_fault ? FACT_NO : FACT_YES;
        if (function->move == FACT_YES)
            function->moved = keep_move(facts, &found);
        facts->changed = true;
    }
    if (function->move == FACT_YES) {
        plan->address = function->start;
        recall_move(facts, function->moved, plan);
    }
    return function->move_fault;
}

/* ---- system calls ---------------------------------------------------------------------------- */

static void find_system_calls(struct facts *facts)
{
    const struct code_file *file = facts__file(facts);
    struct vec calls = VEC_OF(struct inline_system_call), plans = VEC_OF(struct heurt_plan);
    const char *slash = strrchr(facts->path, '/');
    if (!file)
        return;
    system_calls__list(file, slash ? slash + 1 : facts->path, &calls);
    if (calls.count && !facts->map)
        facts->map = code_map__make(file);
    system_calls__plan(file, facts->map, &calls, &plans);
    VEC_EACH (plan, &plans, const struct heurt_plan)
        vec__push(&facts->system_calls,
                  &(struct fact_system_call){plan->address, keep_move(facts, plan), 0});
    facts->has_system_calls = facts->changed = true;
    vec__free(&plans);
    vec__free(&calls);
}

void facts__system_calls(struct facts *facts, struct vec *plans)
{
    if (!facts->has_system_calls)
        find_system_calls(facts);
    VEC_EACH (call, &facts->system_calls, const struct fact_system_call) {
        struct heurt_plan *plan = vec__push(plans, NULL);
        plan->address = call->address;
        plan->mechanism = HEURT_MECHANISM_SYSTEM_CALL;
        recall_move(facts, call->moved, plan);
    }
}
