/* import.h: traces that other tools recorded become ordinary traces of heurt.
 *
 *     file or directory ──► importer (recognises, import) ──► struct import ──► format/writer.h
 *
 * An importer knows one format; it tells processes, threads, functions and events, each thread's in
 * the order of their times, and struct import writes them. Times are ns of whatever clock the
 * source has. What a source holds is trusted in nothing: importers check, pass over what they do
 * not understand, and count it. Functions get addresses that mean nothing but have names in the
 * trace's symbols. One thread at a time. Memory: functions and threads, and what an importer keeps.
 */
#ifndef HEURT_IMPORT_IMPORT_H
#define HEURT_IMPORT_IMPORT_H

#include "base/error.h"
#include "format/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct import;
struct symbols;

#define IMPORT_HEAD_BYTES 4096u

/* What is to be imported, and how it begins. */
struct import_source {
    const char *path; /* without a slash at its end */
    bool is_directory;
    size_t head_bytes;
    char head[IMPORT_HEAD_BYTES + 1]; /* of a file; a 0 behind it */
};

struct importer {
    const char *name;  /* "uftrace" */
    const char *lacks; /* "no off-CPU times, no locks" */
    bool (*recognises)(const struct import_source *source);
    /* Negative errno with a sentence when there is nothing to be read. */
    int (*import)(const struct import_source *source, struct import *import, struct error *error);
    const char *library; /* by which it reads, and which a damaged source may bring down; or NULL */
};

extern const struct importer *const importers[]; /* NULL-ended */

int import_source__open(const char *path, struct import_source *source, struct error *error);
/* The first that recognises it, or NULL. */
const struct importer *importer__of(const struct import_source *source);
/* "a, b and c": of all of them; free() it. */
char *importer__names(void);

/* Whether a file of that name is in the source's directory. */
bool import_source__has(const struct import_source *source, const char *name);

/* All of a file. munmap it. Negative errno with a sentence. */
int import_source__map(const struct import_source *source, const uint8_t **bytes, size_t *count,
                       struct error *error);

/* What came of it. */
struct import_outcome {
    uint64_t events, threads, passed_over;
    char passed_over_what[64]; /* what the first one was */
    const char *name, *lacks;  /* the importer's, or what it said of this source */
};

/* All of it: reads source into a trace at directory. outcome grows meanwhile. */
int importer__run(const struct importer *importer, const struct import_source *source,
                  const char *directory, struct import_outcome *outcome, struct error *error);

/* ---- for importers --------------------------------------------------------------------------- */

#define IMPORT_NAME_MAX 16384u /* bytes of a name; what is behind them is cut */
#define IMPORT_THREADS_MAX 100000u

/* The process with that pid, made when it is not there; path: NULL: not known. Its serial. */
uint32_t import__process(struct import *import, uint32_t pid, uint32_t parent_pid,
                         const char *path);
/* Likewise a thread: a number for what follows. name: NULL: as before. UINT32_MAX: there are too
 * many. */
uint32_t import__thread(struct import *import, uint32_t pid, uint32_t tid, const char *name);
/* The serial of its process. */
uint32_t import__process_of(const struct import *import, uint32_t thread);
/* The id of a function in the process of the thread, told by all of these; module and file: NULL:
 * not known. */
uint32_t import__function(struct import *import, uint32_t thread, const char *name,
                          const char *module, const char *file, uint32_t line);
/* What else a function may be than one of the program without known arguments. */
struct import_function {
    const char *name, *module, *file; /* module and file: NULL: not known */
    uint32_t line;
    enum heurt_function_kind kind;
    const char *arguments; /* their names, joined by ',': as many words its enters have */
};
uint32_t import__function_of(struct import *import, uint32_t thread,
                             const struct import_function *function);
/* An address that has this name, for the site of a call. */
uint64_t import__site(struct import *import, uint32_t thread, const char *name, const char *module,
                      const char *file, uint32_t line);
/* What an object at an address is called, in the process of the thread. */
void import__name_object(struct import *import, uint32_t thread, uint64_t address,
                         const char *name);
/* A site in the innermost open function; 0: there is none. */
uint64_t import__innermost_site(const struct import *import, uint32_t thread);
/* The thread begins, before its first event; it ends, after the last one. Else its life is that of
 * its events. */
void import__begin(struct import *import, uint32_t thread, int64_t ns);
void import__end(struct import *import, uint32_t thread, int64_t ns);
/* A call begins, or ends: with all that it has in it. A leave of what is not open is passed over.
 */
void import__enter(struct import *import, uint32_t thread, int64_t ns, uint32_t function);
void import__enter_with(struct import *import, uint32_t thread, int64_t ns, uint32_t function,
                        const uint64_t *arguments, size_t count);
void import__leave(struct import *import, uint32_t thread, int64_t ns, uint32_t function);
/* The innermost open call ends, if there is one. */
void import__leave_innermost(struct import *import, uint32_t thread, int64_t ns);
/* Any event of layout.h; its payload is one that the id has. */
void import__event(struct import *import, uint32_t thread, int64_t ns, uint32_t id,
                   const uint64_t *payload, size_t words);
void import__define(struct import *import, uint32_t thread, enum heurt_definition_type type,
                    const void *body, size_t bytes);
void import__meta(struct import *import, const char *key, const char *value);
/* Something of the source was not understood, or has no meaning here: a few words. */
void import__pass_over(struct import *import, const char *what);
/* The source is of that kind, of those that the importer knows, and that is what it lacks:
 * constants. */
void import__is_of(struct import *import, const char *name, const char *lacks);
/* The names of the trace's addresses, for what says more of them. */
struct symbols *import__symbols(struct import *import);
/* The trace is full: there is no use in going on. */
bool import__is_full(const struct import *import);
/* What the trace's own clock makes of a time. */
uint64_t import__tick(struct import *import, int64_t ns);

#endif
