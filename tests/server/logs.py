#!/usr/bin/env python3
"""The log of `sluice up`: what is in it, in which form, and that it is opened again at SIGHUP.

usage: logs.py
"""
import json
import os
import re
import signal
import subprocess
import unittest
from pathlib import Path

from serving import PROGRAM, Folder, Server, floats, wait_until
from startup import refused

EXITS = """
application: exits
slo: {latency: 60s}
functions: {exits: {runtime: process, command: [sh, -c, "read line; exit 3"], profile: {table: [[1, 1, 0, 5.0, 1.0]]}}}
workflow: {exits: {}}
"""
FINE = """
application: fine
slo: {latency: 60s}
functions: {fine: {runtime: emulated, memory: 10MB, profile: {table: [[1, 1, 0, 1.0, 0.1]]}}}
workflow: {fine: {}}
"""
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")


class Logs(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.addCleanup(folder.__exit__)
        self.folder = folder.__enter__()
        self.file = Path(self.folder, "sluice.log")

    def server(self, *options):
        server = Server(f"{self.folder}/data", *options)
        self.addCleanup(server.kill)
        return server

    def lines(self):
        return [json.loads(line) for line in self.file.read_text().splitlines()]

    def wait_for(self, component, text):
        return wait_until(f"{component} logs: {text}", lambda: next(
            (line for line in self.lines() if line["component"] == component and text in line["message"]), None), patience=10)

    def test_json(self):
        server = self.server("--log", "json", "--log-file", str(self.file))
        self.wait_for("server", f"listens on http://{server.address}")
        server.deploy(FINE, EXITS)
        self.wait_for("applications", "application 'fine' version 1 is deployed")
        self.assertEqual(server.call("POST", "/v2/models/fine/infer", floats(1))[0], 200)
        self.wait_for("worker", "the worker of function 'fine' has loaded it: process ")
        self.assertEqual(server.call("POST", "/v2/models/exits/infer", floats(1))[0], 500)
        failed = self.wait_for("requests", "a request of 'exits' failed: the program exited with code 3")
        newest = server.get("/v1/requests?application=exits&limit=1")["requests"][0]
        self.assertEqual(failed["request"], newest["id"])
        self.assertEqual(failed["level"], "warning")
        wrong = {"main": "app.yaml", "files": [{"path": "app.yaml", "base64": "bm9uc2Vuc2U6IDE="}]}
        self.assertEqual(server.call("POST", "/v1/applications", wrong)[0], 400)
        self.wait_for("applications", "'app.yaml' was not deployed: ")
        self.assertEqual(server.call("DELETE", "/v1/applications/fine")[0], 200)
        self.wait_for("applications", "application 'fine' is removed")
        self.assertEqual(server.stop(), 0)
        self.assertIn("ok: everything was answered", server.lines)  # the console has what it had before
        self.assertFalse([line for line in server.lines if "is deployed" in line])
        lines = self.lines()
        for line in lines:
            self.assertRegex(line["time"], INSTANT)
            self.assertIn(line["level"], ("debug", "info", "warning", "error"))
        self.assertIn("stopped", [line["message"] for line in lines[-5:]])  # workers that end are told meanwhile
        self.assertFalse([line for line in lines if "'fine'" in line["message"] and line["component"] == "requests"])

    def test_failures_are_kept_to_a_rate(self):
        server = self.server("--log", "json", "--log-file", str(self.file))
        server.deploy(EXITS)
        for _ in range(40):
            self.assertEqual(server.call("POST", "/v2/models/exits/infer", floats(1))[0], 500)
        server.stop()
        said = [line for line in self.lines() if line["component"] == "requests"]
        seconds = {line["time"][:19] for line in said}
        self.assertLessEqual(len(said), 10 * (len(seconds) + 1))
        if len(said) < 40:
            more = [re.search(r"; (\d+) others before it", line["message"]) for line in said]
            self.assertLessEqual(len(said) + sum(int(found[1]) for found in more if found), 40)

    def test_what_a_quota_refuses(self):
        server = self.server("--log", "json", "--log-file", str(self.file))
        server.deploy(FINE)
        self.assertEqual(server.call("POST", "/v1/tenants/default", {"requests": 0})[0], 200)
        self.assertEqual(server.call("POST", "/v2/models/fine/infer", floats(1))[0], 429)
        line = self.wait_for("requests", "a request of 'fine' was refused: ")
        self.assertIn("quota exceeded", line["message"])
        self.assertEqual(line["level"], "info")

    def test_text_on_stderr_takes_the_place_of_lines_for_people(self):
        server = self.server("--log", "text")
        server.deploy(FINE)
        wait_until("it is logged", lambda: any(re.match(
            r"\S+Z info applications: application 'fine' version 1 is deployed$", line) for line in server.lines))
        self.assertEqual(server.stop(), 0)
        for line in server.lines:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\S+Z (debug|info|warning|error) \w+: ")

    def test_level(self):
        server = self.server("--log", "json", "--log-file", str(self.file), "--log-level", "error")
        server.deploy(FINE)
        server.stop()
        self.assertEqual([line for line in self.lines() if line["level"] != "error"], [])

    def test_opened_again_at_sighup(self):
        server = self.server("--log", "json", "--log-file", str(self.file))
        self.wait_for("server", "listens on")
        moved = Path(f"{self.file}.1")
        self.file.rename(moved)
        server.signal(signal.SIGHUP)
        wait_until("there is a new file", self.file.exists, patience=10)
        server.deploy(FINE)
        self.wait_for("applications", "application 'fine' version 1 is deployed")
        self.assertNotIn("is deployed", moved.read_text())
        self.assertTrue(server.alive)

    def test_a_console_that_stands_still_holds_up_nobody(self):
        """Its pipe is full and nobody reads it; requests that fail are answered all the same."""
        reads, writes = os.pipe()
        process = subprocess.Popen([PROGRAM, "up", "--data", f"{self.folder}/data", "--listen", "127.0.0.1:0", "--json",
                                    "--log", "text", "--log-level", "debug"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=writes, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        address = json.loads(process.stdout.readline())["listening"]
        process.stdout.close()
        os.set_blocking(writes, False)
        try:
            while True:
                os.write(writes, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(writes, True)
        server = Server.__new__(Server)
        server.address, server.key = address, Path(self.folder, "data/key").read_text().strip()
        server.deploy(EXITS, FINE)
        for _ in range(5):
            self.assertEqual(server.call("POST", "/v2/models/exits/infer", floats(1))[0], 500)
            self.assertEqual(server.call("POST", "/v2/models/fine/infer", floats(1))[0], 200)
        os.close(writes)
        os.close(reads)

    def test_nonsense_is_refused(self):
        data = ("--data", f"{self.folder}/data", "--listen", "127.0.0.1:0")
        self.assertIn("write text or json", refused(*data, "--log", "xml"))
        self.assertIn("write debug, info, warning or error", refused(*data, "--log-level", "loud"))
        self.assertIn("says nothing without a log", refused(*data, "--log-level", "debug"))
        self.assertIn("no/such/folder", refused(*data, "--log-file", f"{self.folder}/no/such/folder/log"))


if __name__ == "__main__":
    unittest.main()
