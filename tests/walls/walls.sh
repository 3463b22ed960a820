#!/bin/sh
# walls.sh: holds the walls of the house (docs/architecture.md). Each command looks at one wall,
# prints every breach as one line, and ends with 1 when there was one.
#
#   includes SOURCE        who includes whom in SOURCE/src
#   sizes SOURCE           no file of SOURCE/src above 800 lines
#   needed LIBRARY         the runtime needs libc alone
#   imports LIBRARY        the runtime never prints, exits, aborts or calls malloc
#   globals ARCHIVE…       no mutable global outside runtime/ and cmd/
#   commands ARCHIVE…      only cmd/ prints, reads the command line or ends the process
# shellcheck disable=SC2317 # the walls are called by their names
set -eu

# What each room may include of the others.
may_include() {
    case $1 in
    base) echo base ;;
    format) echo format base ;;
    kernel) echo kernel format base ;;
    symbol) echo symbol format base ;;
    analysis) echo analysis format base ;;
    place) echo place format base ;;
    present) echo present analysis format base ;;
    cmd) echo cmd present analysis symbol kernel place format base ;;
    esac
}

# What its public header offers is also the runtime's own. The fold of aggregated runs is one piece of
# code with the analyses': what of it stands alone is compiled into both.
runtime_may_include='format/layout.h heurt.h format/event.h analysis/accumulate.h analysis/fold.h analysis/kinds.h'

included_files() { # FILE: the names in its #include "…" lines
    sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$1"
}

check_include() { # ROOM FILE INCLUDED
    own=$(dirname "$2")/$3
    case $3 in
    *..*) echo "$2: includes \"$3\": name it from src/" ;;
    esac
    if [ "$1" = runtime ]; then
        case " $runtime_may_include " in
        *" $3 "*) return ;;
        esac
        case $3 in
        runtime/*) return ;;
        esac
        [ -f "$own" ] || echo "$2: includes \"$3\": runtime may know format/layout.h and the fold alone"
        return
    fi
    case $3 in
    */*)
        for allowed in $(may_include "$1"); do
            [ "$allowed" = "${3%%/*}" ] && return
        done
        echo "$2: includes \"$3\": $1 may know only $(may_include "$1")"
        ;;
    *) [ -f "$own" ] || echo "$2: includes \"$3\": not a file of its own room" ;;
    esac
}

includes() {
    for file in "$1"/src/*/*.[chS]; do
        room=$(basename "$(dirname "$file")")
        if [ "$room" != runtime ] && [ -z "$(may_include "$room")" ]; then
            echo "$file: nobody knows a room called $room"
        fi
        for included in $(included_files "$file"); do
            check_include "$room" "$file" "$included"
        done
    done
}

sizes() {
    for file in "$1"/src/*/*.[chS]; do
        lines=$(wc -l <"$file")
        [ "$lines" -le 800 ] || echo "$file: $lines lines; 800 are enough for one file"
    done
}

needed() {
    names=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ')
    [ "$names" = 'libc.so.6 ' ] || echo "$1: needs ${names:-nothing}; libc.so.6 alone is allowed"
}

undefined_names() { # dynamic symbols that LIBRARY takes from others, without versions
    nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $NF); print $NF }'
}

# Printing, ending the process, and the heap, under all the names that compilers give them.
ends='_?exit|_Exit|quick_exit|abort|__assert(_fail|_perror_fail)?|err|errx|verr|verrx|warnx?|error'
prints='(__)?v?f?printf(_chk)?|(__)?v?dprintf(_chk)?|puts|putchar|fputs|fputc|putc|fwrite|perror'
heap='malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|memalign|strdup|strndup|'
heap=$heap'(__)?v?asprintf(_chk)?|getline|fopen(64)?|opendir|_Znwm|_Znam'

imports() {
    undefined_names "$1" | grep -Ex "$ends|$prints|$heap|__cxa_throw|_Unwind_RaiseException" |
        sed "s|^|$1: calls |"
}

# section and name of every object in ARCHIVE that can be written to
writable_objects() {
    objdump -t "$1" | awk '
        /^[^ ].*:[[:space:]]+file format/ { object = $1; sub(/:$/, "", object) }
        $1 ~ /^[0-9a-f]+$/ && $(NF - 1) !~ /^0*$/ {
            section = $(NF - 2)
            if (section ~ /^(\.t?data|\.t?bss|\*COM\*)/ && section !~ /^\.data\.rel\.ro/)
                print object, $NF, section
        }'
}

globals() {
    for archive; do
        writable_objects "$archive" | while read -r object name section; do
            echo "$archive($object): $name in $section: a mutable global"
        done
    done
}

commands() {
    for archive; do
        # fprintf and fputs to a stream that was handed in are allowed; stdout and stderr are not.
        nm --undefined-only "$archive" 2>/dev/null | awk '{ print $NF }' | sort -u |
            grep -Ex "$ends|printf|__printf_chk|vprintf|__vprintf_chk|puts|putchar|perror|stdout|stderr|getopt(_long(_only)?)?|optarg|optind|argp_parse|system|popen|syslog" |
            sed "s|^|$archive: uses |;s|\$|, which only cmd/ may|"
    done
}

wall=$1
shift
case $wall in
includes | sizes | needed | imports | globals | commands) ;;
*)
    echo "walls.sh: no wall called $wall" >&2
    exit 2
    ;;
esac
for subject; do
    [ -e "$subject" ] || { echo "$subject is not there" && exit 1; }
done
breaches=$("$wall" "$@" || :)
[ -z "$breaches" ] && exit 0
printf '%s\n' "$breaches"
exit 1
