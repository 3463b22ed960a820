# helpers.bash: what the bats tests share. Each test works in a directory of its own.
# HEURT, LIBHEURT, PROGRAMS, EXAMPLES, JSON_GET, HEURT_SOURCE, HEURT_BUILD, CC: see tests/meson.build.

bats_require_minimum_version 1.5.0
unset HEURT_TRACE HEURT_RUNTIME HEURT_OPTIONS LD_PRELOAD PAGER NO_COLOR
export COLUMNS=200 # no line of a screen is broken, where a test does not ask for a width

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

fail() { # WORD…: a sentence, and the test has failed
    printf '%s\n' "$*" >&2
    return 1
}

teardown() {
    leave_room
}

# The last run's stdout (with --separate-stderr) and stderr, for who reads a failure.
show_run() {
    printf 'status %s\nstdout: %s\nstderr: %s\n' "$status" "$(head -n 8 <<<"$output")" \
        "$(head -n 8 <<<"${stderr-}")"
}

# heurt ARG…: runs it, stdout and stderr apart, in $status, $output and $stderr.
heurt() {
    status=0
    "$HEURT" "$@" >"$BATS_TEST_TMPDIR/.out" 2>"$BATS_TEST_TMPDIR/.err" </dev/null || status=$?
    output=$(tr -d '\0' <"$BATS_TEST_TMPDIR/.out")
    stderr=$(tr -d '\0' <"$BATS_TEST_TMPDIR/.err")
    show_run
}

record() { # ARG…: heurt record that must not fail by itself
    heurt record "$@"
    [ "$status" -lt 125 ] || [ "$status" -gt 127 ] || fail "heurt failed"
}

expect_status() {
    [ "$status" -eq "$1" ] || fail "status $status, not $1"
}

# says PATTERN: stderr holds a sentence of heurt's that matches the extended regular expression.
says() {
    grep -Eqi -- "^heurt: .*$1" <<<"$stderr" || fail "no sentence with \"$1\" in: $stderr"
}

# report_json DIR: its report is in report.json and is JSON of the version that we know.
report_json() {
    "$HEURT" report -i "$1" --json >report.json || fail "no report of $1"
    [ "$(json schema)" = heurt.report/1 ] || fail "not heurt.report/1"
}

json() { # PATH, in report.json
    "$JSON_GET" report.json "$1"
}

sum() { # of the numbers on stdin
    awk '{ total += $1 } END { printf "%.0f\n", total }'
}

# classes KIND FIELD: that field of every class of a kind, one a line; nothing when there is none.
classes() {
    json "classes[kind=$1].$2" || :
}

is_number_above() { # LIMIT VALUE
    [[ $2 =~ ^-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$ ]] || fail "$2 is not a number"
    awk -v limit="$1" -v value="$2" 'BEGIN { exit !(value > limit) }' || fail "$2 is not above $1"
}

# A sanitizer's library wants to be the first, and much address space.
needs_plain_heurt() {
    ! ldd "$HEURT" | grep -qE 'lib(a|t|l|ub)san' || skip "heurt itself is built with a sanitizer"
}

needs_root() {
    [ "$(id -u)" = 0 ] || skip "$1 needs root"
}

# too_busy WORD…: what others do on this machine forbids the test. Where CI is set nobody else may be there, and
# a test that is never made is a failure.
too_busy() {
    [ -z "${CI-}" ] || fail "this machine is too busy: $*" || return
    skip "this machine is too busy: $*"
}

# compile NAME [FLAG]…: a C program from stdin, in this test's directory.
compile() {
    local name=$1
    shift
    "${HEURT_CC:-${CC:-cc}}" -O1 -g -pthread -w -x c -o "$name" - "$@"
}

# public_room: a directory that every user may enter and write, with heurt installed in room/usr
# and the test programs in room/programs; the room is in $room, heurt in $room_heurt.
public_room() {
    room=$(mktemp -d "${TMPDIR:-/tmp}/heurt-test.XXXXXX") || return 1
    chmod 777 "$room"
    meson install -C "$HEURT_BUILD" --no-rebuild --destdir "$room/root" >install.log 2>&1 ||
        fail "$(cat install.log)"
    chmod -R a+rX "$room/root"
    room_heurt=$(find "$room/root" -path '*/bin/heurt' -type f)
    mkdir "$room/programs"
    find "$PROGRAMS" "$EXAMPLES" -maxdepth 1 -type f -executable -exec cp {} "$room/programs" \;
    chmod -R a+rX "$room/programs"
}

leave_room() {
    [ -z "${room-}" ] || rm -rf "$room"
}

# as_ordinary_user COMMAND…: as nobody when we are root, without any privilege.
as_ordinary_user() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all -- "$@"
    else
        "$@"
    fi
}

# wait_for COMMAND…: until it succeeds; a test's own time limit ends what never comes.
wait_for() {
    local i
    for ((i = 0; i < 3000; i++)); do
        "$@" && return
        sleep 0.01
    done
    fail "in vain: $*"
}
