#!/usr/bin/env python3
"""`sluice up` on a real GPU, from outside: right answers, two tenants on one GPU, a fault of the device under load, memory, restarts.

usage: serve.py SLUICE MODELS [MODE …]
SLUICE with `sluice-worker` beside it, MODELS as make_models.py left them. A mode is what `sluice up` is told: turns (nothing), mps, stream,
priority, none; all of them by default. One table is printed; what must hold and does not is an error.
"""
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))
os.environ["SLUICE"] = sys.argv[1] = str(Path(sys.argv[1]).resolve())
from serving import Failure, Server, Tenant, wait_until  # noqa: E402

OPTIONS = {"turns": [], "mps": ["--gpu-mps"], "stream": ["--gpu-mode", "stream"], "priority": ["--gpu-mode", "priority"],
           "none": ["--gpu-mode", "none"]}
PICTURES = """application: pictures
slo: {{latency: 20s}}
functions:
  resnet:
    runtime: torch
    model: resnet50.pt
    memory: {memory}
    inputs: {{x: {{type: FP32, shape: [3, 224, 224]}}}}
    outputs: {{y: {{type: FP32, shape: [1000]}}}}
    profile: {{table: [[1, 1, 1, 1.3, 0.05], [4, 1, 1, 2.6, 0.1], [8, 1, 1, 3.7, 0.1], [8, 1, 4, 1.6, 0.05]]}}
workflow: {{resnet: {{}}}}
"""
TABLE = """application: table
slo: {{latency: 20s}}
functions:
  reads:
    runtime: torch
    model: reads.pt
    memory: 100MB
    inputs: {{x: {{type: FP32, shape: [3, 32, 32]}}}}
    outputs: {{y: {{type: FP32, shape: [3072]}}}}
    profile: {{table: [[1, 1, 1, 0.5, 0.05]]}}
workflow: {{reads: {{idempotent: false}}}}
"""


class Caller:
    """One connection of a tenant."""

    def __init__(self, tenant, application):
        host, port = tenant.server.host_and_port
        self.connection = http.client.HTTPConnection(host, port, timeout=60)
        self.path, self.key = f"/v2/models/{application}/infer", tenant.key

    def call(self, values):
        """(status, numbers or text, seconds)"""
        bytes_ = values.tobytes()
        head = json.dumps({"inputs": [{"name": "x", "shape": list(values.shape), "datatype": "FP32",
                                       "parameters": {"binary_data_size": len(bytes_)}}],
                           "parameters": {"binary_data_output": True}}).encode()
        begin = time.monotonic()
        self.connection.request("POST", self.path, head + bytes_,
                                {"X-API-Key": self.key, "Inference-Header-Content-Length": str(len(head))})
        reply = self.connection.getresponse()
        body, length = reply.read(), reply.getheader("Inference-Header-Content-Length")
        took = time.monotonic() - begin
        if reply.status != 200:
            return reply.status, body.decode(errors="replace"), took
        return 200, numpy.frombuffer(body[int(length or len(body)):], dtype=numpy.float32), took


class Load(threading.Thread):
    """Calls one after the other until it is told to stop."""

    def __init__(self, tenant, application, values):
        super().__init__(daemon=True)
        self.caller, self.values, self.going = Caller(tenant, application), values, True
        self.answers = []  # (when, status, seconds)
        self.start()

    def run(self):
        while self.going:
            begin = time.monotonic()
            try:
                status, _, took = self.caller.call(self.values)
            except (OSError, http.client.HTTPException):  # not answered at all
                status, took, self.going = 0, time.monotonic() - begin, False
            self.answers.append((time.monotonic(), status, took))

    def stop(self):
        self.going = False
        self.join()
        return self.answers


def milliseconds(answers, part):
    times = sorted(took for _, status, took in answers if status == 200)
    return 1e3 * times[int(part * (len(times) - 1))] if times else float("nan")


