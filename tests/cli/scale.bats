#!/usr/bin/env bats
# heurt scale: runs with several numbers of threads. What is tested is which runs are made and what becomes of
# them, never how long they took.
load ../helpers
bats_require_minimum_version 1.5.0

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    compile crew <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static void *work(void *share)
{
    for (long i = 0; i < (long)share; i++) {
        pthread_mutex_lock(&lock);
        sum += i;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}
/* crew THREADS [STATUS-OF-2]: says what it was told, in its output and in the file "ran". */
int main(int count, char **words)
{
    int threads = atoi(words[1]), bytes = 0;
    pthread_t crew[64];
    cpu_set_t cpus;
    for (int i = 0; i < threads; i++)
        pthread_create(&crew[i], NULL, work, (void *)(4000L / threads));
    for (int i = 0; i < threads; i++)
        pthread_join(crew[i], NULL);
    while (getchar() != EOF)
        bytes++;
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf("threads=%d omp=%s cpus=%d bytes=%d\n", threads, getenv("OMP_NUM_THREADS"), CPU_COUNT(&cpus),
           bytes);
    FILE *ran = fopen("ran", "a");
    fprintf(ran, "%d\n", threads);
    fclose(ran);
    if (threads == 2 && access("wait", F_OK) == 0) {
        fclose(fopen("reached", "w"));
        pause();
    }
    return count > 2 && threads == 2 ? atoi(words[2]) : 0;
}
END
    "$HEURT" scale --threads 1,2 --repeat 2 -o done ./crew {} >screen 2>talk </dev/null
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp "$BATS_FILE_TMPDIR/crew" .
}

value() { # FILE PATH
    "$JSON_GET" "$1" "$2"
}

complains() { # STATUS PART WORD…
    run -"$1" "$HEURT" scale "${@:3}"
    [[ $output == *"$2"* ]] || fail "$output"
}

# The parts of each count, of a table of parts on stdin, add up to the whole run there; ns are rounded.
add_up() {
    awk -F, 'NR > 1 && $3 == 0 { if ($1 == "the whole run") whole[$2] = $4; else { sum[$2] += $4; parts[$2]++ } }
        END { for (count in whole) {
            off = whole[count] - sum[count]
            if (!parts[count] || off < -1000 || off > 1000) { print count, off; bad = 1 } }
            exit bad }'
}

@test "each count is run alone and recorded, its number told in each way" {
    cd "$BATS_FILE_TMPDIR"
    for run in 1-threads.1 1-threads.2 2-threads.1 2-threads.2; do
        for output in "done/$run.out" "done/$run.alone.out"; do
            grep -qx "threads=${run%%-*} omp=${run%%-*} cpus=[0-9]* bytes=0" "$output" || fail "$output: $(cat "$output")"
        done
        "$HEURT" report -i "done/$run" --json >report.json
        [ "$(value report.json exit_status)" = 0 ]
    done
    [ "$(sort ran | uniq -c | xargs)" = '4 1 4 2' ]
    [ "$(stat -c %a done)" = 700 ]
    [ "$(grep -c '^heurt: run [1-8] of 8: ' talk)" = 8 ]
    run ! grep -q threads= screen
    run ! grep -q heurt: screen
    head -n 1 screen | grep -q '^crew {}   2 runs each alone, 2 recorded, on '
}

@test "as JSON and as tables; parts add up to the runs alone" {
    cp -r "$BATS_FILE_TMPDIR/done" .
    "$HEURT" scale -o done --json >json
    [ "$(value json schema)" = heurt.scale/1 ]
    [ "$(value json command)" = './crew {}' ]
    [ "$(value json axis)" = threads ]
    [ "$(value json 'counts[1].threads')" = 2 ]
    [ "$(value json 'counts[1].alone')" = 2 ]
    [ "$(value json 'counts[1].recorded')" = 2 ]
    [ "$(value json 'laws[0].part')" = 'the whole run' ]
    "$HEURT" scale -o done --csv >csv
    head -n 1 csv | grep -qx 'part,count,predicted,time_ns,least_ns,most_ns,share,cost_ns'
    add_up <csv
    "$HEURT" scale -o done --table counts --markdown | sed -n 3p | grep -q '^| 1 |'
    "$HEURT" scale -o done --table laws --latex | grep -q '\\begin{tabular}'
    "$HEURT" scale -o done --table speedup | grep -q 'no rows'
    "$HEURT" scale -o done --width 60 >narrow
    [ "$(awk '{ gsub(/[^ -~]/, "") } length > 60' narrow | grep -cv More)" = 0 ] || fail "$(cat narrow)"
}

@test "what is there is not run again; more of it is added; another command is refused" {
    cp -r "$BATS_FILE_TMPDIR/done" .
    "$HEURT" scale --threads 1,2 --repeat 2 -o done ./crew {} >again 2>talk
    [ ! -e ran ] && [ ! -s talk ]
    cmp again "$BATS_FILE_TMPDIR/screen"
    "$HEURT" scale --threads 1,3 --repeat 1 -q -o done ./crew {} >/dev/null 2>talk
    [ "$(xargs <ran)" = '3 3' ] && [ ! -s talk ]
    complains 125 "done holds the runs of another command (./crew {})" -o done ./crew 3
    run ! grep -q . <(ls done | grep '^4-')
    # Of a command that could not be run no sweep is left that others would meet.
    complains 127 "no such" -o new ./no-such-program
    "$HEURT" scale --threads 1 --repeat 1 -q -o new ./crew {} >/dev/null
}

