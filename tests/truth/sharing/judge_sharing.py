#!/usr/bin/env python3
"""Records programs whose threads take cache lines from each other (sharers.cc, strangers.cc, outsiders.cc), and
the same programs cured, by each compiler and at each level, and judges what heurt says, by default options:

    first   the first finding is false or true sharing, as it is
    kind    one of the ranked findings is
    object  that, and each thread of it is told with data of the right object alone
    fields  that, and each with fields that it uses
    twin    nothing is said of sharing in the cured twin
    gain    (with --gains) what is told against what the cure gains: medians of runs in turns

Names are those of the source: an offset in place of a field is wrong, and so is a field that a thread does not
use. Exit status: 0 when the bars are met, 1 when not, 2 when something could not be measured."""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GAIN_LEAST = 1.1
WIDTH = "1000"
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

# The object, and which fields of it one thread and the other use, as patterns; the last word: whether sharing is
# true. Element 0 need not be called that.
SHARERS = {
    "regression": ("lreg_args", r"(\[0\])?\.(points|count|s[xy]+)", r"\[1\]\.(points|count|s[xy]+)"),
    "counters": ("counter", r"(\[0\])?\.hits", r"\[1\]\.hits"),
    "fields": ("queue_statistics", r"\.given(_bytes)?", r"\.taken(_bytes)?"),
    "statics": ("totals", r"\.left", r"\.right"),
    "atomics": ("atomic_counter", r"(\[0\])?\.requests", r"\[1\]\.requests"),
    "beside_mutex": ("guarded", r"(\.|::)(lock|value)", r"\.polls"),
    "rows": ("tally", r"(\[0\])?\.(sum|seen)", r"\[1\]\.(sum|seen)"),
    "stack": ("local", r"\.left", r"\.right"),
    "histograms": ("histogram", r"(\[0\])?\.buckets(\[[0-3]?\])?", r"\[1\]\.buckets(\[[0-3]?\])?"),
    "reader": ("settings", r"(\[0\])?\.limit", r"(\[0\])?\.written"),
    "generators": ("generator", r"(\[0\])?\.state(\[[01]?\])?", r"\[1\]\.state(\[[01]?\])?"),
    "members": ("accumulator<int>", r"(\[0\])?\.(sum|least|most)", r"\[1\]\.(sum|least|most)"),
    "one_counter": ("one_for_all", r"\.hits", r"\.hits", True),
    "shared_pointer": (r"(std::_Sp_counted_base|catalogue).*", *[r"\._M_(use_count|weak_count|pi)"] * 2, True),
}
STRANGERS = {
    "nested": (r"(cache<int, 2>\.shards|shard<int, 2>)", r"(\[0\])?\.(use|range)\.(last|hits|misses|low|high)",
               r"\[1\]\.(use|range)\.(last|hits|misses|low|high)"),
    "union_rows": ("shown", r"\.meters(\[0\])?\.(packets|dropped|octets)",
                   r"\.meters\[1\]\.(packets|dropped|octets)"),
    "atomic_vector": (r"std::(__)?atomic[^[.]*", r"(\[0\])?\._M_i", r"\[1\]\._M_i"),
    "bit_fields": ("modes", r"(\[\d+\])?\.heard\.(level|is_open|seen|level–seen)",
                   r"(\[\d+\])?\.painted\.(age|colour|age–colour)"),
    "mutex_beside": ("account", r"(\.|::)(guard_|balance_)", r"\.looked_"),
    "void_pointer": ("job", r"(\[0\])?\.(input|count|total|squares)", r"\[1\]\.(input|count|total|squares)"),
}
OUTSIDERS = {
    "sessions": ("session", *[r"(\[[0-7]\])?\.(bytes_|packets_|dropped_)"] * 2),
    "boards": ("board", r"\.rows\[0\]\.cells\[[0-2]?\]\.(value|hits)", r"\.rows\[1\]\.cells\[[0-2]?\]\.(value|hits)"),
    "workers": ("worker_stats", r"(\[[01]\])?\.(done|failed|spent)", r"\[[12]\]\.(done|failed|spent)"),
    "slabs": ("counter_desk", *[r"(\[\d+\])?\.(served|longest)"] * 2),
}
# What lies on the same line by chance, and is used by both threads: no fault of what is said.
NEIGHBOURS = r"rounds"
PROGRAMS = {"sharers": SHARERS, "strangers": STRANGERS, "outsiders": OUTSIDERS}


