# The examples of the manual pages, and those of the README, run as they are printed, and end well.
bats_require_minimum_version 1.5.0

# What the pages name, and what stands for it here: programs by the file that is run, numbers and times
# by what the recorded run has.
STANDS_FOR=(
    './app'      page_app
    './compress' page_app
    'pbzip2'     page_app
    'memcached'  page_app
)
REPLACED() { # TID: of a worker; a sed script
    echo "s/--thread 4712 /--thread $1 /; s/--from 10s --to 12s/--from 1ms --to 12s/; s/--to 0.001/--to 12/"
}

setup() {
    mkdir "$BATS_TEST_TMPDIR/run" "$BATS_TEST_TMPDIR/bin"
    cd "$BATS_TEST_TMPDIR/run" || return
    unset HEURT_TRACE NO_COLOR PAGER
    local i file
    ln -s "$HEURT" ../bin/heurt
    for ((i = 0; i < ${#STANDS_FOR[@]}; i += 2)); do
        file=${STANDS_FOR[i]}
        [[ $file == ./* ]] || file=../bin/$file
        ln -s "$PROGRAMS/${STANDS_FOR[i + 1]}" "$file"
    done
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
    # Open MPI runs nothing for root, and no more ranks than CPUs, unless it is told to.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
}

examples_of() { # PAGE: a command a line, without what is said of it
    awk '/^# EXAMPLES$/ { on = 1; next } /^# / { on = 0 } on && /^    / { print substr($0, 5) }' "$1"
}

# Tools that only show what heurt printed are left out where they are not installed; and what samples,
# where the machine does not allow it (heurt check).
as_installed() { # commands on stdin
    local line samples=yes
    heurt hot true >/dev/null 2>&1 </dev/null || samples=no
    while IFS= read -r line; do
        [[ $samples = no && $line =~ (heurt hot|--hot) ]] && continue
        [[ $line == mpirun* ]] && ! mpirun -n 4 true >/dev/null 2>&1 && continue
        command -v jq >/dev/null || line=${line%%| jq *}
        command -v dot >/dev/null || line=${line%%| dot *}
        printf '%s\n' "$line"
    done
}

# What wants a terminal has one, on which q is typed.
run_one() { # COMMAND
    case $1 in
    *'heurt view'*) printf q | TERM=xterm script -qefc "$1" /dev/null ;;
    *) bash -o pipefail -c "$1" </dev/null ;;
    esac
}

# Whether a program is slower than itself may stay undecided.
ends_well() { # COMMAND
    run_one "$1" || [[ $? = 2 && $1 == 'heurt gate '* ]]
}

# Reports of what was just recorded go to stderr here, others into files.
writes_elsewhere() { # COMMAND
    [[ $1 == *'>'* || $1 == *' -o '* || $1 == *' --html '* || $1 == *' --flame '* || $1 == *'heurt record '* || $1 == *'./'* ]]
}

run_all() { # commands on stdin
    local command
    while IFS= read -r command; do
        if ! ends_well "$command" >output 2>talk; then
            echo "does not end well: $command"
            cat talk
            tail -n 5 output
            return 1
        fi
        if [ ! -s output ] && ! writes_elsewhere "$command"; then
            echo "shows nothing: $command"
            return 1
        fi
        if grep -Eq '^heurt: .*(no class|no thread|no lock|did you mean)' talk; then
            echo "is told that there is no such thing: $command"
            cat talk
            return 1
        fi
    done
}

# The run that examples look at which record none.
record_app() {
    heurt record --quiet --locks all -f 'parse*' -f load_config -A parse=arg2 ./app
}

run_page() { # NAME
    local tid
    record_app
    tid=$(heurt report --json 2>/dev/null | "$JSON_GET" - 'threads[name=worker-2].tid')
    examples_of "$HEURT_SOURCE/docs/$1.md" | sed "$(REPLACED "$tid")" | as_installed >commands
    [ -s commands ]
    run_all <commands
}

@test "the examples of heurt(1)" { run_page heurt; }
@test "the examples of heurt-check(1)" { run_page heurt-check; }
@test "the examples of heurt-compare(1)" { run_page heurt-compare; }
@test "the examples of heurt-diff-occurrence(1)" { run_page heurt-diff-occurrence; }
@test "the examples of heurt-dump(1)" { run_page heurt-dump; }
@test "the examples of heurt-explain(1)" { run_page heurt-explain; }
@test "the examples of heurt-export(1)" { run_page heurt-export; }
@test "the examples of heurt-hot(1)" {
    heurt hot true >/dev/null 2>&1 || skip "no sampling on this machine (see heurt check)"
    run_page heurt-hot
}
@test "the examples of heurt-locks(1)" { run_page heurt-locks; }
@test "the examples of heurt-record(1)" { run_page heurt-record; }
@test "the examples of heurt-report(1)" { run_page heurt-report; }
@test "the examples of heurt-structure(1)" { run_page heurt-structure; }
@test "the examples of heurt-view(1)" { run_page heurt-view; }
@test "the examples of heurt-whatif(1)" { run_page heurt-whatif; }

@test "the commands of the README" {
    sed -n '/^## Using it$/,/^## /p' "$HEURT_SOURCE/README.md" | sed -n 's/^    //p' | grep . |
        as_installed >commands
    [ "$(wc -l <commands)" -gt 10 ]
    # One that runs already, until its standard input ends.
    mkfifo input
    "$PROGRAMS/served" 2 <input >served.out 3>&- &
    local served=$! status=0
    exec 8>input
    sed -i "s/-p 1234 --duration 10s/-p $served --duration 1s/" commands
    run_all <commands || status=1
    exec 8>&-
    wait "$served"
    grep '^ok' served.out
    [ "$status" = 0 ]
}

@test "no page with examples is left out" {
    local page
    for page in "$HEURT_SOURCE"/docs/heurt*.md; do
        [ -z "$(examples_of "$page")" ] || grep -q "run_page $(basename "$page" .md)\b" "$BATS_TEST_FILENAME"
    done
}
