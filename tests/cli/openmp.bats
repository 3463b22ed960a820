#!/usr/bin/env bats
# heurt openmp: parallel regions and what is lost in them (tests/programs/openmp_known.c).
load ../helpers

setup() {
    [ -x "$PROGRAMS/openmp_known" ] || skip "this compiler has no OpenMP library"
    cd "$BATS_TEST_TMPDIR"
    program=$PROGRAMS/openmp_known
}

is_of_gcc() {
    ldd "$program" | grep -q libgomp
}

# Records that part of the program and keeps what it printed, and what heurt openmp says of it.
record_part() { # PART
    "$HEURT" record --quiet --no-choice -o t "$program" "$1" >out
    "$HEURT" openmp -i t --json >openmp.json
}

is() { # NAME VALUE KNOWN
    [ "$2" = "$3" ] || fail "$1: $2, not $3"
}

known() { # KEY
    sed -n "s/^$1=//p" out | tail -1
}

of() { # PATH
    "$JSON_GET" openmp.json "$1"
}

# COLUMN of the rows of a table whose first column is NAME, smallest first, in one line.
rows() { # TABLE NAMED NAME COLUMN
    "$HEURT" tables -i t --format csv "$1:$2,$4" |
        awk -F, -v name="$3" '$1 == name { print $2 }' | sort -n | paste -sd ' '
}

# Within so many points of 100 of what is known.
is_about() { # NAME SHARE KNOWN POINTS
    awk -v share="$2" -v known="$3" -v points="$4" \
        'BEGIN { exit !(share > known - points / 100 && share < known + points / 100) }' ||
        fail "$1: $2, not about $3"
}

# The part of the work in the first region that thread 1 of the team had.
share_of_one() {
    of 'regions[0].team[].work_ns' | awk '{ ns[NR] = $1 } END { print ns[2] / (ns[1] + ns[2]) }'
}

# Compilers of LLVM make loops with dependences dynamic ones, of one iteration a chunk, and sections static ones.
counts_are_known() {
    local dynamic chunks sections=sections
    record_part counts
    dynamic="$(known dynamic_iterations) $(known wide_iterations)"
    chunks="$(known dynamic_chunks) $(known wide_chunks)"
    if is_of_gcc; then
        is doacross "$(rows openmp_loops schedule doacross iterations)" "$(known doacross_iterations)"
    else
        dynamic+=" $(known doacross_iterations)" chunks+=" $(known doacross_iterations)" sections=static
    fi
    is regions "$(rows openmp_regions function count_regions count)" "$(known regions)"
    is iterations "$(rows openmp_loops schedule dynamic iterations)" "$dynamic"
    is chunks "$(rows openmp_loops schedule dynamic chunks)" "$chunks"
    is guided "$(rows openmp_loops schedule guided iterations)" "$(known guided_iterations)"
    is ordered "$(rows openmp_loops schedule ordered iterations)" "$(known ordered_iterations)"
    is sections "$(rows openmp_loops schedule "$sections" iterations)" "$(known sections)"
    is singles "$(of 'regions[].singles' | sum)" "$(known singles)"
}

tasks_are_known() {
    record_part tasks
    is tasks "$(of 'tasks[].count' | sum)" "$(known tasks)"
    is "of the region" "$(of 'regions[].tasks' | sum)" "$(known tasks)"
    is large "$(of 'tasks[0].count')" "$(known large_tasks)"
    # 200 times 200 us of CPU time.
    [ "$(of 'tasks[0].time_ns')" -gt 40000000 ]
}

@test "regions, chunks, iterations, sections and singles are counted" {
    counts_are_known
}

@test "a region goes by its function and the line of its pragma" {
    local line
    record_part balance
    line=$(grep -n 'work(omp_get_thread_num' "$HEURT_SOURCE/tests/programs/openmp_known.c" | cut -d: -f1)
    is function "$(of 'regions[0].place.function')" do_balance
    is line "$(of 'regions[0].place.line')" $((line - 1))
    heurt openmp -i t
    grep -Eq "^ +1  do_balance openmp_known.c:$((line - 1)) +20 " <<<"$output"
    heurt openmp -i t do_balance
    expect_status 0
    heurt openmp -i t nothing_of_that_name
    expect_status 2
    says 'no region is'
}

