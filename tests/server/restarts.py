#!/usr/bin/env python3
"""What was accepted stays accepted: over a start on other machines, and with more inputs than the arena holds. What functions left goes.

Each scene accepts requests, kills the server with SIGKILL, starts it in a way that cannot run them all, and then as it was. In the end
every request is met, and every event log that was written replays.
"""
import json
import subprocess
import sys
from pathlib import Path

from serving import HERE, PROGRAM, Failure, Server, end_marked, floats, left_control_groups, marked, run_in_folder, wait_until

WITH_GPUS = ("--cluster", str(HERE / "documents/machines_with_gpus.yaml"))
CPUS = ("--cluster", str(HERE / "documents/cluster.yaml"))
COUNT = 30
VALUES = 256 << 10  # of 4 bytes: 1 MiB a request, more than the 16 MiB arena together


def accept(server, model, body):
    status, _, answer = server.call("POST", f"/v2/models/{model}/infer?async=true", body)
    return json.loads(answer)["id"] if status == 202 else None


def accept_all(server, model, count, body):
    """Asked again while there is no room for the inputs."""
    return [wait_until("a request is accepted", lambda: accept(server, model, body)) for _ in range(count)]


def states(server, requests):
    return [server.get(f"/v1/requests/{request}")["state"] for request in requests]


def check_met(server, requests):
    wait_until("all are answered", lambda: "running" not in states(server, requests))
    met = states(server, requests).count("met")
    if met != len(requests):
        raise Failure(f"{met} of {len(requests)} were met: {states(server, requests)}")


def on_other_machines(folder):
    data = f"{folder}/machines"
    server = Server(data, *WITH_GPUS)
    server.deploy("sliced.yaml")
    requests = accept_all(server, "sliced", COUNT, floats(1))
    server.kill()
    server = Server(data)
    wait_until("somebody says that the application is unavailable", lambda: any("UNAVAILABLE" in line for line in server.lines))
    if states(server, requests).count("running") < COUNT - 7:  # some were answered before
        raise Failure(f"not kept: {states(server, requests)}")
    server.kill()
    server = Server(data, *WITH_GPUS)
    check_met(server, requests)
    server.stop()
    return data


def in_a_full_arena(folder):
    data = f"{folder}/arena"
    body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [VALUES], "data": [0.5] * VALUES}]}
    server = Server(data, *CPUS, "--objects", "64MiB")
    server.deploy("chain.yaml")
    requests = accept_all(server, "chain", COUNT, body)
    server.kill()
    server = Server(data, *CPUS, "--objects", "16MiB")
    check_met(server, requests)
    server.stop()
    return data


LEAVES = ("application: leaves\nslo: {latency: 60s}\nfunctions:\n  one: {runtime: process, command: [sh, -c, "
          "'while read line; do setsid sleep 3333 </dev/null >/dev/null 2>&1 & echo \"{}\" >&3; done'], "
          "profile: {table: [[1, 1, 0, 5.0, 1.0]]}}\nworkflow: {one: {}}\n")


def with_what_a_function_left(folder):
    """A program that a function started outlives its worker; the next server ends it, by the control group that it is in."""
    data = f"{folder}/left"
    server = Server(data)
    server.deploy(LEAVES)
    if server.call("POST", "/v2/models/leaves/infer", {"inputs": []})[0] != 200:
        raise Failure(f"the function does not run: {server.lines}")
    in_groups = bool(left_control_groups([server.pid]))
    server.kill()
    wait_until("workers end with their server", lambda: len(marked(server.mark)) <= 1)
    if not marked(server.mark):
        raise Failure("nothing outlived the server: the test is blind")
    following = Server(data)
    if in_groups and (marked(server.mark) or left_control_groups([server.pid])):
        raise Failure(f"left: {marked(server.mark)} in {left_control_groups([server.pid])}")
    following.stop()
    end_marked(server.mark)
    return data


def check_logs(data):
    for log in sorted(Path(data, "events").glob("*.log")):
        ran = subprocess.run([PROGRAM, "replay", log], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise Failure(f"{log.name} does not replay: {ran.stdout}{ran.stderr}")


def run(folder, _):
    for scene in (on_other_machines, in_a_full_arena, with_what_a_function_left):
        check_logs(scene(folder))
    print(f"ok: {2 * COUNT} requests accepted and met, over starts that could not run them")


if __name__ == "__main__":
    sys.exit(run_in_folder(run, None))