def fail(text):
    print(f"judge_sharing: {text}", file=sys.stderr)
    sys.exit(2)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="recordings of each, and pairs of plain runs")
    parser.add_argument("--gains", action="store_true", help="run them without heurt, too")
    parser.add_argument("--flags", action="append", help="of the compiler (-O2, and -O0)")
    parser.add_argument("--compilers", default="g++,clang++")
    parser.add_argument("--verbose", action="store_true", help="show what was said of what was not right")
    parser.add_argument("heurt")
    parser.add_argument("only", nargs="*")
    options = parser.parse_args()
    options.heurt = os.path.abspath(options.heurt)
    known = {kind for kinds in PROGRAMS.values() for kind in kinds}
    if set(options.only) - known:
        fail(f"no such program: {', '.join(set(options.only) - known)}; there are {', '.join(sorted(known))}")
    return options


def called(command, **more):
    try:
        done = subprocess.run(command, timeout=600, check=False, **{**QUIET, **more})
    except (OSError, subprocess.TimeoutExpired) as error:
        fail(f"{' '.join(command)}: {error}")
    if done.returncode != 0:
        fail(f"{' '.join(command)}: exit status {done.returncode}")
    return done.stdout


def compiled(compiler, flags, scratch, program, *more):
    binary = os.path.join(scratch, program + "".join(more))
    called([compiler, "-std=c++17", "-g", "-pthread", *flags.split(), *more,
            os.path.join(HERE, program + ".cc"), "-o", binary], stderr=None)
    return binary


def seconds(command):
    begin = time.monotonic()
    called(command)
    return time.monotonic() - begin


class Said:
    """What heurt says of a run: its ranked findings, and of those of false sharing who does what."""

    def __init__(self, heurt, command, trace):
        called([heurt, "record", "-o", trace, "--"] + command)
        try:
            findings = json.loads(called([heurt, "report", "-i", trace, "--json"], stdout=subprocess.PIPE))["findings"]
        except (ValueError, KeyError) as error:
            fail(f"{heurt} report --json of {' '.join(command)}: {error}")
        self.findings = [finding for finding in findings if finding["ranked"]]
        screen = called([heurt, "report", "-i", trace, "--width", WIDTH], stdout=subprocess.PIPE).decode()
        self.sides = [line.strip() for line in screen.splitlines()
                      if re.match(r"\s*Thread \S+ (writes|reads|updates)", line)]

    def first(self):
        return self.findings[0] if self.findings else {"category": "nothing", "object": None, "wall_gain": None}

    def of_kind(self, category):
        return next((finding for finding in self.findings if finding["category"] == category), None)

    def shared(self):
        return [finding["category"] for finding in self.findings if "sharing" in finding["category"]]

    def threads(self):
        """What each thread does in the first finding of false sharing: a list of names."""
        sides = self.sides[0] if self.sides else ""
        sides = sides.replace("(anonymous namespace)::", "").split(". They lie")[0]
        names = []
        for side in re.split(r"; (?=thread \S+ )", sides):
            side = re.sub(r"^[Tt]hread \S+ ", "", side)
            side = re.sub(r" \([\w.+-]+\.\w+(:\d+)?\)\.?", "", side)
            names.append([name for part in re.split(r"(?:^| and |; )(?:writes|reads|updates) ", side)
                          for name in split_names(part)])
        return names


def split_names(text):
    """At commas and "and" outside of <>."""
    names, depth, name = [], 0, ""
    for word in re.split(r"(, | and |<|>)", text):
        depth += (word == "<") - (word == ">")
        if word in (", ", " and ") and not depth:
            names.append(name)
            name = ""
        else:
            name += word
    return [name.strip(" .") for name in names + [name] if name.strip(" .") and name.strip(" .") != "others"]


def are_of(names, pattern):
    """Of some, all but what lies there by chance."""
    own = [name for name in names if not re.fullmatch(NEIGHBOURS, name)]
    return bool(own) and all(re.fullmatch(pattern, name) for name in own)


def is_object(said, truth):
    """Both threads are told, with nothing that is not of the object."""
    return len(said.threads()) == 2 and all(are_of(names, truth[0] + r"([.\[:].*)?") for names in said.threads())


def is_named(said, truth):
    """That, each with a field of its own side, and with none that is not."""
    if not is_object(said, truth):
        return False
    one, other = said.threads()
    left, right = truth[0] + truth[1], truth[0] + truth[2]
    return (are_of(one, left) and are_of(other, right)) or (are_of(one, right) and are_of(other, left))


def true_name(finding):
    """True sharing: one object, named by its variable, or by its type and where it was made."""
    return finding["object"]["name"].replace("(anonymous namespace)::", "") if finding["object"] else ""


JUDGED = ("first", "kind", "object", "fields", "twin")


