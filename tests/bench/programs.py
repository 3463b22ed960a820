#!/usr/bin/env python3
"""What recording costs programs of Debian, each with a load of a second or more.

Bare, under heurt with its default options, and under perf record, by turns; medians of the rounds' ratios.
own wall, own CPU: the program's own, recorded over bare (of a server: how long its load took).
whole: the whole command's wall time, start, end, packing and report included.
true: by how much the fastest recorded run's CPU time is above the fastest bare one's (medians differ by more
than recording costs where neighbours come and go). told: what heurt says of it; right within 2 points or a fifth.
Programs that are not installed are left out, and said.

With --memory: bare, recorded without allocations and registers of samples (--no-memory), and as by default, by
turns; "added" is by how much the last is above the one before it: the median of the rounds' ratios less one, in
per cent; of the CPU time also that of the fastest runs."""
import argparse
import json
import os
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NULL = subprocess.DEVNULL

SQL = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<6000000) "
       "SELECT sum(i%7*i) FROM n")
NODE = ("const {Worker,isMainThread}=require('worker_threads');"
        "const work=()=>{const m=new Map();for(let i=0;i<6e6;i++)m.set(i%99991,''+i);return m.size};"
        "if(isMainThread)for(let i=0;i<2;i++)new Worker(__filename);else work()")
PYTHON = ("import threading\n"
          "def work():\n print(sum(hash(str(i)) % 7 for i in range(4000000)))\n"
          "[threading.Thread(target=work).start() for _ in range(2)]")
JAVA = """import java.util.stream.*;
class Sums { public static void main(String[] a) {
  for (int k = 0; k < 120; k++)
    System.out.println(IntStream.range(0, 400000).parallel().mapToObj(i -> "" + i * 31).collect(
        Collectors.groupingByConcurrent(s -> s.length(), Collectors.counting())).size()); } }
"""
SCENE = """camera { location <0, 3, -8> look_at 0 }
light_source { <9, 9, -9> rgb 1 } light_source { <-9, 7, -4> rgb 0.5 }
plane { y, -1 pigment { checker rgb 1 rgb 0.5 } finish { reflection 0.3 } }
#declare I = 0;
#while (I < 60)
  sphere { <mod(I, 8) - 3.5, mod(I, 5) / 2, I / 8>, 0.45
    pigment { rgb <1, 0, 0> } finish { phong 1 reflection 0.4 } }
  #declare I = I + 1;
#end
"""


def make_inputs(room):
    """Files that are the same on every machine."""
    numbers = random.Random(7)
    with open(f"{room}/text", "w") as text:
        words = ["".join(numbers.choices("etaoinshrdlu", k=numbers.randint(2, 9))) for _ in range(20000)]
        for _ in range(600000):
            text.write(" ".join(numbers.choices(words, k=10)) + "\n")
    with open(f"{room}/text", "rb") as whole, open(f"{room}/middle", "wb") as part:
        part.write(whole.read(os.path.getsize(f"{room}/text") // 3))
    genome = "".join(numbers.choices("ACGT", k=400000))
    with open(f"{room}/genome.fa", "w") as file:
        file.write(">g\n" + "\n".join(genome[i:i + 60] for i in range(0, len(genome), 60)) + "\n")
    with open(f"{room}/reads.fq", "w") as file:
        for i in range(60000):
            at = numbers.randrange(len(genome) - 150)
            file.write(f"@r{i}\n{genome[at:at + 150]}\n+\n{'I' * 150}\n")
    with open(f"{room}/reads.sam", "w") as file:
        file.write(f"@HD\tVN:1.6\n@SQ\tSN:g\tLN:{len(genome)}\n")
        for i in range(600000):
            at = numbers.randrange(len(genome) - 150)
            file.write(f"r{i}\t0\tg\t{at + 1}\t60\t150M\t*\t0\t0\t{genome[at:at + 150]}\t{'I' * 150}\n")
    for name, content in (("worker.js", NODE), ("threads.py", PYTHON), ("Sums.java", JAVA),
                          ("scene.pov", SCENE)):
        with open(f"{room}/{name}", "w") as file:
            file.write(content)
    for tool, command in (("javac", ["javac", "Sums.java"]), ("bwa", ["bwa", "index", "genome.fa"]), ("git", ["git", "init", "-q", "store"])):
        if shutil.which(tool):
            subprocess.run(command, cwd=room, stdout=NULL, stderr=NULL, check=True)
    for i in range(1500):
        with open(f"{room}/store/{i}", "w") as file:
            file.write(" ".join(numbers.choices(words, k=400)))
    run = {"cwd": f"{room}/store", "stdout": NULL, "stderr": NULL}
    if shutil.which("git"):
        subprocess.run(["git", "add", "."], check=True, **run)
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "files"],
                       check=True, **run)


