#!/usr/bin/env bats
# heurt report --html: the page as a file. What a browser makes of it: html_browser.bats.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet -o t "$EXAMPLES/queue" --threads 4 --delay 2000 --iterations 1000 >out </dev/null
    "$HEURT" report -i t --html page.html
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    ln -s "$BATS_FILE_TMPDIR/t" heurt.data
    page=$BATS_FILE_TMPDIR/page.html
}

data_of() { # PAGE: what it shows, as JSON
    sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>$/\1/p' "$1"
}

shown() { # PATH: of the page's data
    data_of "$page" | "$JSON_GET" - "$1"
}

hash_of() { # of stdin, as in a Content-Security-Policy
    sha256sum | cut -d' ' -f1 | tr a-f A-F | basenc --base16 -d | base64 -w0
}

between() { # BEGIN END: what of the page lies between a line's beginning and the next such end
    awk -v begin="$1" -v end="$2" '
        !inside && index($0, begin) == 1 { inside = 1; $0 = substr($0, length(begin) + 1) }
        inside && (at = index($0, end)) { printf "%s", substr($0, 1, at - 1); exit }
        inside { print }' "$page"
}

@test "one file, not too large, that asks for nothing" {
    [ "$(stat -c %s "$page")" -le 600000 ]
    [ "$(head -n 1 "$page")" = '<!doctype html>' ]
    [ "$(tail -n 1 "$page")" = '</html>' ]
    [ "$(grep -o '<script[^>]*>' "$page" | tr '\n' ' ')" = '<script type="application/json" id="data"> <script> ' ]
    # Data has letters by chance, but no tag.
    grep -v '^<script type="application/json"' "$page" >parts
    ! grep -qiE '<link|<img|<iframe|@import|url\(|src=|href=' parts || fail "it asks for something"
    ! data_of "$page" | grep -q '<' || fail "there is a tag in its data"
    grep -q 'Copyright (c) 2022 Leon Sorokin' "$page"
    own=$(cat "$HEURT_SOURCE"/src/present/html/page* | wc -c)
    [ "$own" -le 110000 ]
}

@test "its policy lets its own script and style run, and no other" {
    policy=$(grep -o 'http-equiv="Content-Security-Policy" content="[^"]*"' "$page")
    [[ $policy == *"default-src 'none'"* ]]
    [[ $policy != *unsafe* ]]
    style=$(between '<style>' '</style>' | hash_of)
    script=$(between '<script>' '</script>' | hash_of)
    [[ $policy == *"style-src 'sha256-$style'"* ]] || fail "style $style: $policy"
    [[ $policy == *"script-src 'sha256-$script'"* ]] || fail "script $script: $policy"
}

@test "without scripts it is the report as text" {
    between '<noscript><pre>' '</pre></noscript>' | sed 's/&lt;/</g; s/&amp;/\&/g' >text
    (cd "$BATS_FILE_TMPDIR" && COLUMNS=100 "$HEURT" report -i t) >report
    diff report text
}

@test "its figures are those of --json" {
    "$HEURT" report --json >report.json
    "$HEURT" locks --json >locks.json
    [ "$(shown schema)" = heurt.page/1 ]
    [ "$(shown 'report.findings[].lost_ns')" = "$("$JSON_GET" report.json 'findings[].lost_ns')" ]
    [ "$(shown 'report.threads[].components_ns')" = "$("$JSON_GET" report.json 'threads[].components_ns')" ]
    [ "$(shown 'locks.locks[].wait_ns')" = "$("$JSON_GET" locks.json 'locks[].wait_ns')" ]
}