class Outcome:
    def __init__(self, kind, truth):
        self.kind, self.truth, self.is_true = kind, truth, len(truth) > 3
        self.runs, self.right = 0, dict.fromkeys(JUDGED, 0)
        self.plain, self.cured, self.told, self.wrong = [], [], [], []

    def add(self, options, scratch, binary, cured):
        trace = os.path.join(scratch, "trace-" + self.kind)
        if options.gains:
            self.plain.append(seconds([binary, self.kind]))
            self.cured.append(seconds([cured, self.kind]))
        self.judge(Said(options.heurt, [binary, self.kind], trace))
        shared = Said(options.heurt, [cured, self.kind], trace + "-cured").shared()
        self.right["twin"] += not shared
        self.wrong += ["twin: " + category for category in shared]
        self.runs += 1

    def judge(self, said):
        category = "true sharing" if self.is_true else "false sharing"
        finding = said.of_kind(category)
        if not said.findings and self.plain and self.gain() < GAIN_LEAST:
            for what in JUDGED[:-1]:
                self.right[what] += 1  # there is nothing to be told
            return
        self.right["first"] += said.first()["category"] == category
        if not finding:
            self.wrong.append(said.first()["category"])
            return
        self.told.append(tuple(finding["wall_gain"] or (1, 1)))
        self.right["kind"] += 1
        if self.is_true:
            is_right = bool(re.fullmatch(self.truth[0] + r"([.\[:].*)?", true_name(finding)))
            is_known = is_right and bool(re.fullmatch(self.truth[0] + self.truth[1], true_name(finding)))
        else:
            is_right, is_known = is_object(said, self.truth), is_named(said, self.truth)
        self.right["object"] += is_right
        self.right["fields"] += is_known
        if not is_known:
            self.wrong.append("said: " + (true_name(finding) if self.is_true else " ".join(said.sides[:1])))

    def gain(self):
        return statistics.median(plain / cured for plain, cured in zip(self.plain, self.cured))

    def gain_told(self):
        return statistics.median((low + high) / 2 for low, high in self.told) if self.told else None

    def error(self):
        return self.gain_told() / self.gain() - 1 if self.told and self.plain else None

    def line(self):
        gain = f"{self.gain():.2f}" if self.plain else "-"
        told = f"{self.gain_told():.2f}" if self.told else "-"
        error = f"{self.error() * 100:+.0f} %" if self.error() is not None else "-"
        wrong = ", ".join(sorted({said.split(":")[0] if said.startswith("said") else said for said in self.wrong}))
        right = " ".join(f"{self.right[what]:3}/{self.runs:<3}" for what in JUDGED)
        return f"{self.kind:15} {right}{gain:>6} {told:>6} {error:>7}  {wrong}"


def bar(text, value, met):
    print(f"  {text:68} {value:>7}  {'met' if met else 'MISSED'}")
    return met


def totals(options, name, flags, outcomes):
    runs = sum(outcome.runs for outcome in outcomes)
    part = {what: sum(outcome.right[what] for outcome in outcomes) / runs for what in JUDGED}
    least = 0.9 if "-O0" in flags else 0.95
    print(f"  {name}, {runs} runs: first {part['first']:.1%}, kind {part['kind']:.1%}, object {part['object']:.1%}")
    bars = [bar(f"{name}, object and both sides' fields: at least {least:.0%}", f"{part['fields']:.1%}",
                part["fields"] >= least),
            bar(f"{name}, twins silent of sharing: all", f"{part['twin']:.1%}", part["twin"] == 1)]
    errors = [abs(outcome.error()) for outcome in outcomes if outcome.error() is not None]
    if options.gains and errors:
        median = statistics.median(errors)
        bars.append(bar(f"{name}, gain off, median: at most 15 %", f"{median:.1%}", median <= 0.15))
    return all(bars)


def judged(options, compiler, flags, program):
    """Whether its bars are met."""
    kinds = [kind for kind in PROGRAMS[program] if not options.only or kind in options.only]
    outcomes = []
    with tempfile.TemporaryDirectory() as scratch:
        binary = compiled(compiler, flags, scratch, program) if kinds else None
        cured = compiled(compiler, flags, scratch, program, "-DCURED") if kinds else None
        for kind in kinds:
            outcome = Outcome(kind, PROGRAMS[program][kind])
            for _ in range(options.runs):
                outcome.add(options, scratch, binary, cured)
            outcomes.append(outcome)
            print(outcome.line(), flush=True)
            for said in sorted(set(outcome.wrong)) if options.verbose else []:
                print("    " + said)
    return not kinds or totals(options, f"{compiler} {flags} {program}", flags, outcomes)


def main():
    options = arguments()
    met = True
    for flags in options.flags or ["-O2", "-O0"]:
        for compiler in options.compilers.split(","):
            print(f"{compiler + ' ' + flags:15} first   kind    object  fields  twin   gain   told     off  what was wrong")
            for program in PROGRAMS:
                met = judged(options, compiler, flags, program) and met
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