# Work is without the time in which others have the CPU, which the kernel has to tell.
@test "an imbalance of three to one is found, and a gain that is not above one and a half" {
    record_part balance
    is regions "$(of 'regions[0].count')" "$(known regions)"
    [ "$("$HEURT" tables -i t --format csv threads:switches | sed -n 2p)" ] || skip "the kernel tells nothing"
    is_about work "$(share_of_one)" 0.75 3
    is busiest "$(of 'regions[0].busiest')" 1
    awk -v gain="$(of 'regions[0].gain')" 'BEGIN { exit !(gain >= 1 && gain <= 1.51) }'
}

@test "each thread's wait for the end of a region is in the ledger" {
    record_part balance
    read -r count ns < <("$HEURT" tables -i t --format csv classes:function,count,sum_ns |
        awk -F, '$1 == "end of omp parallel" { count += $2; ns += $3 } END { print count + 0, ns + 0 }')
    # 20 times 6 ms of work against 2 ms: 80 ms, less where the other one begins late.
    [ "$ns" -gt 10000000 ] || fail "$count waits of $ns ns"
    is_of_gcc || is waits "$count" $((2 * $(known regions)))
}

@test "the parts of the threads' time add up to it" {
    record_part serial
    awk -v capacity="$(of efficiency.capacity_ns)" '{ sum += $1 }
        END { exit !(sum > 0.97 * capacity && sum < 1.03 * capacity) }' < <(
        for part in serial serial_lost unused work barrier lock task no_cpu other fork join recording; do
            of "efficiency.${part}_ns"
        done
    ) || fail "$(of efficiency.capacity_ns)"
    # 20 times 3 ms in no region, which one thread cannot have done in less.
    [ "$(of efficiency.serial_ns)" -gt 60000000 ]
    awk -v value="$(of efficiency.value)" -v regions="$(of efficiency.region_efficiency)" \
        -v serial="$(of efficiency.serial_efficiency)" \
        'BEGIN { d = value - (regions + serial - 1); exit !(d < 0.001 && d > -0.001) }'
}

@test "critical sections are counted, and the wait for them is told" {
    record_part critical
    is critical "$(of 'regions[0].locks')" "$(known critical)"
    is_number_above 0 "$(of 'regions[0].locks_waited')"
    is_number_above 0 "$(of 'regions[0].lock_ns')"
}

@test "waits for iterations before are told" {
    record_part sinks
    is_number_above 0 "$(of 'regions[0].lock_ns')"
}

@test "the barrier at a region's end is told, and who came last there" {
    record_part balance
    is times "$("$HEURT" tables -i t --format csv openmp_barriers:times,rank | awk -F, '$2 == 1 { print $1 }')" 20
    heurt openmp -i t 1
    grep -q 'end of the region  *20 .*thread [01], ' <<<"$output"
}

@test "what to try has a bound, and the replay of it none that is better" {
    [ "$(nproc)" -gt 1 ] || skip "one CPU gains nothing by balance"
    record_part balance
    [ "$("$HEURT" tables -i t --format csv threads:switches | sed -n 2p)" ] || skip "the kernel tells nothing"
    is kind "$(of 'hints[0].kind')" even
    is bound "$(of 'hints[0].bound')" true
    awk -v gain="$(of 'hints[0].gain')" 'BEGIN { exit !(gain > 1 && gain <= 1.51) }'
    heurt whatif -i t --balance 1
    expect_status 0
    grep -q '^  gain ' <<<"$output"
    heurt whatif -i t --balance nothing_of_that_name
    expect_status 2
    says 'no parallel region is'
    heurt whatif -i t --schedule 1=dynamic,4
    expect_status 2
    says 'was not told'
    heurt whatif -i t --schedule 1=sideways
    expect_status 2
    says '--schedule wants'
}

@test "tasks are counted where they are made, and what they compute is the same" {
    tasks_are_known
}

# Where stages of few tasks are waited for; whoever has the CPUs.
# Where each waits for two, of which one is long; libgomp's threads do no other tasks meanwhile.
@test "tasks that wait for those that they made keep their threads from others, and that is asked" {
    is_of_gcc || skip "threads of libomp do others meanwhile"
    [ "$(nproc)" -gt 1 ] || skip "one CPU gains nothing by it"
    record_part halves
    is tasks "$(of 'tasks[].count' | sum)" "$(known tasks)"
    is hint "$(of 'hints[0].kind')" "no taskwait"
    heurt report -i t
    expect_status 0
    grep -q 'Tasks wait for tasks that they made' <<<"$output"
    grep -q 'no taskwait behind tasks made at halves_made' <<<"$output"
}

