#!/usr/bin/env python3
"""Records programs and counts each access of the same programs, built to count (libheurt-access.so), by each
compiler and at each level, and tells how far the shares of samples by object are from what is counted: half
the L1 distance that `heurt memory --counted` tells, in per cent.

Programs are those that share cache lines (sharers.cc, strangers.cc, outsiders.cc), those of the folder above
(a fault each, most of them none of memory), and what --source names: FILES [FLAGS] [-- ARGUMENTS], one program
each, its sources, flags of the compiler or linker, and its arguments.

A program of which fewer samples than --least can be judged is shown in brackets, and counts for nothing: its
distance is chance. Exit status: 0 when the bars are met, 1 when not, 2 when something could not be measured."""
import argparse
import glob
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

import judge_sharing

HERE = os.path.dirname(os.path.abspath(__file__))
LEVELS = {"-O0": 0.15, "-O2": 0.05, "-O3": 0.05}  # bars
# Of a kind's rounds; a counted one is some 20 times as slow.
SAMPLED_PERCENT, COUNTED_PERCENT = "40", "4"
LANGUAGES = {".c": {"gcc": "gcc", "clang": "clang"}, ".cc": {"gcc": "g++", "clang": "clang++"}}
COUNTING = {"gcc": ["-fno-builtin"], "clang": ["-mllvm", "-tsan-instrument-read-before-write=1"]}


def fail(text):
    print(f"judge_objects: {text}", file=sys.stderr)
    sys.exit(2)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--compilers", default="gcc,clang")
    parser.add_argument("--least", type=int, default=50, help="samples that are judged")
    parser.add_argument("--source", action="append", default=[], metavar="'FILES [FLAGS] [-- ARGUMENTS]'")
    parser.add_argument("--verbose", action="store_true", help="show the objects of what is over its bar")
    parser.add_argument("heurt")
    parser.add_argument("library", help="libheurt-access.so")
    parser.add_argument("only", nargs="*")
    return parser.parse_args()


class Program:
    """files: sources; flags: of compiler and linker; sampled, counted: its arguments when it is recorded."""

    def __init__(self, name, files, flags=(), sampled=(), counted=None):
        self.name, self.files, self.flags = name, files, list(flags)
        self.sampled, self.counted = list(sampled), list(sampled if counted is None else counted)

    def language(self):
        return ".c" if all(file.endswith(".c") for file in self.files) else ".cc"


def of_source(text):
    words = shlex.split(text)
    own, given = (words[:words.index("--")], words[words.index("--") + 1:]) if "--" in words else (words, [])
    files = [word for word in own if not word.startswith("-")]
    if not files or not all(os.path.isfile(file) for file in files):
        fail(f"--source '{text}': no such files")
    return Program(os.path.basename(files[0]).rsplit(".", 1)[0], files,
                   [word for word in own if word.startswith("-")], given)


def programs(options):
    kinds = [Program(kind, [os.path.join(HERE, file + ".cc")], [], [kind, SAMPLED_PERCENT], [kind, COUNTED_PERCENT])
             for file, names in judge_sharing.PROGRAMS.items() for kind in names]
    folder = os.path.dirname(HERE)
    above = [Program(os.path.basename(file), [file])
             for file in sorted(glob.glob(os.path.join(folder, "*.c")) + glob.glob(os.path.join(folder, "*.cc")))]
    known = [of_source(text) for text in options.source] or kinds + above
    names = {program.name for program in known}
    if set(options.only) - names:
        fail(f"no such program: {', '.join(set(options.only) - names)}; there are {', '.join(sorted(names))}")
    return [program for program in known if not options.only or program.name in options.only]


def called(command, **more):
    """What it wrote; programs may end as they like, as long as they end."""
    try:
        return subprocess.run(command, timeout=600, check=False, **{**judge_sharing.QUIET, **more})
    except (OSError, subprocess.TimeoutExpired) as error:
        return fail(f"{' '.join(command)}: {error}")


def built(command):
    if called(command, stderr=None).returncode != 0:
        fail(f"{' '.join(command)}: it cannot be built")


