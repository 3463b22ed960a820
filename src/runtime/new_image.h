/* new_image.h: new program images, and what makes them recorded.
 *
 * It is made between vfork and exec, too, and in threads and children whose stacks are as small as
 * the program chose: it needs neither the heap nor much of the stack. What is larger than a few
 * words has its place in a room of the thread's that is mapped at the first need. The child of a
 * vfork has its parent's. */
#ifndef HEURT_RUNTIME_NEW_IMAGE_H
#define HEURT_RUNTIME_NEW_IMAGE_H

#include "runtime/runtime.h"

#include <elf.h>

#define PATH_BYTES 4096
#define ELF_SEGMENTS_MAX 32
#define ELF_DYNAMIC_MAX 256

struct image_room {
    size_t bytes;
    char path[PATH_BYTES];                 /* image_rights.c */
    Elf64_Phdr segments[ELF_SEGMENTS_MAX]; /* first_library.c */
    Elf64_Dyn dynamic[ELF_DYNAMIC_MAX];    /* the same */
    char first[HEURT_LIBRARY_NAME_MAX];    /* image_environment.c */
    char text[ENVIRONMENT_TEXT];           /* of the entries that are added */
    char *slots[];                         /* the environment */
};

/* The thread's room, with that many slots, for what is now begun; NULL: there is no memory, or a
 * handler of a signal came while the thread itself uses it. */
struct image_room *image_room__take(size_t slots);
/* No image was begun. (Where one was, this is not called, and the room is taken for free by its
 * next user.) */
void image_room__give_back(void);
/* The thread has ended. */
void image_room__free(void);

/* What an entry of the environment says, if it is of that name, else NULL. */
const char *environment__value(const char *entry, const char *name);

/* Takes what started the recording out of this image's environment. Before the program runs. */
void environment__clean(void);

/* The environment for a new program image: envp plus what makes it recorded. The caller gives room
 * for environment__slots(envp) pointers and ENVIRONMENT_TEXT bytes. program: the path of its file,
 * or NULL when nobody knows. room: for what is looked at meanwhile. */
size_t environment__slots(char *const *envp);
char *const *environment__inject(char *const *envp, const char *program, struct image_room *room,
                                 char **slots, char *text);

/* Whether an image would run with rights that this process lacks (image_rights.c): of a file as
 * execveat(2) names it, or as execvp(3) finds it. */
bool image__gains_rights(int directory, const char *path, int flags);
bool image__gains_rights_by_name(const char *file, struct image_room *room);

/* The library that insists on being loaded first (first_library.c): whether those bytes name one;
 * the one that heads a list as LD_PRELOAD has it (may be NULL); the one that a program's file needs
 * (may be NULL or anything else). */
bool first_library__is(const char *name, size_t length);
bool first_library__of_list(const char *list, char name[HEURT_LIBRARY_NAME_MAX]);
bool first_library__of_program(const char *path, struct image_room *room);

#endif
