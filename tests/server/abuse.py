#!/usr/bin/env python3
"""Hostile clients against a server that must not notice: every answer is clear, others are served meanwhile, nothing leaks.

usage: abuse.py [--seconds S] [--attackers N] [--seed X]
The attacks (attacks.py) run in processes of their own; here a well-behaved client asks all the time, on a connection that it
keeps and on new ones. It must be answered within a second; a second server that nobody attacks tells how slow the machine is
by itself. After a first round of everything, memory may grow by 50 MB at most, and open files must return.
"""
import argparse
import collections
import http.client
import json
import re
import subprocess
import sys
import tempfile
import time

from serving import HERE, PATIENCE, SANITIZED, Failure, Folder, Server, floats, wait_until

CLUSTER = ("--cluster", str(HERE / "documents/cluster.yaml"))
WITHIN = 10.0  # seconds, on cores that attackers and others keep busy
GROWTH_MAX = 50 << 20
SLOW_MACHINE = 10  # times what the server takes that nobody attacks


class WellBehaved:
    """A client that asks, waits, and keeps its connection."""

    def __init__(self, server):
        host, port = server.host_and_port
        self.kept = http.client.HTTPConnection(host, port, timeout=PATIENCE)
        self.server = server

    def ask(self, keep=True):
        """Seconds until the answer; none if the server may not take another connection."""
        began = time.monotonic()
        connection = self.kept if keep else http.client.HTTPConnection(*self.server.host_and_port, timeout=PATIENCE)
        try:
            connection.request("POST", "/v2/models/plain/infer", body=json.dumps(floats(1, 2)))
            reply = connection.getresponse()
            body = reply.read()
        except ConnectionError:
            if keep:
                raise
            return None  # closed: so many were too many that they are not told any more
        finally:
            if not keep:
                connection.close()
        if not keep and reply.status == 503:
            return None
        if reply.status != 200:
            raise Failure(f"a normal request was answered {reply.status} {body!r}")
        return time.monotonic() - began


class Attackers:
    """Processes that run attacks.py, and what they found."""

    def __init__(self, server, seconds, count, seed):
        self.output = [tempfile.TemporaryFile(mode="w+") for _ in range(count)]
        self.processes = [
            subprocess.Popen([sys.executable, HERE / "attacks.py", server.address, str(seed + i), str(seconds)],
                             stdout=output, stderr=output) for i, output in enumerate(self.output)]

    def running(self):
        """Whether there is one; an attack that found something ends it all."""
        for process, output in zip(self.processes, self.output):
            if process.poll() not in (None, 0):
                output.seek(0)
                raise Failure(output.read().strip())
        return any(process.poll() is None for process in self.processes)

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()
        for output in self.output:
            output.close()


class Watch:
    """Asks while others attack, and remembers the worst."""

    def __init__(self, attacked, twin):
        self.attacked, self.twin = WellBehaved(attacked), WellBehaved(twin)
        self.asked, self.worst, self.worst_twin = 0, 0.0, 0.0

    def while_running(self, attackers):
        while attackers.running():
            usual = self.twin.ask()
            self.worst_twin = max(self.worst_twin, usual)
            for keep in (True, False):
                took = self.attacked.ask(keep)
                if took is None:
                    continue
                self.asked += 1
                self.worst = max(self.worst, took)
                if took > WITHIN + SLOW_MACHINE * usual:
                    raise Failure(f"a normal request took {took:.2f} s, {usual:.2f} s where nobody attacks")
            time.sleep(0.05)


def open_files(server):
    kinds = collections.Counter(re.sub("[0-9]+", "N", name.split(":")[0]) for name in server.files())
    workers = len(server.workers())
    kinds["socket"] -= workers
    kinds["pipe"] -= workers
    return kinds


def attack(server, twin, seconds, options):
    attackers = Attackers(server, seconds, options.attackers, options.seed)
    watch = Watch(server, twin)
    try:
        watch.while_running(attackers)
    finally:
        attackers.stop()
        watch.attacked.kept.close()
        watch.twin.kept.close()
    return watch


def run(folder, options):
    with Server(f"{folder}/attacked", *CLUSTER) as server, Server(f"{folder}/twin", *CLUSTER) as twin:
        for one in (server, twin):
            one.deploy("plain.yaml", "declared.yaml")
        try:
            attack(server, twin, 0, options)  # everything once: what is made at first use is there now
            wait_until("connections end", lambda: open_files(server)["socket"] <= 1)
            files, memory = open_files(server), server.resident()
            watch = attack(server, twin, options.seconds, options)
            wait_until(f"open files return to {files}", lambda: open_files(server) == files)
        except (OSError, http.client.HTTPException, Failure) as wrong:
            raise Failure(f"{wrong if isinstance(wrong, Failure) else repr(wrong)}; the server "
                          f"{'lives' if server.alive else 'has ended: ' + ' | '.join(server.lines[-5:])}") from wrong
        growth = server.resident() - memory
        if growth > GROWTH_MAX and not SANITIZED:
            raise Failure(f"memory grew by {growth / 1e6:.0f} MB from {memory / 1e6:.0f} MB")
        if server.stop() != 0:
            raise Failure(f"the server did not end well: {server.lines[-3:]}")
    print(f"ok: {options.seconds:.0f} s; a normal request took at most {watch.worst * 1000:.0f} ms of {watch.asked} "
          f"({watch.worst_twin * 1000:.0f} ms where nobody attacks); memory {memory / 1e6:.0f} MB and {growth / 1e6:+.0f} MB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--attackers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    with Folder() as folder:
        try:
            run(folder, parser.parse_args())
        except Failure as failure:
            print(f"error: {failure}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
