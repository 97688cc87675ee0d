#!/usr/bin/env python3
"""Every endpoint of docs/api.md, asked of a real server, compared byte by byte with golden/*.txt (ids, times and the like
written as their names).

usage: golden.py [--regenerate]    with it the files are written instead; review the diff
The server has two emulated applications: `declared` says what its tensors are, `plain` does not.
"""
import difflib
import json
import re
import signal
import struct
import sys
import threading

from serving import HERE, Failure, Folder, Server, deployment, floats, wait_until

GOLDEN = HERE / "golden"
# Fields whose value depends on the run, the machine or the clock.
VOLATILE = {"arrived_ms", "latency_ms", "slack_ms", "cost_dollars", "start_ms", "end_ms", "ready_ms", "load_ms", "company_ms", "room_ms", "left_ms", "uptime_s", "data", "pid",
            "listening", "made_ms", "key", "ns", "last_inference", "vcpu_enforced", "memory_enforced", "workers_enforced",
            "bytes_out", "used", "loaded"}
TIMED_METRIC = re.compile(r"^(\w*(?:seconds|duration_us|dollars_total|object_bytes|step_plans)\w*(?:\{[^}]*\})?) \S+$", re.M)
IMAGE = {"inputs": [{"name": "image", "datatype": "FP32", "shape": [1, 2, 1], "data": [0.5, -1.5]}]}


class Session:
    """A server, and the text of all that was said with it."""

    def __init__(self, server):
        self.server, self.text, self.said = server, [], []
        self.ids = {}

    def comment(self, text):
        self.text.append(f"# {text}\n")

    def ask(self, method, path, body=None, headers=None, shown_key=None):
        """Writes down question and answer; returns the answer's JSON, if it has some. `shown_key`: for a key that changes."""
        answer = self.server.call(method, path, body, headers)
        return self.write(method, path, body, headers, answer, shown_key)

    def write(self, method, path, body, headers, answer, shown_key=None, hidden=None):
        """`hidden`: a pattern of numbers in the answer that depend on the run; they are written as N."""
        status, got_headers, got = answer
        if hidden:
            got = re.sub(hidden, lambda m: re.sub(rb"[0-9.]+", b"1", m[0]), got)
        self.said.append((method, path))
        lines = [f"> {method} {self.named(path)}"]
        lines += [f"> {name}: {shown_key if shown_key and name == 'X-API-Key' else value}"
                  for name, value in (headers or {}).items()]
        if body is not None:
            lines.append(f"> {shown(body)}")
        lines.append(f"< {status}")
        kept = ("Allow", "Inference-Header-Content-Length", "Sluice-Request-Id", "Sluice-Row-Request-Ids", "Retry-After", "Content-Encoding", "Accept-Encoding")
        lines += [f"< {name}: {got_headers[name]}" for name in kept if name in got_headers]
        if got_headers.get("Content-Type", "application/json") != "application/json":
            lines.append(f"< Content-Type: {got_headers['Content-Type']}")
        try:
            parsed = json.loads(got)
            lines += [f"< {line}" for line in shown(without_volatile(parsed)).split("\n")]
        except ValueError:
            parsed = None
            lines += [f"< {line}" for line in plain_text(got)]
        self.text.append("\n".join(self.named(line) for line in lines) + "\n")
        return parsed

    def named(self, text):
        """Ids by the order in which they were met."""
        return re.sub(r"(?<![0-9a-f.])[0-9a-f]{16}(?![0-9a-f])",
                      lambda m: self.ids.setdefault(m[0], f"ID{len(self.ids) + 1}"), text)


def shown(value):
    if isinstance(value, bytes):
        return repr(value)[2:-1]
    return re.sub(r'("base64": )"[^"]{20,}"', r'\1"…"', json.dumps(value, ensure_ascii=False))


def plain_text(got):
    if got.startswith(b"{") or not got.isascii():
        return [shown(got)]
    return [TIMED_METRIC.sub(r"\1 NUMBER", line) for line in got.decode().splitlines()]


