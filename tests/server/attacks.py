#!/usr/bin/env python3
"""What hostile and broken clients do to a server, one function each. Run by abuse.py in processes of their own.

usage: attacks.py ADDRESS SEED SECONDS [NAME …]    0 seconds: every attack once
Each attack judges its own answers; the first that is not clear ends the process with a line on stderr and status 1.
"""
import base64
import gzip
import json
import os
import random
import sys
import time
import zlib

from raw_http import connect, exchange, head, judge, let_in, post, receive, refused, replies, send
from serving import Failure, floats

INFER, DECLARED, DEPLOY = "/v2/models/plain/infer", "/v2/models/declared/infer", "/v1/applications"
ATTACKS = []
GOOD = json.dumps(floats(1, 2)).encode()
MEGABYTE = 1 << 20


def attack(function):
    ATTACKS.append(function)
    return function


# --- bodies

@attack
def truncated_bodies(address, rng):
    for half_close in (True, False):
        with connect(address) as connection:
            send(connection, head("POST", INFER, length=len(GOOD)) + GOOD[:rng.randrange(len(GOOD))])
            if half_close:
                connection.shutdown(1)
                judge(replies(receive(connection)))
    for cut in rng.sample(range(len(GOOD)), 10):
        refused(address, post(INFER, GOOD[:cut]), 400)


@attack
def mutated_json(address, rng):
    for _ in range(40):
        body = bytearray(GOOD)
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(body))
            choice = rng.randrange(3)
            if choice == 0:
                body[at] = rng.randrange(256)
            elif choice == 1:
                del body[at:at + rng.randrange(1, 8)]
            else:
                body[at:at] = bytes(rng.choices(b'{}[]",:0123456789.eE-\\\0\xff', k=rng.randrange(1, 8)))
        exchange(address, post(INFER, bytes(body)))


@attack
def malformed_json(address, _):
    for body in (b"", b"null", b"[]", b"{}", b'"', b"{", b"\xff\xfe", b"\0" * 100, b"[" * 100_000, b'{"a":' * 100_000,
                 b'{"inputs":null}', b'{"inputs":{}}', b'{"inputs":[null]}', b'{"inputs":[[]]}', b'{"inputs":[{}]}',
                 b'{"inputs":[' + b"{}," * 50_000 + b"{}]}", GOOD + GOOD, GOOD[:-1] + b",}",
                 b'{"id":' + b"9" * 100_000 + b"}", b'{"inputs":[{"name":"\\ud800"}]}'):
        refused(address, post(INFER, body), 400)


@attack
def wrong_tensors(address, _):
    fields = [{"shape": shape} for shape in ([-1], [0], [3], [2 ** 63], [2 ** 64], [2 ** 31, 2 ** 31, 2 ** 31], [1.5], ["2"],
                                              {}, None, 2, [[2]], [1] * 1000, [-2 ** 63])]
    fields += [{"datatype": kind} for kind in ("FP16", "BF16", "fp32", "", "FP128", None, 3, "BYTES", "BOOL", "A" * 100_000)]
    fields += [{"data": data} for data in ([], [1], [1, 2, 3], [[1], 2, 3], ["1", "2"], [None, 1], {}, "12", [1e400, 1], [{}, {}],
                                           [True, "x"])]
    fields += [{"name": name} for name in (None, 3, [], {})]
    fields += [{"parameters": {"binary_data_size": size}} for size in (-1, 2 ** 64, "8", 8, 10 ** 30)]
    for change in fields:
        body = {"inputs": [{**floats(1, 2)["inputs"][0], **change}]}
        refused(address, post(INFER, json.dumps(body).encode()), 400)
    for body in (floats(1, 2), floats(1, 2, name="image"), {"inputs": floats(1, 2)["inputs"] * 2},
                 {**floats(1), "outputs": [{"name": "nothing"}]}, {**floats(1), "outputs": 3}):
        refused(address, post(DECLARED, json.dumps(body).encode()), 400)
    for parameters in ({"slo_ms": -1}, {"slo_ms": "x"}, {"slo_ms": 1e300}, {"timeout": -5}, {"timeout": 1.5}, {"priority": 256},
                       {"priority": "high"}, {"triton_x": 1}, [], 7):
        exchange(address, post(INFER, json.dumps({**floats(1), "parameters": parameters}).encode()))


