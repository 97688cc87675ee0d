#!/usr/bin/env python3
"""Hostile clients against a server that must not notice: every answer is clear, others are served meanwhile, nothing leaks.

usage: abuse.py [--seconds S] [--attackers N] [--seed X]
The attacks (attacks.py) run in processes of their own; here a well-behaved client asks all the time, on a connection that it
keeps and on new ones. It must be answered within two seconds; a second server that nobody attacks tells how slow the machine
is by itself. A third has two tenants: the workers of one break their protocol (hostile_workers.py), the other is asked beside
them and must be answered as well. After a first round of everything, the memory
of the attacked servers may grow by 50 MB at most, and open files must return.
"""
import argparse
import collections
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from serving import HERE, HOSTILE_WORKER, PATIENCE, SANITIZED, Failure, Server, Tenant, floats, run_in_folder, wait_until

CLUSTER = ("--cluster", str(HERE / "documents/cluster.yaml"))
WITHIN = 2.0 * (10 if SANITIZED else 1)  # seconds, on cores that attackers and others keep busy
GROWTH_MAX = 50 << 20
REST = 0 if SANITIZED else 12  # seconds
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
    """Processes that run attacks.py and hostile_workers.py, and what they found."""

    def __init__(self, servers, seconds, options):
        commands = [(servers.attacked, "attacks.py", str(options.seed + i), str(seconds)) for i in range(options.attackers)]
        commands.append((servers.liars, "hostile_workers.py", str(seconds)))
        self.output = [tempfile.TemporaryFile(mode="w+") for _ in commands]
        self.processes = [subprocess.Popen([sys.executable, HERE / script, who.address, *arguments], stdout=output,
                                           stderr=output, env={**os.environ, "SLUICE_KEY": who.key})
                          for (who, script, *arguments), output in zip(commands, self.output)]

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

    def __init__(self, servers):
        self.attacked, self.twin, self.quiet = WellBehaved(servers.attacked), WellBehaved(servers.twin), servers.quiet
        self.asked, self.worst, self.worst_twin, self.worst_quiet = 0, 0.0, 0.0, 0.0

    def ask_quiet(self, usual):
        """Another tenant's functions crash, hang and lie beside it."""
        began = time.monotonic()
        self.quiet.infer("quiet", floats(1, 2)["inputs"])
        took = time.monotonic() - began
        self.worst_quiet = max(self.worst_quiet, took)
        if took > WITHIN + SLOW_MACHINE * usual:
            raise Failure(f"a request of the quiet tenant took {took:.2f} s, {usual:.2f} s where nobody attacks")

    def while_running(self, attackers):
        while attackers.running():
            usual = self.twin.ask()
            self.worst_twin = max(self.worst_twin, usual)
            self.ask_quiet(usual)
            for keep in (True, False):
                took = self.attacked.ask(keep)
                if took is None:
                    continue
                self.asked += 1
                self.worst = max(self.worst, took)
                if took > WITHIN + SLOW_MACHINE * usual:
                    raise Failure(f"a normal request took {took:.2f} s, {usual:.2f} s where nobody attacks")
            time.sleep(0.05)


# `liars` and `quiet` are tenants of `hostile`: one has the hostile workers, the other must not notice.
Servers = collections.namedtuple("Servers", "attacked twin hostile liars quiet")
QUIET = ("application: quiet\ntenant: quiet\nslo: {latency: 60s}\n"
         "functions: {good: {runtime: process, command: unused, profile: {table: [[1, 1, 0, 1.0, 0.1]]}}}\nworkflow: {good: {}}\n")


def open_files(server):
    kinds = collections.Counter(re.sub("[0-9]+", "N", name.split(":")[0]) for name in server.files())
    workers = len(server.workers())
    kinds["socket"] -= workers
    kinds["pipe"] -= workers
    kinds["anon_inode"] -= workers
    return kinds


def attack(servers, seconds, options):
    attackers = Attackers(servers, seconds, options)
    watch = Watch(servers)
    try:
        watch.while_running(attackers)
    finally:
        attackers.stop()
        watch.attacked.kept.close()
        watch.twin.kept.close()
    return watch


def rested(server):
    """Bytes of memory once it has given back what it does not need, which it does within ten seconds (task_thread.h)."""
    ended, least = time.monotonic() + REST, server.resident()
    while time.monotonic() < ended:
        server.get("/v1/status")  # its serving threads give back when they work
        time.sleep(0.05)
        least = min(least, server.resident())
    return least


class Held:
    """What a server holds before it is attacked for long; it must not hold more for good."""

    def __init__(self, server):
        wait_until("connections end", lambda: open_files(server)["socket"] <= server.listening)
        self.server, self.files, self.memory = server, open_files(server), rested(server)

    def growth(self):
        """Bytes, once open files have returned."""
        wait_until(f"open files return to {self.files}", lambda: open_files(self.server) == self.files)
        growth = rested(self.server) - self.memory
        if growth > GROWTH_MAX and not SANITIZED:
            raise Failure(f"memory grew by {growth / 1e6:.0f} MB from {self.memory / 1e6:.0f} MB, for good")
        return growth


def run_attacks(servers, options):
    attack(servers, 0, options)  # everything once: what is made at first use is there now
    before, hostile_before = Held(servers.attacked), Held(servers.hostile)
    watch = attack(servers, options.seconds, options)
    growth, hostile_growth = before.growth(), hostile_before.growth()
    for server in (servers.attacked, servers.hostile):
        if server.stop() != 0:
            raise Failure(f"the server did not end well: {server.lines[-3:]}")
    print(f"ok: {options.seconds:.0f} s; a normal request took at most {watch.worst * 1000:.0f} ms of {watch.asked} "
          f"({watch.worst_twin * 1000:.0f} ms where nobody attacks, {watch.worst_quiet * 1000:.0f} ms beside hostile workers of another "
          f"tenant); memory {before.memory / 1e6:.0f} MB and "
          f"{growth / 1e6:+.0f} MB, with hostile workers {hostile_growth / 1e6:+.0f} MB")


def run(folder, options):
    hostile = {"SLUICE_WORKER": HOSTILE_WORKER}
    with (Server(f"{folder}/attacked", *CLUSTER) as attacked, Server(f"{folder}/twin", *CLUSTER) as twin,
          Server(f"{folder}/hostile", *CLUSTER, environment=hostile) as lied_to):
        for one in (attacked, twin, lied_to):
            one.listening = open_files(one)["socket"]  # nobody has connected yet
        liars, quiet = Tenant(lied_to, "liars"), Tenant(lied_to, "quiet")
        quiet.deploy(QUIET)
        for one in (attacked, twin):
            one.deploy("plain.yaml", "declared.yaml")
        try:
            run_attacks(Servers(attacked, twin, lied_to, liars, quiet), options)
        except (OSError, http.client.HTTPException, Failure) as wrong:
            ended = [" | ".join(s.lines[-5:]) for s in (attacked, lied_to) if not s.alive]
            raise Failure(f"{wrong if isinstance(wrong, Failure) else repr(wrong)}; the server "
                          f"{'has ended: ' + ended[0] if ended else 'lives'}") from wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--attackers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    return run_in_folder(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