def without_volatile(value, name=""):
    if name in VOLATILE and value is not None and not (name == "data" and isinstance(value, list)):  # of a tensor
        return name.upper()
    if name == "version" and re.fullmatch(r"\d+\.\d+\.\d+", str(value)):
        return "VERSION"
    if isinstance(value, dict):
        return {key: without_volatile(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_volatile(inner) for inner in value]
    return value


def settled(session, request):
    return wait_until("the request ends", lambda: session.server.get(f"/v1/requests/{request}")["state"] != "running")


def quiet(session):
    """Statistics are published a moment after the answer."""
    wait_until("nothing runs", lambda: session.server.get("/v1/status")["in_system"] == 0 and
               session.server.get("/v1/nodes")["nodes"][0]["running"] == 0)


# --- what is asked; one golden file each, all of one server, in this order

def applications(s):
    s.comment("nothing is deployed yet")
    s.ask("GET", "/v1/applications")
    s.ask("POST", "/v1/applications?dry_run=true", deployment("plain.yaml"))
    s.ask("GET", "/v1/applications")
    s.ask("POST", "/v1/applications", deployment("plain.yaml"))
    s.ask("POST", "/v1/applications", deployment("declared.yaml"))
    s.comment("another version, and one that is removed")
    s.ask("POST", "/v1/applications", deployment("declared.yaml"))
    s.ask("POST", "/v1/applications", deployment(document("passing", "1ms")))
    s.ask("DELETE", "/v1/applications/passing")
    s.ask("DELETE", "/v1/applications/passing")
    s.comment("a canary that is promoted, and back")
    changed = (HERE / "documents/declared.yaml").read_text(encoding="utf-8") + "# another version\n"
    s.ask("POST", "/v1/applications?canary=25", deployment(changed))
    s.ask("POST", "/v1/applications/declared/promote")
    s.ask("POST", "/v1/applications/declared/promote")
    s.ask("POST", "/v1/applications/declared/rollback")
    s.ask("POST", "/v1/applications/declared/rollback?version=9")
    s.ask("POST", "/v1/applications?canary=100", deployment("declared.yaml"))
    s.ask("GET", "/v1/applications")
    s.comment("what is refused")
    s.ask("POST", "/v1/applications", {"main": "../x", "files": [{"path": "../x", "base64": ""}]})
    s.ask("POST", "/v1/applications", {"main": "app.yaml", "files": []})
    s.ask("POST", "/v1/applications", b"rubbish")
    s.ask("POST", "/v1/applications", deployment("application: wrong\nslo: {latency: soon}\n"))
    s.ask("PUT", "/v1/applications")


def document(name, slo):
    return (f"application: {name}\nslo: {{latency: {slo}}}\nfunctions:\n"
            "  f: {runtime: emulated, memory: 1MB, profile: {table: [[1, 1, 0, 200.0, 0.1]]}}\nworkflow:\n  f: {}\n")


def health(s):
    for path in ("/v2/health/live", "/v2/health/ready", "/v2", "/v2/", "/v2/health/other", "/nowhere"):
        s.ask("GET", path)
    s.ask("POST", "/v2/health/live")


def models(s):
    for model in ("plain", "declared", "declared.shrink", "nobody"):
        for what in ("", "/ready", "/config", "/stats"):
            s.ask("GET", f"/v2/models/{model}{what}")
    s.ask("GET", "/v2/models/declared/versions/2")
    s.ask("GET", "/v2/models/declared/versions/2/ready")
    s.ask("GET", "/v2/models/declared/versions/2/config")
    s.ask("GET", "/v2/models/declared/versions/2/stats")
    s.ask("GET", "/v2/models/declared/versions/7")
    s.ask("GET", "/v2/models/stats")
    s.ask("POST", "/v2/repository/index")
    s.ask("POST", "/v2/repository/index", {"ready": True})
    s.ask("POST", "/v2/repository/index", b"ready")
    s.ask("POST", "/v2/repository/index", [True])
    s.ask("POST", "/v2/repository/index", {"ready": "yes"})
    s.ask("POST", "/v2/repository/models/plain/load")
    s.ask("POST", "/v2/repository/models/plain/unload")


def inference(s):
    s.ask("POST", "/v2/models/plain/infer", {"id": "42", **floats(1, 2.5)})
    s.ask("POST", "/v2/models/plain/versions/1/infer", floats(3))
    s.ask("POST", "/v2/models/declared/infer", IMAGE)
    s.ask("POST", "/v2/models/declared.label/infer", IMAGE)
    s.ask("POST", "/v2/models/declared/infer", {**IMAGE, "outputs": [{"name": "image", "parameters": {"binary_data": True}}]})
    description = {"inputs": [{"name": "x", "datatype": "FP16", "shape": [2], "parameters": {"binary_data_size": 4}}],
                   "parameters": {"binary_data_output": True}}
    text = json.dumps(description).encode()
    s.ask("POST", "/v2/models/plain/infer", text + struct.pack("<2e", 1, -2), {"Inference-Header-Content-Length": str(len(text))})
    s.ask("POST", "/v2/models/plain/infer", {"inputs": [{"name": "t", "datatype": "BYTES", "shape": [2], "data": ["é", ""]}]})
    s.comment("what is refused")
    s.ask("POST", "/v2/models/nobody/infer", floats(1))
    s.ask("POST", "/v2/models/plain/versions/9/infer", floats(1))
    s.ask("GET", "/v2/models/plain/infer")
    s.ask("POST", "/v2/models/plain/infer", b"{")
    s.ask("POST", "/v2/models/declared/infer", floats(1))
    s.ask("POST", "/v2/models/declared/infer", {"inputs": [{**IMAGE["inputs"][0], "shape": [1, 3, 1], "data": [1, 2, 3]}]})
    s.ask("POST", "/v2/models/declared/infer", {"inputs": [{**IMAGE["inputs"][0], "datatype": "INT32", "data": [1, 2]}]})
    s.ask("POST", "/v2/models/declared/infer", {**IMAGE, "outputs": [{"name": "nothing"}]})
    s.ask("POST", "/v2/models/declared/infer", {**IMAGE, "outputs": [{"name": "image"}, {"name": "image"}]})
    s.ask("POST", "/v2/models/declared/infer", {"inputs": [{**IMAGE["inputs"][0], "data": [1]}]})
    s.ask("POST", "/v2/models/declared/infer", {"inputs": [{**IMAGE["inputs"][0], "data": [1] * 9}]})
    s.ask("POST", "/v2/models/plain/infer", struct.pack("<2f", 1, 2), {"Inference-Header-Content-Length": "0"})
    s.ask("POST", "/v2/models/plain/infer", struct.pack("<2f", 1, 2), {"Content-Type": "application/octet-stream"})
    s.ask("POST", "/v2/models/plain/infer", {**floats(1), "parameters": {"triton_enable_empty_final_response": True}})
    s.ask("POST", "/v2/models/plain/infer", floats(1), {"Content-Encoding": "br"})
    s.ask("GET", "/v1/status", headers={"Host": "evil.example", "X-API-Key": ""})
    quiet(s)


def requests(s):
    later = s.ask("POST", "/v2/models/plain/infer?async=true", {"id": "mine", **floats(7, 8)})["id"]
    settled(s, later)
    s.ask("GET", f"/v1/requests/{later}")
    s.ask("GET", f"/v1/requests/{later}/trace")
    s.ask("DELETE", f"/v1/requests/{later}")
    half = {"inputs": [{"name": "h", "datatype": "BOOL", "shape": [2], "data": [True, False]}]}
    later = s.ask("POST", "/v2/models/plain/versions/1/infer?async=true", half)["id"]
    settled(s, later)
    s.ask("GET", f"/v1/requests/{later}")
    s.comment("one that is cancelled while it runs")
    s.ask("POST", "/v1/applications", deployment(document("slow", "30s").replace("200.0", "3000.0")))
    later = s.ask("POST", "/v2/models/slow/infer?async=true", floats(1))["id"]
    wait_until("it runs", lambda: s.server.get("/v1/nodes")["nodes"][0]["running"] == 1)
    s.ask("DELETE", f"/v1/requests/{later}")
    settled(s, later)
    s.ask("GET", f"/v1/requests/{later}")
    s.comment("lists, newest first")
    s.ask("GET", "/v1/requests?limit=2")
    s.ask("GET", "/v1/requests?application=declared&state=met")
    s.ask("GET", "/v1/requests?state=rejected")
    s.comment("what is refused")
    s.ask("GET", "/v1/requests?limit=0")
    s.ask("GET", "/v1/requests?state=sleeping")
    s.ask("GET", "/v1/requests/4711")
    s.ask("GET", "/v1/requests/00000000000000ff")
    s.ask("GET", "/v1/requests/00000000000000ff/trace")
    s.ask("DELETE", "/v1/requests/00000000000000ff")
    wait_until("the worker of the cancelled one is done", lambda: s.server.get("/v1/nodes")["nodes"][0]["running"] == 0)


def server(s):
    quiet(s)
    s.ask("GET", "/v1/status")
    s.ask("GET", "/v1/nodes")
    s.ask("GET", "/metrics")
    s.ask("POST", "/v1/status")
    s.ask("GET", "/v2/models/plain/stats")


def identity(s):
    nobody = {"X-API-Key": ""}
    s.comment("what guests of a loopback address may do, and may not")
    s.ask("GET", "/v2/health/ready", headers=nobody)
    s.ask("POST", "/v2/models/plain/infer", floats(1), nobody)
    s.ask("POST", "/v1/applications", deployment("plain.yaml"), nobody)
    s.ask("DELETE", "/v1/applications/plain", headers=nobody)
    s.ask("DELETE", "/v1/requests/00000000000000ff", headers=nobody)
    s.ask("GET", "/v1/keys", headers=nobody)
    s.ask("GET", "/v1/status", headers={"X-API-Key": "sluice-wrong"})
    s.comment("tenants")
    s.ask("POST", "/v1/tenants", {"name": "acme", "requests_per_second": 100, "functions": 5})
    s.ask("POST", "/v1/tenants/acme", {"requests_per_second": None, "requests": 10})
    s.ask("GET", "/v1/tenants")
    s.ask("POST", "/v1/tenants", {"name": "acme"})
    s.ask("POST", "/v1/tenants", {"name": "a/b"})
    s.ask("POST", "/v2/models/plain/infer", floats(1), nobody)
    s.ask("GET", "/v2/health/live", headers=nobody)
    said = s.server.call("GET", "/metrics", headers=nobody)
    if said[0] != 200 or b"tenant=" in said[2] or b"sluice_node_ready" not in said[2]:
        raise Failure(f"metrics without a key: {said}")
    s.comment("keys")
    key = s.ask("POST", "/v1/keys", {"name": "bob", "tenant": "acme", "role": "deployer"})["key"]
    s.ask("GET", "/v1/keys")
    s.ask("GET", "/v1/keys", headers={"X-API-Key": key}, shown_key="BOB")
    s.ask("POST", "/v1/keys", {"name": "bob"})
    s.ask("POST", "/v1/keys", {"name": "eve", "role": "king"})
    s.ask("POST", "/v1/keys", {"name": "eve", "tenant": "nobody"})
    s.ask("DELETE", "/v1/tenants/acme")
    s.ask("DELETE", "/v1/keys/bob")
    s.ask("DELETE", "/v1/keys/bob")
    s.ask("GET", "/v1/status", headers={"X-API-Key": key}, shown_key="BOB")
    s.ask("DELETE", "/v1/keys/admin")
    s.ask("DELETE", "/v1/tenants/acme")
    s.ask("DELETE", "/v1/tenants/default")
    s.ask("POST", "/v2/models/plain/infer", floats(1), nobody)


def rows(s):
    """Apart from `inference`: rows that arrive together may be run by further workers, which other parts count."""
    two = {"inputs": [{**IMAGE["inputs"][0], "shape": [2, 2, 1], "data": [1, 2, 3, 4]}]}
    s.ask("POST", "/v2/models/declared/infer", two)
    s.comment("what is refused")
    s.ask("POST", "/v2/models/declared/infer", {"inputs": [{**IMAGE["inputs"][0], "shape": [129, 2, 1], "data": []}]})
    s.ask("POST", "/v2/models/declared/infer?async=true", two)


def refusals(s):
    """A row of the table of refusals each. What is busy or waits is asked by threads; the first answer is written down."""
    one, infer = s.server, "/v2/models/%s/infer"

    def hidden(pattern, model, body, answer):
        s.write("POST", infer % model, body, None, answer, hidden=pattern)

    def in_background(model, body=None, count=1):
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(one.call("POST", infer % model, body or floats(1)))) for _ in range(count)]
        for thread in threads:
            thread.start()
        return threads, answers

    s.comment("QUOTA_EXCEEDED: its rate, and the requests that are not answered")
    s.ask("POST", "/v1/tenants", {"name": "small", "requests_per_second": 0.25, "requests": 2})
    key = {"X-API-Key": json.loads(one.call("POST", "/v1/keys", {"name": "small", "tenant": "small", "role": "deployer"})[2])["key"]}
    s.ask("POST", "/v1/applications", deployment("declared.yaml"), key, shown_key="SMALL")
    rows = {"inputs": [{**IMAGE["inputs"][0], "shape": [3, 2, 1], "data": [1, 2, 3, 4, 5, 6]}]}
    s.ask("POST", infer % "declared", rows, key, shown_key="SMALL")
    one.call("POST", infer % "declared", IMAGE, key)
    hidden(rb'"(needed|retry_after_ms)":[0-9.]+', "declared", IMAGE, one.call("POST", infer % "declared", IMAGE, key))
    s.comment("STAGE_FAILED")
    failing = document("failing", "10s").replace("200.0", "1.0") + "  stop: {after: f, fail: {error: NoPaper, cause: the printer is empty}}\n"
    one.deploy(failing)
    s.ask("POST", infer % "failing", floats(1))
    s.comment("DEADLINE_EXCEEDED")
    one.deploy(document("slow", "30s").replace("200.0", "2000.0"))
    body = {**floats(1), "parameters": {"timeout": 1000}}
    hidden(rb'after [0-9.]+ ms|"latency_ms":[0-9.]+', "slow", body, one.call("POST", infer % "slow", body))
    s.comment("CANCELLED")
    threads, answers = in_background("slow")
    running = wait_until("it runs", lambda: one.get("/v1/requests?application=slow&state=running")["requests"])
    one.call("DELETE", f"/v1/requests/{running[0]['id']}")
    threads[0].join()
    s.write("POST", infer % "slow", floats(1), None, answers[0])
    s.comment("OVERLOADED")
    one.deploy(document("busy", "1s"))
    threads, answers = in_background("busy", count=80)
    for thread in threads:
        thread.join()
    full = next((answer for answer in answers if b"OVERLOADED" in answer[2]), None)
    if full is None:
        raise Failure(f"none of 80 calls at once was refused: {answers[:3]}")
    hidden(rb'need [0-9.]+ slices or vCPUs, at most [0-9.]+|"(needed|available|retry_after_ms)":[0-9.]+', "busy", floats(1),
           (full[0], {**full[1], "Retry-After": "1"}, full[2]))
    s.comment("COST_INFEASIBLE")
    one.deploy(document("dear", "1s, cost: 0.000000001"))
    s.ask("POST", infer % "dear", floats(1))


