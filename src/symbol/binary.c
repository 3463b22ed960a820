#include "symbol/binary.h"

#include "base/memory.h"
#include "format/layout.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- along PATH ------------------------------------------------------------------------------ */

/* 0, or why execve would not take the file: -EPERM when it is there but not executable. */
static int executable(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return -errno;
    if (S_ISDIR(status.st_mode))
        return -EISDIR;
    return S_ISREG(status.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : -EPERM;
}

/* As execvp: the first that may be executed; an empty element is the current directory. */
static char *find_along_path(const char *name, bool *is_forbidden)
{
    const char *path = getenv("PATH");
    if (!path)
        path = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(path, ":");
        char *candidate = length ? memory__format("%.*s/%s", (int)length, path, name)
                                 : memory__format("./%s", name);
        int code = executable(candidate);
        if (code == 0)
            return candidate;
        *is_forbidden |= code == -EPERM;
        free(candidate);
        path += length;
        if (!*path++)
            return NULL;
    }
}

static int explain(const char *path, int code, struct error *error)
{
    switch (code) {
    case -ENOENT:
    case -ENOTDIR:
        return error__set(error, -ENOENT, "%s: no such file; check the path of the program", path);
    case -EISDIR:
        return error__set(error, -EACCES, "%s is a directory, not a program", path);
    case -EACCES:
        return error__set(error, -EACCES,
                          "%s cannot be reached: a directory of it is closed to "
                          "this user",
                          path);
    case -EPERM:
        return error__set(error, -EACCES,
                          "%s may not be executed by this user; is it a program? (chmod +x %s)",
                          path, path);
    default:
        return error__set(error, code, "%s cannot be executed: %s", path, strerror(-code));
    }
}

static int find(const char *name, char **path, struct error *error)
{
    if (!*name)
        return error__set(error, -ENOENT, "the name of the program is empty");
    if (strchr(name, '/')) {
        int code = executable(name);
        if (code)
            return explain(name, code, error);
        *path = memory__text(name);
        return 0;
    }
    bool is_forbidden = false;
    *path = find_along_path(name, &is_forbidden);
    if (*path)
        return 0;
    if (is_forbidden)
        return error__set(error, -EACCES, "%s was found along PATH but may not be executed", name);
    return error__set(error, -ENOENT,
                      "%s: no such program along PATH; give its path (./%s) if it is here", name,
                      name);
}

/* ---- privileges ------------------------------------------------------------------------------ */

/* Whether file capabilities would add something (struct vfs_cap_data, capabilities(7)). */
static bool gains_capabilities(int fd)
{
    struct vfs_ns_cap_data data = {0};
    ssize_t bytes = fgetxattr(fd, "security.capability", &data, sizeof data);
    if (bytes < (ssize_t)XATTR_CAPS_SZ_1 || getuid() == 0)
        return false;
    bool any = data.magic_etc & VFS_CAP_FLAGS_EFFECTIVE;
    size_t words = bytes >= (ssize_t)XATTR_CAPS_SZ_2 ? VFS_CAP_U32_2 : VFS_CAP_U32_1;
    for (size_t i = 0; i < words; i++)
        any |= data.data[i].permitted != 0;
    return any;
}

/* Whether the loader would ignore LD_PRELOAD (AT_SECURE): the kernel compares the ids that the
 * process would run with to the caller's real ones (security/commoncap.c). */
static bool runs_in_secure_mode(int fd, const struct stat *status)
{
    struct statvfs filesystem;
    uid_t user = geteuid();
    gid_t group = getegid();
    bool is_honoured = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
                       !(fstatvfs(fd, &filesystem) == 0 && filesystem.f_flag & ST_NOSUID);
    if (is_honoured && status->st_mode & S_ISUID)
        user = status->st_uid;
    if (is_honoured && status->st_mode & S_ISGID && status->st_mode & S_IXGRP)
        group = status->st_gid;
    return user != getuid() || group != getgid() || (is_honoured && gains_capabilities(fd));
}

/* ---- contents -------------------------------------------------------------------------------- */

static bool is_readable(const char *directory, const char *between, const char *name)
{
    char *path = memory__format("%s%s/%s", directory, between, name);
    bool found = access(path, R_OK) == 0;
    free(path);
    return found;
}

/* The places where debuggers look for the file that .gnu_debuglink names. */
static bool has_linked_debug_file(Elf *elf, const char *path)
{
    GElf_Word checksum;
    const char *name = dwelf_elf_gnu_debuglink(elf, &checksum);
    char *real = name ? realpath(path, NULL) : NULL;
    if (!real)
        return false;
    char *slash = strrchr(real, '/');
    bool is_same = strcmp(slash + 1, name) == 0;
    *slash = 0;
    char *global = memory__format("/usr/lib/debug%s", real);
    bool found = (!is_same && is_readable(real, "", name)) || is_readable(real, "/.debug", name) ||
                 is_readable(global, "", name);
    free(global);
    free(real);
    return found;
}

static bool has_debug_file_by_build_id(Elf *elf)
{
    const void *build_id;
    ssize_t bytes = dwelf_elf_gnu_build_id(elf, &build_id);
    if (bytes < 2 || bytes > 64)
        return false;
    char digits[2 * 64 + 2], *at = digits;
    for (ssize_t i = 0; i < bytes; i++) {
        static const char digit[] = "0123456789abcdef";
        unsigned byte = ((const unsigned char *)build_id)[i];
        *at++ = digit[byte >> 4];
        *at++ = digit[byte & 15];
        if (i == 0)
            *at++ = '/';
    }
    *at = 0;
    char *path = memory__format("/usr/lib/debug/.build-id/%s.debug", digits);
    bool found = access(path, R_OK) == 0;
    free(path);
    return found;
}

