#!/usr/bin/env python3
"""Records programs whose threads take cache lines from each other (sharers.cc), and the same programs cured,
and judges what heurt says: the kind of the first finding, its gain against that of the cured twin
(medians of runs in turns), and that nothing is said of a twin. Exit status: 0 when the bars are met, else 1."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ["regression", "counters", "fields", "statics", "atomics", "beside_mutex", "rows", "stack", "histograms",
         "reader", "generators", "members", "one_counter", "shared_pointer"]
GAIN_LEAST = 1.1
TRUE_KINDS = {"one_counter", "shared_pointer"}
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="pairs of plain runs, and recordings")
    parser.add_argument("--flags", default="-O2", help="of the compiler")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--source", default=os.path.join(HERE, "sharers.cc"))
    parser.add_argument("heurt")
    parser.add_argument("only", nargs="*")
    return parser.parse_args()


def compiled(options, scratch, name, *more):
    binary = os.path.join(scratch, name)
    subprocess.run([options.compiler, "-std=c++17", "-g", "-pthread", *options.flags.split(), *more,
                    options.source, "-o", binary], check=True)
    return binary


def seconds(command):
    begin = time.monotonic()
    subprocess.run(command, timeout=120, check=True, **QUIET)
    return time.monotonic() - begin


def ranked(heurt, command, trace):
    subprocess.run([heurt, "record", "-o", trace, "--"] + command, timeout=120, **QUIET)
    report = subprocess.run([heurt, "report", "-i", trace, "--json"], timeout=120, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, check=True).stdout
    return [finding for finding in json.loads(report)["findings"] if finding["ranked"]]


class Outcome:
    def __init__(self, kind):
        self.kind, self.right, self.silent = kind, 0, 0
        self.plain, self.cured, self.told, self.wrong = [], [], [], []

    def add(self, options, scratch, binary, cured):
        trace = os.path.join(scratch, "trace-" + self.kind)
        self.plain.append(seconds([binary, self.kind]))
        self.cured.append(seconds([cured, self.kind]))
        findings = ranked(options.heurt, [binary, self.kind], trace)
        twin = ranked(options.heurt, [cured, self.kind], trace + "-cured")
        awaited = "true sharing" if self.kind in TRUE_KINDS else "false sharing"
        first = findings[0] if findings else {"category": "nothing"}
        if not findings and self.gain() < GAIN_LEAST:
            self.right += 1  # there is nothing to be told
        elif first["category"] == awaited:
            self.right += 1
            self.told.append(tuple(first["wall_gain"] or (1, 1)))
        else:
            self.wrong.append(first["category"])
        shared = [finding["category"] for finding in twin if "sharing" in finding["category"]]
        self.silent += not shared
        self.wrong += ["twin: " + category for category in shared]

    def gain(self):
        return statistics.median(plain / cured for plain, cured in zip(self.plain, self.cured))

    def gain_told(self):
        return statistics.median((low + high) / 2 for low, high in self.told) if self.told else None

    def error(self):
        return self.gain_told() / self.gain() - 1 if self.told else None

    def line(self):
        runs = len(self.plain)
        told = f"{self.gain_told():.2f}" if self.told else "-"
        error = f"{self.error() * 100:+.0f} %" if self.told else "-"
        return (f"{self.kind:15} {self.right}/{runs}   {self.silent}/{runs}  {self.gain():6.2f} {told:>6} {error:>7}"
                f"  {', '.join(sorted(set(self.wrong)))}")


def bar(text, value, met):
    print(f"{text:52} {value:>9}  {'met' if met else 'MISSED'}")
    return met


def totals(outcomes):
    runs = sum(len(outcome.plain) for outcome in outcomes)
    right, silent = (sum(getattr(outcome, what) for outcome in outcomes) / runs for what in ("right", "silent"))
    errors = [abs(outcome.error()) for outcome in outcomes if outcome.told]
    median = statistics.median(errors) if errors else 1
    return all([bar("first finding right: at least 95 % of runs (-O0: 90)", f"{right:.1%}", right >= 0.9),
                bar("twins silent of sharing: all", f"{silent:.1%}", silent == 1),
                bar("gain off, median: at most 15 %", f"{median:.1%}", median <= 0.15)])


def main():
    options = arguments()
    options.heurt = os.path.abspath(options.heurt)
    outcomes = []
    print(f"{'program':15} right twin   gain   told     off  what was wrong")
    with tempfile.TemporaryDirectory() as scratch:
        binary, cured = compiled(options, scratch, "sharers"), compiled(options, scratch, "cured", "-DCURED")
        for kind in options.only or KINDS:
            outcome = Outcome(kind)
            for _ in range(options.runs):
                outcome.add(options, scratch, binary, cured)
            outcomes.append(outcome)
            print(outcome.line(), flush=True)
    return 0 if totals(outcomes) else 1


sys.exit(main())
