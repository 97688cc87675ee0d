#!/usr/bin/env python3
"""A deployment that cannot work changes nothing: functions are tried before anybody calls them, and the version before goes
on serving. Under load, with a third of the deployments broken and workers killed, every call is answered by a version that was
whole. Versions that were replaced come back, canaries get their share, unchanged functions keep their workers.

usage: deploys.py [--redeploys N]
"""
import argparse
import http.client
import json
import os
import random
import signal
import sys
import threading
import time
import unittest

from serving import SANITIZED, Folder, Server, deployment, floats, wait_until

FUNCTION = "{runtime: python, model: f.py, inputs: {x: {type: FP32, shape: [1]}}, outputs: {y: {type: FP32, shape: [1]}}, " \
           "profile: {table: [[1, 1, 0, 5.0, 1.0]]}}"
DOCUMENT = f"application: app\nslo: {{latency: 30s}}\nfunctions: {{f: {FUNCTION}, g: {FUNCTION.replace('f.py', 'g.py')}}}\n" \
           "workflow: {f: {}, g: {after: f, inputs: {x: f.y}}}\n"
BROKEN = {
    "no Python": ("this is no Python", "SyntaxError"),
    "no run()": ("x = 1\n", "run"),
    "an import that is not there": ("import there_is_no_such_module\ndef run(inputs): return {'y': inputs['x']}\n",
                                    "there_is_no_such_module"),
    "an end while it loads": ("import os\nos._exit(3)\n", "exited with code 3"),
    "an end at its first call": ("import os\ndef run(inputs): os._exit(4)\n", "exited with code 4"),
}


def add(number):
    return f"def run(inputs):\n    return {{'y': inputs['x'] + {number}}}\n"


