/* test_fields.c: what is said of the accesses of programs is held against where they went.
 *
 * A program that tells its objects and their fields (fields_known.h) is followed instruction by
 * instruction, and each address that one of them accesses is looked for in these. What was named
 * otherwise is wrong, and nothing may be; what has no name is counted. */
#include "base/vec.h"
#include "patch/field_access.h"
#include "patch/function_code.h"

#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT_BYTES = 128, ADDRESSES_MOST = 64, STEPS_MOST = 5000000, FIXED_START = 0x400000 };

struct known_object {
    uint64_t address, bytes, count;
    char label[TEXT_BYTES], type[TEXT_BYTES];
};

struct known_field {
    uint64_t offset, bytes;
    char path[TEXT_BYTES], type[TEXT_BYTES];
};

struct known_part {
    uint64_t offset, bytes, count;
    char type[TEXT_BYTES], of[TEXT_BYTES];
};

/* What a call gives that takes memory. */
struct known_made {
    uint64_t return_address; /* in the file, from where it begins */
    uint64_t bytes, before;  /* of them, what a library keeps before the object */
    char empty[TEXT_BYTES], type[TEXT_BYTES];
};

/* One instruction and where it went. */
struct known_access {
    uint64_t instruction; /* in the file */
    uint64_t addresses[ADDRESSES_MOST];
    unsigned count;
};

struct followed {
    struct vec objects, fields, parts, accesses;
    struct vec made; /* struct known_made */
    struct images images;
    struct typed_code *code;
    uint64_t bias;
};

struct figures {
    unsigned accesses, named, right, wrong, guessed, guessed_wrong;
    unsigned made, made_named, made_wrong;
};

/* ---- following ------------------------------------------------------------------------------- */

static void add_access(struct followed *followed, uint64_t instruction, uint64_t address)
{
    VEC_EACH (access, &followed->accesses, struct known_access)
        if (access->instruction == instruction) {
            if (access->count < ADDRESSES_MOST)
                access->addresses[access->count++] = address;
            return;
        }
    struct known_access access = {instruction, {address}, 1};
    vec__push(&followed->accesses, &access);
}

static uint64_t register_value(const struct user_regs_struct *registers, ZydisRegister name)
{
    const uint64_t values[] = {registers->rax, registers->rcx, registers->rdx, registers->rbx,
                               registers->rsp, registers->rbp, registers->rsi, registers->rdi,
                               registers->r8,  registers->r9,  registers->r10, registers->r11,
                               registers->r12, registers->r13, registers->r14, registers->r15};
    int number = register__number(name);
    return number < 0 ? 0 : values[number];
}

static void take_step(struct followed *followed, const struct user_regs_struct *registers)
{
    struct instruction instruction;
    uint64_t at = registers->rip - followed->bias;
    const struct typed_function *function = typed_code__function(followed->code, at);
    size_t place = function ? function_code__at(&function->code, at) : SIZE_MAX;
    if (place == SIZE_MAX || !function_code__decode(&function->code, place, &instruction))
        return;
    const ZydisDecodedOperand *operand = typed_code__memory(&instruction);
    if (!operand || operand->mem.type != ZYDIS_MEMOP_TYPE_MEM)
        return;
    uint64_t address = operand->mem.disp.has_displacement ? (uint64_t)operand->mem.disp.value : 0;
    if (operand->mem.base == ZYDIS_REGISTER_RIP)
        address += instruction.end + followed->bias;
    else
        address += register_value(registers, operand->mem.base);
    address += register_value(registers, operand->mem.index) * operand->mem.scale;
    add_access(followed, at, address);
}

