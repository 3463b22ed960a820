#!/usr/bin/env python3
"""spans_json.py speedscope|chrome|firefox <FILE: looks over an exported file of one of these formats.

It is JSON; frames lie in one another on each thread, times do not step back, and what begins ends; flows
have two ends. Of Firefox's, tables have columns of one length and numbers of rows that are there. Prints what there is, "key value" a line.
"""

import collections
import json
import sys

counts = collections.Counter()


def nested(events, begins, where):
    """events: (begins, time, name) in their order."""
    opened, last = [], None
    for is_begin, time, name in events:
        if last is not None and time < last:
            sys.exit(f"{where}: time steps back at {time}")
        last = time
        if is_begin:
            opened.append(name)
            counts[begins] += 1
            counts["span " + str(name)] += 1
        elif not opened:
            sys.exit(f"{where}: an end without a beginning at {time}")
        elif name is not None and opened[-1] != name:
            sys.exit(f"{where}: {name} ends within {opened[-1]}")
        else:
            opened.pop()
    if opened:
        sys.exit(f"{where}: no end of {opened}")


def speedscope(data):
    frames = [frame["name"] for frame in data["shared"]["frames"]]
    for profile in data["profiles"]:
        counts["threads"] += 1
        events = [(event["type"] == "O", event["at"], frames[event["frame"]]) for event in profile["events"]]
        nested(events, "spans", profile["name"])
        if events and not profile["startValue"] <= events[0][1] <= events[-1][1] <= profile["endValue"]:
            sys.exit(f"{profile['name']}: events before its start, or behind its end")


def chrome(data):
    threads, flows = collections.defaultdict(list), collections.Counter()
    for event in data["traceEvents"]:
        counts["phase " + event["ph"]] += 1
        if event["ph"] in "BE":
            threads[event["pid"], event["tid"]].append((event["ph"] == "B", event["ts"], event.get("name")))
        if event["ph"] in "sf":
            flows[event["id"]] += 1 if event["ph"] == "s" else 100
    for thread, events in threads.items():
        nested(events, "spans", thread)
    if any(ends != 101 for ends in flows.values()):
        sys.exit("a flow has not two ends")
    counts["flows"] = len(flows)


def rows(thread, table, numbers):
    """Checks the table; numbers: column to how many rows the table has that it leads to."""
    found = thread[table]
    for column, cells in found.items():
        if column not in ("length", "weightType") and len(cells) != found["length"]:
            sys.exit(f"{table}.{column} has {len(cells)} cells of {found['length']}")
    for column, count in numbers.items():
        if any(cell is not None and not 0 <= cell < count for cell in found[column]):
            sys.exit(f"{table}.{column} leads to rows that are not there")
    return found


def firefox_thread(thread, categories):
    strings = thread["stringArray"]
    stacks = rows(thread, "stackTable", {"frame": thread["frameTable"]["length"], "category": len(categories)})
    frames = rows(thread, "frameTable", {"func": thread["funcTable"]["length"], "category": len(categories)})
    functions = rows(thread, "funcTable", {"name": len(strings), "fileName": len(strings)})
    samples = rows(thread, "samples", {"stack": stacks["length"]})
    markers = rows(thread, "markers", {"name": len(strings), "category": len(categories)})
    if any(prefix is not None and prefix >= row for row, prefix in enumerate(stacks["prefix"])):
        sys.exit("a stack stands before what it lies in")
    names = [strings[functions["name"][function]] for function in frames["func"]]
    if any(a >= b for a, b in zip(samples["time"], samples["time"][1:])):
        sys.exit("the time of samples does not go on")
    life = thread["unregisterTime"] - thread["registerTime"]
    if abs(sum(samples["weight"]) - life) > 1e-6 * samples["length"] + 1e-6:
        sys.exit(f"samples of {sum(samples['weight'])} ms of a life of {life} ms")
    for name in names:
        counts["frame " + name] += 1
    for row in range(markers["length"]):
        data = markers["data"][row]
        counts[f"marker {strings[markers['name'][row]]} {data.get('object')} by {data.get('by')}"] += 1
    counts["samples"] += samples["length"]
    return sum(weight for weight, stack in zip(samples["weight"], samples["stack"])
               if categories[stacks["category"][stack]]["name"] == "lost")


def firefox(data):
    counts["threads"] = len(data["threads"])
    lost = sum(firefox_thread(thread, data["meta"]["categories"]) for thread in data["threads"])
    counts["lost us"] = round(1000 * lost)


{"speedscope": speedscope, "chrome": chrome, "firefox": firefox}[sys.argv[1]](json.load(sys.stdin))
for key, count in sorted(counts.items()):
    print(key, count)