@test "an interrupted sweep tells what it has, and goes on" {
    for signal in INT TERM; do
        rm -rf ran reached sweep
        touch wait
        # Shells let what they start in the background ignore SIGINT.
        env --default-signal=INT "$HEURT" scale --threads 1,2,3 --repeat 1 -o sweep ./crew {} >screen 2>talk &
        pid=$!
        wait_for test -e reached
        kill -"$signal" $pid
        status=0
        wait $pid || status=$?
        [ "$status" = $((128 + $(kill -l "$signal"))) ] || fail "$status: $(cat talk)"
        grep -q 'interrupted before run 3 of 6 had ended' talk
        grep -q 'the whole run' screen
        [ "$(xargs <ran)" = '1 1 2' ]
        rm wait
        "$HEURT" scale --threads 1,2,3 --repeat 1 -q -o sweep ./crew {} >screen
        [ "$(xargs <ran)" = '1 1 2 2 2 3 3' ]
        head -n 1 screen | grep -q '1 run each alone, 1 recorded'
    done
}

@test "a run that fails is said, and is no evidence; the sweep goes on" {
    "$HEURT" scale --threads 1,2,3 --repeat 1 -o failing ./crew {} 7 >screen 2>talk
    [ "$(xargs <ran)" = '1 1 2 2 3 3' ]
    [ "$(grep -c 'heurt: the run with 2 threads, .* failed with status 7' talk)" = 2 ]
    grep -q 'Left out, it failed: 2 threads, recorded: status 7' screen
    "$HEURT" scale -o failing --json >json
    [ "$(value json 'counts[1].threads')" = 3 ]
    value json 'refused[0]' | grep -q '^2 threads, .*: status 7$'
    "$HEURT" scale --threads 2 --repeat 1 -q -o killed sh -c 'kill -9 $$' >screen 2>talk
    grep -q 'was ended by signal 9' talk
    grep -q 'No run ended well' screen
}

@test "of fewer CPUs than there are, the program gets so many" {
    [ "$(nproc)" -ge 2 ] || skip "there is one CPU"
    "$HEURT" scale --cores 1,2 --repeat 1 -q -o cores ./crew {} >screen
    grep -qx 'threads=2 omp=2 cpus=1 bytes=0' cores/2-threads-1-cpus.1.out
    grep -qx 'threads=2 omp=2 cpus=1 bytes=0' cores/2-threads-1-cpus.1.alone.out
    grep -qx 'threads=2 omp=2 cpus=2 bytes=0' cores/2-threads-2-cpus.1.out
    grep -q 'Tudor and Teo' screen
    "$HEURT" scale -o cores --json >json
    [ "$(value json axis)" = CPUs ]
    "$HEURT" scale -o cores --table speedup --csv >csv
    [ "$(wc -l <csv)" = 3 ]
    # m = S + R + D, where they are told.
    head -n 1 csv | grep -q '^threads,cpus,.*,omega,at_work,speedup,lost_inflated,lost_waiting,'
    awk -F, 'NR > 1 && $8 != "" && ($8 + $9 + $10 - $1 > 1e-5 || $1 - $8 - $9 - $10 > 1e-5) { exit 1 }' csv
    complains 2 "heurt may use" --cores 1024 ./crew 1
}

@test "each run reads standard input from its beginning, where it is a file" {
    echo twelve bytes >input
    "$HEURT" scale --threads 1,2 --repeat 1 -q -o with ./crew {} <input >/dev/null
    cat with/*.out | grep -c bytes=13 | grep -qx 4
    echo something | "$HEURT" scale --threads 1 --repeat 1 -q -o without ./crew {} >/dev/null
    cat without/*.out | grep -c bytes=0 | grep -qx 2
}

@test "where nothing tells the program how many threads, that is said" {
    "$HEURT" scale --threads 1,2 --repeat 1 -q -o deaf ./crew 3 >screen
    grep -q 'The program had 4 threads with every count' screen
}

@test "an OpenMP program is told by its regions" {
    compile regions -fopenmp <<'END' || skip "this compiler has no OpenMP library"
static volatile double sum;
int main(void)
{
    for (int i = 0; i < 20000000; i++)
        sum += i;
    for (int round = 0; round < 5; round++) {
#pragma omp parallel for
        for (int i = 0; i < 400; i++)
            for (volatile int k = 0; k < 50000; k++)
                ;
    }
    return 0;
}
END
    "$HEURT" scale --threads 1,2 --repeat 1 -q -o runs ./regions >screen
    grep -q 'heurt openmp -i runs/' screen
    "$HEURT" scale -o runs --csv >csv
    grep -q '^work in region main[^,]*,1,0,' csv
    grep -q '^work in region main[^,]*,2,0,' csv
    grep -q '^between parallel regions' csv
    add_up <csv
}

@test "a wrong command line, and directories that hold no sweep" {
    complains 2 "--threads: expected numbers from 1 to 1024, as 1,2,4, found '1,x'" --threads 1,x ./crew
    complains 2 "found '0'" --cores 0 ./crew
    complains 2 "found ''" --threads '' ./crew
    complains 2 "--repeat: expected a number of runs from 1 to 1000" --repeat 0 ./crew
    complains 2 "which program?" --threads 1,2
    complains 2 "there is no table 'locks': parts, counts, laws or speedup" --table locks
    complains 2 "exclude each other" --json --csv
    complains 125 "there is no sweep in heurt.scale"
    mkdir other
    touch other/file
    complains 125 "other is there, and holds no sweep" -o other ./crew 1
    complains 125 "is no directory" -o other/file ./crew 1
    mkdir strange
    echo "something else" >strange/sweep
    complains 125 "is no sweep that this heurt knows" -o strange ./crew 1
    cp -r "$BATS_FILE_TMPDIR/done" cut
    printf 'run trace 9 0' >>cut/sweep # a line that was cut off
    "$HEURT" scale -o cut >/dev/null
    rm -r cut/1-threads.1
    complains 125 "no trace at cut/1-threads.1" -o cut
}
