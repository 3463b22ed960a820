/* image_environment.c: what started the recording, in the environment of a program image: taken out
 * of the program's sight, and put in again for the images that it starts.
 *
 * The entries that are added stand behind all others, are of an even number, and take a multiple of
 * HEURT_PAD_BYTES of the new stack with their pointers: so nothing else in it changes its place
 * within a page, and the program's memory begins as it would without them. */
#include "runtime/new_image.h"
#include "runtime/raw.h"

#include <elf.h>
#include <string.h>
#include <sys/prctl.h>

extern char **environ;

const char *environment__value(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : NULL;
}

static bool is_ours(const char *entry)
{
    return environment__value(entry, HEURT_ENVIRONMENT) || environment__value(entry, HEURT_PAD);
}

/* Where our library stands in a list as LD_PRELOAD has it, or NULL. */
static const char *list__find(const char *list, const char *item)
{
    size_t length = text__length(item);
    for (const char *at = list; *at;) {
        size_t part = strcspn(at, ": ");
        if (part == length && memcmp(at, item, length) == 0)
            return at;
        at += part;
        at += strspn(at, ": ");
    }
    return NULL;
}

/* Where the name of our library begins behind its folder: what lies beside it is named alike. */
static size_t folder_length(void)
{
    size_t length = text__length(heurt_state.library);
    while (length && heurt_state.library[length - 1] != '/')
        length--;
    return length;
}

/* Behind our library there, with what separates it: that of MPI's functions; else NULL. */
static char *list__skip_mpi(char *at)
{
    static const char name[] = HEURT_MPI_LIBRARY_FILE;
    size_t folder = folder_length();
    if (*at != ':' || memcmp(at + 1, heurt_state.library, folder) != 0 ||
        memcmp(at + 1 + folder, name, sizeof name - 1) != 0)
        return NULL;
    at += folder + sizeof name;
    return *at && *at != ':' && *at != ' ' ? NULL : at;
}

/* LD_PRELOAD's value with our library cut out, in place, and with the sanitizer's that was put
 * just in front of it. False when nothing is left. */
static bool list__cut(char *list, const char *item)
{
    char *at = (char *)list__find(list, item);
    if (at) {
        size_t first = strcspn(list, ": ");
        if (list + first + 1 == at && first_library__is(list, first))
            at = list;
        char *rest = (char *)list__find(at, item) + text__length(item), *behind;
        if (strnlen(rest, folder_length() + 1) > folder_length() && (behind = list__skip_mpi(rest)))
            rest = behind;
        rest += strspn(rest, ": ");
        if (!*rest)
            while (at > list && (at[-1] == ':' || at[-1] == ' '))
                at--;
        memmove(at, rest, text__length(rest) + 1);
    }
    return *list != 0;
}

/* ---- out of sight ---------------------------------------------------------------------------- */

/* Whether the user's own LD_PRELOAD stands beside the one with our library. */
static bool has_users_preload(void)
{
    for (char **entry = environ; *entry; entry++) {
        const char *list = environment__value(*entry, HEURT_PRELOAD);
        if (list && !list__find(list, heurt_state.library))
            return true;
    }
    return false;
}

static bool is_dropped(char *entry, bool has_users)
{
    char *list = (char *)environment__value(entry, HEURT_PRELOAD);
    if (!list || !list__find(list, heurt_state.library))
        return is_ours(entry);
    return has_users || !list__cut(list, heurt_state.library);
}

/* The words between the end of a shortened environment and the auxiliary vector, for programs that
 * look for that one behind their environment: entries that are to be ignored. */
static void fill_up(uint64_t *from, const uint64_t *end)
{
    for (; from + 2 <= end; from += 2) {
        from[0] = AT_IGNORE;
        from[1] = 0;
    }
}

#define STAT_FIELDS 52
#define STAT_THREADS 20

/* The fields of /proc/self/stat by their number in proc(5), from the fourth on. */
static bool read_stat(uint64_t fields[STAT_FIELDS])
{
    char text[1024];
    long descriptor = RAW3(open, "/proc/self/stat", 0 /* O_RDONLY */, 0);
    if (descriptor < 0)
        return false;
    long length = RAW3(read, descriptor, text, sizeof text - 1);
    RAW1(close, descriptor);
    if (length <= 0)
        return false;
    text[length] = 0;
    const char *at = strrchr(text, ')');
    if (!at)
        return false;
    at += sizeof ") S";
    for (unsigned field = 4; field < STAT_FIELDS; field++) {
        bool negative = *at == '-';
        at += negative;
        fields[field] = 0;
        for (; *at >= '0' && *at <= '9'; at++)
            fields[field] = fields[field] * 10 + (uint64_t)(*at - '0');
        if (*at++ != ' ' && field + 1 < STAT_FIELDS)
            return false;
    }
    return true;
}

/* Tells the kernel that the environment ends there, as it shows it in /proc/PID/environ. Not while
 * other threads may move the break, which has to be told again; and it is only shown otherwise
 * where the kernel cannot be told. */
