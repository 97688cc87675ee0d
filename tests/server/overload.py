#!/usr/bin/env python3
"""More calls than the machine does, of a function that takes longer than its profile says: what is let in is in time, the rest
is refused at once, and as much is done as without the overload.

usage: overload.py [--seconds S]
A Python function of one vCPU sleeps 20 ms and is profiled with 8; there are two vCPUs, so about 100 calls a second can be done under an objective
of 150 ms, and 250 are believed to be. First come 80 calls a second, then 150, 300 and 500. It sleeps, so that a busy machine takes little from
it.

What is allowed for: the first second of every rate, in which the change is learned; one call in thirty that was let in and is too late, and a
fifth of what can be done.
"""
import argparse
import asyncio
import sys

from calm import run_calmly
from open_loop import OpenLoop
from serving import SANITIZED, Failure, Server, wait_until

OBJECTIVE = 0.150
DOCUMENT = """application: app
slo: {latency: 150ms}
functions:
  f: {runtime: python, model: f.py, inputs: {x: {type: FP32, shape: [1]}}, outputs: {y: {type: FP32, shape: [1]}},
      profile: {table: [[1, 1, 0, 8.0, 0.5]]}}
workflow: {f: {}}
"""
FUNCTION = "import time\ndef run(inputs):\n    time.sleep(0.02)\n    return {'y': inputs['x']}\n"
CLUSTER = "cluster: {nodes: [{count: 1, vcpu: 2, memory: 4GB}]}\n"
DONE = 80.0       # calls a second that are in time without overload
KEPT = 0.8        # of them in time at any rate above
LATE = 1.0 / 30   # of what was let in
REFUSED = 0.05    # seconds in which nearly all refusals are there


def played(server, rate, seconds):
    """In time a second, the share of late ones among those that were let in, and seconds until refusals were there."""
    calls = OpenLoop(server, "app")
    asyncio.run(calls.play(int(rate * (seconds + 1)), rate))
    answers = calls.answers[int(rate):]
    in_time = sum(1 for status, took in answers if status == 200 and took <= OBJECTIVE)
    let_in = [status for status, _ in answers if status != 429]
    refusals = sorted(took for status, took in answers if status == 429)
    odd = {status for status, _ in answers} - {200, 429, 504}
    if odd:
        raise Failure(f"at {rate:g} calls a second there were answers {odd}")
    late = sum(1 for status in let_in if status == 504) / max(1, len(let_in))
    return in_time / seconds, late, refusals[int(0.98 * len(refusals))] if refusals else 0.0


def run(folder, options):
    path = f"{folder}/cluster.yaml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(CLUSTER)
    server = Server(f"{folder}/data", "--cluster", path)
    wrong = []
    try:
        server.deploy(DOCUMENT, files={"f.py": FUNCTION})
        wait_until("it serves", lambda: server.call("GET", "/v2/health/ready")[0] == 200)
        for rate in (DONE, 150.0, 300.0, 500.0):
            in_time, late, refused = played(server, rate, options.seconds)
            print(f"{rate:g} calls a second: {in_time:.1f} in time, {100 * late:.1f} % late of what was let in, "
                  f"refused within {1000 * refused:.1f} ms")
            if in_time < KEPT * DONE or late > LATE or refused > REFUSED:
                wrong.append(f"{rate:g}")
    finally:
        server.kill()
    if wrong and not SANITIZED:
        raise Failure(f"at {', '.join(wrong)} calls a second less is done than can be, or too much is late")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5.0)
    sys.exit(run_calmly(run, parser.parse_args()))
