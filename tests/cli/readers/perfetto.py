#!/usr/bin/env python3
"""perfetto.py <TEXT: looks over what protoc --decode has made of an exported trace.

Times of the packets do not step back, but of those with a clock of their own; slices lie in one another
on each track, and each has its end; flows begin once and end once, not before they began; numbers of
names are of texts that stand before them. Prints what there is, "key value" a line.
"""

import collections
import re
import sys


def read_messages(lines):
    """Each packet as a dict of lists: texts, or dicts."""
    stack = [collections.defaultdict(list)]
    for line in lines:
        line = line.strip()
        if line.endswith("{"):
            stack.append(collections.defaultdict(list))
            stack[-1]["="].append(line[:-1].strip())
        elif line == "}":
            message = stack.pop()
            name = message.pop("=")[0]
            if len(stack) == 1:
                yield message
            else:
                stack[-1][name].append(message)
        elif line:
            key, value = line.split(": ", 1)
            if re.fullmatch("[0-9]+", key):
                sys.exit("a field that the schema does not have: " + line)
            stack[-1][key].append(value)


def one(message, key, otherwise=None):
    values = message.get(key, [otherwise])
    if len(values) > 1:
        sys.exit(f"{key} more than once")
    return values[0]


class Trace:
    def __init__(self):
        self.now = 0
        self.start = None
        self.tables = collections.defaultdict(dict)
        self.tracks = {}
        self.events = []
        self.counts = collections.Counter()

    def take(self, packet):
        if "clock_snapshot" in packet:
            self.start = int(packet["clock_snapshot"][0]["clocks"][0]["timestamp"][0])
        for table, entries in (one(packet, "interned_data") or {}).items():
            for entry in entries:
                number = int(one(entry, "iid"))
                if number in self.tables[table]:
                    sys.exit(f"{table}: {number} is there twice")
                self.tables[table][number] = entry
        if "track_descriptor" in packet:
            track = one(packet, "track_descriptor")
            self.tracks[int(one(track, "uuid"))] = track
        if "track_event" in packet:
            self.take_event(packet, one(packet, "track_event"))

    def time(self, packet):
        time = int(one(packet, "timestamp", 0))
        if "timestamp_clock_id" in packet:
            if time < self.start:
                sys.exit("before the start of the run")
            return time - self.start
        self.now += time
        return self.now

    def name(self, table, event, key):
        number = one(event, key)
        if number is None:
            return None
        entry = self.tables[table].get(int(number))
        if entry is None:
            sys.exit(f"{table}: there is no {number} yet")
        return one(entry, "name") or one(entry, "str") or one(entry, "function_name")

    def take_event(self, packet, event):
        track = int(one(event, "track_uuid"))
        if track not in self.tracks:
            sys.exit(f"track {track} is not there yet")
        name = self.name("event_names", event, "name_iid")
        self.name("source_locations", event, "source_location_iid")
        for note in event.get("debug_annotations", []):
            if not self.name("debug_annotation_names", note, "name_iid"):
                sys.exit("an annotation without a name")
            self.name("debug_annotation_string_values", note, "string_value_iid")
        # At one time they stay in their order, but what is told late is in front.
        late = "timestamp_clock_id" not in packet
        self.events.append((self.time(packet), late, len(self.events), track, name, event))


def check(trace):
    open_slices = collections.defaultdict(list)
    begun, ended = {}, {}
    for time, _, _, track, name, event in sorted(trace.events, key=lambda event: event[:3]):
        kind = one(event, "type")
        is_thread = "thread" in trace.tracks[track]
        where = "thread" if is_thread else one(trace.tracks[track], "name").strip('"')
        if kind == "TYPE_SLICE_BEGIN":
            open_slices[track].append((time, name))
            trace.counts["slices_of_threads" if is_thread else "slices_of_others"] += 1
            if is_thread:
                trace.counts["slice " + name.strip('"')] += 1
        elif kind == "TYPE_SLICE_END":
            if not open_slices[track]:
                sys.exit(f"an end without a beginning on {where} at {time}")
            open_slices[track].pop()
        elif kind == "TYPE_INSTANT":
            trace.counts["instants"] += 1
        elif kind == "TYPE_COUNTER":
            trace.counts["counters"] += 1
        for flow in event.get("flow_ids", []):
            if flow in begun:
                sys.exit(f"flow {flow} begins twice")
            begun[flow] = time
        for flow in event.get("terminating_flow_ids", []):
            if flow in ended:
                sys.exit(f"flow {flow} ends twice")
            ended[flow] = time
    if any(open_slices.values()):
        sys.exit(f"slices without an end: {[s for s in open_slices.values() if s][0]}")
    if begun.keys() != ended.keys():
        sys.exit("flows that begin, and flows that end, are not the same")
    if any(ended[flow] < time for flow, time in begun.items()):
        sys.exit("a flow ends before it begins")
    trace.counts["flows"] = len(begun)
    trace.counts["threads"] = sum("thread" in track for track in trace.tracks.values())
    trace.counts["processes"] = sum("process" in track for track in trace.tracks.values())


def main():
    trace = Trace()
    for packet in read_messages(sys.stdin):
        trace.take(packet)
    check(trace)
    for key, count in sorted(trace.counts.items()):
        print(key, count)


main()
