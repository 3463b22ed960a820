#!/usr/bin/env python3
"""Whether heurt compare finds a true difference, and calls equal programs equal, on real runs.

A round is 10 pairs of runs, made in turns: a program (compared_work), itself with 10 % more work in one of its
two functions, which is 5 % more in all, and itself as it was. The first is compared with the second, where the
change of the wall time and that of the function are to be found, and with the third, where nothing is."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, help="no new round begins after so long")
    parser.add_argument("--work", type=int, default=5000, help="calls of each function, a thread")
    parser.add_argument("--percent", type=int, default=110, help="of the work of the one function")
    parser.add_argument("--save", metavar="FILE", help="a line a comparison, JSON")
    return parser.parse_args()


class Round:
    """The runs of one round, in a directory of their own."""

    def __init__(self, asked, directory):
        self.asked, self.directory = asked, directory
        self.heurt = os.path.join(asked.build, "src/cmd/heurt")
        self.probe = os.path.join(asked.build, "tests/bench/compared_work")

    def record(self, name, percent):
        subprocess.run([self.heurt, "record", "-q", "-f", "*_part", "-o", os.path.join(self.directory, name),
                        self.probe, str(self.asked.work), str(percent)], check=True)

    def run(self):
        for pair in range(1, self.asked.pairs + 1):
            sides = [("before", 100), ("after", self.asked.percent), ("again", 100)]
            for name, percent in sides[pair % 3:] + sides[:pair % 3]:  # none is always the first
                self.record(f"{name}.{pair}", percent)

    def compare(self, name):
        out = subprocess.run([self.heurt, "compare", "--json", os.path.join(self.directory, "before"),
                              os.path.join(self.directory, name)], check=True, capture_output=True, text=True).stdout
        return json.loads(out)


def row_of(comparison):
    return next((row for row in comparison["rows"] if row["row"].startswith("working in growing_part")), None)


def told(comparison):
    """What of a comparison counts."""
    row = row_of(comparison)
    return {"verdict": comparison["verdict"], "change": comparison["wall_change"], "chance": comparison["chance"],
            "least": comparison["wall_change_least"], "most": comparison["wall_change_most"],
            "row_shown": bool(row and row["shown"]), "row_change": row["change"] / row["before"] if row else None,
            "rows_shown": sum(row["shown"] for row in comparison["rows"]),
            "others": statistics.median(run["cpus_of_others"] or 0 for run in comparison["before"] + comparison["after"]),
            "wall_ns": comparison["wall_before_ns"]}


def percent(values):
    return f"{100 * statistics.median(values):+.1f} %"


def show(changed, equal):
    count = len(changed)
    slower = sum(c["verdict"] == "slower" for c in changed)
    rows = sum(c["row_shown"] and c["row_change"] > 0 for c in changed)
    width = [c["most"] - c["least"] for c in changed if c["least"] is not None]
    print(f"{count} comparisons of each, runs of {changed[0]['wall_ns'] / 1e6:.0f} ms, "
          f"other programs used {statistics.median(c['others'] for c in changed):.2f} CPUs")
    print(f"more work      called slower                   {slower} of {count} ({100 * slower / count:.0f} %), "
          f"median {percent([c['change'] for c in changed])}, the interval is {100 * statistics.median(width):.1f} % wide")
    print(f"               the function is shown to change {rows} of {count} ({100 * rows / count:.0f} %), "
          f"median {percent([c['row_change'] for c in changed if c['row_change'] is not None])}")
    print(f"the same work  called different                {sum(c['verdict'] in ('slower', 'faster') for c in equal)} of {count}")
    print(f"               some row is shown to change     {sum(c['rows_shown'] > 0 for c in equal)} of {count}")


def main():
    asked = options()
    asked.build = os.path.realpath(asked.build)
    began, changed, equal = time.monotonic(), [], []
    for _ in range(asked.rounds):
        if asked.seconds and time.monotonic() - began > asked.seconds:
            break
        with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
            this = Round(asked, directory)
            this.run()
            changed.append(told(this.compare("after")))
            equal.append(told(this.compare("again")))
    if asked.save:
        with open(asked.save, "w") as file:
            for kind, list_ in (("changed", changed), ("equal", equal)):
                for one in list_:
                    file.write(json.dumps({"work": kind, **one}) + "\n")
    if not changed:
        sys.exit("compared.py: no round was made")
    show(changed, equal)


main()
