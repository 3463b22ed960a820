#!/usr/bin/env python3
"""spans_json.py speedscope|chrome <FILE: looks over an exported file of one of these formats.

It is JSON; frames lie in one another on each thread, times do not step back, and what begins ends; flows
have two ends. Prints what there is, "key value" a line.
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


{"speedscope": speedscope, "chrome": chrome}[sys.argv[1]](json.load(sys.stdin))
for key, count in sorted(counts.items()):
    print(key, count)
