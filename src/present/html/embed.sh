#!/bin/sh
# embed.sh NAME FILE…: prints the constant parts NAME_head, NAME_middle and NAME_tail of a page: of styles
# (*.css) and scripts (*.js) in that order; what others wrote (*.min.*) stands in front, below its LICENSE. A
# browser runs of it what has the hashes that stand in its policy, and nothing else.
set -eu
name=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

of_kind() { # PATTERN: the files that match it, one after the other
    # shellcheck disable=SC2254 # a pattern
    for file in $files; do
        case $file in
        $1) cat "$file" ;;
        esac
    done
}

hash() { # FILE: as in a Content-Security-Policy
    printf "'sha256-%s'" "$(sha256sum "$1" | cut -d' ' -f1 | tr a-f A-F | basenc --base16 -d | base64 -w0)"
}

constant() { # NAME FILE
    printf 'extern const char %s[];\nconst char %s[] = {\n' "$1" "$1"
    od -An -v -td1 "$2" | sed 's/ *\(-*[0-9][0-9]*\)/\1,/g'
    printf '0};\n'
}

files=$*
own=
for file; do
    case $file in
    *.min.* | */LICENSE | *.css) ;;
    *) own="$own $file" ;;
    esac
done
of_kind '*.css' >"$work/style"
{
    of_kind '*/LICENSE' >"$work/license"
    if [ -s "$work/license" ]; then
        printf '/* uPlot:\n'
        cat "$work/license"
        printf '*/\n'
        of_kind '*.min.js'
    fi
    printf '(function () {\n"use strict";\n'
    # shellcheck disable=SC2086 # a list
    cat $own
    printf '})();\n'
} >"$work/script"
if grep -qi '<!--\|</s' "$work/style" "$work/script"; then
    echo "embed.sh: what is embedded would end its element" >&2
    exit 1
fi

{
    printf '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    printf '<meta http-equiv="Content-Security-Policy" content="%s; %s">\n' \
        "default-src 'none'; base-uri 'none'; form-action 'none'" \
        "script-src $(hash "$work/script"); style-src $(hash "$work/style")"
    printf '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    printf '<meta name="referrer" content="no-referrer">\n<title>heurt report</title>\n<style>'
    cat "$work/style"
    printf '</style>\n</head>\n<body>\n<noscript><pre>'
} >"$work/head"
printf '</pre></noscript>\n<main id="page"></main>\n<script type="application/json" id="data">' >"$work/middle"
{
    printf '</script>\n<script>'
    cat "$work/script"
    printf '</script>\n</body>\n</html>\n'
} >"$work/tail"

echo '/* Made by embed.sh. */'
for part in head middle tail; do
    constant "${name}_$part" "$work/$part"
done