def reserving(s):
    """What the scheduler `admission` refuses, the memory for inputs, and a server that stops."""
    one = s.server
    s.comment("SLO_INFEASIBLE")
    one.deploy(document("promised", "1s"))
    s.ask("POST", "/v2/models/promised/infer", {**floats(1), "parameters": {"slo_ms": 50}})
    s.comment("NOT_RESERVABLE")
    one.deploy(document("listed", "1s").replace("f: {}\n", "f: {foreach: request.x, inputs: {x: request.x}}\n"))
    s.ask("POST", "/v2/models/listed/infer", floats(1, 2))
    s.comment("QUEUE_FULL: there is no room for its inputs")
    both = {"inputs": [{"name": name, "datatype": "FP32", "shape": [20000, 8], "parameters": {"binary_data_size": 640000}} for name in "ab"]}
    text = json.dumps(both).encode()
    s.write("POST", "/v2/models/promised/infer", both, None,
            one.call("POST", "/v2/models/promised/infer", text + bytes(1280000), {"Inference-Header-Content-Length": str(len(text))}))
    s.comment("NO_CAPACITY: it stops")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(one.call("POST", "/v2/models/promised/infer", floats(1))))
    thread.start()
    wait_until("it is there", lambda: one.get("/v1/status")["in_system"] == 1)
    one.signal(signal.SIGTERM)
    wait_until("it drains", lambda: any("draining" in line for line in one.lines))
    s.ask("POST", "/v2/models/promised/infer", floats(1))
    thread.join()


