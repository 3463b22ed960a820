/* patch.c: applies the recorder's plans, and the C side of stub.S. What to do with which bytes was
 * decided outside, by src/patch/plan.c; here is only memory. */
#include "runtime/runtime.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define REACH (1ull << 31)
#define REACH_MARGIN (16ull << 20)

/* stub.S */
void heurt_system_call_stub(void);
void heurt_stub(void), heurt_stub_ordered(void), heurt_stub_wide(void);
void heurt_stub_wide_ordered(void), heurt_stub_full(void);
void heurt_return_slot(void), heurt_return_slot_ordered(void), heurt_return_slot_wide(void);
void heurt_return_slot_wide_ordered(void), heurt_return_slot_full(void);

/* ---- memory near code ------------------------------------------------------------------------ */

static bool is_error(long result)
{
    return result < 0 && result > -4096;
}

static void *try_at(uint64_t address, size_t bytes, int protection)
{
    long memory = RAW6(mmap, address, bytes, protection,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (!is_error(memory) && (uint64_t)memory != address) {
        RAW2(munmap, memory, bytes); /* a kernel that does not know NOREPLACE */
        return NULL;
    }
    return is_error(memory) ? NULL : (void *)memory;
}

#define PAGE_BYTES 4096u

/* All of that memory will be written: at once it takes half as long as by a fault for each page. A
 * kernel that cannot (before Linux 5.14) does it by faults. */
static void populate(const void *memory, size_t bytes)
{
    uint64_t first = (uint64_t)memory & ~(uint64_t)(PAGE_BYTES - 1);
    RAW3(madvise, first, (uint64_t)memory + bytes - first, MADV_POPULATE_WRITE);
}

bool near__reaches(uint64_t start, uint64_t end, uint64_t memory, size_t bytes)
{
    uint64_t low = memory < start ? memory : start;
    uint64_t high = memory + bytes > end ? memory + bytes : end;
    return high - low < REACH - REACH_MARGIN;
}

void *near__allocate(uint64_t start, uint64_t end, size_t bytes, int protection)
{
    const uint64_t step = 1ull << 20;
    uint64_t first = start & ~(step - 1), last = (end + step) & ~(step - 1);
    /* Below first, then above, far from the heap that grows behind a program's data. */
    for (uint64_t distance = step; distance < REACH - REACH_MARGIN; distance += step) {
        void *memory = NULL;
        if (first > distance + bytes + step && end - (first - distance) < REACH - REACH_MARGIN)
            memory = try_at(first - distance, bytes, protection);
        if (!memory && distance > REACH / 2 &&
            last + distance + bytes - start < REACH - REACH_MARGIN)
            memory = try_at(last + distance, bytes, protection);
        if (memory)
            return memory;
    }
    return NULL;
}

bool near__seal(void *memory, size_t bytes)
{
    return RAW3(mprotect, memory, (bytes + 4095) & ~4095ull, PROT_READ | PROT_EXEC) == 0;
}

static bool rel32(uint64_t target, uint64_t from, int32_t *field)
{
    int64_t distance = (int64_t)(target - from);
    *field = (int32_t)distance;
    return distance == *field;
}

/* Where the code may be written to; false: the system does not let it. */
static bool put_jump(uint8_t *address, const void *target)
{
    int32_t distance;
    if (!rel32((uint64_t)target, (uint64_t)address + HEURT_PATCH_BYTES, &distance))
        return false;
    address[0] = 0xe9;
    bytes__copy(address + 1, &distance, sizeof distance);
    return true;
}

/* The pages from the jump at first to that at last. */
static bool protect_code(const uint8_t *first, const uint8_t *last, int protection)
{
    uint64_t page = (uint64_t)first & ~4095ull;
    uint64_t bytes = (((uint64_t)last + HEURT_PATCH_BYTES + 4095) & ~4095ull) - page;
    return RAW3(mprotect, page, bytes, protection) == 0;
}

bool code__write_jump(uint8_t *address, const void *target)
{
    if (!protect_code(address, address, PROT_READ | PROT_WRITE | PROT_EXEC))
        return false;
    bool done = put_jump(address, target);
    protect_code(address, address, PROT_READ | PROT_EXEC);
    return done;
}

/* ---- what stub.S calls ----------------------------------------------------------------------- */

/* The stack as the macros SAVED and heurt_stub leave it, lowest address first. */
struct stub_frame {
    uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rsi, rdi;
    uint64_t back_to_stub;
    uint64_t *claimed; /* scratch */
    uint64_t rax, rdx, rcx;
    uint64_t unused[2];
    uint64_t id;
    uint64_t caller; /* return address of the patched function */
};

/* Which argument registers a function records: count, then their numbers. */
struct argument_registers {
    uint8_t count;
    uint8_t registers[HEURT_ARGUMENTS_MAX];
    uint8_t stub; /* which of state.stubs it costs: mechanism * STUB_KINDS + kind */
};

/* The recorder asks how often a function that it has patched was entered: at the first time of a
 * thread its counter is set so that the second, too, comes here. */
#define SECOND_IS_NEXT (-2)

static bool is_second(int32_t left)
{
    return left <= SECOND_IS_NEXT;
}

static bool counts_entries(uint32_t id)
{
    return id >= HEURT_EVENT_LIVE && id <= HEURT_EVENT_LAST;
}

/* Of a function that was never entered, or by this thread for the first time. */
static void count_entry(uint32_t id, uint32_t times)
{
    uint8_t *entered = &heurt_state.live_entered[(id - HEURT_EVENT_LIVE) / 2];
    if (*entered < times)
        *entered = (uint8_t)times;
}

static int32_t next_stack(uint32_t id, int32_t left)
{
    uint32_t every = heurt_state.settings.stack_every;
    int32_t next = every ? (int32_t)every - 1 : INT32_MAX;
    if (!counts_entries(id) || heurt_state.live_entered[(id - HEURT_EVENT_LIVE) / 2] > 1)
        return next;
    count_entry(id, is_second(left) ? 2 : 1);
    return is_second(left) ? next - 1 : SECOND_IS_NEXT;
}

/* rbx: what it was when the function was called. */
static void consider_stack(struct thread *thread, const struct stub_frame *frame, uint64_t rbx)
{
    int32_t *left = &thread->countdowns->function[frame->id / 2].stack, before;
    if (*left >= 0 && --*left >= 0)
        return;
    before = *left;
    *left = next_stack((uint32_t)frame->id, before);
    if (!heurt_state.settings.stack_every || is_second(before))
        return;
    uint64_t registers[HEURT_STACK_REGISTERS] = {
        (uint64_t)frame->caller,
        (uint64_t)(&frame->caller + 1),
        frame->rbp,
        rbx,
        frame->r12,
        frame->r13,
        frame->r14,
        frame->r15,
    };
    stack__take(thread, registers);
}

static uint64_t rotated(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = rotated(v[1], 13) ^ v[0], v[0] = rotated(v[0], 32);
    v[2] += v[3], v[3] = rotated(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotated(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotated(v[1], 17) ^ v[2], v[2] = rotated(v[2], 32);
}

/* The same for the same value in one session, and nobody can tell of which (SipHash-2-4 of one
 * word, Aumasson and Bernstein 2012). The key is forgotten when the session has ended. */
static uint64_t redacted(uint64_t value)
{
    const uint64_t *key = heurt_state.settings.argument_key;
    if (!key[0])
        return value;
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                     key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
    const uint64_t words[] = {value, 8ull << 56};
    for (unsigned i = 0; i < 2; i++) {
        v[3] ^= words[i];
        sip_round(v), sip_round(v);
        v[0] ^= words[i];
    }
    v[2] ^= 0xff;
    for (unsigned i = 0; i < 4; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void write_enter(struct thread *thread, const struct stub_frame *frame)
{
    const uint64_t values[HEURT_ARGUMENTS_MAX] = {frame->rdi, frame->rsi, frame->rdx,
                                                  frame->rcx, frame->r8,  frame->r9};
    const struct argument_registers *arguments = &heurt_state.argument_registers[frame->id / 2];
    unsigned words = function__words((uint32_t)frame->id);
    uint64_t *at = event__claim(thread, words + arguments->count);
    if (!at)
        return;
    for (unsigned i = 0; i < arguments->count; i++)
        at[words + i] = redacted(values[arguments->registers[i]]);
    function__publish(at, clock__tick(), (uint32_t)frame->id);
}

static void enter(const struct stub_frame *frame, uint64_t rbx)
{
    struct thread *thread = &heurt_thread;
    if (!heurt_state.recording)
        return;
    if (!thread->countdowns)
        event__refill(NULL, 0);
    instructions__tell(thread);
    if (thread->countdowns)
        consider_stack(thread, frame, rbx);
    write_enter(thread, frame);
}

void heurt_stub_enter(struct stub_frame *frame);
void heurt_stub_enter(struct stub_frame *frame)
{
    enter(frame, frame->rbx);
}

void heurt_stub_drawn(struct stub_frame *frame);
void heurt_stub_drawn(struct stub_frame *frame)
{
    if (heurt_state.recording)
        budget__drawn(&heurt_thread, (uint32_t)frame->id);
}

void heurt_stub_refill(struct stub_frame *frame);
void heurt_stub_refill(struct stub_frame *frame)
{
    uint64_t *at = event__refill(frame->claimed, function__words((uint32_t)frame->id));
    if (at)
        function__publish(at, clock__tick(), (uint32_t)frame->id);
}

/* A under seccomp thread without a chunk may have no clock any more, either. */
static uint64_t tick_if_any(void)
{
    return heurt_thread.limit || !thread__in_seccomp(&heurt_thread) ? clock__tick() : 0;
}

/* The same for return slots, whose record rbx leads to; to leave its caller's rbx is in there. */
void heurt_return_slot_take(struct stub_frame *frame);
void heurt_return_slot_take(struct stub_frame *frame)
{
    frame->rbx = (uint64_t)return_slot__take(&heurt_thread);
}

void heurt_return_slot_enter(struct stub_frame *frame);
void heurt_return_slot_enter(struct stub_frame *frame)
{
    struct return_slot *call = (struct return_slot *)frame->rbx;
    enter(frame, return_slot__caller_rbx(call));
    return_slot__begin(call, tick_if_any());
}

void heurt_return_slot_refill(struct stub_frame *frame);
void heurt_return_slot_refill(struct stub_frame *frame)
{
    heurt_stub_refill(frame);
    return_slot__begin((struct return_slot *)frame->rbx, tick_if_any());
}

void heurt_stub_leave(struct stub_frame *frame);
void heurt_stub_leave(struct stub_frame *frame)
{
    if (!frame->claimed)
        instructions__tell(&heurt_thread);
    uint64_t before = frame->claimed ? 0 : kernel__look(&heurt_thread);
    uint64_t tick = before ? before : tick_if_any();
    unsigned words = function__words((uint32_t)frame->id);
    uint64_t *at =
        frame->claimed ? event__refill(frame->claimed, words) : event__claim(&heurt_thread, words);
    if (at)
        function__publish(at, tick, (uint32_t)frame->id | 1);
    event__end(&heurt_thread, before);
}

/* The personality of the stub's frames (Itanium C++ ABI, exception handling, 2.5.2): nothing is
 * caught here; when an exception or a forced unwind takes the frame away, the function has ended.
 */
int heurt_personality(int version, int actions, uint64_t kind, void *exception, void *context);
int heurt_personality(int version, int actions, uint64_t kind, void *exception, void *context)
{
    enum { CLEANUP_PHASE = 2, CONTINUE_UNWIND = 8 };
    (void)version, (void)kind, (void)exception, (void)context;
    struct thread *thread = hook__thread();
    if (actions & CLEANUP_PHASE && thread)
        event__write0(thread, HEURT_EVENT_UNWOUND);
    return CONTINUE_UNWIND;
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* push $id; jmp *0(%rip); .quad the stub */
#define STUB_CODE_BYTES 24

static size_t write_stub(uint8_t *at, uint32_t id, const void *stub)
{
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
    at[0] = 0x68;
    memcpy(at + 1, &id, sizeof id);
    memcpy(at + 5, jump, sizeof jump);
    memcpy(at + 5 + sizeof jump, &stub, sizeof stub);
    return STUB_CODE_BYTES;
}

static bool write_moved(uint8_t *at, const struct heurt_plan *plan)
{
    memcpy(at, plan->code, plan->code_bytes);
    for (unsigned i = 0; i < plan->fixup_count; i++) {
        const struct heurt_plan_fixup *fixup = &plan->fixups[i];
        int32_t field;
        if (fixup->next == HEURT_FIXUP_ABSOLUTE) {
            memcpy(at + fixup->offset, &fixup->target, sizeof fixup->target);
            continue;
        }
        if (fixup->next == HEURT_FIXUP_SYSTEM_CALL) {
            void (*stub)(void) = heurt_system_call_stub;
            memcpy(at + fixup->offset, &stub, sizeof stub);
            continue;
        }
        if (!rel32(fixup->target, (uint64_t)at + fixup->next, &field))
            return false;
        memcpy(at + fixup->offset, &field, sizeof field);
    }
    return true;
}

static const struct known_module *module_at(uint64_t address)
{
    for (unsigned i = 0; i < heurt_state.module_count; i++)
        if (address >= heurt_state.modules[i].start && address < heurt_state.modules[i].end)
            return &heurt_state.modules[i];
    return NULL;
}

enum stub_kind patch__stub_kind(bool ordered, bool arguments)
{
    if (!heurt_state.uses_tsc || heurt_state.counts_instructions || arguments)
        return STUB_FULL;
    return ordered ? STUB_ORDERED : STUB_PLAIN;
}

static void remember_arguments(uint32_t id, const struct heurt_plan *plan)
{
    struct argument_registers *arguments = &heurt_state.argument_registers[id / 2];
    arguments->count = plan->argument_count;
    memcpy(arguments->registers, plan->arguments, sizeof arguments->registers);
    arguments->stub = (uint8_t)(plan->mechanism * STUB_KINDS +
                                patch__stub_kind(plan->ordered, plan->argument_count));
}

const struct calibration *patch__costs(uint32_t id)
{
    const struct argument_registers *known = heurt_state.argument_registers;
    unsigned stub = known ? known[id / 2].stub : 0; /* none: only the recorder has patched */
    return &heurt_state.stubs[stub / STUB_KINDS][stub % STUB_KINDS];
}

uint32_t arguments__count(uint32_t id)
{
    if (HEURT_IS_LOOP(id))
        return 1; /* iterations */
    if (id > HEURT_FUNCTION_LAST || !heurt_state.argument_registers)
        return 0;
    return heurt_state.argument_registers[id / 2].count;
}

void *patch__stub(enum heurt_mechanism mechanism, bool wide, bool ordered, bool arguments)
{
    static void (*const stubs[2][5])(void) = {
        [HEURT_MECHANISM_FRAME] = {heurt_stub, heurt_stub_ordered, heurt_stub_wide,
                                   heurt_stub_wide_ordered, heurt_stub_full},
        [HEURT_MECHANISM_RETURN_SLOT] = {heurt_return_slot, heurt_return_slot_ordered,
                                         heurt_return_slot_wide, heurt_return_slot_wide_ordered,
                                         heurt_return_slot_full},
    };
    enum stub_kind kind = patch__stub_kind(ordered, arguments);
    return (void *)stubs[mechanism][kind == STUB_FULL ? 4 : 2 * wide + (kind == STUB_ORDERED)];
}

bool patch__make_tables(void)
{
    if (heurt_state.argument_registers)
        return true;
    long memory = RAW6(mmap, 0, (HEURT_FUNCTION_LAST / 2 + 1) * sizeof(struct argument_registers),
                       PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!is_error(memory))
        heurt_state.argument_registers = (struct argument_registers *)memory;
    return !is_error(memory);
}

#define TOO_FAR "its moved code cannot reach what it refers to"

/* One function: its code near it first, its definition, then the jump. NULL or a reason. */
static const char *prepare(const struct heurt_plan *plan, uint8_t *code, uint32_t *id)
{
    const uint8_t *entry = (const uint8_t *)plan->address + plan->skip;
    const char *name = (const char *)(plan + 1);
    const char *argument_names = name + strlen(name) + 1;
    if (plan->mechanism > HEURT_MECHANISM_SYSTEM_CALL)
        return "its plan is of a kind that this runtime does not know";
    if (memcmp(entry, plan->original, plan->moved) != 0)
        return "its bytes in memory are not those of its file";
    if (plan->mechanism == HEURT_MECHANISM_SYSTEM_CALL)
        return write_moved(code, plan) ? NULL : TOO_FAR;
    const struct calibration *costs =
        &heurt_state.stubs[plan->mechanism][patch__stub_kind(plan->ordered, plan->argument_count)];
    struct heurt_function function = {
        .kind = HEURT_FUNCTION_PATCHED,
        .address = plan->address,
        .flags = plan->ordered ? HEURT_FUNCTION_LOCKED : 0,
        .argument_count = plan->argument_count,
        .bias_ticks = costs->bias_ticks,
        .cost_ticks = costs->cost_ticks,
    };
    *id = define__function(&function, name, "", argument_names);
    if (!*id)
        return "no event number is left for it, or the trace is full";
    uint8_t *moved = code + STUB_CODE_BYTES;
    if (!write_moved(moved, plan))
        return TOO_FAR;
    write_stub(code, *id,
               patch__stub(plan->mechanism, *id > HEURT_EVENT_LAST, plan->ordered != 0,
                           plan->argument_count > 0));
    remember_arguments(*id, plan);
    heurt_state.bodies[*id / 2] = moved;
    return NULL;
}

static void refuse(const struct heurt_plan *plan, const char *reason)
{
    define__refusal((const char *)(plan + 1), "", reason);
}

static uint8_t *place_of(const struct heurt_plan *plan)
{
    return (uint8_t *)plan->address + plan->skip;
}

/* The code of a module that may be written to. */
struct open_code {
    const uint8_t *first, *last; /* jumps; NULL: each is to be written by itself */
};

/* All at once where the module has one segment of code: each change of protection costs more than
 * all else that a patch does, and is told to who counts mappings. */
static struct open_code code__open(const struct known_module *module, uint8_t *plans, uint8_t *end)
{
    struct open_code open = {0};
    size_t count = 0;
    for (uint8_t *at = plans; at < end; at += ((struct heurt_plan *)at)->bytes, count++) {
        const struct heurt_plan *plan = (void *)at;
        const uint8_t *place = place_of(plan);
        if (plan->reserved)
            continue;
        if ((uint64_t)place < module->code_start ||
            (uint64_t)place + HEURT_PATCH_BYTES > module->code_end)
            return (struct open_code){0};
        open.first = open.first && open.first < place ? open.first : place;
        open.last = open.last > place ? open.last : place;
    }
    if (!open.first || !protect_code(open.first, open.last, PROT_READ | PROT_WRITE | PROT_EXEC))
        return (struct open_code){0};
    if (count > (size_t)(open.last - open.first) / PAGE_BYTES)
        populate(open.first, (size_t)(open.last - open.first));
    return open;
}

static void write_jumps(const struct known_module *module, uint8_t *plans, uint8_t *end,
                        uint8_t *code, size_t each)
{
    struct open_code open = code__open(module, plans, end);
    for (uint8_t *at = plans; at < end; at += ((struct heurt_plan *)at)->bytes) {
        struct heurt_plan *plan = (void *)at;
        if (plan->reserved)
            continue;
        if (!(open.first ? put_jump : code__write_jump)(place_of(plan), code))
            refuse(plan, "the system does not let its code be changed");
        code += each;
    }
    if (open.first)
        protect_code(open.first, open.last, PROT_READ | PROT_EXEC);
}

/* The plans that lie in one module, from *at on, which is left at the first of the next one. */
static void apply_to_module(const struct known_module *module, uint8_t **at, uint8_t *end)
{
    const size_t each = (STUB_CODE_BYTES + HEURT_PLAN_CODE_MAX + 15) & ~15ull;
    uint8_t *first = *at;
    size_t count = 0;
    for (; *at < end; *at += ((struct heurt_plan *)*at)->bytes, count++) {
        uint64_t address = ((struct heurt_plan *)*at)->address;
        if (module && (address < module->start || address >= module->end))
            break;
        if (!module && count)
            break;
    }
    uint8_t *memory =
        module ? near__allocate(module->start, module->end, count * each, PROT_READ | PROT_WRITE)
               : NULL;
    uint8_t *code = memory;
    if (memory)
        populate(memory, count * each);
    for (uint8_t *plan = first; plan < *at; plan += ((struct heurt_plan *)plan)->bytes) {
        uint32_t id;
        const char *reason = memory ? prepare((void *)plan, code, &id)
                                    : "no free memory within reach of a jump from it";
        if (reason)
            refuse((void *)plan, reason);
        else
            code += each;
        ((struct heurt_plan *)plan)->reserved = reason != NULL;
    }
    if (memory && near__seal(memory, count * each))
        write_jumps(module, first, *at, memory, each);
}

void patch__modules(const void *definitions, size_t bytes, unsigned count,
                    enum heurt_plan_subject subject)
{
    struct answer answer = {0};
    const char *trouble = request__plan(definitions, bytes, count, subject, &answer);
    if (trouble) {
        define__note(trouble);
        return;
    }
    if (!answer.header.bytes)
        return;
    if (subject == HEURT_PLAN_FUNCTIONS && !patch__make_tables())
        return;
    uint8_t *end = answer.plans + answer.header.bytes;
    uint64_t mask = signals__block(); /* once, not for the definition of each of thousands */
    for (uint8_t *at = answer.plans; at < end;)
        apply_to_module(module_at(((struct heurt_plan *)at)->address), &at, end);
    signals__restore(mask);
    RAW2(munmap, answer.plans, answer.header.bytes);
}