@test "stages that are waited for leave threads without a task, and no screen contradicts another" {
    [ "$(nproc)" -gt 1 ] || skip "one CPU gains nothing by it"
    record_part stages
    is tasks "$(of 'tasks[].count' | sum)" "$(known tasks)"
    is hint "$(of 'hints[].kind')" "fewer waits for tasks"
    heurt report -i t
    expect_status 0
    grep -q 'tasks in do_stages' <<<"$output"
    grep -q 'depend() on tasks made at do_stages' <<<"$output"
    ! grep -q 'No interference found' <<<"$output"
}

# A compiler may have copied the call, or made a jump of it, which then has no place of its own.
nested_is_known() {
    record_part nested
    is outer "$(rows openmp_regions nested 0 count)" "$(known outer)"
    is inner "$(rows openmp_regions nested 1 count | tr ' ' '\n' | sum)" "$(known inner)"
}

@test "a nested region is told apart from the one around it" {
    nested_is_known
}

@test "a program of clang is told as one of gcc" {
    is_of_gcc || skip "all programs are of clang"
    program=$BATS_TEST_TMPDIR/by_clang
    clang -g -O1 -fopenmp "$HEURT_SOURCE/tests/programs/openmp_known.c" -o "$program" 2>clang.err ||
        skip "no clang that has an OpenMP library"
    counts_are_known
    tasks_are_known
    nested_is_known
}

@test "who sits out many regions of libomp waits for the next one, not for the end of the last" {
    cat >sits.c <<'END'
#include <omp.h>
static volatile double sink[64];
static void work(long n) { for (long i = 0; i < n; i++) sink[omp_get_thread_num() * 8] += 1; }
int main(void) {
    for (int i = 0; i < 1502; i++) {
#pragma omp parallel num_threads(i % 1501 ? 2 : 3)
        work(3000);
    }
    return 0;
}
END
    clang -g -O1 -fopenmp sits.c -o sits 2>clang.err || skip "no clang that has an OpenMP library"
    record -o t --quiet --no-choice ./sits
    heurt dump -i t
    local third
    third=$(awk '/body of a parallel region/ && /number=2 / { print $2; exit }' <<<"$output")
    [ -n "$third" ]
    # The first wait that it enters, at the end of region 1, is over before region 2 begins.
    awk -v third="$third" '/begin .parallel region/ && / region=2 / { second = $1 }
        /leave barrier wait/ && $2 == third && !left { left = $1 }
        END { exit !(left && second && left <= second) }' <<<"$output"
}

@test "a loop that is cancelled ends as without heurt" {
    if is_of_gcc; then # alone, too, libomp 14 waits forever at the barrier that follows such a loop
        OMP_CANCELLATION=true record_part cancel
        is cancels "$(of 'regions[].cancels' | sum)" "$(known cancels)"
    fi
    record_part cancel
    is cancels "$(of 'regions[].cancels' | sum)" "$(known cancels)"
}

# A library that brings its runtime along, as Python's modules do, and a program that loads it.
make_plugin() { # COMPILER LIBRARY
    cat >plugin.c <<'END'
#include <omp.h>
static volatile double sink[1024];
int compute(void)
{
    int count = 0;
    for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2)
        {
            for (int j = 0; j < 20000; j++)
                sink[64 * omp_get_thread_num()] += j;
#pragma omp barrier
#pragma omp critical
            count++;
        }
    }
    return count;
}
END
    cat >load.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        count += library ? ((int (*)(void))dlsym(library, "compute"))() : 0;
    }
    printf("critical=%d\n", count);
    return 0;
}
END
    "$1" -g -O1 -fopenmp -shared -fPIC plugin.c -o "$2" 2>compiler.err || skip "no $1 with an OpenMP library"
    gcc -g load.c -o load
}

record_plugins() { # LIBRARY…
    "$HEURT" record --quiet --no-choice -o t ./load "$@" >out
    "$HEURT" openmp -i t --json >openmp.json
}