static bool next_stop(pid_t pid, int request)
{
    int status;
    assert_int_equal(ptrace(request, pid, NULL, NULL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

static bool is_fixed(const char *program)
{
    Elf64_Ehdr header = {0};
    FILE *file = fopen(program, "r");
    assert_non_null(file);
    assert_int_equal(fread(&header, sizeof header, 1, file), 1);
    fclose(file);
    return header.e_type == ET_EXEC;
}

/* Where the file is loaded: the first line of its map. */
static uint64_t bias_of(pid_t pid, const char *program)
{
    char path[64], line[512];
    uint64_t start = 0;
    if (is_fixed(program))
        return 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "r");
    assert_non_null(maps);
    while (!start && fgets(line, sizeof line, maps))
        if (strstr(line, program))
            start = strtoull(line, NULL, 16);
    fclose(maps);
    return start;
}

/* Whether it stopped because of a trap of its own, not of a step. */
static bool is_at_trap(pid_t pid)
{
    siginfo_t info;
    assert_int_equal(ptrace(PTRACE_GETSIGINFO, pid, NULL, &info), 0);
    return info.si_code == SI_KERNEL;
}

/* From the first trap to the second. */
static void follow(struct followed *followed, pid_t pid, const char *program)
{
    struct user_regs_struct registers;
    assert_true(next_stop(pid, PTRACE_CONT));
    followed->bias = bias_of(pid, program);
    for (unsigned steps = 0; steps < STEPS_MOST; steps++) {
        assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &registers), 0);
        if (steps && is_at_trap(pid))
            break;
        take_step(followed, &registers);
        assert_true(next_stop(pid, PTRACE_SINGLESTEP));
    }
    assert_false(next_stop(pid, PTRACE_CONT)); /* it ends */
}

static pid_t begin(const char *program, int *output)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *output = ends[0];
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSTOPPED(status));
    return pid;
}

/* ---- what it tells --------------------------------------------------------------------------- */

static void split(char *text, char *first, char *second)
{
    char *between = strchr(text, ';'), *end = strchr(text, '\n');
    assert_non_null(between);
    *between = 0;
    if (end)
        *end = 0;
    snprintf(first, TEXT_BYTES, "%s", text);
    snprintf(second, TEXT_BYTES, "%s", between + 1);
}

static void read_line(struct followed *followed, char *line)
{
    struct known_object object = {0};
    struct known_field field = {0};
    struct known_part part = {0};
    struct known_made made = {0};
    int used = 0;
    if (sscanf(line, "object %" SCNx64 " %" SCNu64 " %" SCNu64 " %n", &object.address,
               &object.bytes, &object.count, &used) == 3) {
        split(line + used, object.label, object.type);
        vec__push(&followed->objects, &object);
    } else if (sscanf(line, "field %" SCNu64 " %" SCNu64 " %n", &field.offset, &field.bytes,
                      &used) == 2) {
        split(line + used, field.path, field.type);
        vec__push(&followed->fields, &field);
    } else if (sscanf(line, "part %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &part.offset,
                      &part.bytes, &part.count, &used) == 3) {
        split(line + used, part.type, part.of);
        vec__push(&followed->parts, &part);
    } else if (sscanf(line, "made %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &made.return_address,
                      &made.bytes, &made.before, &used) == 3) {
        split(line + used, made.empty, made.type);
        vec__push(&followed->made, &made);
    }
}

