#!/usr/bin/env python3
"""How `sluice up` begins and ends: what it cannot do is one line and status 1; SIGTERM drains, a second one does not."""
import gzip
import json
import os
import signal
import socket
import sqlite3
import subprocess
import threading
import time
import unittest
from pathlib import Path

from serving import (HERE, PATIENCE, PROGRAM, SANITIZED, Failure, Folder, Server, floats, left_control_groups, marked,
                     wait_until)

NOBODY = 65534
SLOW = """
application: slow
slo: {latency: 30s}
functions:
  nap: {runtime: emulated, memory: 10MB, profile: {table: [[1, 1, 0, 1500.0, 1.0]]}}
workflow:
  nap: {}
"""
SLOWEST = SLOW.replace("1500.0", "20000.0").replace("30s", "90s")


def refused(*options, **how):
    """What `sluice up` writes to stderr when it cannot start: checked to be one line that says `error: …`."""
    ended = subprocess.run([PROGRAM, "up", "--json", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           timeout=PATIENCE, check=False, **how)
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("a step took ")]  # on a busy machine
    if ended.returncode != 1 or len(lines) != 1 or not lines[0].startswith("error: ") or ended.stdout:
        raise Failure(f"{options}: status {ended.returncode}, stdout {ended.stdout!r}, stderr {ended.stderr!r}")
    return lines[0]