def documented_codes():
    table = (HERE.parents[1] / "docs/api.md").read_text().split("## Refusals")[1].split("\n## ")[0]
    return [code for line in table.splitlines() if line.startswith("| ") for code in re.findall(r"\| `([A-Z_]+)` \|", line)]


def documented():
    """(method, path) of the table of endpoints, as patterns."""
    table = (HERE.parents[1] / "docs/api.md").read_text().split("## All endpoints")[1].split("\n## ")[0]
    for line in table.splitlines():
        if line.startswith("| `"):
            cell = line.split("|")[1]
            last = None
            for code in re.findall(r"`([^`]+)`", cell):
                method, _, path = code.rpartition(" ")
                method, path = method or last[0], path.replace("…", last[1].rsplit("/", 1)[0] if last else "")
                last = (method, path)
                yield method, path


def pattern_of(path):
    path, _, query = path.partition("?") if "[?" not in path else (path, "", "")
    path = re.sub(r"\[\?[^]]*\]", "", path)
    path = re.escape(path).replace(r"\[/versions/V\]", "(/versions/[0-9]+)?")
    path = re.sub(r"\bM\b|\bNAME\b", "[^/]+", path).replace("ID", "[0-9a-f]+")
    return re.compile(path + (re.escape("?" + query) if query else r"(\?.*)?") + "$")


