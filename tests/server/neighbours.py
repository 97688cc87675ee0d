#!/usr/bin/env python3
"""Two tenants on one server: functions of one do all the harm they can, the other must not notice.

usage: neighbours.py [--rounds N] [--seconds S] [--only MANNER] [--judge]
The hostile tenant may have one vCPU at once. Windows of S seconds with and without its attacks take turns, in every round a pair for
each manner; in both a client of the quiet tenant asks at the same pace and measures. Of their medians and of their 99th percentiles the
two windows of a pair are compared, and the median of these ratios may be a fifth above one: the same server in the same seconds, so that
a machine that is slow for a while is slow in both.
Times are only judged with --judge, on a machine that does nothing else: where others keep all cores
busy, one more that is busy takes its share of everybody's time. Every answer has to be right; the hostile tenant must see no name, request or figure of the quiet one; the server must live, and nothing of the attacks may
be left running.
"""
import argparse
import http.client
import json
import multiprocessing
import os
import re
import statistics
import sys
import threading
import time

from serving import HERE, PATIENCE, SANITIZED, Failure, Server, Tenant, marked, run_in_folder, wait_until

RATIO_MAX = 1.2  # the median over all pairs of windows
NOISE_MS = 0.5   # allowed besides: less than one wake-up of a busy machine
PACE = 0.008     # seconds between two questions
# The last one holds its vCPU until the server gives it up: no attack after it would begin.
MANNERS = ("burn", "fork bomb", "flood", "one long line", "write behind the end", "scribble", "cut", "grow", "end", "never")
AT_ONCE = 3      # hostile functions
NICE = 10        # of their callers: they stand for another machine, so what they take of this one is taken from their functions
PROFILE = "profile: {table: [[1, 1, 0, 5.0, 1.0]]}"
QUIET = ("application: quiet\ntenant: quiet\nslo: {latency: 60s}\nfunctions:\n  secretly: {runtime: python, model: work.py, "
         f"inputs: {{x: {{type: FP32, shape: [1]}}}}, outputs: {{y: {{type: FP32, shape: [1]}}}}, {PROFILE}}}\n"
         "workflow: {secretly: {}}\n")
# Two milliseconds of one processor, and an answer that depends on the question.
WORK = """import time
def run(inputs):
    end = time.thread_time() + 0.002
    while time.thread_time() < end:
        pass
    return {"y": inputs["x"] * 3 + 1}
"""


def hostile_document():
    functions = "".join(f"  f{i}: {{runtime: python, model: misbehave.py, memory: 300MB, inputs: {{what: {{type: BYTES, shape: [1]}}}}, "
                        f"outputs: {{said: {{type: BYTES, shape: [1]}}}}, {PROFILE}}}\n" for i in range(AT_ONCE))
    stages = "".join(f"  f{i}: {{}}\n" for i in range(AT_ONCE))
    return f"application: bad\ntenant: hostile\nslo: {{latency: 60s}}\nfunctions:\n{functions}workflow:\n{stages}"


