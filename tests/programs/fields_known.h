/* fields_known.h: for programs that tell which objects they have, and whose work a debugger follows
 * instruction by instruction: from the first trap to the second. Behind that they print
 *
 *     object ADDRESS BYTES COUNT LABEL;TYPE      so many elements of so many bytes each
 *     field OFFSET BYTES PATH;TYPE
 *     part OFFSET BYTES COUNT TYPE;TYPE          so many objects of the first in the second
 *     made ADDRESS BYTES ;TYPE                   the call that returns there in the file makes
 * these
 *
 * A label is what has to stand in the name of what is accessed there, "-": nothing. */
#ifndef FIELDS_KNOWN_H
#define FIELDS_KNOWN_H

#include <stddef.h>
#include <stdio.h>

struct known_row {
    const void *address;
    size_t bytes, count;
    const char *label, *type;
};

enum { KNOWN_ROWS = 64 };
static struct known_row known_rows[KNOWN_ROWS];
static unsigned known_count;

static void __attribute__((noinline))
know(const void *address, size_t bytes, size_t count, const char *label, const char *type)
{
    struct known_row row = {address, bytes, count, label, type};
    known_rows[known_count++] = row;
}

/* What the next call is to give that takes memory. */
static struct known_row made_rows[KNOWN_ROWS];
static unsigned made_count;
static const char *made_next;
static size_t made_before; /* bytes that a library keeps before it */
static size_t made_bytes;
extern const char __executable_start[];

static void made_at(const void *return_address)
{
    /* count: what is before it */
    struct known_row row = {return_address, made_before + made_bytes, made_before, "", made_next};
    if (made_next)
        made_rows[made_count++] = row;
    made_next = NULL;
    made_before = 0;
}

#define MAKES(type, name) (made_next = (name), made_bytes = sizeof(type))

static void tell_made(void)
{
    for (unsigned i = 0; i < made_count; i++)
        printf("made %zu %zu %zu ;%s\n",
               (size_t)((const char *)made_rows[i].address - __executable_start),
               made_rows[i].bytes, made_rows[i].count, made_rows[i].type);
}

#define KNOW(pointer, count, label, type) know(pointer, sizeof *(pointer), count, label, type)
#define TRAP() __asm__ volatile("int3" ::: "memory")
#define HIDE(value) __asm__ volatile("" : "+r"(value))

static void tell_objects(void)
{
    for (unsigned i = 0; i < known_count; i++)
        printf("object %p %zu %zu %s;%s\n", known_rows[i].address, known_rows[i].bytes,
               known_rows[i].count, known_rows[i].label, known_rows[i].type);
    printf("object %p %zu %zu %s;%s\n", (void *)known_rows, sizeof *known_rows, (size_t)KNOWN_ROWS,
           "known_rows[]", "known_row");
    printf("object %p %zu %zu %s;%s\n", (void *)&known_count, sizeof known_count, (size_t)1,
           "known_count", "unsigned int");
}

#define TELL_FIELD(type, member, path, name) \
    printf("field %zu %zu %s;%s\n", offsetof(type, member), sizeof(((type *)0)->member), path, name)

#define TELL_PART(type, member, count, bytes, name, of)                                          \
    printf("part %zu %zu %zu %s;%s\n", offsetof(type, member), (size_t)(bytes), (size_t)(count), \
           name, of)

static void tell_known_row(void)
{
    TELL_FIELD(struct known_row, address, "address", "known_row");
    TELL_FIELD(struct known_row, bytes, "bytes", "known_row");
    TELL_FIELD(struct known_row, count, "count", "known_row");
    TELL_FIELD(struct known_row, label, "label", "known_row");
    TELL_FIELD(struct known_row, type, "type", "known_row");
}

#endif
