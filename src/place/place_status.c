#include "place/place_status.h"

#include "base/descriptor.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_HEAD "heurt-place-status 1\n"
#define STATUS_BYTES_MOST (4u << 20)
#define STATUS_PREFIX "place-"
#define RUN_OF_ROOT "/run/heurt"

/* ---- rows ------------------------------------------------------------------------------------ */

enum member_kind { MEMBER_TEXT, MEMBER_COUNT, MEMBER_REAL };
struct status_member {
    const char *name;
    enum member_kind kind;
    size_t at;
};
struct status_kind {
    const char *name;
    const struct status_member *members;
    size_t count, bytes;
};

#define KIND(row, name_, rows)                               \
    static const struct status_member row##_members[] = {    \
        rows(TEXT_OF_##row, COUNT_OF_##row, REAL_OF_##row)}; \
    static const struct status_kind row##_kind = {           \
        name_, row##_members, sizeof row##_members / sizeof *row##_members, sizeof(struct row)}

#define TEXT_OF_status_daemon(m) {#m, MEMBER_TEXT, offsetof(struct status_daemon, m)},
#define COUNT_OF_status_daemon(m) {#m, MEMBER_COUNT, offsetof(struct status_daemon, m)},
#define REAL_OF_status_daemon(m) {#m, MEMBER_REAL, offsetof(struct status_daemon, m)},
#define TEXT_OF_status_application(m) {#m, MEMBER_TEXT, offsetof(struct status_application, m)},
#define COUNT_OF_status_application(m) {#m, MEMBER_COUNT, offsetof(struct status_application, m)},
#define REAL_OF_status_application(m) {#m, MEMBER_REAL, offsetof(struct status_application, m)},
#define TEXT_OF_status_decision(m) {#m, MEMBER_TEXT, offsetof(struct status_decision, m)},
#define COUNT_OF_status_decision(m) {#m, MEMBER_COUNT, offsetof(struct status_decision, m)},
#define REAL_OF_status_decision(m) {#m, MEMBER_REAL, offsetof(struct status_decision, m)},
#define TEXT_OF_status_sensor(m) {#m, MEMBER_TEXT, offsetof(struct status_sensor, m)},
#define COUNT_OF_status_sensor(m) {#m, MEMBER_COUNT, offsetof(struct status_sensor, m)},
#define REAL_OF_status_sensor(m) {#m, MEMBER_REAL, offsetof(struct status_sensor, m)},
KIND(status_daemon, "daemon", PLACE_STATUS_DAEMON);
KIND(status_application, "application", PLACE_STATUS_APPLICATION);
KIND(status_decision, "decision", PLACE_STATUS_DECISION);
KIND(status_sensor, "sensor", PLACE_STATUS_SENSOR);

static void *member_of(const void *row, const struct status_member *member)
{
    return (char *)(uintptr_t)row + member->at;
}

/* A row without texts and figures: nothing is known. */
static void begin_row(void *row, const struct status_kind *kind)
{
    memset(row, 0, kind->bytes);
    for (size_t i = 0; i < kind->count; i++)
        if (kind->members[i].kind == MEMBER_REAL)
            *(double *)member_of(row, &kind->members[i]) = NAN;
        else if (kind->members[i].kind == MEMBER_TEXT)
            *(char **)member_of(row, &kind->members[i]) = memory__text("");
}

static void free_row(void *row, const struct status_kind *kind)
{
    for (size_t i = 0; i < kind->count; i++)
        if (kind->members[i].kind == MEMBER_TEXT)
            free(*(char **)member_of(row, &kind->members[i]));
}

static void free_rows(struct vec *rows, const struct status_kind *kind)
{
    for (size_t i = 0; i < rows->count; i++)
        free_row((char *)rows->items + i * kind->bytes, kind);
    vec__free(rows);
}

struct place_status place_status__new(void)
{
    struct place_status status = {.applications = VEC_OF(struct status_application),
                                  .decisions = VEC_OF(struct status_decision),
                                  .sensors = VEC_OF(struct status_sensor)};
    begin_row(&status.daemon, &status_daemon_kind);
    return status;
}

void place_status__free(struct place_status *status)
{
    free_row(&status->daemon, &status_daemon_kind);
    free_rows(&status->applications, &status_application_kind);
    free_rows(&status->decisions, &status_decision_kind);
    free_rows(&status->sensors, &status_sensor_kind);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* All that is no plain letter or sign as %XX. */
static void put_text(const char *text, FILE *out)
{
    for (; text && *text; text++)
        if ((unsigned char)*text > ' ' && (unsigned char)*text < 0x7f && *text != '%')
            fputc(*text, out);
        else
            fprintf(out, "%%%02x", (unsigned char)*text);
}

static void put_row(const void *row, const struct status_kind *kind, FILE *out)
{
    fputs(kind->name, out);
    for (size_t i = 0; i < kind->count; i++) {
        const struct status_member *member = &kind->members[i];
        const void *value = member_of(row, member);
        fprintf(out, " %s=", member->name);
        if (member->kind == MEMBER_TEXT)
            put_text(*(char *const *)value, out);
        else if (member->kind == MEMBER_COUNT)
            fprintf(out, "%" PRIu64, *(const uint64_t *)value);
        else
            fprintf(out, "%.9g", *(const double *)value);
    }
    fputc('\n', out);
}

static void put_rows(const struct vec *rows, const struct status_kind *kind, FILE *out)
{
    for (size_t i = 0; i < rows->count; i++)
        put_row((const char *)rows->items + i * kind->bytes, kind, out);
}

char *place_status__text(const struct place_status *status)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        out_of_memory(0);
    fputs(STATUS_HEAD, out);
    put_row(&status->daemon, &status_daemon_kind, out);
    put_rows(&status->applications, &status_application_kind, out);
    put_rows(&status->decisions, &status_decision_kind, out);
    put_rows(&status->sensors, &status_sensor_kind, out);
    fclose(out);
    return text;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int hex(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                          : -1;
}

static char *plain_text(const char *text)
{
    char *plain = memory__text(text), *to = plain;
    for (; *text; text++) {
        bool is_coded = *text == '%' && hex(text[1]) >= 0 && hex(text[2]) >= 0;
        *to++ = is_coded ? (char)(hex(text[1]) * 16 + hex(text[2])) : *text;
        text += is_coded ? 2 : 0;
    }
    *to = 0;
    return plain;
}

static void read_member(void *row, const struct status_member *member, const char *text)
{
    void *value = member_of(row, member);
    if (member->kind == MEMBER_COUNT)
        *(uint64_t *)value = strtoull(text, NULL, 10);
    else if (member->kind == MEMBER_REAL)
        *(double *)value = strtod(text, NULL);
    else {
        free(*(char **)value);
        *(char **)value = plain_text(text);
    }
}

/* Keys that are not known are a newer daemon's. */
static void read_row(void *row, const struct status_kind *kind, char *words)
{
    char *rest = words;
    for (char *word; (word = strsep(&rest, " "));) {
        char *equals = strchr(word, '=');
        if (!equals)
            continue;
        *equals = 0;
        for (size_t i = 0; i < kind->count; i++)
            if (strcmp(kind->members[i].name, word) == 0)
                read_member(row, &kind->members[i], equals + 1);
    }
}

static void read_line(struct place_status *status, char *line)
{
    struct {
        const struct status_kind *kind;
        struct vec *rows;
    } of[] = {{&status_application_kind, &status->applications},
              {&status_decision_kind, &status->decisions},
              {&status_sensor_kind, &status->sensors}};
    char *words = strchrnul(line, ' ');
    if (*words)
        *words++ = 0;
    if (strcmp(line, status_daemon_kind.name) == 0)
        read_row(&status->daemon, &status_daemon_kind, words);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(line, of[i].kind->name) == 0) {
            void *row = vec__push(of[i].rows, NULL);
            begin_row(row, of[i].kind);
            read_row(row, of[i].kind, words);
        }
}

bool place_status__parse(char *text, struct place_status *status)
{
    if (strncmp(text, STATUS_HEAD, strlen(STATUS_HEAD)) != 0)
        return false;
    *status = place_status__new();
    char *rest = text + strlen(STATUS_HEAD);
    for (char *line; (line = strsep(&rest, "\n"));)
        read_line(status, line);
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* free() it. */
static char *directory_path(void)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    struct stat about;
    if (runtime && *runtime == '/' && stat(runtime, &about) == 0 && about.st_uid == geteuid())
        return memory__format("%s/heurt", runtime);
    return geteuid() ? memory__format("/tmp/heurt-%u", (unsigned)geteuid())
                     : memory__text(RUN_OF_ROOT);
}

/* A descriptor of the directory; -1: there is none, or it is not this user's alone. */
static int open_directory(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &about) < 0 || about.st_uid != geteuid() || about.st_mode & 022)) {
        close(fd);
        errno = EPERM;
        return -1;
    }
    return fd;
}