@test "OpenMP in a library that is loaded later is seen, of two runtimes both" {
    make_plugin gcc ./gomp.so
    record_plugins ./gomp.so
    is regions "$(of 'regions[].count')" 20
    is critical "$(of 'regions[].locks')" "$(known critical)"
    is_number_above 0 "$(of 'regions[].barrier_ns')"
    make_plugin clang ./omp.so
    record_plugins ./omp.so
    is regions "$(of 'regions[].count')" 20
    is critical "$(of 'regions[].locks')" "$(known critical)"
    is_number_above 0 "$(of 'regions[].barrier_ns')"
    record_plugins ./gomp.so ./omp.so
    is regions "$(of 'regions[].count' | paste -sd ' ')" "20 20"
    is critical "$(of 'regions[].locks' | sum)" "$(known critical)"
    is runtimes "$(of 'runtimes[].seen_threads' | paste -sd ' ')" "1 1"
    heurt openmp -i t
    grep -q 'Several runtimes of OpenMP have threads' <<<"$output"
}

@test "a runtime that tells tools nothing is named, and functions are seen as ever" {
    make_plugin clang ./omp.so
    OMP_TOOL=disabled record_plugins ./omp.so
    is regions "$(of 'regions[].count')" ""
    heurt openmp -i t
    expect_status 0
    grep -q 'libomp.* told of no parallel region' <<<"$(tr -s '\n ' ' ' <<<"$output")"
    heurt report -i t
    grep -q 'libomp.* told of no parallel region' <<<"$(tr -s '\n ' ' ' <<<"$output")"
    "$HEURT" record --quiet -f compute -o t ./load ./omp.so >out
    is compute "$("$HEURT" tables -i t --format csv classes:function,count | grep '^compute,')" compute,1
}

# As another vendor's: it has the calls of libomp, two threads of its own, and knows no tools.
@test "a runtime with the calls of libomp and no interface for tools is named" {
    cat >vendor.c <<'END'
#include <pthread.h>
typedef void (*outlined)(int *, int *, void *);
static void *start(void *routine)
{
    int number = 1;
    ((outlined)routine)(&number, &number, NULL);
    return NULL;
}
void __kmpc_fork_call(void *location, int count, void *routine, ...)
{
    int number = 0;
    pthread_t other;
    (void)location, (void)count;
    pthread_create(&other, NULL, start, routine);
    ((outlined)routine)(&number, &number, NULL);
    pthread_join(other, NULL);
}
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void __kmpc_critical(void *location, int number, void *section)
{
    (void)location, (void)number, (void)section;
    pthread_mutex_lock(&mutex);
}
void __kmpc_end_critical(void *location, int number, void *section)
{
    (void)location, (void)number, (void)section;
    pthread_mutex_unlock(&mutex);
}
END
    cat >uses.c <<'END'
#include <stdio.h>
void __kmpc_fork_call(void *, int, void *, ...);
void __kmpc_critical(void *, int, void *);
void __kmpc_end_critical(void *, int, void *);
static int section[8], count;
static void body(int *number, int *bound, void *data)
{
    (void)bound, (void)data;
    for (int i = 0; i < 100; i++) {
        __kmpc_critical(NULL, *number, section);
        count++;
        __kmpc_end_critical(NULL, *number, section);
    }
}
int main(void)
{
    __kmpc_fork_call(NULL, 0, (void *)body);
    printf("critical=%d\n", count);
    return 0;
}
END
    gcc -g -O1 -shared -fPIC vendor.c -o libiomp5.so
    gcc -g -O1 uses.c -o uses ./libiomp5.so
    "$HEURT" record --quiet --no-choice -o t ./uses >out
    is critical "$(known critical)" 200
    heurt openmp -i t
    expect_status 0
    grep -q 'libiomp5.so told of no parallel region' <<<"$(tr -s '\n ' ' ' <<<"$output")"
}

@test "a runtime that is linked into the program is named" {
    local library
    library=$(gcc -print-file-name=libgomp.a)
    [ -f "$library" ] || skip "no libgomp.a"
    make_plugin gcc ./gomp.so
    gcc -g -O1 -fopenmp -c plugin.c
    echo 'int compute(void); int main(void) { return compute() != 40; }' >main.c
    gcc -g -O1 main.c plugin.o "$library" -pthread -ldl -o linked
    "$HEURT" record --quiet --no-choice -o t ./linked
    heurt openmp -i t
    expect_status 0
    grep -q 'A runtime of OpenMP is linked into linked' <<<"$output"
    heurt report -i t
    grep -q 'A runtime of OpenMP is linked into linked' <<<"$output"
}