# name, what must be installed, command, and the load of a server.
PROGRAMS = [
    ("pbzip2", "pbzip2", "pbzip2 -k -c -p2 text"),
    ("lbzip2", "lbzip2", "lbzip2 -k -c -n2 text"),
    ("pigz", "pigz", "pigz -k -c -p2 text"),
    ("xz -T2", "xz", "xz -k -c -T2 -1 --block-size=1MiB middle middle"),
    ("zstd -T2", "zstd", "zstd -q -c -T2 -9 text"),
    ("sort --parallel=2", "sort", "env LC_ALL=C sort --parallel=2 -S 200M text text text"),
    ("rg -j2", "rg", "rg -j2 -c (a|e)(t|o)+[inshr]{3,}u " + "text " * 22),
    ("sqlite3", "sqlite3", ["sqlite3", ":memory:", SQL]),
    ("python3, 2 threads", "python3", "python3 threads.py"),
    ("node, 2 workers", "node", "node worker.js"),
    ("java, parallel streams", "java", "java Sums"),
    ("ruby", "ruby", ["ruby", "-e", "h=Hash.new(0); 12000000.times{|i| h[(i*31)%9973]+=1}; puts h.size"]),
    ("ffmpeg libx264", "ffmpeg", "ffmpeg -loglevel error -f lavfi -i testsrc2=size=640x360:duration=14 "
                                 "-c:v libx264 -threads 2 -f null -"),
    ("povray +WT2", "povray", "povray +Iscene.pov +WT2 +W640 +H480 +A0.3 -D -O/dev/null"),
    ("convert, OpenMP", "convert", "convert -size 1300x1300 plasma:red-blue -blur 0x12 null:"),
    ("octave, OpenBLAS", "octave-cli", ["octave-cli", "-q", "--eval",
                                        "x=rand(1200);for i=1:22 x=x*x/norm(x,1);end;disp(size(x))"]),
    ("bwa mem -t2", "bwa", "bwa mem -t2 -v1 genome.fa reads.fq"),
    ("minimap2 -t2", "minimap2", "minimap2 -t2 -ax sr genome.fa reads.fq reads.fq"),
    ("samtools sort -@2", "samtools", "samtools sort -@2 -m 20M -O bam -o sorted.bam reads.sam"),
    ("git repack --threads=2", "git", "git -C store -c pack.threads=2 repack -adfq --window=50"),
    ("gcc -O2, 9 files", "gcc", "gcc -O2 -D_GNU_SOURCE -I%(source)s/src -c %(source)s/src/patch/plan.c "
                                "%(source)s/src/symbol/unwind.c %(source)s/src/patch/move.c "
                                "%(source)s/src/patch/decode.c "
                                "%(source)s/src/symbol/resolve.c %(source)s/src/symbol/source.c "
                                "%(source)s/src/patch/flow.c %(source)s/src/patch/cfa.c "
                                "%(source)s/src/patch/loops.c "),
    ("3 M lock pairs, 2 threads", "sh", "%(build)s/tests/bench/lock_pairs 2"),
    ("C++ word count, 4 threads", "sh", "%(build)s/tests/bench/word_count_long"),
    ("sysbench threads", "sysbench",
     "sysbench threads --threads=4 --thread-locks=2 --events=400 --time=0 run"),
    ("sysbench mutex", "sysbench",
     "sysbench mutex --threads=4 --mutex-num=16 --mutex-locks=2500000 --mutex-loops=200 run"),
    ("memcached -t 4", "memcached", "memcached -u root -t 4 -s %(room)s/socket",
     "%(build)s/tests/programs/load_memcached --socket %(room)s/socket --connections 8 --operations 16000"),
    ("redis, 2 io-threads", "redis-server",
     "redis-server --port 0 --unixsocket %(room)s/socket --save '' --io-threads 2 "
     "--io-threads-do-reads yes", "redis-benchmark -s %(room)s/socket -t set,get -n 40000 -c 16 -q"),
]


def words(command, places):
    return command if isinstance(command, list) else [word % places for word in command.split()]