static bool write_file(int directory, const char *name, const char *text)
{
    char beside[64];
    snprintf(beside, sizeof beside, ".%s", name);
    int fd = openat(directory, beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool is_written = descriptor__write_all(fd, text, strlen(text));
    close(fd);
    return is_written && renameat(directory, beside, directory, name) == 0;
}

static void name_file(char name[32])
{
    snprintf(name, 32, STATUS_PREFIX "%d", (int)getpid());
}

int place_status__write(const struct place_status *status, struct error *error)
{
    char name[32], *path = directory_path(), *text = place_status__text(status);
    mkdir(path, 0700);
    int directory = open_directory(path);
    name_file(name);
    bool is_written = directory >= 0 && write_file(directory, name, text);
    int code = is_written ? 0
                          : error__set(error, errno ? -errno : -EIO,
                                       "cannot tell --status anything: '%s' cannot be written: %s",
                                       path, strerror(errno));
    if (directory >= 0)
        close(directory);
    free(path);
    free(text);
    return code;
}

/* NULL: it is not this user's, or no status. */
static char *read_file(int directory, const char *name)
{
    struct stat about;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char *text = NULL;
    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && descriptor__is_own(fd) &&
        about.st_size < (off_t)STATUS_BYTES_MOST) {
        text = memory__zeroed((size_t)about.st_size + 1, 1);
        if (!descriptor__read_all(fd, text, (size_t)about.st_size)) {
            free(text);
            text = NULL;
        }
    }
    if (fd >= 0)
        close(fd);
    return text;
}