class Judging:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.built = set()
        self.library = os.path.abspath(options.library)

    def compiler(self, program, name, level):
        standard = [] if program.language() == ".c" else ["-std=c++20"]
        return [LANGUAGES[program.language()][name], *standard, "-g", "-pthread", level]

    def binaries(self, program, name, level):
        """Of one source once."""
        stem = os.path.join(self.scratch, os.path.basename(program.files[0]) + name + level)
        if stem in self.built:
            return stem, stem + "-counts"
        compiler = self.compiler(program, name, level)
        built(compiler + program.files + ["-o", stem] + program.flags)
        objects = []
        for number, file in enumerate(program.files):
            objects.append(f"{stem}-{number}.o")
            built(compiler + ["-fsanitize=thread", *COUNTING[name], "-c", file, "-o", objects[-1]] +
                  [flag for flag in program.flags if not flag.startswith(("-l", "-L"))])
        folder = os.path.dirname(self.library)
        built(compiler + objects + ["-o", stem + "-counts", "-L" + folder, "-Wl,-rpath," + folder,
                                    "-lheurt-access"] + program.flags)
        self.built.add(stem)
        return stem, stem + "-counts"

    def distance(self, program, name, level):
        """And how many samples it comes from; None: there was nothing to compare."""
        binary, counting = self.binaries(program, name, level)
        samples, counts = os.path.join(self.scratch, "samples"), os.path.join(self.scratch, "counts")
        for trace, command in (samples, [binary] + program.sampled), (counts, [counting] + program.counted):
            called([self.options.heurt, "record", "-o", trace, "--"] + command)
        told = called([self.options.heurt, "memory", "-i", samples, "--counted", counts, "--json"],
                      stdout=subprocess.PIPE)
        try:
            oracle = json.loads(told.stdout)
            return oracle["distance"], oracle["samples"], oracle
        except (ValueError, KeyError):
            return None


def cell(found, least):
    if not found:
        return "-"
    text = f"{found[0] * 100:.1f}"
    return text if found[1] >= least else f"({text})"


def show_objects(oracle):
    for row in oracle["objects"]:
        if row["distance"] > 0.005:
            print(f"    {row['sampled']:7.1%} sampled {row['expected']:7.1%} expected  {row['object']}")


def bar(level, found, names):
    """found: by program and compiler."""
    if not found:
        print(f"  {level}: nothing could be judged")
        return False
    over = sorted({names[at] for at, distance in enumerate(found) if distance > LEVELS[level]})
    print(f"  {level}: {len(found)} judged, median {statistics.median(found) * 100:.1f} %, most {max(found) * 100:.1f} %, "
          f"{len(found) - sum(distance > LEVELS[level] for distance in found)} of at most {LEVELS[level] * 100:.0f} %  "
          f"{'MISSED: ' + ', '.join(over) if over else 'met'}")
    return not over


def main():
    options = arguments()
    levels, compilers = options.levels.split(","), options.compilers.split(",")
    if set(levels) - set(LEVELS) or set(compilers) - set(COUNTING):
        fail(f"levels are {', '.join(LEVELS)}; compilers are {', '.join(COUNTING)}")
    chosen = programs(options)
    found = {level: ([], []) for level in levels}
    columns = [(name, level) for level in levels for name in compilers]
    print(f"{'program':18}" + "".join(f"{name + ' ' + level:>12}" for name, level in columns) + "  samples")
    with tempfile.TemporaryDirectory() as scratch:
        judging = Judging(options, scratch)
        for program in chosen:
            line, samples, over = f"{program.name:18}", [], []
            for name, level in columns:
                told = judging.distance(program, name, level)
                line += f"{cell(told, options.least):>12}"
                samples += [told[1]] if told else []
                if told and told[1] >= options.least:
                    found[level][0].append(told[0])
                    found[level][1].append(program.name)
                    over += [(name, level, told[2])] if told[0] > LEVELS[level] else []
            print(line + (f"  {min(samples)}–{max(samples)}" if samples else ""), flush=True)
            for name, level, oracle in over if options.verbose else []:
                print(f"  {name} {level}")
                show_objects(oracle)
    return 0 if all([bar(level, *found[level]) for level in levels]) else 1


sys.exit(main())