class CannotStart(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.addCleanup(folder.__exit__)
        self.data = folder.__enter__()

    def up(self, *options, data=None, **how):
        return refused("--data", data or self.data, "--listen", "127.0.0.1:0", *options, **how)

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.assertEqual(refused("--data", self.data, "--listen", address),
                             f"error: {address} is in use: choose another with --listen")

    def test_data_directory_in_use(self):
        with Server(self.data) as other:
            self.assertEqual(self.up(), f"error: data directory {self.data} is in use by another server "
                                        f"(process {other.pid}): stop that one or use another directory")
            self.assertEqual(other.call("GET", "/v2/health/live")[0], 200)

    def test_data_directory_of_a_newer_version(self):
        with Server(self.data) as server:
            server.stop()
        with sqlite3.connect(f"{self.data}/sluice.db") as database:
            database.execute("PRAGMA user_version = 4711")
        database.close()
        self.assertIn("was written by a newer version (schema 4711", self.up())

    def test_data_directory_is_a_file(self):
        path = Path(self.data, "file")
        path.write_text("x")
        self.assertIn(str(path), self.up(data=str(path)))

    @unittest.skipIf(os.geteuid() != 0, "files of somebody else are needed, and only root makes them")
    def test_data_directory_not_writable(self):
        os.chmod(self.data, 0o755)
        line = self.up(user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertIn(self.data, line)
        self.assertIn("Permission denied", line)

    def test_database_of_rubbish(self):
        Path(self.data, "sluice.db").write_bytes(b"this is not a database" * 100)
        self.assertIn("sluice.db", self.up())

    def test_unknown_scheduler(self):
        line = self.up("--scheduler", "nonesuch")
        self.assertIn("nonesuch", line)
        self.assertIn("esg", line)  # says which there are

    def test_cluster_that_is_not_there(self):
        self.assertIn("nowhere.yaml", self.up("--cluster", f"{self.data}/nowhere.yaml"))

    def test_cluster_that_is_another_document(self):
        self.assertIn("is not a cluster", self.up("--cluster", str(HERE / "documents/plain.yaml")))

    def test_cluster_with_errors(self):
        path = Path(self.data, "cluster.yaml")
        path.write_text("cluster: {nodes: [{count: many, vcpu: -3}]}\n")
        line = self.up("--cluster", str(path))
        self.assertIn("cluster.yaml:1:27: ", line)
        self.assertIn("sluice check", line)  # says where the other errors are shown

    def test_listen_nonsense(self):
        for nonsense in ("nonsense", "127.0.0.1", "127.0.0.1:", ":::", "127.0.0.1:99999", "127.0.0.1:-1", "127.0.0.1:http",
                         "no-such-host.invalid:0", "", "256.1.1.1:0"):
            with self.subTest(listen=nonsense):
                refused("--data", self.data, "--listen", nonsense)

    def test_objects_nonsense(self):
        for nonsense in ("much", "-1GB", "0", "999999TB"):
            with self.subTest(objects=nonsense):
                self.up("--objects", nonsense)

    def test_max_request_bytes_nonsense(self):
        for nonsense in ("much", "-1MB", "0"):
            with self.subTest(size=nonsense):
                self.assertIn("--max-request-bytes", self.up("--max-request-bytes", nonsense))


class Limits(unittest.TestCase):
    def test_max_request_bytes(self):
        with Folder() as data, Server(data, "--max-request-bytes", "20KiB") as server:
            server.deploy("plain.yaml")
            text = json.dumps(floats(1)).encode()
            self.assertEqual(server.call("POST", "/v2/models/plain/infer", text.ljust(20 << 10))[0], 200)
            packed = {"Content-Encoding": "gzip"}
            for body, headers in ((text.ljust((20 << 10) + 1), {}), (gzip.compress(text.ljust((20 << 10) + 1)), packed)):
                status, _, said = server.call("POST", "/v2/models/plain/infer", body, headers)
                self.assertEqual(status, 413, said)
                self.assertIn("longer than 20480 bytes", json.loads(said)["error"])


class GuardedAddress(unittest.TestCase):
    """One that others than this machine can reach: without a key there is health, and metrics unless they are guarded."""

    def statuses(self, *options):
        with Folder() as data, Server(data, *options, listen="0.0.0.0:0") as server:
            return [server.call("GET", path, headers={"X-API-Key": ""})[0]
                    for path in ("/v2/health/live", "/v2/health/ready", "/metrics", "/v2", "/v1/status")]

    def test_without_a_key(self):
        self.assertEqual(self.statuses(), [200, 200, 200, 401, 401])
        self.assertEqual(self.statuses("--guard-metrics"), [200, 200, 401, 401, 401])


class Ends(unittest.TestCase):
    def in_background(self, server, answers):
        """A synchronous request under way; its answer is appended."""
        def ask():
            answers.append(server.call("POST", "/v2/models/slow/infer", floats(1)))
        thread = threading.Thread(target=ask)
        thread.start()
        wait_until("both requests are there", lambda: server.get("/v1/status")["in_system"] == 2)
        return thread

    def test_first_signal_answers_what_has_begun(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number), Folder() as data, Server(data) as server:
                server.deploy(SLOW)
                later = json.loads(server.call("POST", "/v2/models/slow/infer?async=true", floats(2))[2])["id"]
                answers = []
                thread = self.in_background(server, answers)
                server.signal(number)
                wait_until("it drains", lambda: any("draining" in line for line in server.lines))
                status, _, body = server.call("POST", "/v2/models/slow/infer", floats(3))
                self.assertEqual((status, json.loads(body)),
                                 (503, {"error": "the server is stopping", "code": "NO_CAPACITY", "retry_after_ms": 10000}))
                thread.join()
                self.assertEqual(answers[0][0], 200, answers)
                self.assertEqual(server.wait(), 0)
                self.assertIn("ok: everything was answered", server.lines)  # a slow step may be told after it
                self.assertEqual(marked(server.mark), [])
                self.assertEqual(left_control_groups([server.pid]), [])
                with Server(data) as again:
                    self.assertEqual(again.get(f"/v1/requests/{later}")["state"], "met")

    def test_second_signal_stops_at_once(self):
        with Folder() as data, Server(data) as server:
            server.deploy(SLOWEST)
            later = json.loads(server.call("POST", "/v2/models/slow/infer?async=true", floats(2))[2])["id"]
            wait_until("it runs", lambda: server.get("/v1/nodes")["nodes"][0]["running"] == 1)
            server.signal(signal.SIGTERM)
            wait_until("it drains", lambda: any("draining" in line for line in server.lines))
            began = time.monotonic()
            server.signal(signal.SIGTERM)
            self.assertEqual(server.wait(), 128 + signal.SIGTERM)
            self.assertLess(time.monotonic() - began, 10 if SANITIZED else 1)
            wait_until("its processes end", lambda: not marked(server.mark), patience=1)
            with Server(data) as again:  # what was accepted is not forgotten
                self.assertEqual(again.get(f"/v1/requests/{later}")["state"], "running")

    def test_says_why_an_accepted_request_is_refused_after_a_restart(self):
        with Folder() as data, Server(data) as server:
            server.deploy(SLOWEST)
            later = json.loads(server.call("POST", "/v2/models/slow/infer?async=true", floats(2))[2])["id"]
            self.assertEqual(server.call("DELETE", "/v1/applications/slow")[0], 200)
            server.kill()
            with Server(data) as again:
                wait_until("it is answered", lambda: again.get(f"/v1/requests/{later}")["state"] == "rejected")
                self.assertEqual(again.get(f"/v1/requests/{later}")["error"], "application 'slow' was removed")


if __name__ == "__main__":
    unittest.main()
