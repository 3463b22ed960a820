#!/bin/sh
# test.sh JUDGE: the judge of programs, with a program and reports that are known.
set -u
judge=$1
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0
mkdir "$scratch/programs"
cat >"$scratch/programs/shop.c" <<'END'
/* TRUTH: lock|spinning; place=sell|buy; object=till
 */
int main(void) { return 0; }
END
# Of the fixed twin SILENT is said, of the program SAID.
cat >"$scratch/heurt" <<'END'
#!/bin/sh
case $* in
record*--fixed) printf '%s' "$SILENT" >"$3" ;;
record*) printf '%s' "$SAID" >"$3" ;;
report*) cat "$3" ;;
esac
END
chmod +x "$scratch/heurt"

finding() { # CATEGORY FUNCTION OBJECT RANKED
    printf '{"findings":[{"ranked":%s,"category":"%s","place":{"function":"%s"},' "$4" "$1" "$2"
    printf '"object":{"name":"%s"},"wall_gain":null}]}\n' "$3"
}

expect() { # TEXT
    "$judge" --runs 2 --programs "$scratch/programs" --build "$scratch" "$scratch/heurt" >"$scratch/out" 2>&1
    if ! tr -s ' ' <"$scratch/out" | grep -qF -- "$1"; then
        echo "not said: \"$1\" of $SAID $SILENT"
        cat "$scratch/out"
        failed=1
    fi
}

export SAID SILENT
SILENT='{"findings":[]}'
SAID=$(finding lock sell till true) && expect 'shop 2/2 2/2'
SAID=$(finding lock sell till false) && expect 'shop 0/2 2/2'
SAID=$(finding disk sell till true) && expect 'shop 0/2 2/2'
SAID=$(finding lock pay till true) && expect 'shop 0/2 2/2'
SAID=$(finding lock sell shelf true) && expect 'shop 0/2 2/2'
SAID='no report' && expect 'shop 0/2 2/2'
SAID=$(finding spinning buy till true)
SILENT=$(finding lock pay till true) && expect 'shop 2/2 0/2'
expect 'twins silent: at least 98 % of runs 0.0% MISSED'
exit $failed
