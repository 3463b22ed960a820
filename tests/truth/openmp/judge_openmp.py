#!/usr/bin/env python3
"""Records OpenMP programs whose causes of lost time are known (causes.c, loops.f90) and compares what
heurt openmp says with what they print: counts, which must be equal, and shares, within 3 points of 100.

With --gain it compares the gain of the first hint with what the fixed twin gains without heurt: by the work
of the busiest thread up to each barrier, which both print and which a busy machine does not change; of those
of which the gain is no work (they are judged only by name), by the fastest run.

Of several compilers it tells how far what is said of their programs is from what is said of the first one's,
in points, and whether the same region and the same hint come first. --runtime NAME=DIR: that compiler's libomp,
where it is not installed, DIR/libomp.so.5, with its headers. Exit status: 0 when the bars are met, else 1."""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = ["skew", "triangle", "coarse", "few", "phases", "loops", "one_heavy", "explicit_barrier", "single",
         "sections", "serial_half", "serial_fifth", "short_regions", "critical", "critical_half",
         "critical_sum", "lock_storm", "ordered", "doacross", "tiny_tasks", "large_tasks", "chain", "nested",
         "cancelled"]
GAINS = ["skew", "triangle", "coarse", "few", "phases", "loops", "sections", "one_heavy", "explicit_barrier"]
BY_WALL = ["tiny_tasks", "critical_sum", "critical", "short_regions"]  # what they gain is no work: a busy machine tells nothing of them
EVERY = ["critical_sum", "lock_storm"]  # else so many locks are sampled, and their number is an estimate
POINTS_MOST, ALIKE_MOST, MEDIAN_MOST, WORST_MOST = 3.0, 5.0, 0.1, 0.25
# What a compiler's runtime is not seen doing.
NOT_TOLD = {"clang": {"sections"}}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="2,4")
    parser.add_argument("--compilers", default="gcc,clang")
    parser.add_argument("--runtime", action="append", default=[], metavar="NAME=DIR")
    parser.add_argument("--gain", action="store_true")
    parser.add_argument("--runs", type=int, default=5, help="with --gain: of each, alternately")
    parser.add_argument("--build", default=os.path.join(tempfile.gettempdir(), "heurt-truth-openmp"))
    parser.add_argument("heurt")
    parser.add_argument("only", nargs="*")
    return parser.parse_args()


def runtime_of(options, compiler):
    """Arguments for the compiler's own runtime."""
    for name, folder in (given.split("=", 1) for given in options.runtime):
        if name == compiler:
            headers = glob.glob(os.path.join(folder, "clang", "*", "include"))
            return [f"-L{folder}", f"-Wl,-rpath,{folder}"] + [f"-I{header}" for header in headers]
    return []


def compile_with(options, compiler):
    build = options.build
    binary = os.path.join(build, compiler)
    source = os.path.join(HERE, "causes.c")
    if not os.path.exists(binary) or os.path.getmtime(binary) < os.path.getmtime(source):
        subprocess.run([compiler, "-O2", "-g", "-fopenmp", "-o", binary, source] + runtime_of(options, compiler),
                       check=True)
    return binary


def compile_fortran(build):
    binary = os.path.join(build, "fortran")
    subprocess.run(["gfortran", "-O2", "-g", "-fopenmp", "-o", binary, os.path.join(HERE, "loops.f90")],
                   check=True)
    return binary


ENVIRONMENT = dict(os.environ, OMP_CANCELLATION="false")


def record(heurt, command, scratch):
    """What the program printed, and what heurt openmp says."""
    trace = os.path.join(scratch, "trace")
    every = ["--overhead", "none"] if command[1] in EVERY else []
    printed = subprocess.run([heurt, "record", "--quiet", "-o", trace] + every + ["--"] + command, timeout=120,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT).stdout
    said = subprocess.run([heurt, "openmp", "-i", trace, "--json"], timeout=120, stdout=subprocess.PIPE,
                          check=True).stdout
    lines = (line.split("=") for line in printed.decode().splitlines() if "=" in line)
    return {key: float(value) for key, value in lines}, json.loads(said)