def deploy(tenant, models, text):
    """With the program, as a person would; the error if it was refused."""
    document = models / "app.yaml"
    document.write_text(text, encoding="utf-8")
    ran = subprocess.run([sys.argv[1], "deploy", str(document), "--server", tenant.address],
                         env={**os.environ, "SLUICE_KEY": tenant.key}, capture_output=True, text=True, timeout=120, check=False)
    return "" if ran.returncode == 0 else (ran.stdout + ran.stderr).strip()


def must(what, holds):
    if not holds:
        raise Failure(what)


def ready(tenant, application):
    def state():
        status, _, body = tenant.server.call("GET", "/v1/applications", headers=tenant.headers)
        found = [one["state"] for one in json.loads(body)["applications"] if one["name"] == application] if status == 200 else []
        return found == ["READY"]
    wait_until(f"{application} of {tenant.name} is ready", state)


class World:
    def __init__(self, mode, models, folder):
        self.mode, self.models, self.folder = mode, models, folder
        size = {"resnet50": 224, "reads": 32}
        self.inputs = {n: numpy.fromfile(models / f"{n}.input", dtype=numpy.float32).reshape(2, 3, s, s) for n, s in size.items()}
        self.right = numpy.fromfile(models / "resnet50.answer", dtype=numpy.float64).reshape(2, 1000)
        self.rows = []

    def say(self, what, figure):
        self.rows.append((self.mode, what, figure))
        print(f"{self.mode:9} {what:66} {figure}", flush=True)

    def deploy(self, tenant, text):
        refused = deploy(tenant, self.models, text.format(memory="2GB"))
        must(f"{tenant.name} cannot deploy: {refused}", not refused)

    def play(self):
        data = f"{self.folder}/data-{self.mode}"
        with Server(data, "--objects", "512MB", *OPTIONS[self.mode]) as server:
            self.say("enforced", server.get("/v1/nodes")["nodes"][0]["gpu_enforced"])
            one, other = Tenant(server, "one"), Tenant(server, "other")
            for tenant in (one, other):
                self.deploy(tenant, PICTURES)
                ready(tenant, "pictures")
            self.deploy(one, TABLE)
            ready(one, "table")
            self.answers(one)
            self.side_by_side(one, other)
            self.fault(server, one, other)
            self.memory(one, other)
            self.says(server)
            server.stop()
        self.restart(data)

    def answers(self, tenant):
        caller, picture = Caller(tenant, "pictures"), self.inputs["resnet50"][:1]
        begin = time.monotonic()
        wrong = 0.0
        for i in range(60):
            status, got, _ = caller.call(picture)
            must(f"a call: {status} {got}", status == 200)
            wrong = max(wrong, float(numpy.linalg.norm(got - self.right[0]) / numpy.linalg.norm(self.right[0])))
            if i == 0:
                self.say("first answer, s", f"{time.monotonic() - begin:.2f}")
        must(f"an answer is {wrong} off", wrong < 2e-2)
        self.say("60 answers against double precision, relative L2", f"{wrong:.1e}")
        times = [(0, 200, caller.call(picture)[2]) for _ in range(300)]
        self.say("one caller over HTTP, p50 / p99 ms", f"{milliseconds(times, .5):.2f} / {milliseconds(times, .99):.2f}")

    def side_by_side(self, one, other):
        picture = self.inputs["resnet50"][:1]
        alone = Load(other, "pictures", picture)
        time.sleep(2)
        before = alone.stop()
        crowd = [Load(one, "pictures", picture) for _ in range(6)]
        beside = Load(other, "pictures", picture)
        time.sleep(3)
        after = beside.stop()
        for load in crowd:
            load.stop()
        self.say("another tenant alone, p50 / p99 ms", f"{milliseconds(before, .5):.2f} / {milliseconds(before, .99):.2f}")
        self.say("beside six callers of the first, p50 / p99 ms", f"{milliseconds(after, .5):.2f} / {milliseconds(after, .99):.2f}")

    # What the driver calls an illegal access ends the worker of its tenant. Its other requests were accepted: all are answered.
    def fault(self, server, one, other):
        picture, far = self.inputs["resnet50"][:1], self.inputs["reads"][:1] * 1e6
        loads = {"one": Load(one, "pictures", picture), "other": Load(other, "pictures", picture)}
        time.sleep(1)
        crashes = self.crashes(server)
        at = time.monotonic()
        status, text, _ = Caller(one, "table").call(far)
        must(f"a fault was answered: {status} {text}", status != 200)
        self.say("the faulty call is answered with", f"{status} after {time.monotonic() - at:.2f} s")
        time.sleep(6)
        ended = self.crashes(server) - crashes
        self.say("workers that ended", f"{ended:.0f}")
        must("a fault of the device ended no worker", ended >= 1)
        answers = {name: load.stop() for name, load in loads.items()}
        for name, seen in answers.items():
            later = [answer for answer in seen if answer[0] >= at]
            failed = [status for _, status, _ in seen if status != 200]
            longest = max((took for _, _, took in later), default=float("nan"))
            self.say(f"the tenant {'at fault' if name == 'one' else 'beside it'}: longest call, s; not answered",
                     f"{longest:.2f}; {len(failed)} of {len(seen)} {sorted(set(failed)) if failed else ''}")
        must("an accepted call was lost", all(status == 200 for seen in answers.values() for _, status, _ in seen))
        status, got, took = Caller(one, "pictures").call(picture)
        must(f"it does not serve again: {status} {got}", status == 200)

    @staticmethod
    def crashes(server):
        for line in server.call("GET", "/metrics")[2].decode().splitlines():
            if line.startswith("sluice_worker_crashes_total"):
                return float(line.split()[-1])
        return 0

    def memory(self, one, other):
        beside = Load(other, "pictures", self.inputs["resnet50"][:1])
        small = PICTURES.replace("pictures", "small").format(memory="20MB")
        refused = deploy(one, self.models, small)
        if not refused:
            status, refused, _ = Caller(one, "small").call(self.inputs["resnet50"][:1])
            must("a function took more than its memory", status != 200)
        must(f"its memory is not what is wrong: {refused}", "weights take" in refused)
        self.say("`memory:` smaller than its weights", refused.replace("\n", " ")[:160])
        failed = [status for _, status, _ in beside.stop() if status != 200]
        must("another tenant noticed", not failed)

    def says(self, server):
        for line in server.call("GET", "/metrics")[2].decode().splitlines():
            if line.startswith("sluice_gpu") and not line.startswith("#"):
                print("         ", line)
        print("         ", json.dumps(server.get("/v1/nodes")["nodes"][0])[:1500], flush=True)

    # What was measured when a function was loaded first is known.
    def restart(self, data):
        with Server(data, "--objects", "512MB", *OPTIONS[self.mode]) as server:
            wait_until("it is ready again", lambda: server.call("GET", "/v2/health/ready")[0] == 200)
            key = server.call("POST", "/v1/keys", {"name": "again", "tenant": "one", "role": "caller"})
            must(f"no key: {key}", key[0] == 200)
            again = type("Again", (), {"server": server, "key": json.loads(key[2])["key"]})
            begin = time.monotonic()
            status, got, _ = Caller(again, "pictures").call(self.inputs["resnet50"][:1])
            must(f"after a restart: {status} {got}", status == 200)
            self.say("first answer after a restart, s", f"{time.monotonic() - begin:.2f}")
            form = lambda: [one["gpu"]["precision"] for one in server.get("/v1/nodes")["nodes"][0]["instances"] if "gpu" in one]
            wait_until("its form is the one of before", lambda: set(form()) == {"fp16"})
            server.stop()


def main():
    models = Path(sys.argv[2]).resolve()
    failed = []
    for mode in sys.argv[3:] or list(OPTIONS):
        with tempfile.TemporaryDirectory(prefix="sluice-gpu-") as folder:
            try:
                World(mode, models, folder).play()
            except Failure as failure:
                print(f"{mode:9} FAILED: {failure}", flush=True)
                failed.append(mode)
    print(f"{'failed: ' + ', '.join(failed) if failed else 'ok'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
