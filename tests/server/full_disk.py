#!/usr/bin/env python3
"""A data directory on a disk that is full: what needs no disk goes on, what does is refused with a reason, and all is well again
when there is room. Uses a small tmpfs in a mount namespace of its own; exits with 77 (skipped) where that is not allowed."""
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from serving import PATIENCE, PROGRAM, Folder, Server, deployment, floats, wait_until

SKIPPED = 77
INSIDE = "SLUICE_TEST_MOUNTS"  # set: in a namespace of our own


class FullDisk(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.addCleanup(folder.__exit__)
        self.data = folder.__enter__()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", self.data], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.data], check=True)

    def fill(self):
        with open(f"{self.data}/filler", "ab", buffering=0) as filler:
            for size in (1 << 16, 1 << 10, 1):
                try:
                    while filler.write(b"x" * size):
                        pass
                except OSError:
                    continue

    def make_room(self):
        os.unlink(f"{self.data}/filler")

    def later(self, server):
        status, _, body = server.call("POST", "/v2/models/plain/infer?async=true", floats(*range(100_000)))
        return status, json.loads(body)

    def test_serves_on_and_recovers(self):
        with Server(self.data) as server:
            server.deploy("plain.yaml")
            before = self.later(server)[1]["id"]
            wait_until("it is answered", lambda: server.get(f"/v1/requests/{before}")["state"] == "met")
            self.fill()
            # Until the room that the event log has made is used up, and beyond.
            stopped = lambda: any("the event log has stopped" in line and "No space left" in line for line in server.lines)
            after, number = 50, 0
            while after > 0:
                number += 1
                after -= stopped()
                self.assertLess(number, 20_000, "the event log goes on and on")
                status, _, body = server.call("POST", "/v2/models/plain/infer", floats(number))
                self.assertEqual(status, 200, body)
            refusals = [self.later(server) for _ in range(5)]  # the first ones may still fit into what the database has
            status, reply = refusals[-1]
            self.assertEqual(status, 503, reply)
            self.assertIn("full", reply["error"])
            status, _, body = server.call("POST", "/v1/applications", deployment("declared.yaml"))
            self.assertEqual(status, 503, body)
            self.assertIn("full", json.loads(body)["error"])
            self.assertEqual(server.get(f"/v1/requests/{before}")["state"], "met")
            self.assertEqual([a["name"] for a in server.get("/v1/applications")["applications"]], ["plain"])
            self.make_room()
            status, reply = self.later(server)
            self.assertEqual(status, 202, reply)
            wait_until("it is answered", lambda: server.get(f"/v1/requests/{reply['id']}")["state"] == "met")
            server.deploy("declared.yaml")
            self.assertEqual(server.stop(), 0)

    def test_answers_what_was_accepted_before(self):
        """The answer of an accepted request is not lost: it is written when there is room, or computed again after a restart."""
        slow = ("application: plain\nslo: {latency: 60s}\nfunctions:\n  f: {runtime: emulated, memory: 1MB, profile: {table: "
                "[[1, 1, 0, 1500.0, 1.0]]}}\nworkflow:\n  f: {}\n")
        with Server(self.data) as server:
            server.deploy(slow)
            status, reply = self.later(server)
            self.assertEqual(status, 202)
            self.fill()
            wait_until("it has run", lambda: server.get("/v1/status")["in_system"] == 0)
            first = reply["id"]
            self.assertEqual(server.get(f"/v1/requests/{first}")["state"], "running")
            self.make_room()
            second = self.later(server)[1]["id"]
            for request in (first, second):
                wait_until("it is answered", lambda r=request: server.get(f"/v1/requests/{r}")["state"] == "met")
            third = self.later(server)[1]["id"]
            self.fill()
            wait_until("it has run", lambda: server.get("/v1/status")["in_system"] == 0)
            server.stop()
        self.make_room()
        with Server(self.data) as server:
            wait_until("it is answered", lambda: server.get(f"/v1/requests/{third}")["state"] == "met")

    def test_says_why_it_cannot_start(self):
        self.fill()
        ended = subprocess.run([PROGRAM, "up", "--json", "--data", self.data, "--listen", "127.0.0.1:0"], capture_output=True,
                               text=True, timeout=PATIENCE, check=False)
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, r"\Aerror: [^\n]*(No space left|full)[^\n]*\n\Z")


def inside():
    """Runs this script again where mounts are nobody else's."""
    own = {**os.environ, INSIDE: "1"}
    try:
        probe = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False)
        allowed = probe.returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        print("skipped: no mounts are allowed here")
        return SKIPPED
    return subprocess.run(["unshare", "--mount", sys.executable, Path(__file__)], env=own, check=False).returncode


if __name__ == "__main__":
    if INSIDE not in os.environ:
        sys.exit(inside())
    unittest.main()
