#!/bin/sh
# clean-room.sh [--demo] [DIRECTORY]: what a newcomer meets. Makes a minimal Debian 12 (debootstrap) in
# DIRECTORY or a temporary one, clones this repository's last commit into it, and runs the commands
# of the README there, the first two lines of which are all that is done by hand: make demo, make check,
# and the way to an installed heurt; with --demo the first and the last of them. Tells how long each took,
# and what CPU time. Needs root, debootstrap, and a Debian mirror: HEURT_MIRROR, or the one that this
# machine's apt uses.
# shellcheck disable=SC2016 # what stands in single quotes is for others to expand
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)

[ "$(id -u)" = 0 ] || { echo "clean-room: only root can make a chroot" >&2 && exit 1; }
command -v debootstrap >/dev/null ||
    { echo "clean-room: debootstrap is missing (apt-get install debootstrap)" >&2 && exit 1; }

mirror=${HEURT_MIRROR-$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' |
    grep -v security | head -n 1)}
[ -n "$mirror" ] || { echo "clean-room: no mirror is known; set HEURT_MIRROR" >&2 && exit 1; }

demo_only=
if [ "${1-}" = --demo ]; then
    demo_only=yes
    shift
fi
made=
if [ $# -gt 0 ]; then
    room=$1
    mkdir -p "$room"
else
    room=$(mktemp -d "${TMPDIR:-/var/tmp}/heurt-clean-room.XXXXXX")
    made=$room
fi
chmod 755 "$room" # it becomes the root directory, which ordinary users must be able to enter

leave() {
    for place in dev sys proc; do
        ! mountpoint -q "$room/$place" || umount --recursive --lazy "$room/$place"
    done
    [ -z "$made" ] || rm -rf --one-file-system "$made"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM

inside() {
    chroot "$room" /usr/bin/env -i HOME=/root TERM=dumb PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        http_proxy="${http_proxy-}" https_proxy="${https_proxy-}" \
        sh -ec "$1" </dev/null
}

timed() { # NAME COMMAND
    before=$(date +%s)
    echo "== $1"
    inside "$2
        times >/cpu-time"
    echo "== $1 took $(($(date +%s) - before)) s, of CPU time $(sed -n '2s/ / + /p' "$room/cpu-time")"
}

echo "== a minimal Debian 12 in $room"
debootstrap --variant=minbase bookworm "$room" "$mirror" >"$room.log" 2>&1 || {
    tail -n 20 "$room.log" >&2
    exit 1
}
rm -f "$room.log"
cp /etc/resolv.conf "$room/etc/resolv.conf"
for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*proxy*; do
    [ ! -f "$file" ] || cp "$file" "$room/etc/apt/apt.conf.d/"
done
mount -t proc proc "$room/proc"
mount -t sysfs sysfs "$room/sys"
mount --rbind /dev "$room/dev"
mount --make-rslave "$room/dev"

timed "apt-get install git make" \
    'apt-get -qq update; DEBIAN_FRONTEND=noninteractive apt-get -qq install -y git make >/dev/null 2>&1'
git clone -q --no-hardlinks "$source" "$room/root/heurt"
timed "make demo, packages included" 'cd /root/heurt && make demo'
inside 'cd /root/heurt && make clean'
timed "make, the build alone" 'cd /root/heurt && make >/dev/null'
timed "make demo, nothing left to install or build" 'cd /root/heurt && make demo >/dev/null'
[ -n "$demo_only" ] || timed "make check, packages included" 'cd /root/heurt && make check'
timed "make deps install" 'cd /root/heurt && make deps install PREFIX=/usr/local >/dev/null'
inside 'cd / && heurt --version && heurt record -q -o /root/t true && heurt report -i /root/t >/dev/null &&
    test -s /usr/local/share/man/man1/heurt-record.1'
inside 'test ! -e /usr/sbin/policy-rc.d' || { echo "policy-rc.d was left behind" >&2 && exit 1; }
for process in /proc/[0-9]*; do
    if [ "$(readlink "$process/root" 2>/dev/null)" = "$room" ]; then
        echo "still running in the room: $(cat "$process/comm")" >&2
        exit 1
    fi
done
echo "clean room: the commands did what they say"
