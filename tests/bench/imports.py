#!/usr/bin/env python3
"""imports.py BUILD [MILLIONS]: how fast heurt import is, and in what memory.

Sources of about so many million events each (10) are made: calls and locks of a queue that heurt records,
exported in each format that comes back; calls that uftrace records; switches that perf records of two
threads that wake each other; Chrome's JSON, which is written here. Each is imported three times. The table
has events in the trace that comes of it, the least CPU time (user and system, the trace's packing
included) and the most anonymous memory (looked at every 10 ms) of all processes.
"""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

PING = r'''
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int there[2], back[2];
static long count;
static void *answer(void *unused)
{
    char c;
    for (long i = 0; i < count; i++)
        if (read(there[0], &c, 1) != 1 || write(back[1], &c, 1) != 1)
            abort();
    return unused;
}
int main(int argc, char **argv)
{
    char c = 0;
    pthread_t thread;
    count = argc > 1 ? atol(argv[1]) : 1;
    if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, answer, NULL))
        return 1;
    for (long i = 0; i < count; i++)
        if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
            abort();
    return pthread_join(thread, NULL);
}
'''
CALLS = r'''
#include <stdlib.h>
volatile long sink;
__attribute__((noinline)) void leaf(void) { sink++; }
__attribute__((noinline)) void outer(void) { leaf(); leaf(); leaf(); leaf(); }
int main(int argc, char **argv)
{
    for (long i = argc > 1 ? atol(argv[1]) : 1; i > 0; i--)
        outer();
    return 0;
}
'''


def run(*command):
    """Whether it ends well."""
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def compiled(name, source, *flags):
    with open(name + '.c', 'w', encoding='ascii') as file:
        file.write(source)
    return run(os.environ.get('CC', 'cc'), '-O1', *flags, '-o', name, name + '.c', '-lpthread')


def make_sources(heurt, queue, millions):
    made = []
    run(heurt, 'record', '-q', '--overhead', 'none', '--no-kernel', '--locks', 'all', '-f', 'queue__*', '-o', 'queue.data',
        queue, '--threads', '2', '--delay', '1', '--iterations', str(int(millions * 1e6 / 16)))
    for form in ('perfetto', 'paje', 'otf2', 'ctf'):
        if run(heurt, 'export', '-i', 'queue.data', '--' + form, '-o', form):
            made.append(form)
    if shutil.which('uftrace') and compiled('calls', CALLS, '-pg'):
        if run('uftrace', 'record', '--no-event', '-b', '64m', '-d', 'uftrace', './calls', str(int(millions * 1e5))):
            made.append('uftrace')
    if shutil.which('perf') and compiled('ping', PING):
        if run('perf', 'record', '-q', '-e', 'cpu-clock', '--switch-events', '-g', '-m', '4096', '-o', 'perf.data',
               './ping', str(int(millions * 1e6 / 4))):
            made.append('perf.data')
    with open('chrome.json', 'w', encoding='ascii') as file:
        file.write('[\n')
        for thread in range(4):
            for i in range(int(millions * 1e6 / 8)):
                file.write('{"name":"f%d","ph":"X","ts":%d.%03d,"dur":0.5,"pid":1,"tid":%d},\n' % (i % 10, i, thread, thread))
        file.write('{"name":"last","ph":"X","ts":0,"dur":0.5,"pid":1,"tid":9}]\n')
    return made + ['chrome.json']


def anonymous_kb(pid):
    """Of the process and its children."""
    total = 0
    try:
        with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
            children = file.read().split()
        for process in [str(pid)] + children:
            with open(f'/proc/{process}/status', encoding='utf-8', errors='replace') as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith('RssAnon'))
    except OSError:
        pass
    return total


def imported(heurt, source):
    """Events, s of CPU time, kB."""
    shutil.rmtree('imported', ignore_errors=True)
    shutil.rmtree('imported.old', ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([heurt, 'import', source, '-o', 'imported'], stderr=subprocess.PIPE, text=True)
    most = 0
    while process.poll() is None:
        most = max(most, anonymous_kb(process.pid))
        time.sleep(0.01)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = process.stderr.read()
    events = re.search(r'(\d+) events of', said)
    if not events:
        sys.exit(f'{source}: {said}')
    return int(events.group(1)), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, most


def bytes_of(source):
    if os.path.isfile(source):
        return os.path.getsize(source)
    return sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(source) for name in names)


def main():
    build, millions = os.path.abspath(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 10
    heurt, queue = build + '/src/cmd/heurt', build + '/examples/queue'
    with tempfile.TemporaryDirectory() as room:
        os.chdir(room)
        print('| source | bytes | events | CPU time | million events a second | memory |')
        print('| --- | --- | --- | --- | --- | --- |')
        for source in make_sources(heurt, queue, millions):
            results = [imported(heurt, source) for _ in range(3)]
            events, seconds, most = results[0][0], min(r[1] for r in results), max(r[2] for r in results)
            print(f'| {source} | {bytes_of(source) / 1e6:.0f} MB | {events / 1e6:.1f} million | {seconds:.1f} s | '
                  f'{events / seconds / 1e6:.1f} | {most / 1024:.0f} MB |', flush=True)
        os.chdir('/')


if __name__ == '__main__':
    main()
