#!/usr/bin/env python3
"""What is said of a worker that crashes: its exit code, its signal or its memory limit, and what it printed last. The same
to the caller, in the history and to the operator.

usage: crashes.py
"""
import json
import os
import unittest

from serving import SANITIZED, Folder, Server, floats, wait_until

PYTHON = """
import ctypes, os, signal
import numpy

def run(inputs):
    print("about to crash", flush=True)
    how = int(inputs["x"][0][0])
    if how == 3:
        os._exit(3)
    if how == 11:
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == 12:
        ctypes.string_at(0)
    if how == 99:
        numpy.ones(400_000_000 // 8)
    return {"y": inputs["x"]}
"""
FUNCTION = "{runtime: python, model: crash.py, memory: 150MB, inputs: {x: {type: FP32, shape: [1]}}, " \
           "outputs: {y: {type: FP32, shape: [1]}}, profile: {table: [[1, 1, 0, 5.0, 1.0]]}}"
GROUPS = "control groups can be made"


def document(name, function):
    return f"application: {name}\nslo: {{latency: 60s}}\nfunctions: {{{name}: {function}}}\nworkflow: {{{name}: {{}}}}\n"


def program(script, more=""):
    command = json.dumps(["sh", "-c", script])
    return f"{{runtime: process, command: {command}, {more}profile: {{table: [[1, 1, 0, 5.0, 1.0]]}}}}"


class Crashes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder()
        cls.addClassCleanup(cls.folder.__exit__)
        cls.server = Server(cls.folder.__enter__())
        cls.addClassCleanup(cls.server.kill)
        cls.by_group = cls.server.get("/v1/nodes")["nodes"][0]["memory_enforced"].startswith("cgroup")

    def failure_of(self, model, number=1):
        """What the caller of a request that fails is told; checked to be in the history and among the server's lines too."""
        status, _, body = self.server.call("POST", f"/v2/models/{model}/infer", floats(number))
        self.assertEqual(status, 500, body)
        answer = json.loads(body)
        newest = self.server.get(f"/v1/requests?application={model}&limit=1")["requests"][0]
        trace = self.server.get(f"/v1/requests/{newest['id']}/trace")
        self.assertIn(trace["error"], answer["error"])
        self.assertTrue(any(trace["error"] in (stage.get("error") or "") for stage in trace["stages"]), trace)
        return trace["error"]

    def crash_of(self, name, how):
        """The same of a Python function of its own: those that crash again and again are made to wait."""
        self.server.deploy(document(name, FUNCTION), files={"crash.py": PYTHON})
        return self.failure_of(name, how)

    def told_of(self, error):
        """The operator hears the same."""
        wait_until(f"the server says: {error}", lambda: any(error in line for line in self.server.lines), patience=10)

    def test_exit_code_of_a_worker(self):
        error = self.crash_of("exits-3", 3)
        self.assertEqual(error, "WorkerFailed: the worker of function 'exits-3' exited with code 3; it printed last: about to crash")
        self.told_of(error)

    def test_signals_of_a_worker(self):
        for how in (11, 12):
            with self.subTest(how=how):
                error = self.crash_of(f"signal-{how}", how)
                self.assertEqual(error, f"WorkerFailed: the worker of function 'signal-{how}' was killed by signal 11 (SIGSEGV); "
                                        "it printed last: about to crash")
                self.told_of(error)

    @unittest.skipIf(SANITIZED, "a sanitizer takes the memory itself")
    def test_memory_of_a_worker(self):
        if not self.by_group:
            self.skipTest(f"needs that {GROUPS}")
        error = self.crash_of("memory", 99)
        self.assertEqual(error, "WorkerFailed: the worker of function 'memory' went over its memory limit of 150MB; "
                                "it printed last: about to crash")
        self.told_of(error)

    def test_exit_code_of_a_program(self):
        self.server.deploy(document("exits", program("read line; echo no more paper; exit 3")))
        error = self.failure_of("exits")
        self.assertEqual(error, "the program exited with code 3 before it had answered; it printed last: no more paper")

    def test_signal_of_a_program(self):
        self.server.deploy(document("killed", program("read line; echo goodbye; kill -SEGV $$")))
        error = self.failure_of("killed")
        self.assertEqual(error, "the program was killed by signal 11 (SIGSEGV) before it had answered; "
                                "it printed last: goodbye")

    @unittest.skipIf(SANITIZED, "a sanitizer takes the memory itself")
    def test_memory_of_a_program(self):
        if not self.by_group:
            self.skipTest(f"needs that {GROUPS}")
        hungry = "read line; echo hungry; exec python3 -c 'x = bytearray(300_000_000)'"
        self.server.deploy(document("hungry", program(hungry, "memory: 60MB, ")))
        error = self.failure_of("hungry")
        self.assertEqual(error, "the program was killed by signal 9 (SIGKILL) before it had answered: "
                                "it went over its memory limit of 60MB; it printed last: hungry")
        # A crash of another kind afterwards is not blamed on memory: what counts is what happened since.
        self.server.deploy(document("twice", program(
            f"read line; if [ -e $HOME/once ]; then echo later; exit 4; fi; touch $HOME/once; echo hungry; "
            f"exec python3 -c 'x = bytearray(300_000_000)'", "memory: 60MB, ")))
        self.assertIn("memory limit", self.failure_of("twice"))
        self.assertEqual(self.failure_of("twice"),
                         "the program exited with code 4 before it had answered; it printed last: later")


if __name__ == "__main__":
    unittest.main()
