#!/usr/bin/env python3
"""Two builds of Sluice side by side: short turns, one build after the other, so that a noisy machine is noisy for both.

For each figure the medians of both builds, and the median of the ratios of neighbouring turns with its quartiles.

Servers are started anew several times: the same program is faster or slower by some percent from start to start.

usage: tools/bench_race.py OTHER_BUILD [--build build/release] [--starts 5] [--turns 3] [--json]
"""
import argparse
import json
import os
import statistics
import tempfile
from pathlib import Path

from bench_live_topics import CONNECTIONS, FREE_BATCHES, HOPS, REQUEST, chain, infer, p, per_cpu_second
from bench_live_world import World, load, sluice

TURN_SECONDS = 0.7
APPLICATIONS = {"batch-1": (1, (1,)), "free-batching": (1, FREE_BATCHES), "hops": (HOPS, (1,))}  # stages, batches


def closed(world, server, name, connections=CONNECTIONS):
    return load(world, server.port, infer(name), REQUEST, seconds=TURN_SECONDS, connections=connections, pids=server.pids())


def opened(world, server, name, rate):
    return load(world, server.port, infer(name), REQUEST, seconds=TURN_SECONDS, connections=CONNECTIONS, rate=rate, poisson=True)


def figures_of(world, server, half_rate):
    """One turn of one build."""
    batch_1, lone = closed(world, server, "batch-1"), closed(world, server, "batch-1", 1)
    half, hops = opened(world, server, "batch-1", half_rate), closed(world, server, "hops", 1)
    return {"batch 1, per CPU-second": per_cpu_second(batch_1),
            "batch 1, per second": batch_1["requests"] / batch_1["seconds"],
            "free batching, per CPU-second": per_cpu_second(closed(world, server, "free-batching")),
            "one caller, p50 us": p(lone, "p50"), "one caller, p99 us": p(lone, "p99"),
            "half load, p50 us": p(half, "p50"), "half load, p99 us": p(half, "p99"),
            "stage hop, us": (p(hops, "p50") - p(lone, "p50")) / (HOPS - 1)}


def race(worlds, turns, count, half_rate):
    """One start of both builds; the rate that is half of what the slower one can take."""
    with sluice(worlds["this"]) as this, sluice(worlds["other"]) as other:
        servers = {"this": this, "other": other}
        for which, server in servers.items():
            for name, (stages, batches) in APPLICATIONS.items():
                server.deploy(chain(name, stages, batches))
                closed(worlds[which], server, name)
        half_rate = half_rate or min(f["requests"] / f["seconds"] for f in (
            closed(worlds[which], server, "batch-1") for which, server in servers.items())) / 2
        for _ in range(count):
            for which in ("this", "other") if len(turns["this"]) % 2 else ("other", "this"):
                turns[which].append(figures_of(worlds[which], servers[which], half_rate))
    return half_rate


def main():
    parser = argparse.ArgumentParser(description="Two builds of Sluice side by side.")
    parser.add_argument("other", help="the build to compare with")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--starts", type=int, default=5, help="of both servers")
    parser.add_argument("--turns", type=int, default=3, help="of each start")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    turns = {"this": [], "other": []}
    with tempfile.TemporaryDirectory(prefix="sluice-race-") as folder:
        worlds = {}
        for name, build in (("this", options.build), ("other", options.other)):
            (Path(folder) / name).mkdir()
            worlds[name] = World(Path(build).resolve(), Path(folder) / name)
        generator = worlds["this"].program("bench/http_load")  # one for both
        for world in worlds.values():
            world.program = lambda word, of=world.release: generator if word == "bench/http_load" else str(of / word)
        half_rate = None
        for _ in range(options.starts):
            half_rate = race(worlds, turns, options.turns, half_rate)
    out = {}
    for name in turns["this"][0]:
        a, b = ([figures[name] for figures in turns[which]] for which in ("this", "other"))
        ratios = sorted(x / y for x, y in zip(a, b))
        out[name] = {"this": statistics.median(a), "other": statistics.median(b), "ratio": statistics.median(ratios),
                     "ratio_quartiles": [ratios[len(ratios) // 4], ratios[len(ratios) * 3 // 4]]}
    if options.json:
        print(json.dumps({"cores": os.cpu_count(), "starts": options.starts, "turns": options.turns, "half_rate": half_rate, "figures": out}, indent=1))
        return
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}, {options.starts} starts of {options.turns} turns, half load {half_rate:,.0f}/s")
    print(f"{'':32}{'this':>10}{'other':>10}{'ratio':>8}   quartiles")
    for name, f in out.items():
        low, high = f["ratio_quartiles"]
        print(f"{name:32}{f['this']:>10,.0f}{f['other']:>10,.0f}{f['ratio']:>8.2f}   {low:.2f} to {high:.2f}")


if __name__ == "__main__":
    main()
