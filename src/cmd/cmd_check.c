#include "base/memory.h"
#include "cmd/check_program.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "kernel/facilities.h"
#include "kernel/machine_info.h"
#include "recorder/install.h"

#include <getopt.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct doctor_check {
    bool json;
    const char *captured; /* directory of a captured machine, or NULL: this one */
    const char *program;  /* or NULL */
    struct machine_info info;
    struct vec machine; /* struct facility */
    struct vec rows;    /* struct facility, about the program */
    char *path;         /* of the program */
};

static void judge_runtime(struct vec *facilities)
{
    struct error error;
    struct facility facility = {
        .key = "runtime",
        .name = "runtime",
        .buys = "recording",
        .purpose = FACILITY_RECORDING,
        .is_required = true,
    };
    if (runtime__find(&facility.found, &error) == 0)
        facility.state = FACILITY_YES;
    else
        facility.found = memory__text(error.text);
    vec__push(facilities, &facility);
}

static int judge_machine(struct doctor_check *check)
{
    struct machine_trials trials;
    struct error error;
    if (check->captured) {
        char *path = memory__format("%s/trials", check->captured);
        int code = machine_trials__read(path, &trials, &error);
        free(path);
        if (code < 0)
            return failed(&error);
    } else {
        judge_runtime(&check->machine);
        machine_trials__make(".", &trials);
    }
    machine_info__read(check->captured ? check->captured : "", &check->info);
    facilities__judge(&check->info, &trials, &check->machine);
    return 0;
}

static bool has_required(const struct vec *rows)
{
    VEC_EACH (row, rows, const struct facility)
        if (row->is_required && row->state == FACILITY_NO)
            return false;
    return true;
}

static bool works(const struct doctor_check *check)
{
    return has_required(&check->machine) && has_required(&check->rows);
}

static int longest_name(const struct vec *rows)
{
    size_t columns = 0;
    VEC_EACH (row, rows, const struct facility)
        if (strlen(row->name) > columns)
            columns = strlen(row->name);
    return (int)columns;
}

static void print_state(enum facility_state state, FILE *out)
{
    static const char *const colours[] = {"\033[31m", "\033[33m", "\033[32m"};
    bool colour = terminal__colour();
    fprintf(out, "  %s%-6s%s", colour ? colours[state] : "", facility_state__name(state),
            colour ? "\033[0m" : "");
}

#define COLUMNS 80

/* The text in lines of COLUMNS, each indented; mark stands in front of the first. */
static void print_wrapped(const char *text, int indent, const char *mark, FILE *out)
{
    int room = COLUMNS - indent - (int)strlen(mark);
    fprintf(out, "%*s%s", indent, "", mark);
    while ((int)strlen(text) > room) {
        int length = room;
        while (length > 0 && text[length] != ' ')
            length--;
        if (length == 0) /* one long word */
            length = (int)strcspn(text, " ");
        if (!text[length])
            break;
        fprintf(out, "%.*s\n%*s", length, text, indent + (int)strlen(mark), "");
        text += length + 1;
    }
    fprintf(out, "%s\n", text);
}

/* Whether a row in front of this one tells the same to do. */
static bool was_told(const struct vec *rows, const struct facility *row)
{
    for (const struct facility *other = rows->items; other < row; other++)
        if (other->enable && strcmp(other->enable, row->enable) == 0)
            return true;
    return false;
}

/* The name and what it buys; what was found, on the same line where there is room; the command. */
static void print_row(const struct vec *rows, const struct facility *row, int names, FILE *out)
{
    int indent = 2 + 6 + 2 + names + 2;
    print_state(row->state, out);
    fprintf(out, "  %-*s  %s", names, row->name, row->buys);
    if (indent + strlen(row->buys) + strlen(row->found) + 3 <= COLUMNS) {
        fprintf(out, " (%s)\n", row->found);
    } else {
        fputc('\n', out);
        print_wrapped(row->found, indent, "", out);
    }
    if (row->enable)
        print_wrapped(was_told(rows, row) ? "as above" : row->enable, 2 + 6 + 2, "-> ", out);
}

static void print_rows(const struct vec *rows, enum facility_purpose purpose, FILE *out)
{
    int names = longest_name(rows);
    VEC_EACH (row, rows, const struct facility)
        if (row->purpose == purpose)
            print_row(rows, row, names, out);
}