# What it costs to record a wait is part of it in the timeline, and stands beside it in the ledger.
@test "the timeline adds up to the threads' lives, and agrees with the ledger" {
    [ "$(shown 'timeline.states[0].key')" = lock ]
    shown 'timeline.lanes[].state_ns' | tr -d '[]' >states
    shown 'report.threads[].lifetime_ns' >lives
    shown 'report.threads[].components_ns.lock' >locks
    shown 'report.threads[].components_ns.overhead' >overheads
    paste -d, lives locks overheads states | awk -F, '
        function near(a, b) { return a - b < 1000 + b / 100 && b - a < 1000 + b / 100 }
        { all = 0; for (i = 4; i <= NF; i++) all += $i; lock = $4 + $17 }
        { recorded = lock - $2 > $3 ? $3 : lock > $2 ? lock - $2 : 0 }
        !near(all, $1) || !near(lock - recorded, $2) { print; wrong = 1 }
        END { exit wrong || NR != 5 }'
}

@test "hostile names stand in it as data" {
    long=$(printf '%010000d' 7)
    rm heurt.data
    "$HEURT_BUILD/tests/tools/make_trace" heurt.data <<END
start 1000
end 1001000 1001000 0
meta command ./app </script><script>alert(1)</script> "' <img src=x onerror=alert(1)> $long
process 0 100 /nowhere/app
module 0 1000 0x400000 0x500000 /nowhere/</script><b>
function 0 1024 </script><script>alert(2)</script>$long 0x401000 size
thread 1 </pre><script>
1000 thread_start 0 -1 0x401000
1100 lock_acquired 0x401100 0x7000
903000 lock_released 0x401110 0x7000
1001000 thread_end 500000 0
thread 2 $(printf '\001\342\200\256\377')
1000 thread_start 0 -1 0x401000
3000 lock_wait 0x401100 0x7000
903000 leave lock_wait 0
904000 lock_released 0x401110 0x7000
1001000 thread_end 100000 0
END
    "$HEURT" report --html page.html
    page=$PWD/page.html
    [ "$(grep -o '<script' "$page" | wc -l)" = 2 ]
    [ "$(grep -o '</script' "$page" | wc -l)" = 2 ]
    [ "$(grep -o '</pre' "$page" | wc -l)" = 1 ]
    [ "$(grep -c '<img\|<b>' "$page")" = 0 ]
    [ "$(shown 'timeline.lanes[0].name')" = '</pre><script>' ]
    shown command | grep -qF "</script><script>alert(1)</script> \"' <img src=x onerror=alert(1)> $long"
}

@test "no file of the trace is overwritten, and no device" {
    before=$(sha256sum heurt.data/events)
    for path in heurt.data/events ./heurt.data/symbols /dev/null; do
        heurt report --html "$path"
        expect_status 125
        says 'give'
    done
    [ "$(sha256sum heurt.data/events)" = "$before" ]
    [ -c /dev/null ]
}

@test "the file is whole, or as it was" {
    echo mine >old.html
    heurt report -i nowhere --html old.html
    expect_status 125
    [ "$(cat old.html)" = mine ]
    heurt report --html no/such/page.html
    expect_status 125
    says 'could not be written'
    "$HEURT" report --html old.html
    grep -q 'Content-Security-Policy' old.html
    [ "$(echo *.tmp)" = '*.tmp' ]
}

@test "a dash is the standard output" {
    "$HEURT" report --html - >out
    cmp <(data_of out | "$JSON_GET" - verdict) <(shown verdict)
}

@test "what does not go with it is wrong usage" {
    for with in 1 --json --coverage --classes '--compare 1'; do
        # shellcheck disable=SC2086 # options and operands
        heurt report --html page.html $with
        expect_status 2
    done
    [ ! -e page.html ]
}

@test "of an aggregated and of an empty run it says what is not there" {
    rm heurt.data
    "$HEURT" record --quiet --aggregate -o a "$EXAMPLES/queue" --iterations 100 >out </dev/null
    "$HEURT" report -i a --html page.html
    page=$PWD/page.html
    [ "$(shown timeline)" = null ]
    [ "$(shown report.aggregated)" = true ]
    printf 'start 1000\nend 2000 2000 0\nmeta command ./none\n' | "$HEURT_BUILD/tests/tools/make_trace" heurt.data
    "$HEURT" report --html page.html
    [ "$(shown has_events)" = false ]
}
