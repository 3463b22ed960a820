#!/usr/bin/env bats
# Who may write what, and who is believed: another user gets neither at a trace nor into a program.
load ../helpers

# A program that opens a library when it reads a line, and one that takes the name of a dead recorder's
# socket and says whether the program asks it for a plan.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    cat >late.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char line[16];
    puts("ready");
    fflush(stdout);
    if (argc < 2 || !fgets(line, sizeof line, stdin))
        return 1;
    long (*function)(long) = (long (*)(long))dlsym(dlopen(argv[1], RTLD_NOW), "plugin_function");
    return function && function(3) == 7 ? 0 : 2;
}
C
    cat >thief.c <<'C'
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char byte;
    if (argc < 2)
        return 1;
    strncpy(address.sun_path + 1, argv[1], sizeof address.sun_path - 2);
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(argv[1]);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 8) != 0)
        return 1;
    puts("bound");
    fflush(stdout);
    int peer = accept(fd, NULL, NULL);
    puts(read(peer, &byte, 1) == 1 ? "asked" : "refused");
    return 0;
}
C
    "${CC:-cc}" -O1 -w -o late late.c -ldl
    "${CC:-cc}" -O1 -w -o thief thief.c
}

teardown() {
    [ -z "${program-}" ] || kill -9 "$program" 2>/dev/null || :
    [ -z "${thief-}" ] || kill -9 "$thief" 2>/dev/null || :
    leave_room
}

@test "a trace is its owner's alone" {
    umask 0
    record -o t -- true
    [ "$(stat -c %a t)" = 700 ] || fail "the directory: $(stat -c %a t)"
    for file in t/*; do
        [ "$(stat -c %a "$file")" = 600 ] || fail "$file: $(stat -c %a "$file")"
    done
    mkdir -m 777 empty
    record -o empty -- true
    [ "$(stat -c %a empty)" = 700 ] || fail "the directory that was there: $(stat -c %a empty)"
}

@test "somebody else's directory and trace are left alone" {
    needs_root "a directory of another user"
    mkdir -m 777 theirs && chown 65534 theirs
    heurt record -o theirs -- true
    expect_status 125
    says 'belongs to another user, so it is left alone; give another place with -o'
    [ -z "$(ls -A theirs)" ]
    record -o t -- true
    chown -R 65534 t
    heurt record -o t -- true
    expect_status 125
    says 'belongs to another user'
    [ -e t/events ] && [ ! -e t.old ]
}

@test "who takes a dead recorder's name is asked for nothing" {
    mkfifo in
    exec 7<>in
    "$HEURT" record -o t -M 'plugin.so' sh -c 'echo $$ >pid; exec "$@"' sh \
        "$BATS_FILE_TMPDIR/late" "$PROGRAMS/plugin.so" <in >out 2>err 3>&- &
    recorder=$!
    wait_for grep -q ready out
    program=$(cat pid)
    name=$(grep -o "heurt-$recorder-[0-9a-f]*" /proc/net/unix | head -n 1)
    [ -n "$name" ] || fail "the recorder has no socket"
    kill -9 "$recorder"
    wait "$recorder" || :
    "$BATS_FILE_TMPDIR/thief" "$name" >thief.out 3>&- &
    thief=$!
    wait_for grep -q bound thief.out
    echo go >&7
    wait_for grep -Eq 'asked|refused' thief.out
    grep -q refused thief.out || fail "the program asked the thief"
}

@test "two recordings with one cache: names that are added while functions are judged" {
    export HEURT_CACHE=$PWD/cache
    for functions in '+0x11*' '+0x*'; do
        record -o t -f "$functions" -- "$(command -v as)" --version
        expect_status 0
    done
}
