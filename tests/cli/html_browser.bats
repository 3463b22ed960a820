#!/usr/bin/env bats
# The page of heurt report --html in a browser: what its panels show, against --json; drags, keys, addresses.
load ../helpers

find_browser() {
    for browser in chromium chromium-browser google-chrome; do
        command -v $browser >/dev/null && "$browser" --version >/dev/null 2>&1 && return
    done
    return 1
}

# In each of 50 ms, thread 2 has a lock for 890 us and thread 3 waits for it for 881 us; the first one only lives.
rounds_of_a_lock() {
    local i end=50001000
    printf 'start 1000\nend %s %s 0\nmeta command ./rounds -x\nmeta cpus 4\nprocess 0 100 /nowhere/rounds\n' $end $end
    printf 'thread 1 first\n1000 thread_start 0 -1 0x401000\n%s thread_end 1000 0\n' $end
    printf 'thread 2 has-it\n1000 thread_start 0 1 0x401000\n'
    for ((i = 1000; i < end; i += 1000000)); do
        printf '%s lock_acquired 0x401100 0x7000\n%s lock_released 0x401110 0x7000\n' $((i + 10000)) $((i + 900000))
    done
    printf '%s thread_end 50000000 0\nthread 3 waits-for-it\n1000 thread_start 0 1 0x401000\n' $end
    for ((i = 1000; i < end; i += 1000000)); do
        printf '%s lock_wait 0x401200 0x7000\n%s leave lock_wait 0\n%s lock_released 0x401210 0x7000\n' \
            $((i + 20000)) $((i + 901000)) $((i + 950000))
    done
    printf '%s thread_end 5000000 0\n' $end
}

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    find_browser || return 0
    rounds_of_a_lock | "$HEURT_BUILD/tests/tools/make_trace" t
    "$HEURT" report -i t --html page.html
    "$HEURT" report -i t --json >report.json
    "$HEURT" locks -i t --json >locks.json
    "$HEURT" whatif -i t --json >whatif.json
    probe page.html >probe.html
    dom "$PWD/probe.html" >probed || return 0
    sed -n 's/.*<pre id="probe">\(.*\)<\/pre>.*/\1/p' probed | sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >probe.json
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    find_browser || skip "there is no chromium here"
    run_starts || skip "chromium does not start here"
}

run_starts() { # the machine lets a browser run at all
    [ -e "$BATS_FILE_TMPDIR/starts" ] && return
    echo '<!doctype html><p id="up">up</p>' >up.html
    dom "$PWD/up.html" | grep -q 'id="up"' && touch "$BATS_FILE_TMPDIR/starts"
}

# What stands in the page when all of its scripts have run; what it said is in console.
dom() { # FILE[#FRAGMENT]
    find_browser
    profile=$(mktemp -d)
    timeout 300 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage \
        --user-data-dir="$profile" --window-size=1200,2000 --virtual-time-budget=20000 \
        --enable-logging=stderr --dump-dom "file://$1" 2>log || :
    grep -E 'CONSOLE' log >console || :
    rm -rf "$profile"
}