static void read_lines(struct followed *followed, int output)
{
    char line[512];
    FILE *file = fdopen(output, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        read_line(followed, line);
    fclose(file);
    assert_true(followed->objects.count > 0);
}

static struct followed follow_program(const char *program)
{
    struct followed followed = {.objects = VEC_OF(struct known_object),
                                .fields = VEC_OF(struct known_field),
                                .parts = VEC_OF(struct known_part),
                                .accesses = VEC_OF(struct known_access),
                                .made = VEC_OF(struct known_made),
                                .images = IMAGES};
    struct trace_module module = {.path = program};
    struct image *image = images__get(&followed.images, &module);
    followed.code = typed_code__new(image);
    int output;
    pid_t pid = begin(program, &output);
    follow(&followed, pid, program);
    read_lines(&followed, output);
    return followed;
}

static void forget(struct followed *followed)
{
    typed_code__free(followed->code);
    images__free(&followed->images);
    vec__free(&followed->objects);
    vec__free(&followed->fields);
    vec__free(&followed->parts);
    vec__free(&followed->accesses);
    vec__free(&followed->made);
}

/* ---- what is said of it ---------------------------------------------------------------------- */

static const struct known_object *object_at(const struct followed *followed, uint64_t address)
{
    VEC_EACH (object, &followed->objects, const struct known_object)
        if (address - object->address < object->bytes * object->count)
            return object;
    return NULL;
}

/* What gcc calls "long int" is "long" by clang. */
static bool is_same_type(const char *said, const char *known)
{
    static const char more[] = " int";
    for (; *said || *known; said++, known++) {
        if (*said != *known && strncmp(known, more, strlen(more)) == 0)
            known += strlen(more);
        if (*said != *known)
            return false;
        if (!*said)
            break;
    }
    return true;
}

static const struct known_field *field_at(const struct followed *followed, const char *type,
                                          uint64_t offset)
{
    VEC_EACH (field, &followed->fields, const struct known_field)
        if (is_same_type(type, field->type) && offset - field->offset < field->bytes)
            return field;
    return NULL;
}

static bool has_fields(const struct followed *followed, const char *type)
{
    VEC_EACH (field, &followed->fields, const struct known_field)
        if (is_same_type(type, field->type))
            return true;
    return false;
}

/* "many[2].low" is one of "many[].low". */
static bool is_same_path(const char *named, const char *known)
{
    if (strncmp(known, "_vptr", 5) == 0) /* compilers call it differently */
        return strncmp(named, known, 5) == 0;
    while (*known || *named) {
        if (*named++ != *known)
            return false;
        if (*known++ == '[')
            named += strspn(named, "0123456789");
    }
    return true;
}

static bool is_right_in(const struct followed *followed, const char *type, uint64_t bytes,
                        uint64_t offset, const struct symbol_field *said)
{
    if (strcmp(type, "*") == 0) /* a library's */
        return !has_fields(followed, said->type);
    if (!is_same_type(said->type, type) || said->size != bytes)
        return false;
    if (!has_fields(followed, type))
        return !*said->field;
    const struct known_field *field = field_at(followed, type, offset % bytes);
    const struct known_field *named = field_at(followed, type, said->offset);
    return field && named && strcmp(field->path, named->path) == 0 &&
           is_same_path(said->field, field->path);
}

static bool is_right(const struct followed *followed, uint64_t address,
                     const struct symbol_field *said)
{
    const struct known_object *object = object_at(followed, address);
    if (!object)
        return false;
    if (strcmp(said->field, object->label) == 0) /* of a library's object */
        return true;
    if (*object->label != '_' && strcmp(object->label, "-") != 0 &&
        !strstr(said->name, object->label) &&
        !*said->field) /* of a plain value the name is all there is */
        return false;
    uint64_t offset = (address - object->address) % object->bytes;
    if (is_right_in(followed, object->type, object->bytes, offset, said))
        return true;
    VEC_EACH (part, &followed->parts, const struct known_part)
        if (strcmp(part->of, object->type) == 0 &&
            offset - part->offset < part->bytes * part->count &&
            is_right_in(followed, part->type, part->bytes, (offset - part->offset) % part->bytes,
                        said))
            return true;
    return false;
}

/* Of locals only some of one function are known, of what libraries have, and of plain values, some;
 * of types with fields all. */
static bool is_unchecked(const struct followed *followed, const struct symbol_field *said,
                         bool is_of_object)
{
    if (!is_of_object && !has_fields(followed, said->type))
        return true;
    static const char in[] = " of locals";
    size_t length = strlen(said->name);
    return strncmp(said->name, "local variable ", 15) == 0 &&
           (!is_of_object || length < strlen(in) ||
            strcmp(said->name + length - strlen(in), in) != 0);
}

static void look_at(struct followed *followed, const struct known_access *access,
                    struct figures *figures)
{
    struct symbol_field said;
    bool is_of_object = true, is_all_right = true;
    bool is_named = field_access__find(followed->code, access->instruction, &said);
    for (unsigned i = 0; i < access->count; i++)
        is_of_object &= object_at(followed, access->addresses[i]) != NULL;
    if (is_named && is_unchecked(followed, &said, is_of_object)) {
        field_access__clear(&said);
        return;
    }
    figures->accesses += is_of_object || is_named;
    if (!is_named) {
        if (is_of_object && getenv("HEURT_TEST_SHOW"))
            printf("  %" PRIx64 " not known, %s\n", access->instruction,
                   object_at(followed, access->addresses[0])->type);
        return;
    }
    for (unsigned i = 0; i < access->count; i++)
        is_all_right &= is_right(followed, access->addresses[i], &said);
    figures->named++;
    figures->right += is_all_right;
    figures->guessed += said.is_guess;
    figures->guessed_wrong += said.is_guess && !is_all_right;
    figures->wrong += !said.is_guess && !is_all_right;
    if (!is_all_right)
        printf("  wrong%s: %" PRIx64 " %s (%s, %s, %" PRIu64 ", %" PRIu64 ")\n",
               said.is_guess ? " guess" : "", access->instruction, said.name, said.type, said.field,
               said.size, said.offset);
    else if (getenv("HEURT_TEST_SHOW"))
        printf("  %" PRIx64 " %s\n", access->instruction, said.name);
    field_access__clear(&said);
}

/* The table of functions has no name of the program's. */
static bool is_in_layout(const struct known_field *field)
{
    return field->path[0] != '_';
}

/* Arrays have "[]" in known paths; the first element of each is there. */
static bool has_member(const struct symbol_type *type, uint64_t before,
                       const struct known_field *field)
{
    uint64_t offset = before + field->offset;
    const struct symbol_member *member = symbol_type__member(type, offset);
    uint64_t begin = UINT64_MAX, bytes = member ? member->bytes : 0;
    char *path = symbol_type__path(type, offset, &begin);
    size_t length = strlen(field->path);
    if (member && length > 2 && strcmp(field->path + length - 2, "[]") == 0)
        bytes *= member->arrays[member->array_count - 1].count;
    bool is_right = path && begin == offset && bytes == field->bytes &&
                    strcmp(member->path, field->path) == 0 && is_same_path(path, field->path);
    free(path);
    if (!is_right)
        printf("  wrong: field %s of %s at %" PRIu64 ": %s\n", field->path, type->name, offset,
               member ? member->path : "none");
    return is_right;
}

/* "?": what it is for cannot be known there. */
static void look_at_made(struct followed *followed, const struct known_made *made, uint64_t start,
                         struct figures *figures)
{
    struct symbol_type said;
    figures->made++;
    if (!made_type__find(followed->code, made->return_address + start, &said)) {
        if (getenv("HEURT_TEST_SHOW"))
            printf("  %" PRIx64 " made %s, not known\n", made->return_address, made->type);
        return;
    }
    bool is_right = is_same_type(said.name, made->type) && said.size == made->bytes;
    figures->made_named++;
    figures->made_wrong += !is_right;
    if (!is_right)
        printf("  wrong: %" PRIx64 " makes %s (%" PRIu64 ")\n", made->return_address, said.name,
               said.size);
    VEC_EACH (field, &followed->fields, const struct known_field)
        if (is_right && is_in_layout(field) && is_same_type(said.name, field->type))
            figures->made_wrong += !has_member(&said, made->before, field);
    made_type__clear(&said);
}

static struct figures figures_of(const char *program)
{
    struct figures figures = {0};
    struct followed followed = follow_program(program);
    VEC_EACH (access, &followed.accesses, struct known_access)
        look_at(&followed, access, &figures);
    VEC_EACH (made, &followed.made, struct known_made)
        look_at_made(&followed, made, is_fixed(program) ? FIXED_START : 0, &figures);
    forget(&followed);
    const char *name = strrchr(program, '/');
    printf("%-16s accesses %4u  named %4u (%3u %%)  right %4u  wrong %u  guessed %u (wrong %u)  "
           "made %u named %u wrong %u\n",
           name ? name + 1 : program, figures.accesses, figures.named,
           figures.named * 100 / (figures.accesses ? figures.accesses : 1), figures.right,
           figures.wrong, figures.guessed, figures.guessed_wrong, figures.made, figures.made_named,
           figures.made_wrong);
    return figures;
}

/* FIELDS_KNOWN: the programs, with blanks between. */
static void what_is_named_is_what_is_accessed(void **state)
{
    (void)state;
    enum { LEAST_PERCENT = 60 };
    char *programs = strdup(getenv("FIELDS_KNOWN"));
    unsigned wrong = 0, few = 0;
    for (char *program = strtok(programs, " "); program; program = strtok(NULL, " ")) {
        struct figures figures = figures_of(program);
        wrong += figures.wrong + figures.made_wrong;
        few += figures.named * 100 < figures.accesses * LEAST_PERCENT;
        few += figures.made_named * 100 < figures.made * LEAST_PERCENT;
    }
    free(programs);
    assert_int_equal(wrong, 0);
    assert_int_equal(few, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_named_is_what_is_accessed),
    };
    return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
