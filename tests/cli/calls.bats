# Calls that wait or work inside libc and the kernel: streams, and the process's memory map.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet --overhead none -o t "$PROGRAMS/stdio_known" "$PWD/shared.txt" >out </dev/null
    "$HEURT" record --quiet --overhead none -o f "$PROGRAMS/stdio_known_fortified" "$PWD/shared.txt" >out_f </dev/null
}

known() { # KEY
    sed -n "s/^$1=//p" "$BATS_FILE_TMPDIR/out"
}

# classes of the report in report.json: FILTER is "KEY=VALUE"; the field of those, one a line
field() {
    json "classes[$1].$2" || :
}

@test "what a program prints, and that a cancelled one lets go of its stream, is as without heurt" {
    "$PROGRAMS/stdio_known" "$PWD/plain.txt" >plain
    diff plain "$BATS_FILE_TMPDIR/out"
    diff plain "$BATS_FILE_TMPDIR/out_f"
    diff plain.txt "$BATS_FILE_TMPDIR/shared.txt"
    [ "$(known cancelled) $(known free_afterwards)" = "1 1" ]
}

@test "each wait for a stream's lock is seen, and the stream is called by its file" {
    local trace
    for trace in t f; do
        report_json "$BATS_FILE_TMPDIR/$trace"
        [ "$(field kind=lock contended | sum)" -eq "$(known waits)" ]
        [ "$(field kind=lock object_name | sort -u | sed '/^pipe:/d')" = "$BATS_FILE_TMPDIR/shared.txt" ]
    done
    # From the first wait on it is known who has it.
    "$HEURT" report -i "$BATS_FILE_TMPDIR/t" --threshold 0 | grep -q 'lock of FILE .*shared.txt, held by make_it_wait'
    "$HEURT" locks -i "$BATS_FILE_TMPDIR/t" | grep -Eq 'shared.txt 0x[0-9a-f]+ +FILE '
}

@test "reading and writing inside libc are calls of their own, with the file's descriptor" {
    "$HEURT" dump -i "$BATS_FILE_TMPDIR/t" --function write | grep -c 'enter.*write_and_read.* fd=[0-9]* file' >writes
    "$HEURT" dump -i "$BATS_FILE_TMPDIR/t" --function read | grep -c 'enter read .* file size=4096' >reads
    [ "$(cat writes)" -eq "$(known writes)" ]
    [ "$(cat reads)" -eq "$(known reads)" ]
}

@test "calls that change the memory map are counted while there are several threads" {
    report_json "$BATS_FILE_TMPDIR/t"
    local call
    for call in mmap munmap mprotect mremap madvise; do
        [ "$(field "function=$call" count | sort -n | tail -n 1)" -eq "$(known maps)" ]
        [ "$(field "function=$call" kind | sort -u)" = 'memory map' ]
    done
}

@test "waits of one process for a file lock of another: the file, and who has it" {
    [ -r /proc/locks ] || skip "the kernel lists no locks here"
    "$HEURT" record --quiet --overhead none -o l "$PROGRAMS/file_locks_known" >out
    report_json l
    [ "$(field kind=lock contended | sum)" -eq "$(sed -n s/^waits=//p out)" ]
    [ "$(field kind=lock object_name | sort -u)" = "$PWD/file_locks_known.tmp" ]
    "$HEURT" report -i l --threshold 0 | grep -q 'file lock .*file_locks_known.tmp, held by set_lock'
    "$HEURT" locks -i l | grep -q 'file_locks_known.tmp.* file lock '
}

@test "page faults at memory that is taken and given back again and again have their place" {
    compile churn <<'END'
#include <sys/mman.h>
__attribute__((noinline)) void touch(char *p) { for (int i = 0; i < 64; i++) p[i * 4096] = 1; }
int main(void) {
    for (int i = 0; i < 200; i++) {
        char *p = mmap(0, 64 * 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(p, 64 * 4096, MADV_NOHUGEPAGE);
        touch(p);
        munmap(p, 64 * 4096);
    }
}
END
    record -o c ./churn
    report_json c
    [ "$(json kernel.records)" = true ] || skip "the kernel tells nothing here"
    local count
    count=$(json 'classes[kind=page fault].count') || skip "threads keep the kernel's records here"
    [ "$(json 'classes[kind=page fault].caller.function')" = touch ]
    [ "$count" -gt 6400 ] && [ "$count" -le 12736 ]
}

@test "faults of the recording itself are no class of the program" {
    compile calling <<'END'
__attribute__((noinline)) int f(int i) { return __atomic_add_fetch(&(int){0}, i, 5); }
int main(void) { for (int i = 0; i < 200000; i++) f(i); }
END
    record -o own --overhead none -f f ./calling
    report_json own
    [ "$(json kernel.records)" = true ] || skip "the kernel tells nothing here"
    ! classes 'page fault' caller.function | grep -F 'last call'
    ! classes 'page fault' caller.module | grep -F libheurt.so
}