# A copy that may run one more script, which uses the page and writes down what it shows. Nobody looks at this
# browser, which then draws no more than one frame: the time stands in for frames.
probe() { # PAGE
    local frames='<script>window.requestAnimationFrame = f => setTimeout(f, 1)</script>'
    sed "s|<meta http-equiv=\"Content-Security-Policy\"[^>]*>|$frames|; /^<\\/body>\$/d; /^<\\/html>\$/d" "$1"
    cat <<'END'
<script>
(async () => {
  const frame = () => new Promise(done => setTimeout(done, 20));
  const one = what => document.querySelector(what), all = what => [...document.querySelectorAll(what)];
  const values = inside => [...inside.querySelectorAll("data")].map(d => +d.value);
  const sum = list => list.reduce((a, b) => a + b, 0);
  const lives = () => all("#thread-times tbody tr").map(row => values(row)[0]);
  const strip = one(".lanes canvas"), shown = { errors: [] };
  const key = async text => {
    strip.dispatchEvent(new KeyboardEvent("keydown", { key: text, bubbles: true, cancelable: true }));
    await frame();
  };
  const pointer = (type, x, y) => {
    const box = strip.getBoundingClientRect();
    strip.dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + y, button: 0, pointerId: 1, bubbles: true }));
  };
  const colours = () => {
    const pixels = strip.getContext("2d").getImageData(150, 0, strip.width - 150, strip.height).data, found = new Set();
    for (let i = 0; i < pixels.length; i += 4) found.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
    return found.size;
  };
  const address = async part => { // which follows when nothing moves any more
    while (!location.hash.includes(part)) await frame();
    return location.hash;
  };
  window.addEventListener("error", event => shown.errors.push(event.message));
  await frame();
  shown.sections = all("section").map(s => s.id);
  shown.verdict = one("#verdict").textContent;
  shown.lost = all(".card .lost").map(e => values(e)[0]);
  shown.waited = all("#lock-list tbody tr").map(row => values(row)[0]);
  shown.blocked = sum(values(one("#matrix")));
  shown.lives = lives();
  shown.stacks = +one("#flame button").dataset.ns;
  shown.loops = all("#iterations article").length;
  shown.answers = all("#whatif tbody tr").map(row => values(row)[0]);
  shown.words = all("#glossary dt").length;
  shown.chart = all("#cpus canvas").length;
  shown.colours = colours();
  shown.rows = +strip.dataset.rows;

  pointer("pointerdown", 400, 5); pointer("pointermove", 600, 5); pointer("pointerup", 600, 5);
  await frame();
  const range = decodeURIComponent(/time=([^&]*)/.exec(await address("time="))[1]).split("-").map(t => Math.round(t * 1e6));
  shown.drag = { ns: range[1] - range[0], whole: sum(shown.lives.slice(0, 1)), part: 200 / (strip.clientWidth - 150),
    longest: Math.max(...lives()), waited: values(all("#lock-list tbody tr")[0]).at(-1), blocked: sum(values(one("#matrix"))),
    said: !one("#selection").hidden };
  pointer("pointerdown", 20, 12); pointer("pointerup", 20, 12);
  await frame();
  shown.thread = { rows: lives().length, said: one("#selection").textContent };
  await key("Enter");
  shown.zoomed = strip.dataset.view;
  await key("Escape");
  shown.cleared = { said: !one("#selection").hidden, lives: lives().length };
  await key("0");
  shown.unzoomed = strip.dataset.view;
  await key("]");
  const first = +strip.dataset.wait;
  await key("]");
  shown.next = +strip.dataset.wait - first;
  await key("[");
  shown.back = +strip.dataset.wait - first;
  shown.status = one("#status").textContent;
  await key("0");
  await key("+");
  shown.nearer = strip.dataset.view !== shown.unzoomed;
  await key("f");
  shown.unfolded = (await address("unfold=1")).length > 0;
  const out = document.createElement("pre");
  out.id = "probe";
  out.textContent = JSON.stringify(shown);
  document.body.append(out);
})();
</script>
</body>
</html>
END
}

probed() { # PATH
    "$JSON_GET" "$BATS_FILE_TMPDIR/probe.json" "$1"
}

numbers() { # of a list, a line each
    tr -d '[] ' | tr , '\n'
}

ledger() { # PATH
    "$JSON_GET" "$BATS_FILE_TMPDIR/report.json" "$1"
}

@test "under its own policy the page runs, and no error is said" {
    dom "$BATS_FILE_TMPDIR/page.html" >out
    grep -q '<main id="page" data-ready="true">' out || fail "it did not run: $(cat console)"
    [ ! -s console ] || fail "$(cat console)"
    for id in findings timeline threads locks stacks iterations whatif coverage glossary; do
        grep -q "<section id=\"$id\"" out || fail "there is no $id"
    done
}

@test "its panels show what --json says" {
    [ "$(probed 'waited[0]')" = 44050000 ]
    probed 'lost' | numbers >shown
    for rank in $(ledger 'findings[ranked=true].rank'); do ledger "findings[rank=$rank].lost_ns"; done >known
    diff known shown
    probed waited | numbers >shown
    "$JSON_GET" "$BATS_FILE_TMPDIR/locks.json" 'locks[].wait_ns' | head -n 15 | diff - shown
    ledger 'threads[].lifetime_ns' >known
    probed lives | numbers | paste - known | awk '{ d = $1 - $2; if (d > 2 || d < -2) exit 1 }'
    [ "$(probed loops)" -ge 1 ]
    [ "$(probed words)" = "$(grep -c '^## ' "$HEURT_SOURCE/docs/words.md")" ]
    [ "$(probed chart)" -ge 1 ]
    [ "$(probed colours)" -ge 3 ]
    [ "$(probed rows)" = 3 ]
    [ "$(probed errors)" = '[]' ]
    [[ "$(probed verdict)" == *.* ]]
}

