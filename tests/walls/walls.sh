#!/bin/sh
# walls.sh: holds the walls of the house (docs/architecture.md). Each command looks at one wall,
# prints every breach as one line, and ends with 1 when there was one.
#
#   includes SOURCE        who includes whom in SOURCE/src
#   sizes SOURCE           no file of SOURCE/src above 800 lines
#   names SOURCE           no two files of SOURCE/src have one name
#   needed LIBRARY         the runtime needs libc alone
#   imports LIBRARY        the runtime never prints, exits, aborts or calls malloc
#   globals ARCHIVE…       no mutable global outside runtime/ and cmd/
#   readers ARCHIVE…       present/ opens no trace and walks over none
#   tags SOURCE            no struct, union or enum of SOURCE/src has the tag of another one
#   ticks SOURCE           SOURCE/src/present sees ns alone; events are exported with times of their own, which
#                          become ns in export/events.c
#   decoders SOURCE        of SOURCE/src/analysis only events/, sync/ and callsite/ know what events mean;
#                          run.c hands them on
#   pages SOURCE           what docs/architecture.md and CONTRIBUTING.md name in SOURCE is there
#   words SOURCE           screens and pages of SOURCE use the field's own words (plain_words below)
#   messages SOURCE        no message that SOURCE/src has as a text is longer than 200 characters
#   commands ARCHIVE…      only cmd/ prints, reads the command line or ends the process
# shellcheck disable=SC2317 # the walls are called by their names
set -eu

# What each room may include of the others.
may_include() {
    case $1 in
    base) echo base ;;
    format) echo format base ;;
    fold) echo fold format ;;
    access) echo access format ;;
    kernel) echo kernel format base ;;
    induce) echo induce base ;;
    symbol) echo symbol format base ;;
    patch) echo patch symbol format base ;;
    recorder) echo recorder patch symbol kernel format base ;;
    analysis) echo analysis fold format base ;;
    place) echo place patch symbol kernel format base ;;
    mpi) echo mpi format ;;
    engine) echo engine ;;
    present) echo present analysis place format base ;;
    import) echo import symbol format base ;;
    cmd) echo cmd recorder import present analysis patch symbol kernel induce place engine format base ;;
    esac
}

# What each analysis may include of the others: those whose results it stands on.
may_stand_on() {
    case $1 in
    callsite | sync) ;;
    memory) echo events callsite ;;
    events) echo sync callsite ;;
    critical_path) echo sync ;;
    structure | openmp | mpi) echo events sync callsite ;;
    locks) echo critical_path sync callsite ;;
    cause) echo memory events sync callsite ;;
    ledger) echo cause memory events sync callsite ;;
    findings) echo replay ledger openmp mpi locks memory cause events sync callsite ;;
    replay) echo ledger events sync callsite ;;
    iterations | outliers) echo structure events callsite ;;
    timeline) echo findings ledger memory events sync callsite ;;
    compare) echo iterations ledger events sync callsite ;;
    scaling) echo compare ;;
    esac
}

# What its public header offers is also the runtime's own. The fold of aggregated runs is one piece of
# code with the analyses': what of it stands alone is compiled into both.
runtime_may_include='format/layout.h format/access_layout.h format/attach_layout.h heurt.h format/event.h fold/accumulate.h fold/fold.h fold/kinds.h'

included_files() { # FILE: the names in its #include "…" lines
    sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$1"
}

# What of another room, or of another folder of analysis/, a file of FOLDER may include.
is_allowed() { # ROOM FOLDER INCLUDED
    case $3 in
    */internal.h) [ "${3%/*}" = "$2" ] && return ;;
    "$2"/*) return ;;
    analysis/*/*)
        [ "$1" != analysis ] && case " $(may_include "$1") " in *" analysis "*) return ;; esac
        wanted=${3#analysis/}
        case " $(may_stand_on "${2#analysis/}") " in *" ${wanted%%/*} "*) return ;; esac
        ;;
    *) case " $(may_include "$1") " in *" ${3%%/*} "*) return ;; esac ;;
    esac
    return 1
}

