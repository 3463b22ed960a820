# A finished trace is packed, and nobody notices.
load ../helpers

# locks N [STAY]: locks and unlocks N times; with STAY, a child of it does that and stays until the
# file "end" is there. preload.so: the recorder's writes to the packed file fail as $PACK_FAILS tells.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    cat >locks.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void work(long times)
{
    while (times--) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}
int main(int argc, char **argv)
{
    int ready[2];
    char byte = 0;
    if (argc < 3) {
        work(atol(argv[1]));
        return 0;
    }
    if (pipe(ready) < 0)
        return 1;
    if (fork() == 0) {
        work(atol(argv[1]));
        if (write(ready[1], &byte, 1) < 0)
            return 1;
        close(0), close(1), close(2);
        while (access("end", F_OK) < 0)
            usleep(10000);
        return 0;
    }
    return read(ready[0], &byte, 1) != 1;
}
C
    cat >preload.c <<'C'
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    if (*getenv("PACK_FAILS") == 'k')
        raise(SIGKILL);
    errno = ENOSPC;
    return -1;
}
ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));
C
    "${HEURT_CC:-${CC:-cc}}" -O1 -g -pthread -w -o locks locks.c &&
        "${HEURT_CC:-${CC:-cc}}" -O1 -w -shared -fPIC -o preload.so preload.c
}

events_of() {
    stat -c %s "$1/events"
}

is_packed() { # DIR: 200,000 events, 24 bytes each, are in less than 4 bytes each
    is_number_above "$(events_of "$1")" 800000
}

has_all() { # DIR
    report_json "$1"
    [ "$(classes lock count | sum)" = 100000 ]
    [ "$(json coverage.events_lost)" = 0 ]
}

@test "a trace is packed when the program has ended; a report and a dump know no difference" {
    # Two runs have as many events only without what the machine does to them.
    record --no-kernel --locks all -o packed "$BATS_FILE_TMPDIR/locks" 100000
    says 'recorded 1 thread into packed \(0\.[0-9] MB\)'
    is_packed packed
    has_all packed
    record --no-kernel --no-pack --locks all -o raw "$BATS_FILE_TMPDIR/locks" 100000
    is_number_above 4000000 "$(events_of raw)"
    has_all raw
    [ "$("$HEURT" dump --raw -i packed | wc -l)" = "$("$HEURT" dump --raw -i raw | wc -l)" ]
    "$HEURT" dump -i packed -f 'lock *' >text
    [ "$(grep -c 'lock acquired (mutex)' text)" = 100000 ]
    [ ! -e packed/events.new ]
}

@test "a small trace stays as it was written" {
    record -o t "$BATS_FILE_TMPDIR/locks" 100
    [ $(($(events_of t) % 4096)) = 0 ]
}

@test "a packed trace is moved away and removed as any other" {
    record --locks all -o t "$BATS_FILE_TMPDIR/locks" 100000
    record -o t "$BATS_FILE_TMPDIR/locks" 100
    has_all t.old
    record -o t "$BATS_FILE_TMPDIR/locks" 100
    is_number_above "$(events_of t.old)" 100000
}

@test "a process that still runs keeps its trace as it is" {
    record --locks all -o t "$BATS_FILE_TMPDIR/locks" 100000 stay
    expect_status 0
    [[ $stderr == *"a process that the program started still runs"* ]] ||
        { : >end && skip "this file system does not tell who has a file open"; }
    is_number_above 4000000 "$(events_of t)"
    has_all t
    : >end
}

@test "the recorder is killed while it packs: the trace is there, and in nobody's way" {
    needs_plain_heurt
    heurt_killed() {
        PACK_FAILS=killed LD_PRELOAD="$BATS_FILE_TMPDIR/preload.so" "$HEURT" record -q --locks all -o t \
            "$BATS_FILE_TMPDIR/locks" 100000
    }
    ended=0
    heurt_killed || ended=$?
    [ "$ended" = 137 ]
    [ -e t/events.new ]
    has_all t
    record -o t "$BATS_FILE_TMPDIR/locks" 100
    has_all t.old
    record -o t "$BATS_FILE_TMPDIR/locks" 100
    [ ! -e t.old/events.new ]
}

@test "a full disk: the trace stays unpacked, the program's exit status is what it was" {
    needs_plain_heurt
    PACK_FAILS=full LD_PRELOAD="$BATS_FILE_TMPDIR/preload.so" heurt record --locks all -o t \
        sh -c '"$0" 100000; exit 7' "$BATS_FILE_TMPDIR/locks"
    expect_status 7
    says 'the trace t stays unpacked: there is no room on the disk for the packed one'
    [ ! -e t/events.new ]
    has_all t
}

@test "a damaged packed trace: what is whole is reported, what is not is told" {
    record --locks all -o t "$BATS_FILE_TMPDIR/locks" 100000
    size=$(events_of t)
    cp -r t bad
    # More than what may lie unused between two chunks, and no longer what it was.
    head -c 128 /dev/zero | tr '\0' '\377' |
        dd of=bad/events bs=1 seek=$((size / 2)) conv=notrunc status=none
    "$HEURT" dump --raw -i bad >text 2>err
    grep -Eq '(1 place|2 places) of the trace could not be understood' err
    is_number_above 50000 "$(wc -l <text)"
    cp -r t cut
    truncate -s $((size / 2)) cut/events
    "$HEURT" dump --raw -i cut >text 2>err
    grep -q 'of the trace could not be understood' err
    is_number_above 10000 "$(wc -l <text)"
}