@test "what changes would gain is what heurt whatif says" {
    # The page asks what would come of two locks in place of one, too; it leaves out what gains nothing.
    "$JSON_GET" "$BATS_FILE_TMPDIR/whatif.json" 'answers[0].prediction.wall_ns' >known
    gain=$("$JSON_GET" "$BATS_FILE_TMPDIR/whatif.json" 'answers[0].prediction.wall_gain[1]')
    awk -v gain="$gain" 'BEGIN { exit !(gain >= 1.005) }' || fail "the fixture has nothing to gain: $gain"
    probed answers | numbers | grep -qx "$(cat known)" || fail "$(cat known) is not in $(probed answers)"
}

@test "who blocked whom adds up to the waits, and stacks to what was waited" {
    waited=$(probed 'waited[0]')
    awk -v a="$(probed blocked)" -v b="$waited" 'BEGIN { exit !(a > b * 0.98 && a < b * 1.02) }' ||
        fail "blocked $(probed blocked), waited $waited"
    for kind in lock condition barrier semaphore disk network pipe poll sleep yield futex join 'memory map'; do
        ledger "classes[kind=$kind]" | sed -n 's/.*"sum_ns":\([0-9]*\).*"idle":false.*/\1/p'
    done | sum >known
    awk -v a="$(probed stacks)" -v b="$(cat known)" 'BEGIN { exit !(a > b * 0.99 - 10 && a < b * 1.01 + 10) }' ||
        fail "stacks $(probed stacks), waited $(cat known)"
}

@test "a drag selects a time, and the figures are of it" {
    [ "$(probed drag.said)" = true ]
    # The first thread lives as long as the run.
    awk -v ns="$(probed drag.ns)" -v part="$(probed drag.part)" -v whole="$(probed drag.whole)" \
        'BEGIN { exit !(ns > part * whole * 0.97 && ns < part * whole * 1.03) }' || fail "$(probed drag)"
    awk -v ns="$(probed drag.ns)" -v longest="$(probed drag.longest)" 'BEGIN { d = ns - longest; exit !(d < 1000 && d > -1000) }' ||
        fail "$(probed drag)"
    awk -v here="$(probed drag.waited)" -v matrix="$(probed drag.blocked)" -v all="$(probed 'waited[0]')" \
        'BEGIN { d = here - matrix; exit !(here < all && d < 1000 && d > -1000) }' || fail "$(probed drag)"
}

@test "a click on a name selects a thread; Enter, Escape and 0 move" {
    [ "$(probed thread.rows)" = 1 ]
    [[ "$(probed thread.said)" == *Selected* ]]
    [ "$(probed zoomed)" != "$(probed unzoomed)" ]
    [ "$(probed cleared.said)" = false ]
    [ "$(probed cleared.lives)" = 3 ]
    [ "$(probed nearer)" = true ]
    [ "$(probed unfolded)" = true ]
}

@test "brackets go from wait to wait, which is told in words" {
    [ "$(probed next)" = 1 ]
    [ "$(probed back)" = 0 ]
    [[ "$(probed status)" == *' waited '*' for '*' in '* ]]
}

@test "what is selected stands in the address, and is shown again" {
    tid=$(ledger 'threads[1].tid')
    dom "$BATS_FILE_TMPDIR/page.html#time=1-2&threads=$tid" >out
    grep -q 'Selected: 1.000 ms to 2.000 ms' out
    [ ! -s console ] || fail "$(cat console)"
}

