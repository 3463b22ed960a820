# machine.bash: a machine of four NUMA nodes in QEMU (without KVM: any machine will do), with Debian's kernel,
# busybox, and heurt as it was built. For tests that set build and name their init; the log of the machine is in
# BUILD/numa/log. The kernel's package is unpacked there and not installed.
# shellcheck shell=bash disable=SC2154
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$build/numa
root=$work/root
rounds=${ROUNDS:-1000}
limit_s=${LIMIT:-400}

kernel() { # the path of an unpacked kernel
    local package
    package=$(apt-cache depends linux-image-cloud-amd64 | awk '$1 == "Depends:" { print $2; exit }')
    if ! [ -e "$work/$package" ]; then
        rm -rf "$work/unpacked" "$work"/linux-image-*
        (cd "$work" && apt-get -qq -o APT::Sandbox::User=root download "$package" >&2)
        dpkg-deb -x "$work/$package"_*.deb "$work/unpacked"
        rm "$work/$package"_*.deb
        touch "$work/$package"
    fi
    echo "$work"/unpacked/boot/vmlinuz-*
}

add() { # FILE PATH: into the machine, with the libraries that it needs
    local library
    install -D "$1" "$root$2"
    { ldd "$1" 2>/dev/null || :; } | grep -o '/[^ ]*' | while read -r library; do
        [ -e "$root$library" ] || install -D "$(realpath "$library")" "$root$library"
    done
}

make_root() { # INIT: what it does
    rm -rf "$root"
    mkdir -p "$root"/{bin,proc,sys,dev,tmp,usr/bin,usr/lib/heurt}
    install "$(command -v busybox)" "$root/bin/busybox"
    add "$build/src/cmd/heurt" /usr/bin/heurt
    add "$build/src/runtime/libheurt.so" /usr/lib/heurt/libheurt.so
    add "$build/src/place/libheurt-place.so" /usr/lib/heurt/libheurt-place.so
    add "$build/tests/numa/placed" /usr/bin/placed
    add "$build/tests/numa/watched" /usr/bin/watched
    add "$(command -v numactl)" /usr/bin/numactl
    sed "s/ROUNDS/$rounds/; s/SECONDS/${each_s:-}/g; s/SHOWN/${shown:-}/; s/PATTERNS/${patterns:-}/" "$source/tests/numa/$1" >"$root/init"
    chmod 755 "$root/init"
    (cd "$root" && find . | cpio --quiet -o -H newc) | gzip -1 >"$work/initramfs"
}

node() { # N: its memory and its CPU
    echo "-object memory-backend-ram,size=320M,id=m$1 -numa node,nodeid=$1,memdev=m$1,cpus=$1"
}

boot() { # KERNEL
    local distances=
    for pair in 0,1:20 0,2:30 0,3:30 1,2:30 1,3:30 2,3:20; do
        distances+=" -numa dist,src=${pair:0:1},dst=${pair:2:1},val=${pair:4}"
    done
    # shellcheck disable=SC2046,SC2086 # these are several words
    timeout "$limit_s" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -m 1280M -smp 4,sockets=4 \
        $(node 0) $(node 1) $(node 2) $(node 3) $distances -kernel "$1" -initrd "$work/initramfs" \
        -append 'console=ttyS0 quiet panic=-1 perf_event_paranoid=1' -nographic -no-reboot -nodefaults \
        -serial stdio </dev/null >"$work/log" 2>&1
}

failed=0 passed=0
check() { # WHAT CONDITION…
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1)) && echo "ok $what"
    else
        failed=$((failed + 1)) && echo "not ok $what" | tee -a "${HEURT_FAILED:-/dev/null}"
    fi
}

value() { # NAME KEY: as the machine told it
    sed -n "s/^@ $1 .*\<$2=\([^ ]*\).*/\1/p" "$work/told" | tail -n 1
}

note() { echo "# $*" | tee -a "${HEURT_FAILED:-/dev/null}"; }
is() { [ "$(value "$1" "$2")" = "$3" ] || { note "$1: $2 is '$(value "$1" "$2")', not '$3'" && false; }; }
at_least() { # NAME KEY NUMBER
    awk -v is="$(value "$1" "$2")" -v least="$3" 'BEGIN { exit !(is != "" && is + 0 >= least) }' ||
        { note "$1: $2 is '$(value "$1" "$2")', below $3" && false; }
}
below() { ! HEURT_FAILED='' at_least "$1" "$2" "$3" >"$work/null" && [ -n "$(value "$1" "$2")" ]; }


run_machine() { # INIT: what it told is in $work/told
    mkdir -p "$work"
    local begun=$SECONDS
    make_root "$1"
    boot "$(kernel)" || :
    tr -d '\r' <"$work/log" | grep '^@ ' >"$work/told" || :
    echo "# the machine ran for $((SECONDS - begun)) s"
    check 'the machine came to its end' grep -qx '@ end' "$work/told"
}

again() { env -u HEURT_UNSTEADY -u HEURT_COUNTS HEURT_FAILED=/dev/null "$0" "$build"; }
end_machine() { # What failed once on a busy machine must hold twice.
    if ((failed > 0)) && [ -n "${HEURT_UNSTEADY-}" ] && again && again; then
        echo "unsteady: the machine of four NUMA nodes: $failed checks failed once, and held 2 times" | tee -a "$HEURT_UNSTEADY"
        failed=0
    fi
    [ -z "${HEURT_COUNTS-}" ] || echo "$passed $failed 0" >>"$HEURT_COUNTS"
    echo "$passed passed, $failed failed"
    exit $((failed > 0))
}