static void print_text(const struct doctor_check *check, FILE *out)
{
    fprintf(out, "kernel %s\n", check->info.kernel ? check->info.kernel : "unknown");
    for (int purpose = FACILITY_RECORDING; purpose <= FACILITY_LATER; purpose++) {
        fprintf(out, "\n%s\n", facility_purpose__name(purpose));
        print_rows(&check->machine, purpose, out);
    }
    if (check->path) {
        fprintf(out, "\nprogram %s\n", check->path);
        print_rows(&check->rows, FACILITY_RECORDING, out);
    }
    fprintf(out, "\n%s\n",
            works(check) ? "heurt record works here."
                         : "heurt record does not work here: see the lines that say no above.");
}

static struct json_object *text_or_null(const char *text)
{
    return text ? json_object_new_string(text) : NULL;
}

static struct json_object *rows_to_json(const struct vec *rows)
{
    struct json_object *array = json_object_new_array();
    VEC_EACH (row, rows, const struct facility) {
        struct json_object *json = json_object_new_object();
        json_object_object_add(json, "key", text_or_null(row->key));
        json_object_object_add(json, "name", text_or_null(row->name));
        json_object_object_add(json, "state", text_or_null(facility_state__name(row->state)));
        json_object_object_add(json, "used",
                               json_object_new_boolean(row->purpose != FACILITY_LATER));
        json_object_object_add(json, "purpose", text_or_null(facility_purpose__name(row->purpose)));
        json_object_object_add(json, "required", json_object_new_boolean(row->is_required));
        json_object_object_add(json, "buys", text_or_null(row->buys));
        json_object_object_add(json, "found", text_or_null(row->found));
        json_object_object_add(json, "enable", text_or_null(row->enable));
        json_object_array_add(array, json);
    }
    return array;
}

static void print_json(const struct doctor_check *check, FILE *out)
{
    struct json_object *json = json_object_new_object(), *program = NULL;
    json_object_object_add(json, "schema", json_object_new_string("heurt.check/1"));
    json_object_object_add(json, "works", json_object_new_boolean(works(check)));
    json_object_object_add(json, "kernel", text_or_null(check->info.kernel));
    json_object_object_add(json, "facilities", rows_to_json(&check->machine));
    if (check->path) {
        program = json_object_new_object();
        json_object_object_add(program, "path", text_or_null(check->path));
        json_object_object_add(program, "facilities", rows_to_json(&check->rows));
    }
    json_object_object_add(json, "program", program);
    fputs(json_object_to_json_string_ext(json,
                                         JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE),
          out);
    fputc('\n', out);
    json_object_put(json);
}

static int judge_and_print(struct doctor_check *check)
{
    struct error error;
    int status = judge_machine(check);
    if (status)
        return status;
    if (check->program && program__judge(check->program, &check->rows, &check->path, &error) < 0) {
        say("%s", error.text);
        return 1;
    }
    (check->json ? print_json : print_text)(check, stdout);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        say("cannot write the table to stdout");
        return EXIT_HEURT;
    }
    return works(check) ? 0 : 1;
}

static const struct option_row option_rows[] = {
    {.kind = OPTION_OPERAND,
     .name = "PROGRAM",
     .help = "also what can be recorded of this program"},
    {.name = "json", .help = "the same as JSON", FLAG(struct doctor_check, json)},
    {.name = "machine",
     .value = "DIR",
     .help = "judge the captured files of another machine",
     TEXT(struct doctor_check, captured)},
    {0},
};

static int run(const struct command *self, int argc, char **argv)
{
    struct doctor_check check = {.machine = VEC_OF(struct facility),
                                 .rows = VEC_OF(struct facility)};
    int status = options__read(self, argc, argv, &check);
    if (status)
        return status;
    check.program = argv[optind]; /* its arguments may follow, as they would for record */
    if (check.captured && check.program)
        return wrong_usage(self, "a program is judged on this machine only, not with --machine");
    status = judge_and_print(&check);
    facilities__free(&check.machine);
    facilities__free(&check.rows);
    machine_info__free(&check.info);
    free(check.path);
    return status;
}

const struct command command_check = {
    .name = "check",
    .summary = "tell what this machine and a program allow, and what would allow more",
    .rows = option_rows,
    .operands = "[--] [PROGRAM]",
    .runs_a_program = true,
    .run = run};
