/* first_library.c: sanitizers' libraries, which end a program in which another library was loaded
 * before them.  A program that is about to be run and needs one gets it in front of ours. */
#include "runtime/new_image.h"

#include <fcntl.h>

static bool begins(const char *name, size_t length, const char *beginning)
{
    size_t i = 0;
    while (beginning[i] && i < length && name[i] == beginning[i])
        i++;
    return !beginning[i];
}

bool first_library__is(const char *name, size_t length)
{
    static const char beginnings[][24] = HEURT_FIRST_LIBRARIES;
    for (size_t i = length; i-- > 0;)
        if (name[i] == '/') {
            name += i + 1;
            length -= i + 1;
            break;
        }
    for (unsigned i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (begins(name, length, beginnings[i]))
            return length < HEURT_LIBRARY_NAME_MAX;
    return false;
}

bool first_library__of_list(const char *list, char name[HEURT_LIBRARY_NAME_MAX])
{
    size_t length = 0;
    while (list && (*list == ':' || *list == ' '))
        list++;
    while (list && list[length] && list[length] != ':' && list[length] != ' ')
        length++;
    if (!length || length >= HEURT_LIBRARY_NAME_MAX || !first_library__is(list, length))
        return false;
    bytes__copy(name, list, length);
    name[length] = 0;
    return true;
}

/* ---- a file's needed libraries --------------------------------------------------------------- */

static bool read_at(long descriptor, uint64_t offset, void *to, size_t bytes)
{
    return RAW4(pread64, descriptor, to, bytes, offset) == (long)bytes;
}

/* How many there are; 0: it is no program that could be recorded. */
static unsigned segments__read(long descriptor, struct image_room *room)
{
    Elf64_Ehdr header;
    if (!read_at(descriptor, 0, &header, sizeof header) || header.e_ident[0] != ELFMAG0 ||
        header.e_ident[1] != ELFMAG1 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_machine != EM_X86_64 || header.e_phentsize != sizeof *room->segments ||
        header.e_phnum > ELF_SEGMENTS_MAX ||
        !read_at(descriptor, header.e_phoff, room->segments,
                 header.e_phnum * sizeof *room->segments))
        return 0;
    return header.e_phnum;
}

/* Where in the file an address lies; 0: nowhere. */
static uint64_t offset_of(const struct image_room *room, unsigned segments, uint64_t address)
{
    for (unsigned i = 0; i < segments; i++) {
        const Elf64_Phdr *segment = &room->segments[i];
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz)
            return segment->p_offset + (address - segment->p_vaddr);
    }
    return 0;
}

/* The name at offset, when it is one that wants to be first. */
static bool is_first(long descriptor, uint64_t offset, char name[HEURT_LIBRARY_NAME_MAX])
{
    long got = RAW4(pread64, descriptor, name, HEURT_LIBRARY_NAME_MAX, offset);
    long length = 0;
    while (length < got && name[length])
        length++;
    return length < got && first_library__is(name, (size_t)length);
}

static bool needed(long descriptor, struct image_room *room, unsigned segments)
{
    Elf64_Dyn *entries = room->dynamic;
    uint64_t strings = 0, count = 0;
    for (unsigned i = 0; i < segments; i++) {
        const Elf64_Phdr *segment = &room->segments[i];
        if (segment->p_type != PT_DYNAMIC)
            continue;
        count = segment->p_filesz / sizeof *entries;
        count = count < ELF_DYNAMIC_MAX ? count : ELF_DYNAMIC_MAX;
        if (!read_at(descriptor, segment->p_offset, entries, count * sizeof *entries))
            return false;
    }
    for (unsigned i = 0; i < count; i++)
        if (entries[i].d_tag == DT_STRTAB)
            strings = offset_of(room, segments, entries[i].d_un.d_ptr);
    for (unsigned i = 0; strings && i < count && entries[i].d_tag != DT_NULL; i++)
        if (entries[i].d_tag == DT_NEEDED &&
            is_first(descriptor, strings + entries[i].d_un.d_val, room->first))
            return true;
    return false;
}

bool first_library__of_program(const char *path, struct image_room *room)
{
    long descriptor = path ? RAW3(open, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0) : -1;
    if (descriptor < 0)
        return false;
    bool found = needed(descriptor, room, segments__read(descriptor, room));
    RAW1(close, descriptor);
    return found;
}