def check_all_asked(said):
    missing = [f"{method} {path}" for method, path in documented()
               if not any(m == method and pattern_of(path).match(p) for m, p in said)]
    if missing:
        raise Failure(f"docs/api.md has endpoints that nothing here asks for: {missing}")


def compare(name, text, regenerate):
    file = GOLDEN / f"{name}.txt"
    if regenerate:
        file.write_text(text)
        return True
    expected = file.read_text() if file.exists() else ""
    if text == expected:
        return True
    sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), text.splitlines(True), str(file), "the server"))
    return False


def main(regenerate):
    said, same, refused = [], True, ""
    with Folder() as folder, Server(folder, "--cluster", str(HERE / "documents/cluster.yaml")) as one:
        ids = {}
        for part in (applications, health, models, inference, requests, server, identity, rows, refusals):
            session = Session(one)
            session.ids = ids
            part(session)
            said += session.said
            same = compare(part.__name__, "\n".join(session.text), regenerate) and same
        refused += "".join(session.text)
    options = ("--cluster", str(HERE / "documents/cluster.yaml"), "--scheduler", "admission", "--objects", "1MB")
    with Folder() as folder, Server(folder, *options) as one:
        session = Session(one)
        reserving(session)
        same = compare("reserving", "\n".join(session.text), regenerate) and same
        refused += "".join(session.text)
    check_all_asked(said)
    missing = [code for code in documented_codes() if f'"code": "{code}"' not in refused]
    if missing:
        raise Failure(f"docs/api.md has refusals that nothing here provokes: {missing}")
    if not same:
        raise Failure("the server answers otherwise than tests/server/golden says; if that is right: golden.py --regenerate")


if __name__ == "__main__":
    try:
        main(sys.argv[1:] == ["--regenerate"])
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
