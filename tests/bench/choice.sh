#!/bin/sh
# choice.sh PROGRAM check         prints why it cannot run here; nothing when it can
# choice.sh PROGRAM prepare       makes its input in the current directory
# choice.sh PROGRAM run PREFIX…   runs it with PREFIX before it; some seconds of CPU time
# choice.sh perf check
# choice.sh perf list             PERCENT MODULE FUNCTION of those above 1 % in perf.data
# choice.sh heurt list            STATE MODULE FUNCTION of those that heurt chose in trace,
#                                 STATE patched or refused
# HEURT, JSON_GET; PYTHON: one whose binary has names.
set -eu
program=$1 step=$2
shift 2

python=${PYTHON:-/usr/bin/python3}
seconds_most=${SECONDS_MOST:-120}

missing() { # PACKAGE PROGRAM
    command -v "$2" >/dev/null || echo "$2 is not installed (Debian: $1)"
}

limited() {
    exec timeout -k 5 "$seconds_most" "$@" >output </dev/null
}

base_names() { # FILE: of the paths in it
    sed 's|.*/||' "$1"
}

# The functions and modules of one list of the report's coverage.
coverage() { # LIST STATE
    "$JSON_GET" report.json "coverage.$1[].function" >functions || return 0
    "$JSON_GET" report.json "coverage.$1[].module" >modules
    base_names modules | paste -d ' ' - functions | sed "s/^/$2 /"
}

case "$program $step" in
'perf check') missing linux-perf perf ;;
'perf list')
    perf report -i perf.data --stdio --no-children --percent-limit 1 -F overhead,dso,symbol \
        2>/dev/null | awk '$1 ~ /%$/ && $3 == "[.]" {
            percent = $1
            sub(/%/, "", percent)
            module = $2
            sub(/.*\[\.\] /, "")
            sub(/ +$/, "")
            print percent, module, $0
        }'
    ;;
'heurt list')
    timeout -k 5 "$seconds_most" "$HEURT" report --json -i trace >report.json
    coverage functions patched
    coverage refused refused
    ;;
'python check') [ -x "$python" ] || echo "$python is not installed (Debian: python3)" ;;
'python prepare')
    cat >program.py <<'END'
def steps(n):
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count

longest = {}
for start in range(1, 350000):
    longest["%d" % steps(start)] = start
print(len(longest), sum(sorted(longest.values())))
END
    ;;
'python run') limited "$@" "$python" program.py ;;
'sqlite check') missing sqlite3 sqlite3 ;;
'sqlite prepare')
    cat >program.sql <<'END'
create table item(id integer primary key, name text, part integer);
with recursive number(i) as (select 1 union all select i + 1 from number where i < 40000)
    insert into item select i, hex(i * 7919 % 1000003), i % 1000 from number;
create index item_name on item(name);
with recursive number(i) as (select 1 union all select i + 1 from number where i < 300)
    select sum((select count(*) from item a join item b on a.name = b.name
        where a.part < 500 + i)) from number;
END
    ;;
'sqlite run') limited "$@" sqlite3 :memory: '.read program.sql' ;;
'pbzip2 check') missing pbzip2 pbzip2 ;;
'pbzip2 prepare') seq 3000000 | awk '{ print $1 * 7919 % 1000003, $1 }' >data ;;
'pbzip2 run') limited "$@" pbzip2 -k -c -p2 data ;;
*)
    echo "choice.sh: $program $step is not known" >&2
    exit 2
    ;;
esac
