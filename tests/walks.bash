# What the tests of structure share: recorded walks of which it is known what they did.

# walk NAME OPTION…: records structure_known with all its functions, or with none when it shows
# through hooks; trace NAME, output NAME.out.
walk() {
    local functions=(-f 'step_*' -f 'whole_*')
    [ "$1" != hooks ] || functions=()
    "$HEURT" record --quiet --overhead none -o "$1" "${functions[@]}" \
        "$PROGRAMS/structure_known" "${@:2}" >"$1.out" 2>"$1.err" </dev/null
}

is() { # NAME FOUND EXPECTED
    [ "$2" = "$3" ] || fail "$1: $2, not $3"
}

# occurrences TRACE: of the walkers' functions, a line "TID FUNCTION OCCURRENCE BEGIN_NS END_NS" each.
occurrences() {
    "$HEURT" dump -i "$1" --function 'step_*' --function 'whole_*' | awk '
        { split($1, time, "."); ns = (time[1] % 1000000) * 1000000000 + time[2]
          for (i = 3; $i != "enter" && $i != "leave"; i++) if (i == NF) next
          function_name = $(i + 1); key = $2 " " function_name }
        $i == "enter" { begin[key] = ns }
        $i == "leave" { printf "%s %d %.0f %.0f\n", key, count[key]++, begin[key], ns }'
}

# long_ones NAME: of the anomalies of a recorded walk, a line "TID FUNCTION BEGIN_NS END_NS" each.
long_ones() {
    occurrences "$1" >all
    sed -nE 's/^anomaly=.* tid=([0-9]+) function=([a-z_]+) .* occurrence=([0-9]+)$/\1 \2 \3/p' "$1.out" |
        awk 'NR == FNR { at[$1 " " $2 " " $3] = 1; next }
            at[$1 " " $2 " " $3] { print $1, $2, $4, $5 }' - all
}

# left NAME FORMAT: what heurt export --interesting leaves of it is in left.FORMAT.
left() {
    "$HEURT" export -i "$1" --interesting "--$2" -o "left.$2" 2>left.err ||
        fail "no export: $(cat left.err)"
}

# difference CLASS AT_NS: the occurrence of then beside the fastest is in difference.json; the parts
# add up.
difference() {
    "$HEURT" diff-occurrence -i slow "$1" --at "$2ns" --json >difference.json ||
        fail "no difference of $1 at $2 ns"
    local whole
    whole=$("$JSON_GET" difference.json difference_ns)
    is "$1: own times" "$("$JSON_GET" difference.json 'rows[].own_difference_ns' | sum)" "$whole"
    is "$1: components" "$("$JSON_GET" difference.json components_ns | tr ',{}' '\n' |
        sed -n 's/.*://p' | sum)" "$whole"
}
