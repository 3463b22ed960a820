# heurt view: keys that are pressed in a terminal of tmux's, and what then stands in it.
load ../helpers
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    rooms=$(mktemp -d "${TMPDIR:-/tmp}/heurt-view.XXXXXX")
    servers=0
    unset TMUX COLUMNS LINES
}

teardown() {
    for room in "$rooms"/*; do
        tmux -S "$room" kill-server 2>/dev/null || :
    done
    rm -rf "$rooms"
}

# A program of three threads: second waits for first's lock for 600 us and 200 us, keeper for work all the
# while. WORKER: the name of the second; CODE: of the function that waits.
make_trace() { # [WORKER [CODE]]
    "$HEURT_BUILD/tests/tools/make_trace" heurt.data <<END || return
start 1000
end 1001000 1001000
meta command ./app -x
meta cpus 4
process 0 100 /nowhere/app
module 0 1000 0x400000 0x500000 /nowhere/app
thread 1 first
1000 thread_start 0 -1 0x401000
2500 lock_acquired 0x401100 0x7000
603000 lock_released 0x401110 0x7000
700000 lock_acquired 0x401100 0x7000
903000 lock_released 0x401110 0x7000
1001000 thread_end 900000 0
thread 2 ${1:-second}
1000 thread_start 0 -1 0x401000
3000 stack 0x401100 0x401234
3000 lock_wait 0x401100 0x7000
603000 leave lock_wait 0
604000 lock_released 0x401110 0x7000
703000 lock_wait 0x401100 0x7000
903000 leave lock_wait 0
904000 lock_released 0x401110 0x7000
1001000 thread_end 200000 0
thread 3 keeper
1000 thread_start 0 -1 0x401000
1200 condition_wait 0x401300 0x8000 0x8100
999000 leave condition_wait 0
1001000 thread_end 10 0
END
    cat >heurt.data/symbols <<END
{"schema": "heurt.symbols/1",
 "texts": ["${2:-append}", "/nowhere/app", "queue.c", "worker"],
 "frames": [[0, 1, 2, 44, 1, -1], [3, 1, 2, 80, 1, -1]],
 "addresses": [[0, 4198656, 0], [0, 4198672, 0], [0, 4198964, 1], [0, 4199168, 1]],
 "variables": [], "sleeps": [], "stacks": [[2, 3000, [4198656, 4198964]]], "warnings": []}
END
}

in_tmux() {
    SHELL=/bin/sh tmux -u -S "$rooms/$servers" -f /dev/null "$@"
}

# terminal COMMAND: runs it in a terminal of 80 columns and 24 rows, of a server of its own.
terminal() {
    servers=$((servers + 1))
    in_tmux new-session -d -x 80 -y 24 "$1"
}

# view [VARIABLE=VALUE]…: begins it in a terminal. The shell around it stays, and says the exit status.
view() {
    terminal "env LC_ALL=C.UTF-8 $* '$HEURT' view 2>'$PWD/err'; echo \"status \$?\"; exec cat"
}

screen() {
    in_tmux capture-pane -p "$@"
}

has() { # TEXT: on the screen
    screen | grep -qF -e "$1"
}

lacks() { # TEXT
    ! has "$1"
}

matches() { # PATTERN: a line of the screen
    screen | grep -q -e "$1"
}

# What is drawn comes in pieces, so each text is waited for.
shows() { # TEXT…: they come to stand on the screen
    local text
    for text; do
        wait_for has "$text" || fail "no '$text' in: $(screen)"
    done
}

hides() { # TEXT…: they go from it
    local text
    for text; do
        wait_for lacks "$text" || fail "'$text' in: $(screen)"
    done
}

press() { # KEY…
    in_tmux send-keys "$@"
}

@test "from the findings down to the threads by Enter, and back by q" {
    make_trace
    view
    shows 'heurt view: findings' 'One lock holds 1 thread back' '> 1' 'lock 0x7000 in append queue.c:44' \
        'Threads wait for a lock' 'F1 Help'
    press Enter
    shows 'heurt view: finding 1' 'To try:'
    press G
    shows 'if this is no interference'
    press Enter
    shows 'call stacks of finding 1' 'append  queue.c:44' 'worker  queue.c:80'
    press Enter
    shows 'occurrences of finding 1' 'The 2 longest of 4 occurrences' '> ' '600 us' 'second' \
        'pthread_mutex_lock in append'
    press Enter
    shows 'threads by time' '> 1002 second' '█████' 'LLLLL' 'L waiting for a lock' 'idle: keeper'
    press q
    shows 'occurrences of finding 1'
    press BSpace
    shows 'call stacks of finding 1'
    press q
    shows 'heurt view: finding 1'
    press Left
    shows 'heurt view: findings'
    press q
    shows 'status 0'
    [ ! -s err ]
}

@test "the keys of less and htop: move, sort, search, help, zoom" {
    make_trace
    view
    shows 'heurt view: findings'
    press F1
    shows 'heurt view: help' 'Everywhere'
    press G
    shows 'heurt locks more about locks'
    press q
    press F9
    shows 'by duration' '600 us'
    wait_for matches '^> .* 600 us'
    press j
    shows '200 us'
    wait_for matches '^> .* 200 us'
    press k s s
    shows 'by thread'
    press / '600' Enter
    wait_for matches '^> .* 600 us'
    press / 'nothing like it' Enter
    shows "Nothing here has 'nothing like it'."
    press F2
    shows 'a cell: 17.5 us' '1001 first'
    press +
    shows 'a cell: 8.77 us'
    press F7
    shows 'a cell: 17.5 us'
    press F6
    shows 'most waiting first'
    wait_for matches '^> 1002 second'
    press F10
    shows 'status 0'
}

@test "a filter by thread, time and function" {
    make_trace
    view
    shows 'heurt view: findings'
    press o
    shows '600 us' '200 us'
    press f 'from=650us' Enter
    hides '600 us'
    shows 'filter: from=650us' '200 us'
    press F4 C-u 'thread=first' Enter
    shows 'The filter lets no occurrence' 'filter: thread=first'
    press F4 C-u 'function=parse' Enter
    shows 'filter: function=parse'
    press q
    shows 'The filter lets no finding through.'
    press F4 C-u 'thrad=first' Enter
    shows "'thrad=first' is no filter: thread=NAME function=NAME from=1.2s to=1.5s"
    press f C-u Enter
    hides 'filter:'
    shows 'lock 0x7000 in append'
}

@test "a window of another size is filled anew; 60 columns are enough" {
    make_trace
    view
    shows 'heurt view: findings'
    in_tmux resize-window -x 60 -y 20
    wait_for eval '[ "$(screen | wc -l)" = 20 ] && screen | tail -n 1 | grep -q "q End"' || fail "$(screen)"
    shows 'lock 0x7000'
    press t
    shows 'a cell: '
    [ "$(screen | wc -L)" -le 60 ]
    in_tmux resize-window -x 140 -y 50
    wait_for eval '[ "$(screen | sed -n 3p | wc -m)" -gt 130 ]' || fail "$(screen)"
    press q q
    shows 'status 0'
}

restored() { # the terminal is a shell's again
    [ "$(in_tmux display-message -p '#{alternate_on} #{cursor_flag}')" = '0 1' ] || fail "the screen is not left"
    stty -a -F "$(in_tmux display-message -p '#{pane_tty}')" >stty
    grep -q ' icanon' stty && grep -qw 'echo' stty && ! grep -q -e '-echo ' stty || fail "$(cat stty)"
}

browser() { # the process: what the pane's shell has started
    local shell
    shell=$(in_tmux display-message -p '#{pane_pid}')
    cat "/proc/$shell/task/$shell/children"
}

@test "a signal ends it, and the terminal is as it was" {
    make_trace
    local signal
    for signal in TERM HUP QUIT SEGV; do
        view
        shows 'heurt view: findings'
        kill -"$signal" $(browser)
        shows "status $((128 + $(kill -l "$signal")))"
        restored
    done
}

@test "Ctrl-C ends it, too" {
    make_trace
    terminal "trap : INT; env LC_ALL=C.UTF-8 '$HEURT' view; echo \"status \$?\"; exec cat"
    shows 'heurt view: findings'
    press C-c
    shows 'status 130'
    restored
}

@test "Ctrl-Z stops it, and it goes on with its screen" {
    make_trace
    terminal "exec env LC_ALL=C.UTF-8 PS1='ready> ' bash --norc -i"
    shows 'ready>'
    press "'$HEURT' view" Enter
    shows 'heurt view: findings'
    press C-z
    shows 'Stopped'
    restored_by_bash=$(in_tmux display-message -p '#{alternate_on}')
    [ "$restored_by_bash" = 0 ]
    press fg Enter
    shows 'heurt view: findings' 'One lock holds'
    press q
    wait_for eval '[ "$(in_tmux display-message -p "#{alternate_on}")" = 0 ]'
}

@test "where no screen can be drawn: one sentence, 2" {
    make_trace
    run --separate-stderr -2 "$HEURT" view
    [ "$stderr" = 'heurt: heurt view needs a terminal; heurt report prints the same findings' ]
    [ -z "$output" ]
    local terminal
    for terminal in dumb nonsense ''; do
        view "TERM=$terminal"
        shows 'status 2'
        grep -qx "heurt: heurt view cannot draw on this terminal (TERM=$terminal); heurt report prints the same findings" err ||
            fail "$(cat err)"
    done
}

@test "a trace that is not there, or damaged: one sentence, 125" {
    view
    shows 'status 125'
    grep -q '^heurt: no trace at heurt.data: record one first' err
    mkdir heurt.data
    view
    shows 'status 125'
    [ "$(grep -c '^heurt: .*heurt.data' err)" = 1 ]
}

@test "LC_ALL=C: nothing but ASCII" {
    make_trace wörker 'append_ü'
    view LC_ALL=C
    shows 'heurt view: findings' 'append_?'
    ! screen | LC_ALL=C grep '[^ -~]' || fail "what is no ASCII"
    press t
    shows 'w?rker' '#####' 'LLLLL'
    ! screen | LC_ALL=C grep '[^ -~]' || fail "what is no ASCII"
}

@test "a long name is cut where a character ends" {
    make_trace "$(printf 'ü%.0s' {1..7})"
    view
    shows 'heurt view: findings'
    press t
    shows '1002 üüüüüüü'
    in_tmux resize-window -x 44 -y 20
    shows '1002 üüüüü… '
}

@test "names attack no terminal" {
    make_trace $'ev\e]2;owned\ail' 'a\u001b[2Jb\u0007\u009b31mc\u202ed'
    view
    shows 'heurt view: findings' 'a\x1b[2Jb\x07\x9b31mc\u202ed'
    press o
    shows 'ev\x1b]2;owned'
    press t
    shows '\x1b]2'
    press / $'x' Enter
    [ "$(in_tmux display-message -p '#{pane_title}')" != owned ]
    press Q
    shows 'status 0'
}

@test "colours, and none with NO_COLOR" {
    make_trace
    view TERM=screen-256color
    shows 'heurt view: findings'
    press t
    shows 'LLLLL'
    screen -e | grep -q $'\e\\[[0-9;]*3[1-7]m' || fail "no colours"
    view TERM=screen-256color NO_COLOR=1
    shows 'heurt view: findings'
    press t
    shows 'LLLLL'
    ! screen -e | grep -q $'\e\\[[0-9;]*3[1-7]m' || fail "colours"
    screen -e | grep -q $'\e\\[7m' || fail "the title does not stand out"
}

@test "what was recorded with --aggregate has findings and no times" {
    "$HEURT" record --quiet --aggregate "$PROGRAMS/locks_known" >out 2>&1 </dev/null
    view
    shows 'heurt view: findings'
    press t
    shows 'which keeps no order of events'
    press Q
    shows 'status 0'
}

@test "a recorded run: threads and their names" {
    "$HEURT" record --quiet --overhead none "$EXAMPLES/queue" >out 2>&1 </dev/null
    view
    shows 'heurt view: findings'
    press t
    shows 'a cell: ' crew__member '█ working'
    press Q
    shows 'status 0'
}
