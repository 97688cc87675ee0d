#!/usr/bin/env python3
"""A deployment that cannot work changes nothing: functions are tried before anybody calls them, and the version before goes
on serving. Under load, with a third of the deployments broken, every call is answered by a version that was whole.

usage: deploys.py [--redeploys N]
"""
import argparse
import json
import sys
import threading
import time
import unittest

from serving import SANITIZED, Folder, Server, deployment, floats

FUNCTION = "{runtime: python, model: f.py, inputs: {x: {type: FP32, shape: [1]}}, outputs: {y: {type: FP32, shape: [1]}}, " \
           "profile: {table: [[1, 1, 0, 5.0, 1.0]]}}"
DOCUMENT = f"application: app\nslo: {{latency: 30s}}\nfunctions: {{f: {FUNCTION}, g: {FUNCTION.replace('f.py', 'g.py')}}}\n" \
           "workflow: {f: {}, g: {after: f, inputs: {x: f.y}}}\n"
BROKEN = {
    "no Python": ("this is no Python", "SyntaxError"),
    "no run()": ("x = 1\n", "run"),
    "an import that is not there": ("import there_is_no_such_module\ndef run(inputs): return {'y': inputs['x']}\n",
                                    "there_is_no_such_module"),
    "an end while it loads": ("import os\nos._exit(3)\n", "exit code 3"),
    "an end at its first call": ("import os\ndef run(inputs): os._exit(4)\n", "exit code 4"),
}


def add(number):
    return f"def run(inputs):\n    return {{'y': inputs['x'] + {number}}}\n"


class Deploys(unittest.TestCase):
    redeploys = 12

    def setUp(self):
        folder = Folder()
        self.addCleanup(folder.__exit__)
        self.server = Server(folder.__enter__())
        self.addCleanup(self.server.kill)

    def deploy(self, first, second):
        status, _, answer = self.server.call("POST", "/v1/applications",
                                             deployment(DOCUMENT, files={"f.py": first, "g.py": second}))
        return status, json.loads(answer)

    def call(self):
        status, _, body = self.server.call("POST", "/v2/models/app/infer", floats(0))
        self.assertEqual(status, 200, body)
        return json.loads(body)["outputs"][0]["data"][0]

    def test_what_does_not_work_is_refused_and_the_version_before_serves(self):
        self.assertEqual(self.deploy(add(1), add(10))[0], 200)
        self.assertEqual(self.call(), 11)
        for name, (broken, said) in BROKEN.items():
            with self.subTest(name):
                status, answer = self.deploy(add(1), broken)
                self.assertEqual(status, 400, answer)
                self.assertIn("function 'g' does not work", answer["error"])
                self.assertIn(said, answer["error"])
                self.assertEqual(self.call(), 11)
        applications = self.server.get("/v1/applications")["applications"]
        self.assertEqual([(a["name"], a["version"], a["state"]) for a in applications if a["name"] == "app"],
                         [("app", 1, "READY")])

    def test_what_a_function_says_of_inputs_that_were_made_up_is_only_told(self):
        picky = "def run(inputs):\n    raise ValueError('only whole numbers')\n"
        status, answer = self.deploy(picky, add(10))
        self.assertEqual(status, 200, answer)
        self.assertIn("only whole numbers", " ".join(answer["messages"]))

    def test_a_stop_does_not_wait_for_a_function_that_never_loads(self):
        begun = threading.Event()

        def hang():
            begun.set()
            try:
                self.deploy("import time\ntime.sleep(3600)\n", add(1))
            except OSError:
                pass
        thread = threading.Thread(target=hang)
        thread.start()
        begun.wait()
        time.sleep(1)
        before = time.monotonic()
        self.assertEqual(self.server.stop(), 0)
        self.assertLess(time.monotonic() - before, 20 if SANITIZED else 8)
        thread.join()

    def test_calls_go_on_while_versions_come_and_break(self):
        good = {11.0}
        self.assertEqual(self.deploy(add(1), add(10))[0], 200)
        over, wrong, calls = threading.Event(), [], [0]

        def caller():
            while not over.is_set():
                allowed = set(good)
                status, _, body = self.server.call("POST", "/v2/models/app/infer", floats(0))
                value = json.loads(body)["outputs"][0]["data"][0] if status == 200 else body
                calls[0] += 1
                if status != 200 or value not in allowed | good:
                    wrong.append((status, value))
        threads = [threading.Thread(target=caller) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for i in range(self.redeploys):
                if i % 3 == 1:
                    broken = list(BROKEN.values())[i // 3 % len(BROKEN)][0]
                    self.assertEqual(self.deploy(broken, add(10))[0], 400)
                    continue
                first, second = 100 * (i + 1), 1000 * (i + 1)
                good.add(float(first + second))
                self.assertEqual(self.deploy(add(first), add(second))[0], 200)
                self.assertEqual(self.call(), first + second)
        finally:
            over.set()
            for thread in threads:
                thread.join()
        self.assertEqual(wrong, [])
        self.assertGreater(calls[0], self.redeploys)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--redeploys", type=int, default=Deploys.redeploys)
    options, rest = parser.parse_known_args()
    Deploys.redeploys = options.redeploys
    unittest.main(argv=[sys.argv[0], *rest])
