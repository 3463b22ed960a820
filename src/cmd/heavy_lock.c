#include "cmd/heavy_lock.h"

#include "analysis/locks/locks.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/load.h"
#include "cmd/single_run.h"
#include "format/directory.h"
#include "format/layout.h"
#include "present/locks/locks_screens.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

/* Rows are by what is waited for; condition variables and their kin are no locks. NULL: nobody
 * waits for any. */
static const struct lock_row *heaviest_of(const struct locks_result *locks)
{
    VEC_EACH (row, &locks->rows, struct lock_row)
        if (row->object.kind == CLASS_LOCK && lock_row__wait_ns(row) > 0)
            return row;
    return NULL;
}

static char *sites_of(const struct lock_row *row)
{
    char *text = NULL;
    size_t count = 0;
    VEC_EACH (site, &row->sites, struct lock_site)
        if (site->site && count++ < HEURT_HOLD_SITES) {
            char *number = memory__format("%" PRIx64, (uint64_t)HEURT_SITE_ADDRESS(site->site));
            text = text__join(text, ",", number);
            free(number);
        }
    return text;
}

static int look(const char *trace, const char *program, struct heavy_lock *lock)
{
    struct loaded loaded;
    const struct locks_filter everything = {0};
    int status = loaded__open(trace, &loaded);
    if (status)
        return status;
    run__ask(&loaded.run, &locks_analysis, &everything);
    status = loaded__profile(&loaded, CLASSES_BY_SITE);
    const struct lock_row *row =
        status ? NULL : heaviest_of(run__result(&loaded.run, &locks_analysis));
    lock->sites = row ? sites_of(row) : NULL;
    if (lock->sites)
        lock->name = locks_row__name(&loaded.report, row);
    else if (status == 0) {
        say("no thread of %.100s waits for a lock: there is none to hold longer", program);
        status = EXIT_HEURT;
    }
    loaded__close(&loaded);
    return status;
}

int heavy_lock__find(char *const *words, struct heavy_lock *lock)
{
    const char *temporary = getenv("TMPDIR");
    char *trace = memory__format("%s/heurt-lock.XXXXXX", temporary ? temporary : "/tmp");
    const struct single_run run = {.words = words, .trace = trace, .output = "/dev/null"};
    struct run_end end;
    *lock = (struct heavy_lock){NULL, NULL};
    int now = personality(0xffffffff), status = EXIT_HEURT;
    if (now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0)
        say("the system does not lay programs out in the same way each time (%s), by which locks "
            "are known again",
            strerror(errno));
    else if (!mkdtemp(trace))
        say("cannot make a directory for a trace as %.150s", trace);
    else if ((status = single_run__make(&run, &end)) == 0 && end.wait_status) {
        say("%.100s did not end well: times of a program that fails tell nothing", words[0]);
        status = EXIT_HEURT;
    }
    if (status == 0)
        status = look(trace, words[0], lock);
    trace_directory__unmake(trace, false);
    rmdir(trace);
    free(trace);
    return status;
}

char *heavy_lock__longer(const struct heavy_lock *lock, double level)
{
    unsigned permille = (unsigned)(level * 1000 + 0.5);
    return permille ? memory__format("%u:%s", permille, lock->sites) : NULL;
}

void heavy_lock__free(struct heavy_lock *lock)
{
    free(lock->name);
    free(lock->sites);
}
