#!/bin/sh
# embed.sh PAGE.CSS UPLOT.CSS UPLOT.JS LICENSE PAGE.JS…: prints page_parts.c, the constant parts of the page of
# heurt report --html. A browser runs of it what has the hashes that stand in its policy, and nothing else.
set -eu
page_css=$1 uplot_css=$2 uplot_js=$3 license=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

hash() { # FILE: as in a Content-Security-Policy
    printf "'sha256-%s'" "$(sha256sum "$1" | cut -d' ' -f1 | tr a-f A-F | basenc --base16 -d | base64 -w0)"
}

constant() { # NAME FILE
    printf 'extern const char %s[];\nconst char %s[] = {\n' "$1" "$1"
    od -An -v -td1 "$2" | sed 's/ *\(-*[0-9][0-9]*\)/\1,/g'
    printf '0};\n'
}

cat "$uplot_css" "$page_css" >"$work/style"
{
    printf '/* uPlot:\n'
    cat "$license"
    printf '*/\n'
    cat "$uplot_js"
    printf '(function () {\n"use strict";\n'
    cat "$@"
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
    constant "html_page_$part" "$work/$part"
done