@test "hostile names run nothing" {
    "$HEURT_BUILD/tests/tools/make_trace" h <<END
start 1000
end 1001000 1001000 0
meta command ./app </script><script>document.title="pwned"</script> <img src=x onerror=document.title="pwned">
process 0 100 /nowhere/app
thread 1 <b>\`\${1}
1000 thread_start 0 -1 0x401000
1100 lock_acquired 0x401100 0x7000
903000 lock_released 0x401110 0x7000
1001000 thread_end 500000 0
thread 2 $(printf 'a\342\200\256b')
1000 thread_start 0 -1 0x401000
3000 lock_wait 0x401100 0x7000
903000 leave lock_wait 0
904000 lock_released 0x401110 0x7000
1001000 thread_end 100000 0
END
    "$HEURT" report -i h --html h.html
    dom "$PWD/h.html" >out
    grep -q 'data-ready="true"' out
    [ ! -s console ] || fail "$(cat console)"
    ! grep -q '<title>pwned' out || fail "a name ran"
    ! grep -q '<img' out || fail "a name became an element"
    grep -qF 'a\u202eb' out || fail "a mark of direction is obeyed"
}

@test "an aggregated run has a page that says what is not there" {
    "$HEURT" record --quiet --aggregate -o a "$EXAMPLES/queue" --iterations 100 >out </dev/null
    "$HEURT" report -i a --html a.html
    dom "$PWD/a.html" >out
    grep -q 'data-ready="true"' out
    [ ! -s console ] || fail "$(cat console)"
    grep -q 'keeps no order of events: there is no timeline' out
}

# Of two runs: what the page of a comparison shows, by one more script.
comparison_probe() { # PAGE
    sed "s|<meta http-equiv=\"Content-Security-Policy\"[^>]*>||; /^<\\/body>\$/d; /^<\\/html>\$/d" "$1"
    cat <<'END'
<script>
const all = what => [...document.querySelectorAll(what)], strips = all(".lanes canvas");
const colours = strip => {
  const pixels = strip.getContext("2d").getImageData(150, 0, strip.width - 150, strip.height).data, found = new Set();
  for (let i = 0; i < pixels.length; i += 4) found.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
  return found.size;
};
const green = strip => { // pixels of the first row of lanes in which somebody worked
  const pixels = strip.getContext("2d").getImageData(150, 30, strip.width - 150, 1).data;
  let count = 0;
  for (let i = 0; i < pixels.length; i += 4) count += pixels[i + 1] > 100 && pixels[i] < 50;
  return count;
};
const shown = { sections: all("section").map(s => s.id), verdict: all("#verdict")[0].textContent,
  change: all("#steps tr[data-change]").reduce((sum, row) => sum + +row.dataset.change, 0),
  ends: all("#steps .whole data").map(d => +d.value), lanes: strips.map(s => +s.dataset.lanes), colours: strips.map(colours),
  boxes: all("#flame-graph rect").length, rows: all("#rows tbody tr").length, runs: all("#runs tbody tr").length };
const before = green(strips[0]), width = strips[0].clientWidth;
for (const [type, x] of [["pointerdown", 150], ["pointerup", 150 + (width - 150) / 2]]) {
  const box = strips[0].getBoundingClientRect();
  strips[0].dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + 5, bubbles: true }));
}
shown.nearer = green(strips[0]) !== before;
document.getElementById("whole").click();
shown.whole = green(strips[0]) === before;
const out = document.createElement("pre");
out.id = "probe";
out.textContent = JSON.stringify(shown);
document.body.append(out);
</script>
</body>
</html>
END
}

@test "the page of a comparison runs under its own policy and shows both runs, and what --json says" {
    rounds_of_a_lock | sed 's/^meta command .*/meta command .\/other <img src=x onerror=alert(1)>/' |
        "$HEURT_BUILD/tests/tools/make_trace" u
    "$HEURT" compare "$BATS_FILE_TMPDIR/t" u --html page.html
    "$HEURT" compare "$BATS_FILE_TMPDIR/t" u --json >json
    dom "$PWD/page.html" >out
    grep -q '<main id="page" data-ready="true">' out || fail "it did not run: $(cat console)"
    [ ! -s console ] || fail "$(cat console)"
    ! grep -q '<img' out || fail "a name became an element"
    comparison_probe page.html >probe.html
    dom "$PWD/probe.html" >out
    sed -n 's/.*<pre id="probe">\(.*\)<\/pre>.*/\1/p' out | sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >probe.json
    of() { "$JSON_GET" probe.json "$1"; }
    [ "$(of change)" = "$("$JSON_GET" json wall_change_ns)" ] || fail "$(cat probe.json)"
    [ "$(of 'ends[0]')" = "$("$JSON_GET" json wall_before_ns)" ]
    [ "$(of 'ends[1]')" = "$("$JSON_GET" json wall_after_ns)" ]
    [ "$(of rows)" = "$("$JSON_GET" json 'rows[].row' | wc -l)" ]
    [ "$(of runs)" = 2 ]
    for side in 0 1; do
        [ "$(of "lanes[$side]")" -ge 2 ] && [ "$(of "colours[$side]")" -ge 3 ] || fail "$(cat probe.json)"
    done
    [ "$(of boxes)" -gt 6 ] # five are the legend's
    [ "$(of nearer)" = true ] && [ "$(of whole)" = true ] || fail "$(cat probe.json)"
    [ "$(of verdict)" = "$("$JSON_GET" json sentence)" ]
}

@test "functions that are called once are told of, from samples" {
    "$HEURT" record --quiet -f count -o once "$PROGRAMS/memory_known" >run
    "$HEURT" report -i once --html once.html
    dom "$PWD/once.html" >out
    grep -o '<section id="long-functions".*' out | sed 's/<\/section>.*//' >panel
    grep -q 'count' panel
    grep -q 'memory_known.c:[0-9]' panel
}
