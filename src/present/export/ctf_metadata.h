/* ctf_metadata.h: the description of a Common Trace Format trace as heurt writes it, in TSDL.
 *
 * In go the run and what was met of it, out comes the text of the file "metadata", which says how
 * the streams of export_ctf.c are laid out and which names numbers have. It stands on base/ and
 * span_exporters.h. */
#ifndef HEURT_PRESENT_EXPORT_CTF_METADATA_H
#define HEURT_PRESENT_EXPORT_CTF_METADATA_H

#include "base/vec.h"
#include "present/export/span_exporters.h"

#define CTF_MAGIC 0xc1fc1fc1u
#define CTF_NONE UINT32_MAX

enum ctf_stream_class { CTF_DEFINITIONS, CTF_THREADS };

/* Of the stream of definitions. */
enum ctf_definition {
    CTF_DEFINE_PROCESS,
    CTF_DEFINE_THREAD,
    CTF_DEFINE_PLACE,
    CTF_DEFINE_CALL,
    CTF_DEFINE_OBJECT
};

/* Of the streams of threads. */
enum ctf_event {
    CTF_BEGIN,
    CTF_END,
    CTF_ENTER,
    CTF_ENTER_WITH,
    CTF_LEAVE,
    CTF_LEAVE_WITH,
    CTF_LEAVE_UNSEEN,
    CTF_LEAVE_OPEN,
    CTF_POINT,
    CTF_WEIGHT,
    CTF_STATE,
    CTF_SENT,
    CTF_RECEIVED
};

/* What has a name, by number; NULL: not met. */
struct ctf_names {
    struct vec labels;  /* const struct span_label * */
    struct vec places;  /* const struct span_place * */
    struct vec objects; /* const struct span_object * */
};

void ctf_metadata__put(const struct span_run *run, const struct ctf_names *names, FILE *out);

#endif