@attack
def binary_bodies(address, rng):
    description = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [2], "parameters": {"binary_data_size": 8}}]})
    body = description.encode() + b"\0" * 8
    for size in ("-1", "0", str(len(description) - 1), str(len(description) + 1), str(len(body)), str(len(body) + 1), "9" * 19,
                 "9" * 40, "18446744073709551615", "0x10", "1e3", " ", "abc", "+5", "-0", "1 2", "\x01"):
        exchange(address, post(INFER, body, f"Inference-Header-Content-Length: {size}"))
    refused(address, post(INFER, body[:-1], f"Inference-Header-Content-Length: {len(description)}"), 400)
    refused(address, post(INFER, body + b"x", f"Inference-Header-Content-Length: {len(description)}"), 400)
    for _ in range(10):
        junk = rng.randbytes(rng.randrange(1, 5000))
        refused(address, post(INFER, junk, f"Inference-Header-Content-Length: {rng.randrange(1, 6000)}"), 400)


@attack
def texts_in_tensors(address, rng):
    """BYTES tensors carry their own lengths, which may lie."""
    for lengths in ((5,), (2 ** 32 - 1,), (0, 1), (2 ** 31, 2 ** 31)):
        raw = b"".join(length.to_bytes(4, "little") for length in lengths) + rng.randbytes(3)
        body = {"inputs": [{"name": "x", "datatype": "BYTES", "shape": [len(lengths)], "parameters": {"binary_data_size": len(raw)}}]}
        text = json.dumps(body).encode()
        refused(address, post(INFER, text + raw, f"Inference-Header-Content-Length: {len(text)}"), 400)


@attack
def oversized_bodies(address, _):
    refused(address, head("POST", INFER, length=300 * MEGABYTE) + b"x" * 1000, 413)
    refused(address, head("POST", DEPLOY, length=2 ** 62) + b"x" * 1000, 413, 400)
    refused(address, post(INFER, b"[" + b"1," * (33 * MEGABYTE) + b"1]"), 413)  # over 64 MiB of JSON


@attack
def large_json(address, _):
    """Allowed, and slow to read: nobody else may wait for it."""
    count = 4 << 20
    body = b'{"inputs":[{"name":"x","datatype":"FP32","shape":[%d],"data":[%s1]}]}' % (count, b"1," * (count - 1))
    exchange(address, post(INFER, body), timeout=60)