def children_cpu_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, options, room):
        self.heurt, self.perf, self.room = options.heurt, shutil.which("perf"), room
        self.places = {"room": room, "build": options.build, "source": os.path.dirname(os.path.dirname(HERE))}
        self.trace, self.notes = f"{room}/trace", f"{room}/notes"

    def timed(self, command, load):
        """Seconds of the whole command, of the load (None without one), CPU seconds of all that ended."""
        for old in (self.trace, self.room + "/perf.data", self.room + "/socket"):
            if os.path.isdir(old):
                shutil.rmtree(old)
            elif os.path.exists(old):
                os.remove(old)
        cpu, begin, took = children_cpu_s(), time.monotonic(), None
        with open(self.notes, "w") as notes:
            process = subprocess.Popen(command, cwd=self.room, stdin=NULL, stdout=NULL, stderr=notes)
        if load:
            while not os.path.exists(self.room + "/socket"):
                time.sleep(0.01)
            started = time.monotonic()
            subprocess.run(load, stdout=NULL, stderr=NULL, check=True)
            took = time.monotonic() - started
            begin, cpu = time.monotonic(), children_cpu_s()
            server = process.pid
            below = open(f"/proc/{server}/task/{server}/children").read().split()
            os.kill(int(below[0]) if below else server, signal.SIGTERM)
        process.wait()
        return time.monotonic() - begin + (took or 0), took, children_cpu_s() - cpu

    def bare(self, command, load):
        whole, took, cpu = self.timed(command, load)
        return {"wall": took or whole, "whole": whole, "cpu": cpu}

    def recorded(self, command, load, options=None):
        """Shows the report, too, unless there are options of the record."""
        start = [self.heurt] if options is None else [self.heurt, "record", "--quiet", *options]
        whole, took, _ = self.timed([*start, "-o", self.trace, "--"] + command, load)
        text = subprocess.run([self.heurt, "report", "-i", self.trace, "--json"], stdout=subprocess.PIPE,
                              stderr=NULL).stdout
        report = json.loads(text)
        return {"wall": took or report["wall_ns"] / 1e9, "whole": whole, "cpu": report["cpu_ns"] / 1e9,
                "told": (report["overhead"]["estimated_ns"] or 0) / 1e9}

    def perfed(self, command, load):
        """perf's own times: bash's keyword says what the program itself took."""
        inner = command if load else ["bash", "-c", 'TIMEFORMAT="took %R %U %S"; time "$@"', "-"] + command
        whole, took, _ = self.timed([self.perf, "record", "-q", "-o", "perf.data", "--"] + inner, load)
        if load:
            return {"wall": took, "whole": whole, "cpu": None}
        line = next(l for l in open(self.notes) if l.startswith("took ")).split()
        return {"wall": float(line[1]), "whole": whole, "cpu": float(line[2]) + float(line[3])}

    def program(self, command, load, rounds):
        rows = []
        for warm in [self.bare, self.recorded] + [self.perfed] * bool(self.perf):
            warm(command, load)
        for _ in range(rounds):
            rows.append((self.bare(command, load), self.recorded(command, load),
                         self.perfed(command, load) if self.perf else None))
        middle = lambda pick: statistics.median(pick(*row) for row in rows)
        result = {"bare_s": middle(lambda b, h, p: b["wall"]), 
                  "wall": middle(lambda b, h, p: h["wall"] / b["wall"]),
                  "whole": middle(lambda b, h, p: h["whole"] / b["whole"])}
        if not load:
            result["cpu"] = middle(lambda b, h, p: h["cpu"] / b["cpu"])
            fastest = [min(row[k]["cpu"] for row in rows) for k in (0, 1)]
            result["true"] = 100 * (fastest[1] / fastest[0] - 1)
            result["told"] = middle(lambda b, h, p: 100 * h["told"] / max(h["cpu"] - h["told"], 1e-9))
            off = abs(result["told"] - result["true"])
            result["right"] = off <= 2 or off <= 0.2 * result["true"]
        if self.perf:
            result["perf_wall"] = middle(lambda b, h, p: p["wall"] / b["wall"])
            result["perf_whole"] = middle(lambda b, h, p: p["whole"] / b["whole"])
            if not load:
                result["perf_cpu"] = middle(lambda b, h, p: p["cpu"] / b["cpu"])
        return result


    def memory(self, command, load, rounds):
        """What allocations and addresses of samples add to all the rest."""
        rows = []
        runs = (lambda: self.bare(command, load), lambda: self.recorded(command, load, ["--no-memory"]),
                lambda: self.recorded(command, load, []))
        for run in runs[1:]:
            run()
        for number in range(rounds):
            turn = {k: runs[k]() for k in ((0, 1, 2) if number % 2 == 0 else (2, 1, 0))}
            rows.append((turn[0], turn[1], turn[2]))
        middle = lambda pick: statistics.median(pick(*row) for row in rows)
        result = {"bare_s": middle(lambda b, n, m: b["wall"]),
                  "without": middle(lambda b, n, m: n["wall"] / b["wall"]),
                  "with": middle(lambda b, n, m: m["wall"] / b["wall"]),
                  "added": middle(lambda b, n, m: 100 * (m["wall"] / n["wall"] - 1))}
        if not load:
            fastest = [min(row[k]["cpu"] for row in rows) for k in (1, 2)]
            result["cpu_added"] = middle(lambda b, n, m: 100 * (m["cpu"] / n["cpu"] - 1))
            result["least_added"] = 100 * (fastest[1] / fastest[0] - 1)
        return result


