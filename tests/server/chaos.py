#!/usr/bin/env python3
"""Kills workers and the server itself under load, and counts: every accepted request is answered, once, with its own numbers,
and 99 % of them in time.

usage: chaos.py [--requests N] [--seconds S] [--restarts R] [--seed X]
A client of its own posts asynchronous requests; every 200 ms a worker gets SIGKILL, and R times the server, which is started
again on the same data directory. Then all accepted requests are looked up, of which 99 % must be met, the answers written to
the journal are counted (by a trigger that only this test puts there), all event logs are replayed, and after SIGTERM nothing of
the server may be left.
"""
import argparse
import collections
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

from serving import (HERE, PATIENCE, PROGRAM, Failure, Server, floats, left_control_groups, left_in_shared_memory, marked,
                     run_in_folder, wait_until)

KILL_EVERY = 0.2  # seconds
CLUSTER = ("--cluster", str(HERE / "documents/cluster.yaml"))
# What a caller can make sense of when a request fails here: its workers were killed again and again, or once when the
# objective allowed no second attempt. The latter cannot be where the objective is a minute.
MET_LEAST = 0.99  # of all requests: a server that answers with errors only has not survived
UNDERSTOOD = {"chain": ("WorkerFailed: ",), "batched": ("WorkerFailed: ", "DeadlineExceeded")}
COUNT_ANSWERS = """
  CREATE TABLE test_answers(id INTEGER NOT NULL);
  CREATE TRIGGER test_count_answers AFTER UPDATE OF state ON requests BEGIN INSERT INTO test_answers VALUES(NEW.id); END;
"""


def inner_id(shown, secret, rounds=27):
    """The id in the journal of a request that clients know by `shown`: Speck64/128 backwards (gateway/request_ids.h)."""
    def turned(word, left):
        return (word << left | word >> (32 - left)) & 0xFFFFFFFF
    *rest, low = (int(secret[i:i + 8], 16) for i in range(0, 32, 8))
    rest, keys = rest[::-1], []
    for i in range(rounds):
        keys.append(low)
        rest[i % 3] = (turned(rest[i % 3], 24) + low & 0xFFFFFFFF) ^ i
        low = turned(low, 3) ^ rest[i % 3]
    high, low = shown >> 32, shown & 0xFFFFFFFF
    for key in reversed(keys):
        low = turned(low ^ high, 29)
        high = turned((high ^ key) - low & 0xFFFFFFFF, 8)
    return high << 32 | low


class Killer:
    """Kills one worker of the server that is there, again and again, in a thread of its own."""

    def __init__(self, server, seed):
        self.server, self.random, self.killed = server, random.Random(seed), 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        while not self.ended.wait(KILL_EVERY):
            workers = self.server.workers()
            if not workers:
                continue
            try:
                os.kill(self.random.choice(workers), signal.SIGKILL)
                self.killed += 1
            except ProcessLookupError:
                pass

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


