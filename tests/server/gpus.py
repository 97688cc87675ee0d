#!/usr/bin/env python3
"""A server on a machine with GPUs: what it finds, what it says of them, and calls that run on slices. The GPUs are not there: `sluice-worker` is a
script that says that there are, and starts a worker that only seems to use one (tests/invoker/gpu_worker.cpp)."""
import json
import os
import signal
import sys
import threading
from pathlib import Path

from serving import PROGRAM, Failure, Server, floats, run_in_folder, wait_until

WORKER = Path(PROGRAM).parent / "sluice-worker"
GPU_WORKER = os.environ.get("GPU_WORKER") or str(Path(PROGRAM).parent / "tests/invoker/gpu_worker")
SCRIPT = """#!/bin/sh
if [ "$1" = --gpus ]; then
  printf 'GPU-00000000-0000-0000-0000-000000000001\\t132\\t150000000000\\tNVIDIA H200\\n'
elif [ "$1" = --confined ] && [ -n "$CUDA_VISIBLE_DEVICES" ]; then
  exec {gpu_worker} "$@"
else
  exec {worker} "$@"
fi
"""
DOCUMENT = """application: app
slo: 500ms
functions:
  a: {runtime: emulated, memory: 1GB, profile: {table: [[1, 1, 1, 5.0, 0.1], [1, 1, 4, 2.0, 0.1]]}}
  b: {runtime: emulated, memory: 1GB, profile: {table: [[1, 1, 1, 5.0, 0.1]]}}
workflow: {a: {}, b: {after: a}}
"""
# Each function adds one to every byte. What the first leaves stays on the GPU: the arena has rubbish in its place.
CHAIN = """application: chain
slo: 20s
functions:
  adds-a: {runtime: emulated, memory: 1GB, profile: {table: [[1, 1, 1, 5.0, 0.1]]}}
  adds-b: {runtime: emulated, memory: 1GB, profile: {table: [[1, 1, 1, 5.0, 0.1]]}}
workflow: {a: {function: adds-a}, b: {function: adds-b, after: a}}
"""
LARGE = 1_200_000


def expect(what, seen, wanted):
    if seen != wanted:
        raise Failure(f"{what}: {seen!r} instead of {wanted!r}")


def call_chain(server, value):
    body = {"inputs": [{"name": "x", "datatype": "UINT8", "shape": [LARGE], "data": [value] * LARGE}]}
    status, _, answer = server.call("POST", "/v2/models/chain/infer", body)
    if status != 200:
        raise Failure(f"a large call: {status} {answer[:200]!r}")
    expect("a large answer", set(json.loads(answer)["outputs"][0]["data"]), {value + 2})


def keep_on_gpu(server):
    """Large outputs stay on the GPU between stages; they are lost with their worker, and their requests are answered all the same."""
    gpu = lambda: server.get("/v1/nodes")["nodes"][0]["gpus"][0]
    server.deploy(CHAIN)
    before = gpu()["kept"]
    for value in range(10):
        call_chain(server, value)
    wait_until("all are released", lambda: gpu()["kept_bytes"] == 0)
    expect("outputs that stayed on the GPU, and fetches", (gpu()["kept"] - before, gpu()["fetches"]), (10, 0))
    metrics = server.call("GET", "/metrics")[2].decode()
    for line in ('sluice_gpu_kept_total{node="node-0",gpu="0"} 10', 'sluice_gpu_fetches_total{node="node-0",gpu="0"} 0',
                 'sluice_gpu_kept_bytes{node="node-0",gpu="0"} 0'):
        if line not in metrics:
            raise Failure(f"{line} is not among the metrics")
    failures = []

    def call_some(first):
        try:
            for value in range(first, first + 5):
                call_chain(server, value)
        except Exception as failure:  # pylint: disable=broad-except
            failures.append(failure)

    callers = [threading.Thread(target=call_some, args=(first,)) for first in range(0, 40, 10)]
    for caller in callers:
        caller.start()
    for _ in range(3):
        kept = gpu()["kept"]
        wait_until("another one is kept", lambda: gpu()["kept"] > kept or not any(caller.is_alive() for caller in callers))
        for pid in {one["pid"] for one in server.get("/v1/nodes")["nodes"][0]["instances"] if one["pid"] > 0}:
            os.kill(pid, signal.SIGKILL)
    for caller in callers:
        caller.join()
    if failures:
        raise failures[0]
    wait_until("nothing is kept", lambda: gpu()["kept_bytes"] == 0)