static void tell_end(const char *end)
{
    uint64_t fields[STAT_FIELDS];
    if (!read_stat(fields) || fields[STAT_THREADS] != 1)
        return;
    struct prctl_mm_map map = {
        .start_code = fields[26],
        .end_code = fields[27],
        .start_stack = fields[28],
        .start_data = fields[45],
        .end_data = fields[46],
        .start_brk = fields[47],
        .brk = (uint64_t)RAW1(brk, 0),
        .arg_start = fields[48],
        .arg_end = fields[49],
        .env_start = fields[50],
        .env_end = (uint64_t)end,
        .exe_fd = ~0u,
    };
    if (map.start_code > 1 && map.start_stack && map.env_start <= map.env_end &&
        map.env_end <= fields[51])
        RAW6(prctl, PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0, 0);
}

void environment__clean(void)
{
    bool has_users = has_users_preload();
    char **to = environ, **from = environ;
    char *end = NULL; /* where ours begin, if they are the last */
    for (; *from; from++) {
        if (!is_dropped(*from, has_users)) {
            end = NULL;
            *to++ = *from;
            continue;
        }
        end = end ? end : *from;
        memset(*from, 0, text__length(*from));
    }
    if (to == from)
        return;
    *to = NULL;
    if ((from - to) % 2 == 0)
        fill_up((uint64_t *)(to + 1), (uint64_t *)(from + 1));
    if (end)
        tell_end(end);
}

/* ---- in again -------------------------------------------------------------------------------- */

#define ADDED 4         /* entries */
#define ENTRY_NAMES 128 /* bytes of their names, separators and ends, at most */

size_t environment__slots(char *const *envp)
{
    size_t count = 0;
    while (envp && envp[count])
        count++;
    return count + ADDED + 1;
}

static char *append(char *to, const char *text)
{
    size_t length = text__length(text);
    bytes__copy(to, text, length + 1);
    return to + length;
}

/* The two entries that fill up what those between text and end take; returns where they end. */
static char *append_pads(char **to, const char *text, char *end)
{
    size_t taken = (size_t)(end - text) + 2 * sizeof HEURT_PAD "=" + ADDED * sizeof *to;
    to[0] = end;
    end = append(end, HEURT_PAD "=");
    for (size_t pad = -taken % HEURT_PAD_BYTES; pad; pad--)
        *end++ = '.';
    *end++ = 0;
    to[1] = end;
    return append(end, HEURT_PAD "=") + 1;
}

/* Whether a launcher of MPI starts the image, or has started what does. */
static bool is_rank(char *const *envp)
{
    static const char *const variables[] = HEURT_MPI_VARIABLES;
    for (; envp && *envp; envp++)
        for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++)
            if (environment__value(*envp, variables[i]))
                return true;
    return false;
}

/* What MPI programs get beside our library, where it is there. */
static char *append_mpi(char *text)
{
    char *end = append(append(text, ":"), heurt_state.library);
    char *name = end - (text__length(heurt_state.library) - folder_length());
    end = append(name, HEURT_MPI_LIBRARY_FILE);
    if (RAW2(access, text + 1, 4 /* R_OK */) == 0)
        return end;
    *text = 0;
    return text;
}

/* Our LD_PRELOAD: with what users, the list that the new image would have without us, names. */
static char *append_preload(char *text, const char *users, const char *program, bool has_mpi,
                            struct image_room *room)
{
    bool has_ours = users && list__find(users, heurt_state.library);
    text = append(text, HEURT_PRELOAD "=");
    if (!has_ours && room &&
        (first_library__of_list(users, room->first) || first_library__of_program(program, room)))
        text = append(append(text, room->first), ":");
    if (!has_ours)
        text = append(text, heurt_state.library);
    if (!has_ours && has_mpi)
        text = append_mpi(text);
    if (users && *users)
        text = append(append(text, has_ours ? "" : ":"), users);
    return text + 1;
}

char *const *environment__inject(char *const *envp, const char *program, struct image_room *room,
                                 char **slots, char *text)
{
    const char *preload = NULL;
    char **to = slots;
    bool has_mpi = is_rank(envp);
    for (; envp && *envp; envp++) {
        const char *list = environment__value(*envp, HEURT_PRELOAD);
        preload = list ? list : preload;
        if (!is_ours(*envp) && !(list && list__find(list, heurt_state.library)))
            *to++ = *envp;
    }
    size_t needed = text__length(heurt_state.directory) + 2 * text__length(heurt_state.library) +
                    HEURT_LIBRARY_NAME_MAX + HEURT_PAD_BYTES + ENTRY_NAMES +
                    (preload ? text__length(preload) : 0);
    if (needed > ENVIRONMENT_TEXT) /* the image keeps what it preloads, and is not recorded */
        return envp;
    char *end = text;
    *to++ = end;
    end = append_preload(end, preload, program, has_mpi, room);
    *to++ = end;
    end = append(append(end, HEURT_ENVIRONMENT "="), heurt_state.directory) + 1;
    append_pads(to, text, end);
    to[2] = NULL;
    return slots;
}