class Quiet:
    """The client that must not notice."""

    def __init__(self, tenant):
        self.tenant, self.number, self.request = tenant, 0, ""
        self.connection = http.client.HTTPConnection(*tenant.server.host_and_port, timeout=PATIENCE)

    def ask(self):
        self.number += 1
        body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1], "data": [self.number]}]}
        began = time.monotonic()
        self.connection.request("POST", "/v2/models/quiet/infer", body=json.dumps(body), headers=self.tenant.headers)
        reply = self.connection.getresponse()
        text = reply.read()
        took = time.monotonic() - began
        self.request = reply.getheader("Sluice-Request-Id")
        if reply.status != 200 or json.loads(text)["outputs"][0]["data"] != [self.number * 3 + 1]:
            raise Failure(f"the quiet tenant asked {self.number} and was answered {reply.status} {text[:300]!r}")
        return took * 1000

    def window(self, seconds):
        """The 99th percentile and the median of what the questions took, in milliseconds."""
        began, times = time.monotonic(), []
        while (now := time.monotonic()) < began + seconds:
            times.append(self.ask())
            time.sleep(max(0.0, now + PACE - time.monotonic()))
        times.sort()
        return times[len(times) * 99 // 100], times[len(times) // 2]


def measure_first():
    """The client stands for one on another machine: on this one it never waits for a CPU, where that may be asked for."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except PermissionError:
        pass


def asking(manner):
    return [{"name": "what", "datatype": "BYTES", "shape": [1], "data": [manner]}]


class Attack:
    """Calls hostile functions, each again and again, until it is told to end. From a process of its own: threads beside the one that
    measures would keep that one waiting for the interpreter."""

    def __init__(self, hostile, manner, cpus):
        self.hostile, self.manner, self.cpus, self.ended = hostile, manner, cpus, multiprocessing.Event()
        self.calls, self.wrong = 0, []
        self.told, tells = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=self._run_all, args=(tells,))

    def _run_all(self, tells):
        os.nice(NICE)
        os.sched_setaffinity(0, self.cpus)
        threads = [threading.Thread(target=self._run, args=(i,)) for i in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        tells.send((self.calls, self.wrong))

    def _run(self, which):
        body = {"inputs": asking(f"{self.manner}/1"), "parameters": {"timeout": 2_000_000}}
        while not self.ended.is_set():
            try:
                status, _, text = self.hostile.server.call("POST", f"/v2/models/bad.f{which}/infer", body, self.hostile.headers)
            except OSError as wrong:
                self.wrong.append(f"'{self.manner}': {wrong!r}")
                return
            self.calls += 1
            if status != 200 and not json.loads(text).get("error"):
                self.wrong.append(f"'{self.manner}' was answered {status} {text[:300]!r}")

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.calls, self.wrong = self.told.recv()
        self.process.join()
        if self.wrong:
            raise Failure(self.wrong[0])


class Comparison:
    """Windows with and without attacks, and what came out."""

    def __init__(self, server, quiet, hostile):
        self.server, self.quiet, self.hostile = server, quiet, hostile
        self.without, self.beside, self.calls = [], [], 0
        hostile.server.call("POST", "/v2/models/bad.f0/infer", {"inputs": asking("nothing")}, hostile.headers)
        # The CPUs it is kept on; all where there are no control groups for that.
        self.cpus = min((os.sched_getaffinity(worker) for worker in server.workers()), key=len)

    def pair(self, manner, seconds):
        wait_until("the attack before is over", lambda: self.server.get("/v1/status")["in_system"] == 0)
        time.sleep(0.3)  # what it left behind rests by then
        self.without.append(self.quiet.window(seconds))
        with Attack(self.hostile, manner, self.cpus) as attack:
            time.sleep(0.2)
            self.beside.append(self.quiet.window(seconds))
        self.calls += attack.calls
        print(f"{manner}: p99 {self.beside[-1][0]:.2f} ms, {self.without[-1][0]:.2f} ms before it; p50 {self.beside[-1][1]:.2f} and "
              f"{self.without[-1][1]:.2f} ms", flush=True)

    def outcome(self, judge):
        (calm, calm_middle), (under, under_middle) = ([statistics.median(column) for column in zip(*windows)]
                                                      for windows in (self.without, self.beside))
        text = (f"{self.calls} hostile calls; p99 of the quiet tenant {under:.2f} ms beside them, {calm:.2f} ms without (medians of "
                f"{len(self.without)} windows each; p50 {under_middle:.2f} and {calm_middle:.2f} ms)")
        # Noise is allowed for where it is: in both windows.
        ratios = [[b / (w + NOISE_MS / RATIO_MAX) for b, w in zip(beside, without)] for beside, without in zip(self.beside, self.without)]
        p99, p50 = (statistics.median(column) for column in zip(*ratios))
        text += f"; ratios of pairs {p99:.2f} and {p50:.2f}, less {NOISE_MS} ms"
        slower = max(p99, p50) > RATIO_MAX
        if slower and judge and not SANITIZED:
            raise Failure(text)
        return text


def check_names(quiet, hostile):
    """What the hostile tenant's key shows has nothing of the other, and the other's requests are not there for it."""
    def ask(tenant, path, method="GET"):
        return tenant.server.call(method, path, None, tenant.headers)
    for method, path in (("GET", "/v1/requests?limit=1000"), ("GET", "/v1/applications"), ("GET", "/v1/status"), ("GET", "/v1/nodes"),
                         ("GET", "/v2/models/stats"), ("POST", "/v2/repository/index"), ("GET", "/metrics")):
        status, _, text = ask(hostile, path, method)
        if status == 200 and re.search(rb"quiet|secretly", text):
            raise Failure(f"{path} shows the hostile tenant names of the quiet one: {text[:500]!r}")
    for path in ("/v2/models/quiet", "/v2/models/quiet.secretly/config", "/v2/models/quiet/stats", f"/v1/requests/{quiet.request}",
                 f"/v1/requests/{quiet.request}/trace"):
        if ask(quiet.tenant, path)[0] != 200:
            raise Failure(f"{path} does not answer the quiet tenant: the test is blind")
        if ask(hostile, path)[0] == 200:
            raise Failure(f"{path} answers the hostile tenant")


def run(folder, options):
    machine = f"{folder}/machine.yaml"
    with open(machine, "w", encoding="ascii") as file:
        file.write(f"cluster: {{nodes: [{{count: 1, vcpu: {os.cpu_count()}, memory: 4GB}}]}}\n")
    with Server(f"{folder}/data", "--cluster", machine) as server:
        tenant, hostile = Tenant(server, "quiet"), Tenant(server, "hostile")
        server.call("POST", "/v1/tenants/hostile", {"vcpu": 1})
        tenant.deploy(QUIET, files={"work.py": WORK})
        hostile.deploy(hostile_document(), files={"misbehave.py": (HERE / "documents/misbehave.py").read_text()})
        quiet = Quiet(tenant)
        measure_first()
        quiet.window(1)
        comparison = Comparison(server, quiet, hostile)
        for _ in range(options.rounds):
            for manner in [options.only] if options.only else MANNERS:
                comparison.pair(manner, options.seconds)
        check_names(quiet, hostile)
        if not server.alive or server.stop() != 0:
            raise Failure(f"the server did not end well: {server.lines[-3:]}")
        wait_until("all processes are gone", lambda: not marked(server.mark), patience=5)
        print(f"ok: {comparison.outcome(options.judge)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--only", choices=MANNERS)
    parser.add_argument("--judge", action="store_true")
    return run_in_folder(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
