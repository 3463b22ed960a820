# Calls of input and output, and sleeps: how often, on what, and how many bytes they moved, as the program
# counts itself (tests/programs/io_known.c).
load ../helpers

# counts DIR: a line "CALL=N", "KIND_CALL=N" and "KIND_CALL_bytes=N" for each call of the trace, as the program
# prints them. A result below 0 moved nothing.
counts() {
    "$HEURT" dump -i "$1" | awk '
        { for (at = 3; at < NF && $at != "enter" && $at != "leave"; at++); thread = $2; name = $(at + 1) }
        $at == "enter" {
            kind[thread] = match($0, / fd=[0-9]+ [a-z]+ /) ? $0 : ""
            sub(/.* fd=[0-9]+ /, "", kind[thread]); sub(/ .*/, "", kind[thread])
            number[name]++; number[kind[thread] "_" name]++
        }
        $at == "leave" && match($0, / result=[0-9]+/) {
            moved = substr($0, RSTART + 8, RLENGTH - 8)
            bytes[name] += moved; bytes[kind[thread] "_" name] += moved
        }
        END {
            for (name in number) print name "=" number[name]
            for (name in bytes) print name "_bytes=" bytes[name]
        }'
}

@test "each call is recorded once, with what it moved" {
    local program wrong
    for program in io_known io_known_plain io_known_fortified; do
        record -o t --no-choice --overhead none "$PROGRAMS/$program"
        expect_status 0
        counts t >counted
        # What failed, and what is no call of its own name, is counted with the others.
        wrong=$(grep -vE '_failed=' <<<"$output" | grep -vxFf counted || :)
        [ -z "$wrong" ] || fail "$program: counted otherwise: $wrong; $(sort counted | tr '\n' ' ')"
    done
}

# channel out|in FD: what is written there goes to, what is read there comes from, as CHANNEL events say last. A
# socket of a pair tells the other end when it is made, and not again.
channel() {
    awk -v fd="fd=$2" -v what="$1" '/point *channel/ && index($0, fd " ") {
        sub(".* " what "=0x", ""); sub(/ .*/, ""); if ($0 != "0") print }' channels | tail -1
}

@test "both ends of a channel are one" {
    record -o t --no-choice "$PROGRAMS/channels_known"
    expect_status 0
    "$HEURT" dump -i t >channels
    local kind from to
    while IFS='=,' read -r kind from to; do
        [ -n "$(channel out "$from")" ] || fail "nothing is known of the $kind: $(grep channel channels)"
        if [ "$kind" = unix ]; then # the name that both have
            [ "$(channel out "$from" | sed s/^8/c/)" = "$(channel out "$to")" ]
        else
            [ "$(channel out "$from")" = "$(channel in "$to")" ]
        fi || fail "not the ends of one $kind: $(grep channel channels)"
    done < <(grep -a = <<<"$output")
}

@test "a file that is used often, or synced, is called by its name, in a child, too" {
    cd "$BATS_TEST_TMPDIR"
    compile syncs <<'C'
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
static void write_to(const char *name, int syncs)
{
    int file = open(name, O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 40; i++) {
        write(file, name, 8);
        if (i < syncs)
            fdatasync(file);
    }
    close(file);
}
int main(void)
{
    write_to("parents.log", 2);
    if (fork() == 0) {
        open("/dev/null", O_RDONLY); /* so that its number is another */
        write_to("of_child.log", 0);
        _exit(0);
    }
    wait(NULL);
}
C
    "$HEURT" record -q -o t --no-choice ./syncs </dev/null
    "$HEURT" report -i t --json --threshold 0 >report.json
    json 'classes[function=fdatasync].object_name' | grep -q 'parents\.log$' || fail "$(<report.json)"
    json 'classes[function=write].object_name' | grep -q 'of_child\.log$' || fail "$(<report.json)"
}

@test "a number that many files had is called so, and one whose file the C library closed is the next one's" {
    cd "$BATS_TEST_TMPDIR"
    compile numbers <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    char bytes[8];
    for (int i = 0; i < 40; i++) {
        int file = open("/etc/passwd", O_RDONLY);
        read(file, bytes, sizeof bytes);
        close(file);
    }
    int low = open("/dev/null", O_RDONLY); /* so that its number is another */
    FILE *stream = fopen("streams.txt", "w");
    fdatasync(fileno(stream));
    fclose(stream);
    int file = open("synced.log", O_CREAT | O_WRONLY, 0600);
    write(file, bytes, sizeof bytes);
    fsync(file);
    return low < 0;
}
C
    "$HEURT" record -q -o t --no-choice ./numbers </dev/null
    "$HEURT" report -i t --json --threshold 0 >report.json
    json 'classes[function=read].object_name' | grep -q '^many files' || fail "$(<report.json)"
    json 'classes[function=fsync].object_name' | grep -q 'synced\.log$' || fail "$(<report.json)"
}

@test "a place that many go through has call stacks of most of them, not of the first alone" {
    compile many <<'C' || return 1
#include <fcntl.h>
#include <unistd.h>
static char byte;
static int file;
__attribute__((noinline)) static void take(void) { read(file, &byte, 1); __asm__ volatile(""); }
__attribute__((noinline)) static void first(void) { take(); __asm__ volatile(""); }
__attribute__((noinline)) static void later(void) { take(); __asm__ volatile(""); }
int main(void)
{
    file = open("/dev/zero", O_RDONLY);
    first();
    for (int i = 0; i < 1000; i++)
        later();
    return 0;
}
C
    record -o t --no-choice ./many
    expect_status 0
    report_json t
    [ "$(json 'classes[function=read].stacks[0].frames[1].function' | sort -u)" = later ] ||
        fail "$(json 'classes[function=read].stacks')"
}

@test "the stack of a call on a stream has the time at which the call began" {
    compile prints <<'C' || return 1
#include <stdio.h>
#include <string.h>
int main(void)
{
    char line[9000];
    memset(line, 'x', sizeof line);
    for (int i = 0; i < 50; i++)
        fwrite(line, 1, sizeof line, stdout);
    return 0;
}
C
    record -o t --no-choice ./prints
    expect_status 0
    "$HEURT" dump -i t >events
    grep -c 'enter *write' events | grep -qxE '[0-9]{2,}' || fail "$(cat events)"
    awk '/ point *stack /{ at = $1; next } / enter *write/ && at { told++; if (at > $1) print } { at = 0 } END { exit !told }' \
        events >late || fail "no stack of a write: $(cat events)"
    [ ! -s late ] || fail "it began before its stack: $(cat late)"
}