class Chaos:
    def __init__(self, folder, options):
        self.options, self.data, self.mark = options, f"{folder}/data", f"chaos-{os.getpid()}"
        self.address_file, self.accepted_file = Path(folder, "address"), Path(folder, "accepted")
        self.accepted_file.touch()
        self.servers = []
        self.killed = 0

    def start(self):
        server = Server(self.data, *CLUSTER, mark=self.mark)
        self.servers.append(server)
        partial = self.address_file.with_suffix(".partial")
        partial.write_text(server.address)
        partial.rename(self.address_file)
        return server

    def accepted(self):
        """Number that was sent → id, of all requests acknowledged until now."""
        whole = self.accepted_file.read_text().rpartition("\n")[0]
        return {int(number): request for request, number in (line.split() for line in whole.splitlines())}

    def prepare(self):
        server = self.start()
        server.deploy("chain.yaml", "batched.yaml")
        server.stop()
        with sqlite3.connect(f"{self.data}/sluice.db") as database:
            database.executescript(COUNT_ANSWERS)
        database.close()

    def under_load(self):
        """The server of the last life, after all requests were accepted."""
        server = self.start()
        warm_up(server)
        before = open_files(server)
        client = subprocess.Popen([sys.executable, HERE / "chaos_client.py", self.address_file, self.accepted_file,
                                   str(self.options.requests), str(self.options.seconds)])
        lives = self.options.restarts + 1
        try:
            for life in range(lives):
                enough = self.options.requests * (life + 1) // lives
                with Killer(server, self.options.seed + life) as killer:
                    wait_until(f"{enough} requests accepted", lambda: len(self.accepted()) >= enough,
                               PATIENCE + self.options.seconds)
                self.killed += killer.killed
                if life + 1 < lives:
                    server.kill()
                    server = self.start()
            if client.wait(timeout=PATIENCE) != 0:
                raise Failure("the client failed")
        finally:
            client.kill()
            client.wait()
        return server, before

    def check_answers(self, server):
        accepted, states = self.accepted(), collections.Counter()
        if len(accepted) != self.options.requests:
            raise Failure(f"{len(accepted)} requests were accepted, {self.options.requests} sent")
        for number, request in sorted(accepted.items()):
            record = wait_until(f"{request} is answered", lambda r=request: ended(server, r))
            states[record["state"]] += 1
            if record["state"] in ("met", "late"):
                data = record["result"]["outputs"][0]["data"]
                if data != [float(number)]:
                    raise Failure(f"request {request} carried {number} and was answered with {data}")
            elif record["state"] != "failed" or not record["error"].startswith(UNDERSTOOD[record["application"]]):
                raise Failure(f"request {request} ended as {record['state']} because of {record['error']!r}")
        if states["met"] < MET_LEAST * len(accepted):
            raise Failure(f"only {states['met']} of {len(accepted)} requests were met: {dict(states)}")
        return states

    def check_logs(self):
        """Of all lives: each is whole up to where its server was killed, and gives the same commands again."""
        for log in sorted(Path(self.data, "events").glob("*.log")):
            ran = subprocess.run([PROGRAM, "replay", log], capture_output=True, text=True, check=False)
            if ran.returncode != 0:
                raise Failure(f"{log.name} does not replay: {ran.stdout}{ran.stderr}")

    def check_journal(self):
        """After the server is gone: nothing unanswered, nothing answered twice."""
        database = sqlite3.connect(f"{self.data}/sluice.db")
        kept = {row[0] for row in database.execute("SELECT id FROM requests WHERE state <> 0")}
        secret = database.execute("SELECT value FROM meta WHERE name = 'request_ids'").fetchone()[0]
        running = database.execute("SELECT count(*) FROM requests WHERE state = 0").fetchone()[0]
        answers = collections.Counter(row[0] for row in database.execute("SELECT id FROM test_answers"))
        database.close()
        lost = {inner_id(int(request, 16), secret) for request in self.accepted().values()} - kept
        twice = [request for request, count in answers.items() if count != 1]
        if lost or running or twice or set(answers) != kept:
            raise Failure(f"lost {len(lost)}, unanswered {running}, answered twice {len(twice)}, "
                          f"answers {len(answers)} of {len(kept)} requests")
        return len(kept)


def ended(server, request):
    record = server.get(f"/v1/requests/{request}")
    return record if record["state"] != "running" else None


def warm_up(server):
    for number in range(3):
        status, _, body = server.call("POST", "/v2/models/chain/infer", floats(number))
        if status != 200:
            raise Failure(f"warm-up: {status} {body!r}")
    request = json.loads(server.call("POST", "/v2/models/chain/infer?async=true", floats(0))[2])["id"]
    wait_until("the warm-up is answered", lambda: ended(server, request))


def open_files(server):
    """Kinds of open files, without those that belong to a worker (its socket, its handle, the pipe of its output) and without the
    connection that has just asked whether all is quiet."""
    kinds = collections.Counter(re.sub("[0-9]+", "N", name.split(":")[0]) for name in server.files())
    workers = len(server.workers())
    kinds["pipe"] -= workers
    kinds["anon_inode"] -= workers
    kinds["socket"] = max(0, kinds["socket"] - workers - 2)
    return kinds


def check_files(server, before):
    """Back to what it was; looked at until it is, since workers come and go."""
    try:
        wait_until("open files", lambda: in_system(server) == 0 and open_files(server) == before, patience=10)
    except Failure as late:
        after = open_files(server)
        different = {kind: (before[kind], after[kind]) for kind in before | after if before[kind] != after[kind]}
        raise Failure(f"open files before and after the load: {different}") from late


def in_system(server):
    return server.get("/v1/status")["in_system"]


def run(folder, options):
    chaos = Chaos(folder, options)
    began = time.monotonic()
    try:
        chaos.prepare()
        server, before = chaos.under_load()
        states = chaos.check_answers(server)
        check_files(server, before)
        status = server.stop()
        if status != 0:
            raise Failure(f"SIGTERM: status {status}, {server.lines[-3:]}")
        kept = chaos.check_journal()
        chaos.check_logs()
        wait_until("all processes are gone", lambda: not marked(chaos.mark), patience=2)
        left = left_in_shared_memory() + left_control_groups([s.pid for s in chaos.servers])
        if left:
            raise Failure(f"left behind: {left}")
    finally:
        for server in chaos.servers:
            server.kill()
    print(f"ok: {options.requests} requests accepted, {json.dumps(dict(states))}, {kept} in the journal with one answer each; "
          f"{chaos.killed} workers and {options.restarts} servers killed in {time.monotonic() - began:.1f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=20, help="over which they are sent")
    parser.add_argument("--restarts", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    return run_in_folder(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