check_include() { # ROOM FILE FOLDER INCLUDED
    own=$(dirname "$2")/$4
    case $4 in
    *..*) echo "$2: includes \"$4\": name it from src/" ;;
    esac
    if [ "$1" = runtime ]; then
        case " $runtime_may_include " in
        *" $4 "*) return ;;
        esac
        case $4 in
        runtime/*) return ;;
        esac
        [ -f "$own" ] || echo "$2: includes \"$4\": runtime may know format/layout.h and the fold alone"
        return
    fi
    case $4 in
    */*) is_allowed "$1" "$3" "$4" || echo "$2: includes \"$4\": $3 may know only $(may_include "$1")$(
        [ "$1" != analysis ] || echo ", and of analysis: $(may_stand_on "${3#analysis/}")")" ;;
    *) [ -f "$own" ] || echo "$2: includes \"$4\": not a file of its own room" ;;
    esac
}

sources() { # SOURCE: the files of the house
    find "$1/src" -name '*.[chS]' | sort
}

includes() {
    sources "$1" | while read -r file; do
        inside=${file#"$1"/src/}
        room=${inside%%/*}
        if [ "$room" != runtime ] && [ -z "$(may_include "$room")" ]; then
            echo "$file: nobody knows a room called $room"
        fi
        for included in $(included_files "$file"); do
            check_include "$room" "$file" "${inside%/*}" "$included"
        done
    done
}

sizes() {
    sources "$1" | while read -r file; do
        lines=$(wc -l <"$file")
        [ "$lines" -le 800 ] || echo "$file: $lines lines; 800 are enough for one file"
    done
}

names() {
    sources "$1" | sed 's|.*/||' | grep -v '^internal.h$' | sort | uniq -d |
        sed 's|$|: two files of src have this name|'
}

# A tag is one word for one thing.
tags() {
    sources "$1" | xargs grep -ohE '^ *(struct|enum|union) [a-z_0-9]+ \{' | sed 's/ *{//; s/^ *[a-z]* //' |
        sort | uniq -d | sed 's|$|: a tag of two structs, unions or enums of src|'
}

# What raw events are made of: their ids, their words, and cursors over them.
raw='trace_(cursor|merge)__[a-z]*|HEURT_(EVENT|OFF|SITE|BACK|SAMPLED)(_[A-Z_]+|\()'

decoders() {
    find "$1/src/analysis" -name '*.[ch]' | sort | grep -Ev '/analysis/((events|sync|callsite)/|run.c)' |
        while read -r file; do
            grep -Eno "$raw" "$file" |
                sed "s|^\([0-9]*\):\(.*\)|$file:\1: \2: events/, sync/ and callsite/ know what events mean|"
        done
}

# Ticks by their names, what is kept in them, and what makes ns of them.
converts='trace__(ns|since_start_ns|tick)'
in_ticks="([a-z0-9_]*_)?ticks?(_[a-z0-9_]*)?|accumulator(__[a-z_]*)?|histogram__(lower|bucket)|$converts"

# FILE…: FILE:LINE: TEXT, without comments and what stands in quotes.
code_lines() {
    awk '
        FNR == 1 { inside = 0 }
        inside { if (!sub(/.*\*\//, "")) next }
        {
            gsub(/"[^"]*"/, "\"\"")
            gsub(/\/\*[^*]*\*\//, "")
            gsub(/\/\*.*\*\//, "")
            inside = sub(/\/\*.*/, "")
            print FILENAME ":" FNR ": " $0
        }' "$@"
}

ticks() {
    # shellcheck disable=SC2046 # no name of a source file has blanks
    code_lines $(find "$1/src/present" -name '*.[ch]' -not -path '*/export/events.c' | sort) |
        grep -Ew "$in_ticks" | awk -v converts="$converts" '!/\/export\// || $0 ~ "[^a-z_]" converts "[^a-z_]"' |
        sed 's/^\([^:]*:[0-9]*\): .*/\1: present\/ sees ns alone/'
}

# Names of files, by what they end in, and of folders, in backquotes or where a picture's line begins.
named_in_page() { # PAGE: LINE:NAME
    grep -noE '[A-Za-z0-9_.*/-]*[A-Za-z0-9_*]\.(c|h|S|sh|bats|bash|md|build)\b' "$1"
    grep -noE '(^ +|`)[a-z_]+(/[a-z_]+)*/([a-z_]+`)?' "$1" | tr -d ' `'
}

pages() {
    tree=$(cd "$1" && find . -not -path './build*' -not -path './.git*' -printf '%P\n')
    for page in docs/architecture.md CONTRIBUTING.md; do
        named_in_page "$1/$page" | while IFS=: read -r line name; do
            pattern=$(printf '%s' "${name%/}" | sed 's/[.]/\\./g; s|[*]|[^/]*|g')
            printf '%s\n' "$tree" | grep -qE "(^|/)$pattern\$" || echo "$page:$line: there is no $name"
        done
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

# Events, spans and waits come to who shows them; facts about the trace as a whole may be asked for.
walks='trace__(open|open_memory|close)|(trace_cursor|trace_merge|sync_merge|sync_events)__.*'

readers() {
    for archive; do
        nm --undefined-only "$archive" 2>/dev/null | awk '{ print $NF }' | sort -u | grep -Ex "$walks" |
            sed "s|^|$archive: calls |;s|\$|: present/ gets what others read|"
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

# What was written once, and the word that is meant.
plain_words='encounters? synchronisation_event
meetings? synchronisation_event
culprits? blocker
kept_whom blocked_whom
turns?_a_loop runs_this_loop
stands?_out outlier
of_(its|their)_like peers'

# Texts in C, as FILE:LINE:TEXT, neighbours joined.
texts() { # FILE…
    awk '
    FNR == 1 { flush(); comment = 0 }
    function flush() { if (text != "") print where ":" text; text = "" }
    {
        line = $0
        while (line != "") {
            if (comment) {
                end = index(line, "*/")
                if (!end) break
                line = substr(line, end + 2); comment = 0
            } else if (match(line, /^[ \t]+/)) line = substr(line, RLENGTH + 1)
            else if (substr(line, 1, 2) == "/*") { comment = 1; line = substr(line, 3) }
            else if (substr(line, 1, 2) == "//") break
            else if (match(line, /^"([^"\\]|\\.)*"/)) {
                if (text == "") where = FILENAME ":" FNR
                text = text substr(line, 2, RLENGTH - 2); line = substr(line, RLENGTH + 1)
            } else if (line == "\\") break
            else if (match(line, /^PRI[a-z]*[0-9]*/) && text != "") { text = text "u"; line = substr(line, RLENGTH + 1) }
            else if (match(line, /^[A-Za-z_][A-Za-z_0-9]*/)) { flush(); line = substr(line, RLENGTH + 1) }
            else if (match(line, /^\047(\\.|[^\047])*\047/)) { flush(); line = substr(line, RLENGTH + 1) }
            else { flush(); line = substr(line, 2) }
        }
    }
    END { flush() }' "$@"
}

words() {
    printf '%s\n' "$plain_words" | while read -r old new; do
        pattern=$(printf '%s' "$old" | tr _ ' ') instead=$(printf '%s' "$new" | tr _ ' ')
        {
            find "$1/src/cmd" "$1/src/present" -name '*.c' 2>/dev/null | while read -r file; do texts "$file"; done
            find "$1/docs" "$1/README.md" "$1/CHANGELOG.md" -name '*.md' -exec grep -nH '' {} + 2>/dev/null
        } | grep -Ei "(^|[^a-z_])($pattern)([^a-z_]|$)" | sed "s|\$| -- say: $instead|"
    done
}

# Paragraphs of the manual in --help and of heurt explain are no messages: what says, fails or warns is.
messages() {
    find "$1/src" -name '*.c' ! -path '*/glossary/*' | while read -r file; do
        texts "$file" | awk -v most=200 '{
            text = $0; sub(/^[^:]*:[0-9]*:/, "", text); gsub(/\\./, "c", text); gsub(/%%/, "%", text)
            if (length(text) > most) print $0 " -- " length(text) " characters; " most " are enough" }'
    done
}

wall=$1
shift
case $wall in
includes | sizes | names | tags | ticks | decoders | pages | needed | imports | globals | readers | commands | words | messages) ;;
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
