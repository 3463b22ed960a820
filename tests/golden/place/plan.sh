#!/bin/sh
# Runs a program with its memory placed: sh SCRIPT PROGRAM [ARG]…
# Made by heurt place of a run of: app --grid 40
[ $# -gt 0 ] || { echo "usage: $0 PROGRAM [ARG]..." >&2; exit 2; }
HEURT_PLACE=$(realpath "$0")
LD_PRELOAD='/usr/lib/heurt/libheurt-place.so'${LD_PRELOAD:+:$LD_PRELOAD}
export HEURT_PLACE LD_PRELOAD
exec "$@"

heurt-place 1
# 163,840 bytes, made at grid.c:12: divided among nodes, but not as it is used, from 2 nodes; local 0 %, then about 100 %
site 0707070707070707070707070707070707070707+0x1010 163840-163840 parts 40 0=0 20=1
# 163,840 bytes, made at table.c:7: all on node 0, used from 2 nodes; local 50 %
site 0707070707070707070707070707070707070707+0x1020 163840-163840 interleave
# grid, declared at grid.c:3: all on node 1, used from node 0; local 0 %, then about 100 %
data 0707070707070707070707070707070707070707+0x4000 16384 parts 4 0=0
