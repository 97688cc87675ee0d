#!/usr/bin/env python3
"""What functions can reach: hostile ones of every kind, of two tenants, beside clients that hold connections.

usage: boundary.py
A Python function (documents/reach.py) tries what its input says: to cut the arena, to read the server's key, database and
memory, another tenant's memory, to signal the server, to connect to its socket. Every try must fail, and the server must live. Descriptors of all workers
are looked at from outside while clients are connected; a connection that ends is gone.
"""
import json
import os
import subprocess
import sys

from serving import HERE, PROGRAM, Failure, Server, Tenant, children, run_in_folder, state_of, wait_until

TRIES = ("ftruncate", "key", "database", "environ", "memory", "signal", "others", "models", "socket")


def document(tenant):
    python = "{runtime: python, model: reach.py, inputs: {what: {type: BYTES, shape: [1]}}, " \
             "outputs: {said: {type: BYTES, shape: [1]}}, profile: {table: [[1, 1, 0, 5.0, 1.0]]}}"
    program = "{runtime: process, command: [sh, -c, 'while read line; do ls -l /proc/self/fd >&2; echo \"{}\" >&3; done'], " \
              "profile: {table: [[1, 1, 0, 5.0, 1.0]]}}"
    emulated = "{runtime: emulated, profile: {table: [[1, 1, 0, 1.0, 0.1]]}}"
    return (f"application: {tenant}-app\ntenant: {tenant}\nslo: {{latency: 60s}}\nfunctions:\n  reach: {python}\n  program: {program}\n"
            f"  emulated: {emulated}\nworkflow:\n  reach: {{}}\n  program: {{}}\n  emulated: {{}}\n")


class Hostile(Tenant):
    """One with the application above."""

    def __init__(self, server, name):
        super().__init__(server, name)
        self.deploy(document(name), files={"reach.py": (HERE / "documents/reach.py").read_text()})

    def run(self, function, inputs):
        return self.infer(f"{self.name}-app.{function}", inputs)

    def ask(self, what):
        body = [{"name": "what", "datatype": "BYTES", "shape": [1], "data": [json.dumps(what)]}]
        return json.loads(self.run("reach", body)["outputs"][0]["data"][0])


def descendants(pid):
    out = []
    for child in children(pid):
        if state_of(child) not in "ZX":
            out += [child, *descendants(child)]
    return out


def tcp_sockets():
    """Inodes of all TCP sockets of this machine."""
    out = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table, encoding="ascii") as rows:
            out.update(line.split()[9] for line in list(rows)[1:])
    return out


def held_by(pid):
    out = []
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            out.append(os.readlink(entry.path))
        except FileNotFoundError:
            continue
    return out


def check_descriptors(server):
    of_server = {name for name in server.files() if name.startswith(("anon_inode:[eventpoll]", "socket:"))}
    tcp = tcp_sockets()
    workers = descendants(server.pid)
    if len(workers) < 4:
        raise Failure(f"only {len(workers)} workers are there")
    for pid in workers:
        for name in held_by(pid):
            inode = name[len("socket:["):-1] if name.startswith("socket:[") else None
            if inode in tcp:
                raise Failure(f"worker {pid} holds a TCP socket of the server: {held_by(pid)}")
            if inode and name in of_server:
                raise Failure(f"worker {pid} holds {name}, which the server has: {held_by(pid)}")
            if ".db" in name or name.endswith((".log", "/key")):
                raise Failure(f"worker {pid} holds {name}")


def lingering(server):
    """Connections that the other end has closed and this one has not."""
    with open("/proc/net/tcp", encoding="ascii") as rows:
        fields = [line.split() for line in list(rows)[1:]]
    return [row for row in fields if row[3] == "08" and row[1].endswith(f":{server.host_and_port[1]:04X}")]


def check_connections(server):
    """Workers that are started while clients are connected hold none of their connections."""
    connections = [server.connect() for _ in range(3)]
    late = Hostile(server, "late")
    late.ask({"try": "ftruncate"})
    check_descriptors(server)
    for connection in connections:
        connection.close()
    wait_until("connections end", lambda: not lingering(server))


def check_socket(data):
    """Where functions are other users, who can open the socket in the data directory is an admin; the command line finds it."""
    path, apart = f"{data}/socket", os.geteuid() == 0 and os.environ.get("SLUICE_WORKER_USERS") != "none"
    if os.path.exists(path) != apart:
        raise Failure(f"{path} is {'not ' if apart else ''}there")
    if apart:
        environment = {name: value for name, value in os.environ.items() if name not in ("SLUICE_KEY", "SLUICE_SERVER")}
        ran = subprocess.run([PROGRAM, "keys", "list"], capture_output=True, text=True, check=False,
                             env={**environment, "SLUICE_DATA": data})
        if ran.returncode != 0 or os.stat(path).st_mode & 0o777 != 0o600:
            raise Failure(f"the socket does not serve its owner: {ran.stdout}{ran.stderr}")


def run(folder, _options):
    with Server(f"{folder}/data", environment={"SLUICE_KEY": "not-for-functions"}) as server:
        check_socket(os.path.abspath(f"{folder}/data"))
        one, other = Hostile(server, "one"), Hostile(server, "other")
        for tenant in (one, other):
            tenant.run("program", [])
            tenant.run("emulated", [])
        data, secret = os.path.abspath(f"{folder}/data"), other.ask({"try": "secret"})["secret"]
        if not other.ask({"try": "others", "secret": secret})["reached"]:
            raise Failure("a tenant does not find its own bytes: the test is blind")
        for what in TRIES:
            said = one.ask({"try": what, "data": data, "server": server.pid, "secret": secret})
            if said["reached"]:
                raise Failure(f"a function got through: {what}")
        check_connections(server)
        if not server.alive or server.stop() != 0:
            raise Failure(f"the server did not end well: {server.lines[-3:]}")
    print(f"ok: {len(TRIES)} tries of a hostile function failed, and workers hold their own descriptors only")


if __name__ == "__main__":
    sys.exit(run_in_folder(run, None))
