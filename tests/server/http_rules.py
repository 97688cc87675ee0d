#!/usr/bin/env python3
"""HTTP/1.1 as RFC 9112 has it, at the level of bytes: HEAD, whole URLs as targets, half-closed connections, one Host.

usage: http_rules.py
What single connections do is tested in tests/gateway; here it is the whole program with real inferences.
"""
import json
import socket
import sys

from raw_http import connect, receive, replies, send
from serving import Failure, Server, floats, run_in_folder, wait_until

# Long enough for the server to have looked twice whether its client is gone.
SLOW = """
application: slow
slo: {latency: 60s}
functions:
  nap: {runtime: emulated, memory: 10MB, profile: {table: [[1, 1, 0, 2700.0, 1.0]]}}
workflow:
  nap: {}
"""
SLOWEST = SLOW.replace("application: slow", "application: slowest").replace("2700.0", "30000.0")
PAGES = ("/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/plain", "/v2/models/plain/ready", "/v2/models/plain/config",
         "/v2/models/plain/stats", "/v2/models/stats", "/metrics", "/v1/applications", "/v1/requests", "/v1/status", "/v1/nodes",
         "/v1/keys", "/v1/tenants", "/nowhere", "/v2/models/nobody")


def ask(server, text):
    with connect(server.address) as connection:
        send(connection, text)
        connection.shutdown(socket.SHUT_WR)
        return receive(connection)


def request(server, line, body=b"", host="Host: localhost\r\n"):
    return f"{line} HTTP/1.1\r\n{host}X-API-Key: {server.key}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def head_is_get_without_body(server):
    for page in PAGES:
        get, head = (ask(server, request(server, f"{method} {page}")) for method in ("GET", "HEAD"))
        get_head, _, body = get.partition(b"\r\n\r\n")
        head_head, _, rest = head.partition(b"\r\n\r\n")
        if rest:
            raise Failure(f"HEAD {page}: a body came: {rest[:100]!r}")
        same = [line for line in get_head.split(b"\r\n") if not line.startswith(b"Content-Length")]
        if [line for line in head_head.split(b"\r\n") if not line.startswith(b"Content-Length")] != same or not body:
            raise Failure(f"HEAD {page}: {head_head!r}, but GET: {get_head!r}")
        if b"Content-Length: " not in head_head or b"Content-Length: 0" in head_head:
            raise Failure(f"HEAD {page} does not say how long the body is: {head_head!r}")
    expect(ask(server, request(server, "HEAD /v2/models/plain/infer")), 405)


def expect(got, *statuses):
    found = [status for status, _ in replies(got)]
    if found != list(statuses):
        raise Failure(f"expected {statuses}, got {found}: {got[:300]!r}")


def targets_are_urls(server):
    expect(ask(server, request(server, "GET http://localhost:8000/v2/health/live")), 200)
    expect(ask(server, request(server, "POST http://x/v2/models/plain/infer", json.dumps(floats(1)).encode())), 200)
    # The host of the target counts: a page cannot hide its own behind a field.
    text = b"GET http://evil.example/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
    expect(ask(server, text), 403)


def one_host(server):
    expect(ask(server, request(server, "GET /v2", host="")), 400)
    expect(ask(server, request(server, "GET /v2", host="Host: localhost\r\nHost: localhost\r\n")), 400)


def half_closed_connections(server):
    body = json.dumps(floats(1)).encode()
    for model in ("plain", "slow"):
        expect(ask(server, request(server, f"POST /v2/models/{model}/infer", body)), 200)
    expect(ask(server, request(server, "POST /v2/models/plain/infer", body) * 3), 200, 200, 200)
    # One that is gone looks the same at first; its request is cancelled.
    with connect(server.address) as connection:
        send(connection, request(server, "POST /v2/models/slowest/infer", body))
        wait_until("it is there", lambda: server.get("/v1/status")["in_system"] == 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes(8))  # an ordinary end
    newest = wait_until("the request of a client that is gone is cancelled",
                        lambda: next((r for r in server.get("/v1/requests?limit=1")["requests"] if r["state"] != "running"), None))
    if newest["state"] != "cancelled":
        raise Failure(f"a request of a client that is gone went on: {newest}")


def play(folder, _):
    with Server(folder) as server:
        server.deploy("plain.yaml", SLOW, SLOWEST)
        for part in (head_is_get_without_body, targets_are_urls, one_host, half_closed_connections):
            part(server)


if __name__ == "__main__":
    sys.exit(run_in_folder(play, None))