static uint64_t ticks_of(uint64_t pid)
{
    char path[48], text[1024];
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    uint64_t ticks = 0;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = 0;
    const char *end = strrchr(text, ')');
    if (!end || sscanf(end + 1,
                       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                       "%*d %" SCNu64,
                       &ticks) != 1)
        return 0;
    return ticks;
}

uint64_t place_status__own_ticks(void)
{
    return ticks_of((uint64_t)getpid());
}

bool place_status__is_alive(const struct place_status *status)
{
    uint64_t ticks = ticks_of(status->daemon.pid);
    return ticks && ticks == status->daemon.started_ticks;
}

static int by_pid(const void *a, const void *b)
{
    const struct place_status *left = a, *right = b;
    return ORDER(left->daemon.pid, right->daemon.pid);
}

struct vec place_status__read_all(void)
{
    struct vec statuses = VEC_OF(struct place_status);
    char *path = directory_path();
    int fd = open_directory(path);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        struct place_status status;
        if (strncmp(entry->d_name, STATUS_PREFIX, strlen(STATUS_PREFIX)) != 0)
            continue;
        char *text = read_file(fd, entry->d_name);
        if (text && place_status__parse(text, &status))
            vec__push(&statuses, &status);
        free(text);
    }
    if (directory)
        closedir(directory);
    vec__sort(&statuses, by_pid);
    free(path);
    return statuses;
}

void place_status__sweep(void)
{
    struct vec statuses = place_status__read_all();
    char *path = directory_path();
    int directory = open_directory(path);
    VEC_EACH (status, &statuses, struct place_status) {
        char name[32];
        snprintf(name, sizeof name, STATUS_PREFIX "%" PRIu64, status->daemon.pid);
        if (directory >= 0 && !place_status__is_alive(status))
            unlinkat(directory, name, 0);
    }
    if (directory >= 0)
        close(directory);
    free(path);
    place_statuses__free(&statuses);
}

void place_statuses__free(struct vec *statuses)
{
    VEC_EACH (status, statuses, struct place_status)
        place_status__free(status);
    vec__free(statuses);
}