@attack
def compressed(address, rng):
    bomb = gzip.compress(bytes(300 * MEGABYTE), 1)
    refused(address, post(INFER, bomb, "Content-Encoding: gzip"), 413, 503, timeout=60)
    refused(address, post(INFER, bomb[:len(bomb) // 2], "Content-Encoding: gzip"), 400, 413, timeout=60)
    layers = gzip.compress(gzip.compress(bytes(10 * MEGABYTE)))
    refused(address, post(INFER, layers, "Content-Encoding: gzip"), 400)
    refused(address, post(INFER, zlib.compress(b"x" * 100) + b"rest", "Content-Encoding: deflate"), 400)
    refused(address, post(INFER, rng.randbytes(2000), "Content-Encoding: gzip"), 400)
    refused(address, post(INFER, b"", "Content-Encoding: gzip"), 400)
    for encoding in ("br", "gzip, gzip", "x" * 5000):
        refused(address, post(INFER, GOOD, f"Content-Encoding: {encoding}"), 501, allowed=(501,))


# --- heads and connections

@attack
def header_floods(address, _):
    refused(address, head("GET", "/v1/status", *(f"X-{i}: {'y' * 50}" for i in range(1000))), 431)
    refused(address, head("GET", "/v1/status", "X: " + "y" * 100_000), 431)
    refused(address, head("GET", "/" + "a" * 100_000), 431, 400, 414)
    refused(address, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200_000, 431)
    refused(address, b"\r\n" * 100_000, 400, 431)


@attack
def absurd_lengths(address, _):
    for length in ("-1", "+5", "0x5", "5 5", "5,5", "1e2", "9" * 40, "18446744073709551615", "18446744073709551616", "", "abc"):
        refused(address, head("POST", INFER, f"Content-Length: {length}") + GOOD, 400, 413, half_close=True)
    refused(address, head("POST", INFER, "Content-Length: 5", "Content-Length: 6") + GOOD, 400)
    for encoding in ("chunked", "identity", "gzip, chunked", "chunked, gzip", "xchunked"):
        framed = head("POST", INFER, f"Transfer-Encoding: {encoding}", f"Content-Length: {len(GOOD)}") + GOOD
        refused(address, framed, 400, 501, half_close=True, allowed=(501,))


@attack
def absurd_chunks(address, rng):
    for chunk in (b"-1\r\n", b"FFFFFFFFFFFFFFFFFF\r\n", b"ffffffffffffffff\r\n", b"zz\r\n", b"\r\n", b"5;" + b"x" * 100_000,
                  b"3\r\nabcdef\r\n0\r\n\r\n", b"0\r\nTrailer: " + b"y" * 100_000, rng.randbytes(200)):
        exchange(address, head("POST", INFER, "Transfer-Encoding: chunked") + chunk, half_close=True, allowed=(501,))
    for end in (b"0\r\n\r\n", b"0\r\na: b\r\n\r\n", b"0;x\r\n\r"):
        with connect(address) as connection:
            send(connection, head("POST", INFER, "Transfer-Encoding: chunked"))
            for byte in end:
                time.sleep(0.002)
                send(connection, bytes([byte]))
            connection.shutdown(1)
            judge(replies(receive(connection)))
    tiny = b"".join(b"1\r\n%c\r\n" % byte for byte in GOOD * 200) + b"0\r\n\r\n"
    refused(address, head("POST", INFER, "Transfer-Encoding: chunked") + tiny, 400)


@attack
def random_bytes(address, rng):
    for _ in range(20):
        exchange(address, rng.randbytes(rng.randrange(1, 4000)), half_close=True, allowed=(501,))
    for _ in range(10):
        line = bytes(rng.choices(b"GETPOSTHDLA /v12\r\n:.%\0\xff", k=100))
        exchange(address, line + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", half_close=True, allowed=(501,))
    exchange(address, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rng.randbytes(200), half_close=True)  # TLS
    exchange(address, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", half_close=True)


@attack
def odd_targets(address, rng):
    for path in ("*", "//", "/..", "/../../etc/passwd", "/v1/../v1/status", "/%2e%2e/%2e%2e", "/v2/models/%00/infer",
                 "/v2/models/plain%00/infer", "/v2/models/%/infer", "/v2/models/%zz/infer", "/v2/models/plain/versions/-1/infer",
                 "/v2/models/plain/versions/99999999999999999999/infer", "/v2/models//infer", "/v1/requests/zzzz",
                 "/v1/requests/ffffffffffffffff", "/v1/requests/8000000000000000/trace", "/v1/requests/" + "0" * 5000,
                 "/v1/requests?limit=-1", "/v1/requests?limit=99999999999999999999", "/v1/requests?state=%ff&limit=x",
                 "/v1/requests?" + "&" * 5000, "/v1/requests?application=" + "%27" * 500, "/v1/applications/%2e%2e",
                 "http://evil.example/v1/status", "/v1/status?" + "x" * 10_000, "/\xff\xfe"):
        for method in ("GET", "DELETE", "POST", "PUT", "TRACE", "CONNECT", "X" * 200):
            exchange(address, head(method, path, length=0))
    for host in ("evil.example", "localhost.evil.example", "", "a" * 5000, "[::1", "\x00"):
        exchange(address, f"GET /v1/status HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode(), half_close=True)


@attack
def half_closed(address, _):
    for data in (post(INFER, GOOD), head("GET", "/v1/status"), b"", b"G", head("GET", "/metrics")):
        exchange(address, data, half_close=True)
    held = [connect(address) for _ in range(50)]  # asked, and gone before the answer
    for connection in held:
        send(connection, post(INFER, GOOD))
        connection.close()


@attack
def pipelining(address, _):
    one = b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connect(address) as connection:
        send(connection, one * 999 + head("GET", "/v1/status"))
        got = let_in(judge(replies(receive(connection))))
        if got and (len(got) != 1000 or any(status != 200 for status, _ in got)):
            raise Failure(f"1000 pipelined requests got {len(got)} answers")
    mute = [connect(address, timeout=0.2) for _ in range(10)]  # that never read what they ask for
    for connection in mute:
        send(connection, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5000)
    for connection in mute:
        connection.close()


@attack
def many_connections(address, rng):
    """As many as there may be and some more; half of them begin a request. Whoever is too many is told so (gateway_test)."""
    held = []
    try:
        for _ in range(10_400):
            held.append(connect(address))
            if rng.random() < 0.5:
                send(held[-1], b"GET /v1/sta")
    except OSError:
        pass  # the limit of this machine
    for connection in held:
        connection.close()


@attack
def slow_heads(address, _):
    """Slowloris, as much of it as fits into two seconds: connections that send a byte now and then."""
    held = [connect(address) for _ in range(200)]
    for byte in b"GET /v1/status HTTP/1.1":
        for connection in held:
            send(connection, bytes([byte]))
        time.sleep(0.08)
    for connection in held:
        connection.close()


@attack
def slow_to_the_end(address, _):
    """Slowloris until the server has had enough; bodies likewise."""
    slow = [(connect(address), b"G"), (connect(address), head("POST", INFER, length=1000) + b"{")]
    for connection, begin in slow:
        send(connection, begin)
    ended = time.monotonic() + 20
    while slow and time.monotonic() < ended:
        for connection, begin in list(slow):
            connection.settimeout(0.5)
            try:
                got = let_in(replies(connection.recv(1000)))
            except TimeoutError:
                send(connection, b"x")
                continue
            except OSError:
                got = []
            if any(status != 408 for status, _ in got):
                raise Failure(f"a slow request was answered {got}")
            connection.close()
            slow.remove((connection, begin))
    if slow:
        raise Failure("a client that sends a byte every half second is still served after 20 s")


# --- deployments

def deploy(path, content, **more):
    return post(DEPLOY, json.dumps({"main": path, "files": [{"path": path, "base64": base64.b64encode(content).decode()}],
                                    **more}).encode())


@attack
def deployed_paths(address, _):
    good = b"application: x\n"
    for path in ("../app.yaml", "/etc/passwd", "a/../../b.yaml", "a/./b.yaml", "a//b.yaml", "", ".", "..", "a\0b.yaml", "\0", "a\nb",
                 "x" * 256, "a/" * 200 + "b.yaml", "\ud800", "a\\..\\b", "~/x.yaml", "a/..", "./app.yaml", "app.yaml/"):
        refused(address, deploy(path, good), 400)
    for body in (b"", b"{}", b"[]", b'{"main":"a"}', b'{"main":"a","files":[]}', b'{"main":"a","files":[{"path":"b","base64":""}]}',
                 b'{"main":"a","files":[{"path":"a","base64":"!!!"}]}', b'{"main":"a","files":[{"path":"a"}]}',
                 b'{"main":3,"files":{}}', b'{"main":"a","files":' + b"[" * 5000, b"\xff" * 1000,
                 b'{"main":"a","files":[' + b'{"path":"a","base64":""},' * 2000 + b'{"path":"a","base64":""}]}'):
        refused(address, post(DEPLOY, body), 400)
    many = {"main": "f0", "files": [{"path": f"f{i}", "base64": ""} for i in range(1001)]}
    refused(address, post(DEPLOY, json.dumps(many).encode()), 400)


@attack
def deployed_rubbish(address, rng):
    laughs = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(9))
    head_of = b"application: rubbish\nslo: {latency: 1s}\n"
    documents = [rng.randbytes(3000), b"", b"\0" * 1000, b"[" * 50_000, b"{" * 50_000, b"- " * 50_000, b"a: " * 50_000, laughs,
                 b"application: *x\n", b"application: rubbish\n", head_of, head_of + b"workflow: {}\n", b"&a [*a]\n",
                 head_of + b"functions: [../../../etc/passwd]\nworkflow: {a: {}}\n",
                 head_of + b"functions: [/etc/passwd]\nworkflow: {a: {}}\n",
                 head_of + b"functions: [app.yaml]\nworkflow: {a: {}}\n",
                 head_of + b"functions: {a: {runtime: torch, model: ../../etc/passwd}}\nworkflow: {a: {}}\n",
                 head_of + b"functions: {a: {runtime: emulated, memory: 1YB}}\nworkflow: {a: {after: a}}\n",
                 head_of + b"functions: {a: {runtime: emulated, profile: {table: [[99999,1,0,1,1]]}}}\nworkflow: {a: {}}\n",
                 head_of + b"functions: {a: {runtime: emulated, profile: {table: [[1,4096,64,1,1]]}}}\nworkflow: {a: {}}\n",
                 b"cluster: {invokers: 3}\n", b"x: " + b"y" * (9 * MEGABYTE), "application: \ud7ff\n".encode() * 1000]
    for document in documents:
        refused(address, deploy("app.yaml", document), 400, 404, 413, 503, timeout=30)
    for path, document in (("a.json", b'{"StartAt":"A","States":{"A":{"Type":"Task","Next":"A"}}}'), ("a.json", b"[" * 10_000),
                           ("a.json", rng.randbytes(500)), ("a.pbtxt", b"name: " * 5000), ("a.pbtxt", b"{" * 10_000),
                           ("a.pbtxt", rng.randbytes(500)), ("a.exe", b"MZ"), ("a", b"x")):
        refused(address, deploy(path, document), 400, 404, 413, timeout=30)


def chain_of(length, profile):
    stages = "".join(f"  s{i}: {{function: f, after: s{i - 1}}}\n" for i in range(1, length))
    return (f"application: giant\nslo: {{latency: 600s}}\nfunctions:\n  f: {{runtime: emulated, memory: 1MB, profile: {{table: "
            f"{profile}}}}}\nworkflow:\n  s0: {{function: f}}\n{stages}").encode()


@attack
def deployed_giants(address, _):
    """Correct, and as large as a workflow may be or larger: nobody else may wait while it is planned or runs."""
    patience = 300 if os.environ.get("SLUICE_SANITIZED") else 60  # planning it takes seconds, and a sanitizer's build many times that
    few = [[1, 1, 0, 1, 0.1], [2, 1, 0, 1.5, 0.1], [1, 2, 0, 0.8, 0.1]]
    many = [[1, vcpu, 0, round(100 / vcpu ** 0.5, 3), 0.1] for vcpu in range(1, 65)]
    refused(address, deploy("app.yaml", chain_of(2000, few)), 413, 503, timeout=patience)
    refused(address, deploy("app.yaml", chain_of(280, many)), 413, 503, timeout=patience)
    exchange(address, deploy("app.yaml", chain_of(300, few)), timeout=patience)
    exchange(address, post("/v2/models/giant/infer", GOOD), timeout=patience)
    exchange(address, head("DELETE", "/v1/applications/giant"), timeout=patience)


def main(address, seed, seconds, *names):
    chosen = [a for a in ATTACKS if not names or a.__name__ in names]
    rng, ended, count = random.Random(int(seed)), time.monotonic() + float(seconds), 0
    order = []
    while True:
        if not order:
            if count and time.monotonic() >= ended:
                break
            order = rng.sample(chosen, len(chosen))
        one = order.pop()
        began = time.monotonic()
        try:
            one(address, rng)
        except Exception as wrong:  # whatever it is: an answer that cannot be read is a finding as well
            print(f"error: {one.__name__}: {type(wrong).__name__}: {wrong}", file=sys.stderr)
            return 1
        if names or float(seconds) == 0:
            print(f"{one.__name__}: {time.monotonic() - began:.2f} s", file=sys.stderr)
        count += 1
        if float(seconds) > 0 and time.monotonic() >= ended:
            break
    print(count)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
