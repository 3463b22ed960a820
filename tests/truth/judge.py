#!/usr/bin/env python3
"""Records programs whose fault is known, and their twins without it (--fixed), and judges what heurt says.

A program's source says the truth in one line, "TRUTH: CATEGORIES; place=REGEX; object=REGEX" (object may be
left out): category, place and object of the first ranked finding. No finding may be ranked of a twin. The
gain is held against the fastest plain run over the fastest of the twin. Exit status: 0 when the bars are
met, else 1."""
import argparse
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILERS = {"c": ["gcc", "-O2", "-g", "-pthread"], "cc": ["g++", "-std=c++20", "-O2", "-g", "-pthread"],
             "rs": ["rustc", "-O", "-g"]}
RIGHT_LEAST, SILENT_LEAST = 0.95, 0.98


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--programs", default=HERE, help="folder of the sources")
    parser.add_argument("--build", default=os.path.join(tempfile.gettempdir(), "heurt-truth"))
    parser.add_argument("heurt")
    parser.add_argument("only", nargs="*")
    return parser.parse_args()


class Program:
    def __init__(self, source, build):
        self.source, self.name = source, os.path.basename(source).rsplit(".", 1)[0]
        self.binary = os.path.join(build, self.name)
        line = re.search(r"TRUTH: ([^;\n]*); place=([^;\n]*)(?:; object=([^;\n]*))?", open(source).read())
        self.categories, self.place, self.object = line.group(1).split("|"), line.group(2), line.group(3)

    def compile(self):
        """False: there is no compiler for it."""
        if os.path.exists(self.binary) and os.path.getmtime(self.binary) > os.path.getmtime(self.source):
            return True
        try:
            compiler = COMPILERS[self.source.rsplit(".", 1)[1]]
            subprocess.run(compiler + ["-o", self.binary, self.source], check=True)
        except FileNotFoundError:
            return False
        return True

    def is_right(self, finding):
        function = (finding["place"] or {}).get("function") or ""
        thing = finding["object"] or {}
        words = " ".join(str(x) for x in (thing.get("name"), thing.get("kind"), thing.get("born")))
        return (finding["category"] in self.categories and re.search(self.place, function) is not None
                and (self.object is None or re.search(self.object, words) is not None))


QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def seconds(command):
    """How long COMMAND took. A wait that is limited would look each 50 ms, which the fixed twins of short
    programs are no longer than: somebody else ends what never does."""
    begin = time.monotonic()
    process = subprocess.Popen(command, **QUIET)
    limit = threading.Timer(120, process.kill)
    limit.start()
    process.wait()
    took = time.monotonic() - begin
    limit.cancel()
    return took


def ranked(heurt, command, scratch):
    """The ranked findings; None: no report came of it."""
    trace = os.path.join(scratch, "trace")
    try:
        subprocess.run([heurt, "record", "-o", trace, "--"] + command, timeout=120, **QUIET)
        report = subprocess.run([heurt, "report", "-i", trace, "--json"], timeout=120, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, check=True).stdout
        findings = json.loads(report)["findings"]
    except (subprocess.SubprocessError, ValueError):
        return None
    return [f for f in findings if f["ranked"]]


def told(finding):
    place = (finding["place"] or {}).get("function")
    return f"{finding['category']} at {place}, {(finding['object'] or {}).get('name')}"


class Outcome:
    def __init__(self):
        self.right = self.silent = self.runs = 0
        self.plain, self.fixed, self.gains, self.wrong = [], [], [], []

    def add(self, program, heurt, scratch):
        self.runs += 1
        self.plain.append(seconds([program.binary]))
        self.fixed.append(seconds([program.binary, "--fixed"]))
        findings = ranked(heurt, [program.binary], scratch)
        twin = ranked(heurt, [program.binary, "--fixed"], scratch)
        if findings and program.is_right(findings[0]):
            self.right += 1
            self.gains.append(sum(findings[0]["wall_gain"]) / 2 if findings[0]["wall_gain"] else None)
        else:
            self.wrong.append("said: " + (told(findings[0]) if findings else "nothing"))
        self.silent += twin == []
        if twin != []:
            self.wrong.append("twin: " + (told(twin[0]) if twin else "no report"))

    def measured(self):
        return min(self.plain) / min(self.fixed)

    def predicted(self):
        gains = [gain for gain in self.gains if gain]
        return statistics.median(gains) if gains else None

    def error(self):
        return abs(self.predicted() / self.measured() - 1) if self.predicted() else None


def bar(text, value, met):
    print(f"{text:46} {value:>9}  {'met' if met else 'MISSED'}")
    return met


def totals(outcomes):
    runs = sum(o.runs for o in outcomes)
    right, silent = sum(o.right for o in outcomes) / runs, sum(o.silent for o in outcomes) / runs
    errors = [o.error() for o in outcomes if o.error() is not None]
    median, worst = (statistics.median(errors), max(errors)) if errors else (1, 1)
    return all([bar("first finding right: at least 95 % of runs", f"{right:.1%}", right >= RIGHT_LEAST),
                bar("twins silent: at least 98 % of runs", f"{silent:.1%}", silent >= SILENT_LEAST),
                bar("gain off, median: at most 10 %", f"{median:.1%}", median <= 0.1),
                bar("gain off, worst: at most 25 %", f"{worst:.1%}", worst <= 0.25)])


def main():
    options = arguments()
    options.heurt = os.path.abspath(options.heurt)
    os.makedirs(options.build, exist_ok=True)
    sources = sorted(sum((glob.glob(os.path.join(options.programs, "*." + end)) for end in COMPILERS), []))
    programs = [Program(source, options.build) for source in sources]
    programs = [p for p in programs if not options.only or p.name in options.only]
    outcomes = []
    print(f"{'program':16} right  twin   gain said  measured  what was wrong")
    with tempfile.TemporaryDirectory() as scratch:
        for program in programs:
            if not program.compile():
                print(f"{program.name:16} no compiler for it")
                continue
            outcome = Outcome()
            for _ in range(options.runs):
                outcome.add(program, options.heurt, scratch)
            outcomes.append(outcome)
            predicted = f"{outcome.predicted():.2f}" if outcome.predicted() else "-"
            wrong = "; ".join(sorted(set(outcome.wrong)))
            print(f"{program.name:16} {outcome.right}/{outcome.runs}    {outcome.silent}/{outcome.runs}  "
                  f"{predicted:>10}  {outcome.measured():>8.2f}  {wrong}", flush=True)
    return 0 if outcomes and totals(outcomes) else 1


sys.exit(main())