class Deploys(unittest.TestCase):
    redeploys = 12

    def setUp(self):
        folder = Folder()
        self.addCleanup(folder.__exit__)
        self.folder = folder.__enter__()
        self.server = Server(self.folder)
        self.addCleanup(lambda: self.server.kill())

    def deploy(self, first, second, query=""):
        status, _, answer = self.server.call("POST", "/v1/applications" + query,
                                             deployment(DOCUMENT, files={"f.py": first, "g.py": second}))
        return status, json.loads(answer)

    def call(self):
        status, _, body = self.server.call("POST", "/v2/models/app/infer", floats(0))
        self.assertEqual(status, 200, body)
        return json.loads(body)["outputs"][0]["data"][0]

    def met(self, family="sluice_application_requests_total", *labels, outcome='outcome="met"'):
        """The sum of the samples of a family that have these labels."""
        lines = self.server.call("GET", "/metrics")[2].decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines
                   if line.startswith(family + "{") and all(label in line for label in (*labels, outcome)))

    def test_what_does_not_work_is_refused_and_the_version_before_serves(self):
        self.assertEqual(self.deploy(add(1), add(10))[0], 200)
        self.assertEqual(self.call(), 11)
        for name, (broken, said) in BROKEN.items():
            with self.subTest(name):
                status, answer = self.deploy(add(1), broken)
                self.assertEqual(status, 400, answer)
                self.assertIn("function 'g' does not work", answer["error"])
                self.assertIn(said, answer["error"])
                self.assertIn("the version before goes on serving", answer["error"])
                self.assertEqual(self.call(), 11)
        applications = self.server.get("/v1/applications")["applications"]
        self.assertEqual([(a["name"], a["version"], a["state"]) for a in applications if a["name"] == "app"],
                         [("app", 1, "READY")])

    def ask(self, method, path, body=None):
        status, _, answer = self.server.call(method, path, body)
        return status, json.loads(answer)

    def application(self):
        return [a for a in self.server.get("/v1/applications")["applications"] if a["name"] == "app"][0]

    def pids(self):
        """Of the workers, by function."""
        return {i["function"]: i["pid"] for n in self.server.get("/v1/nodes")["nodes"] for i in n["instances"]}

    def test_back_to_the_version_before_and_to_any_that_is_kept(self):
        for i in range(1, 5):
            self.assertEqual(self.deploy(add(i), add(10))[0], 200)
        self.assertEqual(self.call(), 14)
        self.assertEqual(self.application()["versions"], [1, 2, 3, 4])
        status, answer = self.ask("POST", "/v1/applications/app/rollback")
        self.assertEqual((status, answer["version"]), (200, 3), answer)
        self.assertEqual(self.call(), 13)
        self.assertEqual(self.ask("POST", "/v1/applications/app/rollback?version=1")[0], 200)
        self.assertEqual(self.call(), 11)
        status, answer = self.ask("POST", "/v1/applications/app/rollback")
        self.assertEqual(status, 404)
        self.assertIn("that served before this one is kept", answer["error"])
        self.assertEqual(self.ask("POST", "/v1/applications/app/rollback?version=9")[0], 404)
        self.assertEqual(self.ask("POST", "/v1/applications/app/rollback?version=x")[0], 400)
        self.assertEqual(self.ask("POST", "/v1/applications/nobody/rollback")[0], 404)
        self.assertEqual(self.ask("POST", "/v1/applications/app/promote")[0], 404)
        self.assertEqual(self.deploy(add(7), add(10))[1]["version"], 5)
        # Back to what served, never to what was gone back from.
        self.assertEqual(self.ask("POST", "/v1/applications/app/rollback")[1]["version"], 1)

    def test_what_serves_already_is_no_new_version(self):
        for i in (1, 2):
            self.assertEqual(self.deploy(add(i), add(10))[0], 200)
        status, answer = self.deploy(add(2), add(10))
        self.assertEqual((status, answer["version"]), (200, 2), answer)
        self.assertIn("unchanged: this version serves already", answer["messages"])
        self.assertEqual(self.application()["versions"], [1, 2])
        self.assertEqual(self.call(), 12)
        self.assertEqual(self.ask("POST", "/v1/applications/app/rollback")[1]["version"], 1)
        self.assertEqual(self.call(), 11)

    def test_what_is_served_and_kept_is_there_after_a_crash(self):
        self.assertEqual(self.deploy(add(1), add(10))[0], 200)
        self.assertEqual(self.deploy(add(2), add(10))[0], 200)
        self.assertEqual(self.ask("POST", "/v1/applications/app/rollback")[0], 200)
        self.server.kill()
        self.server = Server(self.folder)
        self.assertEqual(self.call(), 11)
        self.assertEqual(self.application()["versions"], [1, 2])
        self.assertEqual(self.ask("POST", "/v1/applications/app/rollback?version=2")[0], 200)
        self.assertEqual(self.call(), 12)

    def test_a_canary_gets_its_share_until_it_is_promoted_or_taken_back(self):
        self.assertEqual(self.deploy(add(1), add(10))[0], 200)
        status, answer = self.deploy(add(2), add(10), "?canary=25")
        self.assertEqual((status, answer["version"], answer["canary_percent"]), (200, 2, 25), answer)
        self.assertEqual([self.call() for _ in range(8)].count(12), 2)
        status, _, body = self.server.call("POST", "/v2/models/app/versions/2/infer", floats(0))
        self.assertEqual((status, json.loads(body)["model_version"]), (200, "2"))
        self.server.kill()
        self.server = Server(self.folder)  # it is one after a crash too
        self.assertEqual([self.call() for _ in range(8)].count(12), 2)
        wait_until("both calls are counted", lambda: self.application()["canary"]["requests"]["met"] == 2)
        # Of the application all count, and those of the canary once more by themselves.
        wait_until("all calls are counted", lambda: self.met() == 8)
        self.assertEqual(self.met("sluice_canary_requests_total", 'version="2"'), 2)
        self.assertEqual(self.met("nv_inference_request_success", 'model="app"', 'version="2"', outcome=""), 2)
        canary = self.application()["canary"]
        self.assertEqual((canary["version"], canary["percent"]), (2, 25))
        self.assertEqual(self.ask("POST", "/v1/applications/app/rollback")[1]["version"], 1)
        self.assertEqual({self.call() for _ in range(8)}, {11})
        self.assertIsNone(self.application()["canary"])
        wait_until("no call is forgotten", lambda: self.met() == 16)
        self.assertEqual(self.deploy(add(1), add(10), "?canary=25")[1]["canary_percent"], None)  # what serves already
        self.assertEqual(self.deploy(add(3), add(10), "?canary=50")[0], 200)
        self.assertEqual(self.ask("POST", "/v1/applications/app/promote")[1]["version"], 3)
        self.assertEqual({self.call() for _ in range(8)}, {13})
        self.assertEqual(self.deploy(add(3), add(10), "?canary=100")[0], 400)

    def test_unchanged_functions_keep_their_workers_and_those_of_nobody_end(self):
        self.assertEqual(self.deploy(add(1), add(10))[0], 200)
        before = self.pids()
        self.assertEqual(set(before), {"f", "g"})  # a version takes over when its functions are loaded
        changed = DOCUMENT.replace("30s", "20s")
        self.assertEqual(self.ask("POST", "/v1/applications",
                                  deployment(changed, files={"f.py": add(1), "g.py": add(20)}))[0], 200)
        wait_until("the old worker of g ends, that of f stays",
                   lambda: set(self.pids()) == {"f", "g"} and self.pids()["f"] == before["f"]
                   and self.pids()["g"] != before["g"] and before["g"] not in self.server.workers())
        self.assertEqual(self.call(), 21)
        self.assertEqual([f["loaded"] for f in self.application()["functions"]], [["node-0"], ["node-0"]])
        self.assertEqual(self.ask("DELETE", "/v1/applications/app")[0], 200)
        wait_until("workers of nobody end", lambda: self.pids() == {})

    def test_instances_that_stay_are_loaded_before_it_is_ready(self):
        kept = DOCUMENT.replace("model: f.py", "model: f.py, min_instances: 2")
        self.assertEqual(self.ask("POST", "/v1/applications",
                                  deployment(kept, files={"f.py": add(1), "g.py": add(2)}))[0], 200)
        loaded = [i["function"] for n in self.server.get("/v1/nodes")["nodes"] for i in n["instances"]]
        self.assertEqual(loaded.count("f"), 2)
        self.server.kill()
        self.server = Server(self.folder)
        wait_until("ready once they are loaded again", lambda: self.server.call("GET", "/v2/health/ready")[0] == 200)
        loaded = [i["function"] for n in self.server.get("/v1/nodes")["nodes"] for i in n["instances"]]
        self.assertEqual(loaded.count("f"), 2)

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

    def test_a_server_killed_in_the_middle_of_deployments_comes_back_with_a_whole_version(self):
        self.assertEqual(self.deploy(add(1), add(10))[0], 200)
        told, asked, luck = 1, {1}, random.Random(2)
        for kill in range(max(3, self.redeploys // 4)):
            over = threading.Event()

            def deployer():
                nonlocal told
                while not over.is_set():
                    number = max(asked) + 1
                    asked.add(number)
                    try:
                        if self.deploy(add(number), add(10 * number))[0] == 200:
                            told = number
                    except (OSError, http.client.HTTPException):
                        return
            thread = threading.Thread(target=deployer)
            thread.start()
            time.sleep(luck.uniform(0.2, 1.5))
            self.server.kill()
            over.set()
            thread.join()
            self.server = Server(self.folder)
            status, _, body = self.server.call("POST", "/v2/models/app/infer", floats(0))
            self.assertEqual(status, 200, body)
            served = json.loads(body)["outputs"][0]["data"][0] / 11
            # What was told to be deployed, or one that nobody was told of; never halves of two.
            self.assertIn(served, {n for n in asked if n >= told}, f"kill {kill}")

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
            luck = random.Random(1)
            for i in range(self.redeploys):
                if i % 4 == 2:  # a worker crashes between two deployments
                    alive = [pid for pid in self.pids().values() if pid > 0]  # the last one may just have been killed
                    if alive:
                        os.kill(luck.choice(alive), signal.SIGKILL)
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