# Builds and records FILE with that compiler; skips where there is none.
build_and_record() { # COMPILER FILE
    "$1" -g -O1 -fopenmp "$2" -o "${2%.c}" 2>compiler.err || skip "no $1 with an OpenMP library"
    "$HEURT" record --quiet --no-choice -o t "./${2%.c}" >out 2>err
    "$HEURT" openmp -i t --json >openmp.json
}

# libgomp runs the teams one after the other; libomp may have less threads than it is asked for.
@test "teams of a host: regions and iterations are counted" {
    local compiler
    cat >teams.c <<'END'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    int count = 0, bodies = 0;
#pragma omp teams num_teams(2) thread_limit(2) reduction(+ : count, bodies)
    {
#pragma omp distribute parallel for reduction(+ : count) schedule(dynamic, 2)
        for (int i = 0; i < 40; i++)
            count++;
#pragma omp parallel num_threads(2) reduction(+ : bodies)
        bodies++;
    }
    printf("iterations=%d\nbodies=%d\n", count, bodies);
    return 0;
}
END
    for compiler in gcc clang; do
        build_and_record $compiler teams.c
        # COLUMN of the region at LINE.
        at() { "$HEURT" tables -i t --format csv "openmp_regions:line,$2" | awk -F, -v line="$1" '$1 == line { print $2 }'; }
        is "loop's" "$(at 8 count)" 2
        is "parallel" "$(at 11 count)" 2
        is iterations "$(at 8 iterations)" "$(known iterations)"
        is "no other" "$("$HEURT" tables -i t --format csv openmp_regions:line | tail -n +2 | sort -n | paste -sd ' ')" \
            "$([ $compiler = gcc ] && echo 8 11 || echo 6 8 11)"
        [ $compiler = gcc ] || is league "$(at 6 count)" 1
    done
}

@test "tasks that an event ends are counted, and end as without heurt" {
    local compiler
    cat >detach.c <<'END'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    int done = 0, right = 1;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 20; i++) {
        omp_event_handle_t event;
#pragma omp task detach(event) firstprivate(i) shared(done, right) if (i % 4)
        {
            right &= i >= 0 && i < 20;
#pragma omp atomic
            done++;
            if (i % 4 == 0)
                omp_fulfill_event(event);
        }
        if (i % 4) {
#pragma omp task firstprivate(event)
            omp_fulfill_event(event);
        }
#pragma omp taskwait
    }
    printf("done=%d\nright=%d\n", done, right);
    return 0;
}
END
    for compiler in gcc clang; do
        build_and_record $compiler detach.c
        is done "$(known done)" 20
        is right "$(known right)" 1
        is tasks "$(of 'tasks[].count' | sum)" 35
    done
}

# Without heurt, too, libomp 14 may wait forever where not all threads ask: so all do, and no loop is cancelled.
@test "what is cancelled is counted with both runtimes" {
    local compiler
    cat >cancel.c <<'END'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    int tasks = 0;
    for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp cancel parallel
        }
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
        for (int j = 0; j < 10; j++) {
#pragma omp task shared(tasks) firstprivate(j)
            {
#pragma omp atomic
                tasks++;
#pragma omp cancel taskgroup if (j == 0)
            }
        }
    }
    printf("tasks=%d\n", tasks);
    return 0;
}
END
    export OMP_CANCELLATION=true
    for compiler in gcc clang; do
        build_and_record $compiler cancel.c
        is regions "$(of 'regions[].count' | sum)" 6
        is cancels "$(of 'regions[].cancels' | sum)" 9
        is tasks "$(of 'regions[].tasks' | sum)" "$(known tasks)"
    done
}

@test "a program without OpenMP has no regions, and that is said" {
    "$HEURT" record --quiet --no-choice -o plain "$PROGRAMS/memory_known" >out
    heurt openmp -i plain
    expect_status 0
    grep -q 'No parallel region' <<<"$output"
    is efficiency "$("$HEURT" openmp -i plain --json | "$JSON_GET" /dev/stdin efficiency)" null
    heurt openmp -i plain 1
    expect_status 2
}

