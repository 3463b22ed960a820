/* json_members.h: members of JSON documents, as all of heurt's schemas write them. Private to this
 * room.
 *
 * Times are in ns; what nobody has found out is null; texts from a trace become valid UTF-8. */
#ifndef HEURT_PRESENT_SCREEN_JSON_MEMBERS_H
#define HEURT_PRESENT_SCREEN_JSON_MEMBERS_H

#include "present/shared.h"

struct json_object;

/* Each takes over value. */
void json__add(struct json_object *object, const char *name, struct json_object *value);
void json__number(struct json_object *object, const char *name,
                  uint64_t value); /* UINT64_MAX: null */
struct json_number {
    const char *name;
    uint64_t value;
};
void json__numbers(struct json_object *object, const struct json_number *numbers, size_t count);
/* JSON_NUMBERS(object, {"count", 3}, {"sum_ns", 12}): likewise, several at once. */
#define JSON_NUMBERS(object, ...)                                    \
    json__numbers(object, (const struct json_number[]){__VA_ARGS__}, \
                  sizeof(const struct json_number[]){__VA_ARGS__} / sizeof(struct json_number))
void json__signed(struct json_object *object, const char *name, int64_t value);
void json__share(struct json_object *object, const char *name, double value);
void json__boolean(struct json_object *object, const char *name, bool value);
void json__text(struct json_object *object, const char *name, const char *text); /* NULL: null */
void json__address(struct json_object *object, const char *name,
                   uint64_t address); /* "0x…"; UINT64_MAX: null */
/* function, module, file, line */
void json__place(struct json_object *object, const struct place *place);
/* The same of a class, and caller. Of a hooked call module, file and line are those of the call;
 * its caller has them, too. */
void json__identity(struct json_object *object, const struct report *report,
                    const struct class_definition *class);

/* New and empty: members of that name, and an object at the end of the list. They are the parent's.
 */
struct json_object *json__object(struct json_object *parent, const char *name);
struct json_object *json__list(struct json_object *parent, const char *name);
struct json_object *json__entry(struct json_object *list);

struct json_object *json__new_text(const char *text); /* NULL for NULL */
/* Of an index into trace__threads; NULL: there is none. */
struct json_object *json__new_tid(const struct report *report, uint32_t thread);
/* [at least, at most] */
struct json_object *json__new_gain(const double gain[2]);
/* share and frames */
struct json_object *json__new_stack(const struct report *report, const struct profile_stack *stack);
/* A member for each component. */
struct json_object *json__new_doing(const uint64_t doing_ns[COMPONENTS]);

/* Members of a document's root: command; exit_status and signal; machine; warnings. */
void json__command(struct json_object *root, const struct report *report);
void json__exit(struct json_object *root, const struct report *report);
void json__machine(struct json_object *root, const struct report *report);
void json__warnings(struct json_object *root, const struct report *report);

/* Writes the document and frees it. */
void json__put(struct json_object *root, FILE *out);

#endif
