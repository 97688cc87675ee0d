#!/usr/bin/env python3
"""Benchmarks of the live platform: one table a topic, with --json the numbers. What is measured: docs/bench-live.md.

usage: tools/bench_live.py [--build build/release] [--json] [--realtime] [TOPIC ...]
"""
import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from bench_live_topics import TOPICS
from bench_live_world import World


def print_table(topic):
    rows = [topic.header] + [[str(cell) for cell in row] for row in topic.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(topic.header))]
    print(f"\n{topic.title}")
    for row in rows:
        print("  " + "  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))))
    for note in topic.notes:
        print(f"  ({note})")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description="Benchmarks of the live platform.")
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=", ".join(TOPICS) + " (default: all)")
    parser.add_argument("--build", default="build/release", help="where the programs are")
    parser.add_argument("--json", action="store_true", help="numbers instead of tables")
    parser.add_argument("--realtime", action="store_true",
                        help="measured processes run under SCHED_FIFO: other work on the machine does not count (root)")
    options = parser.parse_args()
    unknown = set(options.topics) - set(TOPICS)
    if unknown:
        parser.error(f"no topic {', '.join(sorted(unknown))}; there are {', '.join(TOPICS)}")
    numbers = {"cores": os.cpu_count(), "realtime": options.realtime, "load_average": os.getloadavg()[0]}
    if not options.json:
        print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} before"
              + (", SCHED_FIFO" if options.realtime else ""))
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
        world = World(Path(options.build).resolve(), Path(folder), options.realtime)
        for name in options.topics or TOPICS:
            topic = TOPICS[name](world)
            numbers[name] = topic.numbers
            if not options.json:
                print_table(topic)
    if options.json:
        print(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()