def run(folder, _):
    script = Path(folder) / "sluice-worker"
    script.write_text(SCRIPT.format(gpu_worker=GPU_WORKER, worker=WORKER), encoding="utf-8")
    script.chmod(0o755)
    with Server(f"{folder}/data", "--objects", "64MB", environment={"SLUICE_WORKER": str(script)}) as server:
        node = server.get("/v1/nodes")["nodes"][0]
        expect("what is enforced", node["gpu_enforced"], "green contexts, 8 slices of 16 SMs; tenants take turns")
        expect("its slices", [gpu["slices"] for gpu in node["gpus"]], [8])
        server.deploy(DOCUMENT)
        wait_until("it is ready", lambda: server.get("/v1/applications")["applications"][0]["state"] == "READY")
        for _ in range(20):
            status, _, answer = server.call("POST", "/v2/models/app/infer", floats(1.0))
            expect("a call", (status, answer if status != 200 else b""), (200, b""))
        levels = lambda: {one["function"]: one["level"] for one in server.get("/v1/nodes")["nodes"][0]["instances"]}
        wait_until("functions are on the GPU", lambda: levels() == {"a": "device", "b": "device"})
        instances = server.get("/v1/nodes")["nodes"][0]["instances"]
        expect("workers of the tenant", len({one["pid"] for one in instances}), 1)
        environment = Path(f"/proc/{instances[0]['pid']}/environ").read_bytes()
        if b"CUDA_VISIBLE_DEVICES=GPU-00000000-0000-0000-0000-000000000001\0" not in environment:
            raise Failure("the worker may use another GPU")
        wait_until("all are counted", lambda: server.get("/v1/nodes")["nodes"][0]["gpus"][0]["batches"] == 40)
        instances = server.get("/v1/nodes")["nodes"][0]["instances"]
        expect("how it runs", instances[0]["gpu"], {"number": 0, "precision": "fp16", "layout": "channels_last", "weights": 1000000, "graphs": 3,
                                                    "kernel_by_kernel": False, "row_by_row": False})
        expect("what applications say", server.get("/v1/applications")["applications"][0]["functions"][0]["gpu"]["graphs"], 3)
        metrics = server.call("GET", "/metrics")[2].decode()
        for line in ('sluice_gpu_batches_total{node="node-0",gpu="0"} 40', 'sluice_gpu_graphs{node="node-0",gpu="0"} 6'):
            if line not in metrics:
                raise Failure(f"{line} is not among the metrics")
        request = server.get("/v1/requests")["requests"][0]["id"]
        for stage in server.get(f"/v1/requests/{request}/trace")["stages"]:
            expect("slices of a stage", (stage["gpu"], len(stage["slices"])), (0, stage["vgpu"]))
        keep_on_gpu(server)
        server.stop()
    # What was found out of functions is known to the next start: the worker is told their forms, and says so.
    with Server(f"{folder}/data", "--objects", "64MB", environment={"SLUICE_WORKER": str(script)}) as server:
        wait_until("it is ready again", lambda: server.call("GET", "/v2/health/ready")[0] == 200)
        expect("a call", server.call("POST", "/v2/models/app/infer", floats(1.0))[0], 200)
        known = lambda: [one["gpu"]["row_by_row"] for one in server.get("/v1/nodes")["nodes"][0]["instances"] if one["level"] == "device"]
        wait_until("their forms are known", lambda: known() == [True, True])
        server.stop()
    with Server(f"{folder}/without", "--gpus", "none", environment={"SLUICE_WORKER": str(script)}) as server:
        expect("GPUs", server.get("/v1/nodes")["nodes"][0]["gpus"], [])
        server.stop()


if __name__ == "__main__":
    sys.exit(run_in_folder(run, None))