static void inspect_sections(Elf *elf, struct binary *binary)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name)
            continue;
        binary->is_go |= strcmp(name, ".go.buildinfo") == 0;
        binary->has_symbols |= header.sh_type == SHT_SYMTAB;
        binary->has_debug_info |=
            strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0;
    }
    binary->has_debug_info |=
        has_debug_file_by_build_id(elf) || has_linked_debug_file(elf, binary->path);
}

bool binary__wants_to_be_first(const char *library)
{
    static const char *const beginnings[] = HEURT_FIRST_LIBRARIES;
    const char *slash = strrchr(library, '/');
    const char *name = slash ? slash + 1 : library;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return strlen(name) < HEURT_LIBRARY_NAME_MAX;
    return false;
}

static bool is_mpi(const char *name)
{
    return strncmp(name, "libmpi.so", 9) == 0 || strncmp(name, "libmpich.so", 11) == 0 ||
           strncmp(name, "libmpi_", 7) == 0;
}

/* The needed libraries (DT_NEEDED): the first that wants to be first; whether one is of MPI. */
static void inspect_needed(Elf *elf, const GElf_Phdr *dynamic, struct binary *binary)
{
    Elf_Scn *section = gelf_offscn(elf, dynamic->p_offset);
    GElf_Shdr header;
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    if (!data || !gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
        return;
    GElf_Dyn entry;
    for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        const char *name =
            entry.d_tag == DT_NEEDED ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : NULL;
        binary->needs_mpi |= name && is_mpi(name);
        if (name && !binary->first_library && binary__wants_to_be_first(name))
            binary->first_library = memory__text(name);
    }
}

static void inspect_segments(Elf *elf, struct binary *binary)
{
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header))
            continue;
        binary->has_interpreter |= header.p_type == PT_INTERP;
        if (header.p_type == PT_DYNAMIC)
            inspect_needed(elf, &header, binary);
    }
}

static int inspect_elf(int fd, struct binary *binary, struct error *error)
{
    GElf_Ehdr header;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (!elf || !gelf_getehdr(elf, &header)) {
        elf_end(elf);
        return error__set(error, -ENOEXEC, "%s begins like an ELF program but is damaged or cut",
                          binary->path);
    }
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
        elf_end(elf);
        return error__set(error, -ENOEXEC,
                          "%s is an ELF file but no program (an object file or a core dump?)",
                          binary->path);
    }
    binary->is_elf = true;
    binary->is_64bit_x86 = header.e_machine == EM_X86_64 && header.e_ident[EI_CLASS] == ELFCLASS64;
    inspect_segments(elf, binary);
    inspect_sections(elf, binary);
    elf_end(elf);
    return 0;
}

static int inspect_file(int fd, struct binary *binary, struct error *error)
{
    struct stat status;
    char magic[SELFMAG] = "";
    if (fstat(fd, &status) != 0)
        return explain(binary->path, -errno, error);
    if (status.st_size == 0)
        return error__set(error, -ENOEXEC, "%s is empty: there is no program in it", binary->path);
    if (pread(fd, magic, sizeof magic, 0) != (ssize_t)sizeof magic ||
        memcmp(magic, ELFMAG, SELFMAG) != 0)
        return 0;
    binary->is_privileged = runs_in_secure_mode(fd, &status);
    return inspect_elf(fd, binary, error);
}

/* Without reading it nobody can tell whether it is static or 32-bit: refused, not guessed. */
static int inspect_unreadable(const struct binary *binary, struct error *error)
{
    return error__set(error, -EACCES,
                      "%s may be executed but not read by this user; heurt has to read it "
                      "(chmod +r %s)",
                      binary->path, binary->path);
}

int binary__inspect(const char *name, struct binary *binary, struct error *error)
{
    *binary = (struct binary){0};
    int result = find(name, &binary->path, error);
    if (result)
        return result;
    int fd = open(binary->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES)
        result = inspect_unreadable(binary, error);
    else if (fd < 0)
        result = explain(binary->path, -errno, error);
    else
        result = inspect_file(fd, binary, error);
    if (fd >= 0)
        close(fd);
    if (result)
        binary__free(binary);
    return result;
}

void binary__free(struct binary *binary)
{
    free(binary->path);
    free(binary->first_library);
    *binary = (struct binary){0};
}

bool binary__is_recordable(const struct binary *binary, struct error *error)
{
    const char *reason = NULL;
    if (!binary->is_elf)
        return true;
    if (!binary->is_64bit_x86)
        reason = "is not a 64-bit x86 program (32-bit, or for another machine); heurt records "
                 "x86-64 only. Build it with -m64";
    else if (!binary->has_interpreter)
        reason = "is statically linked, so that nothing can be loaded into it. Link it "
                 "dynamically (without -static)";
    else if (binary->is_privileged)
        reason = "runs with privileges that its caller lacks (setuid, setgid or file "
                 "capabilities), and the loader then ignores LD_PRELOAD. Record a copy without "
                 "them, or record as that user";
    if (reason)
        error__set(error, -ENOEXEC, "%s %s", binary->path, reason);
    return !reason;
}
