#!/usr/bin/env python3
"""Records programs of ranks whose fault is known, and judges what heurt says of them.

A program's source says the truth in one line, "TRUTH: rank=WHICH; wait=KINDS; waits_in=REGEX;
works_in=REGEX": whom the others wait for (first, second, last, any), the kinds of wait, the functions in
which ranks may wait, and the function in which the late one is meanwhile. Right is a first finding of
messages in one of these functions, with that rank and function named in its sentence. The gain is held
against the fastest plain run over the fastest of the twin (--fixed), by the program's own clock.
Exit status: 0 when at least 95 % are right and gains are off by at most 10 % (median) and 25 % (worst)."""
import argparse
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
                   OMPI_MCA_btl_vader_single_copy_mechanism="none", OMP_NUM_THREADS="2")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--device", action="store_true", help="ranks wait for their work: more of them than CPUs")
    parser.add_argument("--mpi", default="openmpi", help="openmpi or mpich")
    parser.add_argument("heurt")
    parser.add_argument("only", nargs="*")
    return parser.parse_args()


class Program:
    def __init__(self, source):
        self.source, self.name = source, os.path.basename(source)[:-2]
        line = re.search(r"TRUTH: rank=(\w+); wait=([^;\n]*); waits_in=([^;\n]*); works_in=(\S*)",
                         re.sub(r"\n \* ", " ", open(source).read()))
        self.rank, self.waits, self.waits_in, self.works_in = line.groups()

    def compile(self, build, mpi):
        self.binary = os.path.join(build, self.name)
        subprocess.run([f"mpicc.{mpi}", "-g", "-O2", "-fopenmp", "-o", self.binary, self.source], check=True)

    def is_right(self, finding, ranks):
        number = {"first": 0, "second": 1, "last": ranks - 1}.get(self.rank, r"\d+")
        return (finding["category"] == "message"
                and re.search(self.waits_in, (finding["place"] or {}).get("function") or "")
                and re.search(rf"for rank {number}\b", finding["sentence"])
                and re.search(self.works_in, (finding["by"] or {}).get("function") or ""))


def took_ns(options, program, *more):
    out = subprocess.run([f"mpirun.{options.mpi}", "-n", str(options.ranks), program.binary, *more],
                         env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, timeout=120, check=True).stdout
    return int(re.search(r"took_ns=(\d+)", out).group(1))


def findings(options, program, scratch, *more):
    trace = os.path.join(scratch, "trace")
    subprocess.run([f"mpirun.{options.mpi}", "-n", str(options.ranks), options.heurt, "record", "--quiet", "-o",
                    trace, program.binary, *more], env=ENVIRONMENT, stdout=subprocess.DEVNULL, timeout=120,
                   check=True)
    report = subprocess.run([options.heurt, "report", "-i", trace, "--json"], stdout=subprocess.PIPE, check=True)
    return [f for f in json.loads(report.stdout)["findings"] if f["ranked"]]


def judge(options, program, scratch):
    """Rightly told, of how many runs, and how far the gain is off (None: it was not told)."""
    device = ["--device"] if options.device else []
    right, told, plain, fixed, said = 0, [], [], [], ""
    for _ in range(options.runs):
        plain.append(took_ns(options, program, *device))
        fixed.append(took_ns(options, program, "--fixed", *device))
        found = findings(options, program, scratch, *device)
        is_right = bool(found) and bool(program.is_right(found[0], options.ranks))
        right += is_right
        if is_right and found[0]["wall_gain"]:
            told.append(sum(found[0]["wall_gain"]) / 2)
        if not is_right:
            said = found[0]["sentence"] if found else "nothing is ranked"
    gain = min(plain) / min(fixed)
    off = abs(statistics.median(told) / gain - 1) if told else None
    print(f"{program.name:12} right {right} of {options.runs}   gain {gain:.2f}, told "
          f"{statistics.median(told) if told else float('nan'):.2f}   {said}", flush=True)
    return right, off


def main():
    options = arguments()
    options.heurt = os.path.abspath(options.heurt)
    programs = [Program(source) for source in sorted(glob.glob(os.path.join(HERE, "*.c")))]
    programs = [p for p in programs if not options.only or p.name in options.only]
    right, offs = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        for program in programs:
            program.compile(scratch, options.mpi)
            found, off = judge(options, program, scratch)
            right += found
            offs += [off] if off is not None else []
    part = right / (len(programs) * options.runs)
    median, worst = (statistics.median(offs), max(offs)) if offs else (1, 1)
    print(f"right {part:.0%}; gain off {median:.0%} in the median, {worst:.0%} at worst")
    sys.exit(not (part >= 0.95 and median <= 0.1 and worst <= 0.25))


if __name__ == "__main__":
    main()
