"""The processes of a benchmark of the live platform: sluice up with its workers, nginx, the load generator.

All of them run on loopback with their files in a temporary folder, and end with the `with` block that started them.
"""
import contextlib
import dataclasses
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

STOP_SECONDS = 10


@dataclasses.dataclass
class World:
    """Where programs and files are, and how processes are started."""
    release: Path  # the build
    folder: Path   # temporary
    realtime: bool = False  # everything that is measured runs before whatever else the machine does

    def program(self, name):
        return str(self.release / name)

    def command(self, words):
        return (["chrt", "-f", "1"] if self.realtime else []) + [str(word) for word in words]

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


def stop(process):
    """SIGTERM, and SIGKILL for what does not end."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def children_of(pid):
    """A process and all that come from it."""
    out = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            out += children_of(int(child))
    return out


class Sluice:
    """A server that is up."""

    def __init__(self, world, data, process, ready):
        self.world, self.data, self.process = world, data, process
        self.address = ready["listening"]
        self.port = int(self.address.rpartition(":")[2])

    def deploy(self, document):
        path = self.world.file("app.yaml", document)
        subprocess.run([self.world.program("sluice"), "deploy", str(path)], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "SLUICE_SERVER": self.address, "SLUICE_DATA": str(self.data)})

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=10) as answer:
            return json.load(answer)

    def compute(self, model):
        """Batches run and the nanoseconds that workers took for them, so far; snapshots are up to 50 ms old."""
        time.sleep(0.1)
        infer = self.get(f"/v2/models/{model}/stats")["model_stats"][0]["inference_stats"]["compute_infer"]
        return infer["count"], infer["ns"]

    def objects(self):
        time.sleep(0.1)
        return self.get("/v1/status")["objects"]

    def pids(self):
        return children_of(self.process.pid)


@contextlib.contextmanager
def sluice(world, *options):
    data = world.folder / f"data-{time.monotonic_ns()}"
    process = subprocess.Popen(
        world.command([world.program("sluice"), "up", "--data", data, "--listen", "127.0.0.1:0", "--json", *options]),
        stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("sluice up did not start")
        yield Sluice(world, data, process, json.loads(line))
    finally:
        stop(process)
        process.stdout.close()
        shutil.rmtree(data, ignore_errors=True)


NGINX = """
worker_processes 1; daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log crit;
events {{ worker_connections 8192; }}
http {{
  access_log off; keepalive_requests 1000000000; default_type application/json;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder};
  scgi_temp_path {folder};
  server {{ listen 127.0.0.1:{port}; location / {{ return 200 '{answer}'; }} }}
}}
"""


@dataclasses.dataclass
class Nginx:
    port: int
    pid: int


@contextlib.contextmanager
def nginx(world, answer):
    """nginx that answers everything with a constant; None where it is not installed."""
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if program is None:
        yield None
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    path = world.file("nginx.conf", NGINX.format(folder=world.folder, port=port, answer=answer))
    process = subprocess.Popen(world.command([program, "-c", path, "-p", world.folder]))
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield Nginx(port, process.pid)
    finally:
        stop(process)


@dataclasses.dataclass
class Floor:
    port: int
    pids: list


@contextlib.contextmanager
def floor(world, answer):
    """A server that does nothing but pass messages: what Sluice cannot be faster than."""
    process = subprocess.Popen(world.command([world.program("bench/floor_server"), answer]), stdout=subprocess.PIPE, text=True)
    try:
        yield Floor(int(process.stdout.readline()), children_of(process.pid))
    finally:
        stop(process)
        process.stdout.close()


def load(world, port, target, body, **options):
    """Runs the load generator; its figures. Options are its own, with `_` for `-`; `pids` and `headers` are lists."""
    words = [world.program("bench/http_load"), "--json", "--port", port, "--target", target, "--body",
             world.file("body", body)]
    for pid in options.pop("pids", []):
        words += ["--pid", pid]
    for header in options.pop("headers", []):
        words += ["--header", header]
    for name, value in options.items():
        words += ["--" + name.replace("_", "-")] + ([] if value is True else [value])
    ran = subprocess.run(world.command(words), check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(ran.stdout)