def over(value, whole):
    return value / whole if whole else 0.0


def share_of_most(said):
    work = [member["work_ns"] for member in said["regions"][0]["team"]]
    return over(max(work), sum(work))


def waits(region):
    return region["barrier_ns"] + region["lock_ns"] + region["task_wait_ns"]


def total(said, column):
    return sum(region[column] for region in said["regions"])


def loops_of(said, column, sections):
    return sum(loop[column] for loop in said["loops"] if (loop["schedule"] == "sections") == sections)


SHARES = {
    "most_share": share_of_most,
    "wait_share": lambda said: over(waits(said["regions"][0]), said["regions"][0]["capacity_ns"]),
    "lost_share": lambda said: over(said["regions"][0]["lost_ns"], said["regions"][0]["capacity_ns"]),
    "serial_share": lambda said: over(said["efficiency"]["serial_ns"] * said["efficiency"]["threads"],
                                      said["efficiency"]["capacity_ns"]),
    "small_share": lambda said: said["tasks"][0]["small_share"],
}
COUNTS = {
    "regions": lambda said: total(said, "count"),
    "outer": lambda said: sum(r["count"] for r in said["regions"] if not r["nested"]),
    "inner": lambda said: sum(r["count"] for r in said["regions"] if r["nested"]),
    "iterations": lambda said: loops_of(said, "iterations", False),
    "chunks": lambda said: loops_of(said, "chunks", False),
    "sections": lambda said: loops_of(said, "iterations", True),
    "locks": lambda said: total(said, "locks"),
    "singles": lambda said: total(said, "singles"),
    "cancels": lambda said: total(said, "cancels"),
    "tasks": lambda said: total(said, "tasks"),
}


class Bar:
    def __init__(self):
        self.worst, self.missed, self.programs, self.good = 0.0, [], 0, 0

    def judge(self, name, compiler, known, said):
        self.programs += 1
        parts, before = [], len(self.missed)
        for key, value in known.items():
            if key in SHARES:
                share = SHARES[key](said)
                off = 100 * share - value / 10
                self.worst = max(self.worst, abs(off))
                parts.append(f"{key} {100 * share:.1f} ({off:+.1f})")
                if abs(off) > POINTS_MOST:
                    self.missed.append(f"{name}: {key}")
            elif key in COUNTS and key not in NOT_TOLD.get(compiler.split("-")[0], ()):
                count = COUNTS[key](said)
                if count != value:
                    self.missed.append(f"{name}: {key}")
                    parts.append(f"{key} {count}, not {value:.0f}")
                else:
                    parts.append(f"{key} {count}")
        self.good += len(self.missed) == before
        print(f"{name:34} {'ok    ' if len(self.missed) == before else 'WRONG '} {'; '.join(parts)}", flush=True)


def first(rows, column):
    return rows[0][column] if rows else None


def place_of(said):
    """The function of the first region, as the user calls it."""
    place = said["regions"][0]["place"] if said["regions"] else {}
    return str(place.get("function")).split(".")[0]