@test "an aggregated run keeps no regions" {
    "$HEURT" record --quiet --aggregate --no-choice -o t "$PROGRAMS/openmp_known" counts >out
    heurt openmp -i t
    expect_status 0
    grep -q 'No parallel region' <<<"$output"
}

# Compilers of LLVM up to 16 do not tell in the name of a region's body, or of a task, whose it is.
make_parts() { # OPTION…
    cat >parts.cc <<'END'
#include <cstdio>
static volatile double sink[1024];
static void work(int thread, long n)
{
    for (long i = 0; i < n; i++)
        sink[64 * thread] += i * 0.5;
}
struct solver {
    void step(int n);
};
template <class F> static inline void each(int n, F f)
{
#pragma omp parallel for schedule(dynamic) num_threads(2)
    for (int i = 0; i < n; i++)
        f(i);
}
void solver::step(int n)
{
    auto one = [](int i) { work(i % 2, 1000000); };
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i)
        {
            work(2, 100000);
#pragma omp critical(sum)
            one(i);
        }
    }
}
int main()
{
    solver own;
    for (int i = 0; i < 4; i++)
        own.step(20);
    each(40, [](int i) { work(i % 2, 1000000); });
    puts("done");
    return 0;
}
END
    clang++ -fopenmp "$@" parts.cc -o parts 2>compiler.err || skip "no clang++ with an OpenMP library"
    "$HEURT" record --quiet --no-choice -o t ./parts >out
}

# What screens show of them.
parts_screens() {
    local screen
    for screen in report openmp locks 'report --classes' 'report 1' structure whatif; do
        "$HEURT" $screen -i t
    done >screens
}

@test "what compilers make of constructs goes by the user's function" {
    local option
    for option in -O0 -O2; do
        make_parts $option -g
        is regions "$("$HEURT" tables -i t --format csv openmp_regions:line,function | tail -n +2 | tr -d '"' |
            sed 's/[(<].*//; s/,void /,/' | sort | paste -sd ' ')" "13,each 20,solver::step"
        is tasks "$("$HEURT" tables -i t --format csv openmp_tasks:line,function | tail -n +2)" "23,solver::step(int)"
        is "who waits" "$("$HEURT" tables -i t --format csv classes:caller,object_name | grep 'critical(sum)' |
            sed 's/^"*\([a-z:]*\).*/\1/' | sort -u)" solver::step
        parts_screens
        grep -q 'critical(sum)' screens
        ! grep 'omp_outlined\|omp_task_entry' screens
    done
}

@test "without debug information they go by where they begin" {
    make_parts -O2
    parts_screens
    ! grep 'omp_outlined\|omp_task_entry' screens
    "$HEURT" openmp -i t --json >openmp.json
    grep -q '"parallel region \[parts+0x[0-9a-f]*\]"' openmp.json
}

@test "what one thread works between regions is told, with where" {
    compile between -fopenmp -lm <<'END' || skip "no OpenMP for this compiler"
#include <math.h>
enum { N = 200000 };
static double a[N], b[N];
__attribute__((noinline)) static void smooth(void)
{
    for (int k = 0; k < N; k++)
        for (int s = 0; s < 20; s++)
            b[k] = sqrt(a[k] + b[k] + s);
}
int main(void)
{
    for (int i = 0; i < 50; i++) {
#pragma omp parallel for num_threads(2)
        for (int k = 0; k < N; k++)
            a[k] = sqrt(b[k] + k);
        smooth();
    }
    return a[7] > 1e9;
}
END
    "$HEURT" record --quiet -o t ./between
    "$HEURT" report -i t --json >report.json
    "$JSON_GET" report.json 'findings[].sentence' >sentences
    grep -q 'One thread works alone between parallel regions' sentences || fail "$(cat sentences)"
    is place "$("$JSON_GET" report.json 'findings[category=imbalance].place.function' | head -1)" smooth
    # The runtime's threads spin for the next region: that is told once.
    ! grep -q 'spin while' sentences || fail "$(cat sentences)"
    # Amdahl: two threads could do the serial part in half of its time.
    "$JSON_GET" report.json 'findings[category=imbalance].wall_gain[1]' | head -1 >gain
    awk '{ exit !($1 > 1.1 && $1 <= 2.2) }' gain || fail "$(cat gain)"
}