MEMORY_COLUMNS = [("bare_s", "bare s", "%.2f"), ("without", "wall, --no-memory", "%.3f"),
                  ("with", "wall, default", "%.3f"), ("added", "added, wall %", "%+.1f"),
                  ("cpu_added", "added, CPU %", "%+.1f"), ("least_added", "fastest CPU %", "%+.1f")]
COLUMNS = [("bare_s", "bare s", "%.2f"), ("wall", "own wall", "%.3f"), ("cpu", "own CPU", "%.3f"),
           ("whole", "whole", "%.2f"),
           ("true", "true %", "%.1f"), ("told", "told %", "%.1f"), ("perf_wall", "perf: wall", "%.3f"),
           ("perf_cpu", "CPU", "%.3f"), ("perf_whole", "whole", "%.2f")]


def print_row(name, cells):
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def processor():
    names = [line.split(": ")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return names[0] if names else "unknown"


def summary(results):
    for key, of in (("wall", "own wall"), ("cpu", "own CPU"), ("whole", "whole command"),
                    ("perf_wall", "perf's own wall"),
                    ("perf_cpu", "perf's own CPU"), ("perf_whole", "perf's whole command")):
        values = sorted(r[key] for r in results.values() if key in r)
        if values:
            print(f"{of}: median {statistics.median(values):.3f}, worst {values[-1]:.2f}, "
                  f"of {len(values)} programs")
    for key, of in (("added", "added to the wall time, per cent"), ("cpu_added", "added to the CPU time"),
                    ("least_added", "added to the least CPU time")):
        values = sorted(r[key] for r in results.values() if key in r)
        if values:
            print(f"{of}: median {statistics.median(values):+.1f}, {values[0]:+.1f} to {values[-1]:+.1f}, "
                  f"of {len(values)} programs")
    told = [r["right"] for r in results.values() if "right" in r]
    if told:
        print(f"cost told within 2 points or a fifth: {sum(told)} of {len(told)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--save", metavar="FILE", help="add a line of JSON: commit, processor, all figures")
    parser.add_argument("--memory", action="store_true", help="what following memory adds to recording")
    parser.add_argument("build")
    parser.add_argument("only", nargs="*", help="programs, by the beginning of their names")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.heurt = options.build + "/src/cmd/heurt"
    print(f"{processor()}, {os.cpu_count()} CPUs, {options.runs} rounds")
    columns = MEMORY_COLUMNS if options.memory else COLUMNS
    print_row("program", [title for _, title, _ in columns])
    print_row("---", ["---"] * len(columns))
    results = {}
    with tempfile.TemporaryDirectory() as room:
        make_inputs(room)
        bench = Bench(options, room)
        for name, needed, command, *load in PROGRAMS:
            if options.only and not any(name.startswith(part) for part in options.only):
                continue
            if not shutil.which(needed):
                print_row(name, [needed + " is not installed"])
                continue
            measure = bench.memory if options.memory else bench.program
            row = measure(words(command, bench.places), load and words(load[0], bench.places),
                          options.runs)
            results[name] = row
            print_row(name, [form % row[key] if key in row else "" for key, _, form in columns])
    summary(results)
    if options.save:
        commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"],
                                stdout=subprocess.PIPE, text=True).stdout
        with open(options.save, "a") as file:
            file.write(json.dumps({"commit": commit.strip(), "processor": processor(), "cpus": os.cpu_count(),
                                   "runs": options.runs, "programs": results}) + "\n")


if __name__ == "__main__":
    main()