class Likeness:
    """How alike what is said of several compilers' programs is, where these do alike: runtimes deal out
    chunks and tasks, and take locks, each in its way, and the programs' own figures tell that."""

    def __init__(self):
        self.of_first, self.apart, self.regions, self.hints = {}, {}, {}, {}

    def add(self, part, compiler, said, known):
        shares = {key: (100 * SHARES[key](said), value / 10) for key, value in known.items() if key in SHARES}
        told = shares, place_of(said), first(said.get("hints", []), "kind")
        before = self.of_first.setdefault(part, told)
        if before is told:
            return
        for key, (share, true) in shares.items():
            off, apart = (abs(now - then) for now, then in zip((share, true), before[0].get(key, (share, true))))
            self.apart.setdefault(compiler, []).append((off, f"{part}: {key}", apart > ALIKE_MOST))
        self.regions.setdefault(compiler, []).append(before[1] == told[1])
        self.hints.setdefault(compiler, []).append((before[2] == told[2], f"{part}: {before[2]} / {told[2]}"))

    def tell(self):
        for compiler, apart in self.apart.items():
            alike = sorted(((off, name) for off, name, is_true in apart if not is_true), reverse=True)
            hints = self.hints[compiler]
            print(f"{compiler}: {sum(off <= ALIKE_MOST for off, _ in alike)} of {len(alike)} shares within "
                  f"{ALIKE_MOST:.0f} points, most {alike[0][0]:.1f} ({alike[0][1]}), and "
                  f"{len(apart) - len(alike)} differ in the programs; the same region first in "
                  f"{sum(self.regions[compiler])} of {len(hints)}, the same hint in {sum(same for same, _ in hints)}"
                  f"{''.join('; ' + words for same, words in hints if not same)}")


def wanted(options, part):
    return not options.only or part in options.only


def judge_figures(options, scratch):
    bar, likeness = Bar(), Likeness()
    for compiler in options.compilers.split(","):
        binary = compile_with(options, compiler)
        for threads in options.threads.split(","):
            for part in PARTS:
                if wanted(options, part):
                    known, said = record(options.heurt, [binary, part, "--threads", threads], scratch)
                    bar.judge(f"{part} {compiler} {threads} threads", compiler, known, said)
                    likeness.add(f"{part}, {threads}", compiler, said, known)
    if wanted(options, "fortran"):
        binary = compile_fortran(options.build)
        for threads in options.threads.split(","):
            known, said = record(options.heurt, [binary, "loops", "--threads", threads], scratch)
            bar.judge(f"fortran {threads} threads", "gcc", known, said)
    likeness.tell()
    print(f"{bar.good} of {bar.programs} right; worst share {bar.worst:.1f} points off"
          f"{'; missed: ' + ', '.join(bar.missed) if bar.missed else ''}")
    return not bar.missed


def seconds(command, by_wall):
    begin = time.monotonic()
    printed = subprocess.run(command, stdout=subprocess.PIPE, env=ENVIRONMENT).stdout.decode()
    took = time.monotonic() - begin
    spans = [float(line[5:]) / 1e6 for line in printed.splitlines() if line.startswith("span=")]
    return took if by_wall else spans[0]


def judge_gains(options, scratch):
    binary = compile_with(options, options.compilers.split(",")[0])
    errors = []
    for part in GAINS + BY_WALL:
        if part not in (options.only or GAINS):
            continue
        plain, fixed, gains, words = [], [], [], []
        for _ in range(options.runs):
            plain.append(seconds([binary, part], part in BY_WALL))
            fixed.append(seconds([binary, part, "--fixed"], part in BY_WALL))
            hints = record(options.heurt, [binary, part], scratch)[1].get("hints", [])
            words += [hints[0]["kind"] if hints else "nothing"]
            gains += [hints[0]["gain"] for _ in hints[:1] if hints[0]["gain"]]
        measured = min(plain) / min(fixed)
        said = statistics.median(gains) if gains else None
        error = abs(said / measured - 1) if said else None
        errors += [error] if error is not None else [1.0]
        print(f"{part:18} {statistics.mode(words):16} said {said or 0:.2f}  measured {measured:.2f}  "
              f"off {error if error is not None else 1:.1%}", flush=True)
    median, worst = statistics.median(errors), max(errors)
    print(f"median {median:.1%}, worst {worst:.1%}")
    return median <= MEDIAN_MOST and worst <= WORST_MOST


def main():
    options = arguments()
    options.heurt = os.path.abspath(options.heurt)
    os.makedirs(options.build, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        good = judge_gains(options, scratch) if options.gain else judge_figures(options, scratch)
    return 0 if good else 1


sys.exit(main())
