"""A real `sluice up` in a folder of its own, and what the tests of this folder look at from outside: HTTP, processes, files.

Standard library only. The program is $SLUICE, else build/release/sluice; $SLUICE_SANITIZED says that memory cannot be judged.
"""
import base64
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = os.environ.get("SLUICE") or str(HERE.parents[1] / "build/release/sluice")
SANITIZED = bool(os.environ.get("SLUICE_SANITIZED"))
HOSTILE_WORKER = os.environ.get("HOSTILE_WORKER") or str(Path(PROGRAM).parent / "tests/invoker/hostile_worker")
PATIENCE = 60  # seconds in which anything that must happen has happened, on a busy machine too
MARK = "SLUICE_TEST_MARK"  # in the environment of a server, and so of every process it starts


class Failure(Exception):
    """What a test found wrong."""


def wait_until(what, holds, patience=PATIENCE):
    """Looks until `holds` gives something true, and returns that."""
    end = time.monotonic() + patience
    while True:
        seen = holds()
        if seen:
            return seen
        if time.monotonic() > end:
            raise Failure(f"waited {patience} s in vain: {what}")
        time.sleep(0.01)


class Folder:
    """A folder that goes when the test does."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="sluice-server-test-")
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def run_in_folder(run, options):
    """The exit status of a test that is a program: run(folder, options), which raises a Failure if it fails."""
    with Folder() as folder:
        try:
            run(folder, options)
        except Failure as failure:
            print(f"error: {failure}", file=sys.stderr)
            return 1
    return 0


class Server:
    """`sluice up` on a free port. Everything it starts carries its mark, so that what is left over is found."""

    def __init__(self, data, *options, mark=None, listen="127.0.0.1:0", environment=None):
        self.mark = mark or uuid.uuid4().hex
        self.lines = []  # of stdout and stderr, after the first
        command = [PROGRAM, "up", "--data", str(data), "--listen", listen, "--json", *options]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True,
                                        env={**os.environ, **(environment or {}), MARK: self.mark, "SLUICE_WORKER_ENV": MARK})
        self.pid = self.process.pid
        first = self.process.stdout.readline()
        while first and not first.startswith('{"listening"'):  # what it has to say of old applications
            self.lines.append(first.rstrip("\n"))
            first = self.process.stdout.readline()
        if not first:
            raise Failure(f"the server did not start: {' | '.join(self.lines)}")
        self.address = json.loads(first)["listening"]
        self.key = (Path(data) / "key").read_text().strip()  # of an admin
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    @property
    def alive(self):
        return self.process.poll() is None

    @property
    def host_and_port(self):
        host, port = self.address.rsplit(":", 1)
        return host, int(port)

    def connect(self, timeout=PATIENCE):
        return socket.create_connection(self.host_and_port, timeout=timeout)

    def call(self, method, path, body=None, headers=None, timeout=PATIENCE):
        """(status, headers, bytes) of one request on a connection of its own; a dictionary as body is JSON. With the admin's
        key, unless another one is given; `{"X-API-Key": ""}` is none."""
        return call(self.address, method, path, body, {"X-API-Key": self.key, **(headers or {})}, timeout)

    def get(self, path):
        status, _, body = self.call("GET", path)
        if status != 200:
            raise Failure(f"GET {path}: {status} {body[:300]!r}")
        return json.loads(body)

    def deploy(self, *documents, files=None):
        for document in documents:
            status, _, body = self.call("POST", "/v1/applications", deployment(document, files=files))
            if status != 200:
                raise Failure(f"{document} was not deployed: {status} {body!r}")

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, patience=PATIENCE):
        """The exit status, once it has ended and all of its output is read."""
        status = self.process.wait(timeout=patience)
        self.reader.join(timeout=patience)
        self.process.stdout.close()
        return status

    def stop(self):
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        if self.alive:
            self.signal(signal.SIGKILL)
        self.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        end_marked(self.mark)

    def workers(self):
        """The processes it started and that live."""
        return [pid for pid in children(self.pid) if state_of(pid) not in "ZX"]

    def files(self):
        """Open file descriptors, as text what each is."""
        out = []
        for entry in os.scandir(f"/proc/{self.pid}/fd"):
            try:
                out.append(os.readlink(entry.path))
            except FileNotFoundError:
                continue
        return sorted(out)

    def resident(self):
        """Bytes of memory that are its own: tensors in shared memory have a bound and a figure of their own."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            return sum(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))


class Tenant:
    """A tenant of a server, with a key that may deploy."""

    def __init__(self, server, name):
        self.server, self.address, self.name, self.headers = server, server.address, name, {}
        self.post("/v1/tenants", {"name": name})
        self.key = self.post("/v1/keys", {"name": f"of-{name}", "tenant": name, "role": "deployer"})["key"]
        self.headers = {"X-API-Key": self.key}

    def post(self, path, body):
        status, _, answer = self.server.call("POST", path, body, self.headers)
        if status != 200:
            raise Failure(f"{self.name}: POST {path}: {status} {answer[:300]!r}")
        return json.loads(answer)

    def deploy(self, document, files=None):
        self.post("/v1/applications", deployment(document, files=files))

    def infer(self, model, inputs):
        return self.post(f"/v2/models/{model}/infer", {"inputs": inputs})


def call(address, method, path, body=None, headers=None, timeout=PATIENCE):
    """As Server.call, for those who know no more than the address; the key is $SLUICE_KEY."""
    headers = {"X-API-Key": os.environ.get("SLUICE_KEY", ""), **(headers or {})}
    host, port = address.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=timeout)
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
    try:
        connection.request(method, path, body=body, headers=headers)
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()
    finally:
        connection.close()


def deployment(document, path="app.yaml", files=None):
    """The body that deploys a file of documents/, or a text, with the files it names."""
    text = (HERE / "documents" / document).read_text() if document.endswith(".yaml") else document
    return {"main": path, "files": [{"path": name, "base64": base64.b64encode(content.encode()).decode()}
                                    for name, content in {path: text, **(files or {})}.items()]}


def floats(*values, name="x"):
    """The body of an inference with one input."""
    return {"inputs": [{"name": name, "datatype": "FP32", "shape": [len(values)], "data": list(values)}]}


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def children(pid):
    out = set()
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as own:
                out.update(int(child) for child in own.read().split())
    except (FileNotFoundError, ProcessLookupError):
        pass  # a thread that ended meanwhile, or all of it
    return sorted(out)


def marked(mark):
    """All living processes that were started by a server with this mark, or by one of its children."""
    wanted, out = f"{MARK}={mark}".encode(), []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as environ:
                if wanted in environ.read().split(b"\0") and state_of(int(name)) not in "ZX":
                    out.append(int(name))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return out


def end_marked(mark):
    """What functions of a server that was killed have left."""
    for pid in marked(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def left_in_shared_memory():
    """Names in /dev/shm that could be ours; tensors are in memory without a name, so there are none."""
    return sorted(name for name in os.listdir("/dev/shm") if "sluice" in name)


def left_control_groups(pids):
    """Control groups that servers with these process ids made."""
    names = {f"sluice-{pid}" for pid in pids}
    return sorted(os.path.join(folder, name) for folder, folders, _ in os.walk("/sys/fs/cgroup")
                  for name in folders if name in names)
