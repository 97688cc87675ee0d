"""HTTP as a hostile client speaks it: bytes out, whatever comes back read until the other side ends or time is up."""
import json
import os
import socket
import struct

from serving import Failure

RESET = struct.pack("ii", 1, 0)  # of SO_LINGER: closing sends a reset, so that ports are free again at once


def connect(address, timeout=15):
    host, port = address.rsplit(":", 1)
    made = socket.create_connection((host, int(port)), timeout=timeout)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    return made


def head(method, path, *headers, length=None):
    """A request's head that asks for the connection to be closed after it."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close", *headers]
    if "SLUICE_KEY" in os.environ:
        lines.append(f"X-API-Key: {os.environ['SLUICE_KEY']}")
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def post(path, body, *headers):
    return head("POST", path, *headers, length=len(body)) + body


def send(connection, data):
    """False: the other side does not want more."""
    try:
        connection.sendall(data)
        return True
    except OSError:
        return False


def receive(connection, bytes_max=64 << 20):
    out = bytearray()
    try:
        while len(out) < bytes_max and (piece := connection.recv(1 << 18)):
            out += piece
    except TimeoutError as late:
        raise Failure(f"no end of the answer: {bytes(out[:200])!r}") from late
    except OSError:
        pass  # reset: closed
    return bytes(out)


def replies(data):
    """[(status, body)] of the whole replies in `data`."""
    out = []
    while (end := data.find(b"\r\n\r\n")) >= 0:
        lines = data[:end].split(b"\r\n")
        status, length = int(lines[0].split()[1]), 0
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        body, data = data[end + 4:end + 4 + length], data[end + 4 + length:]
        if status != 100:
            out.append((status, body))
    return out


def let_in(got):
    """Without the answer to a connection too many: whatever was asked on it, nobody has looked at it."""
    return [reply for reply in got if reply[0] != 503 or b"too many connections" not in reply[1]]


def judge(got, allowed=()):
    """Every answer is fine or a clear 4xx, or a 503 for a limit; `allowed` are further statuses."""
    for status, body in got:
        if status < 400 or status in allowed:
            continue
        if status >= 500 and status != 503:
            raise Failure(f"answered {status} {body[:300]!r}")
        if body and not json.loads(body).get("error"):
            raise Failure(f"{status} without a reason: {body[:300]!r}")
    return got


def exchange(address, data, half_close=False, timeout=15, allowed=()):
    with connect(address, timeout) as connection:
        send(connection, data)
        if half_close:
            try:
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        return let_in(judge(replies(receive(connection)), allowed))


def refused(address, data, *expected, **how):
    """Must be answered with one of the expected statuses, or the connection be closed without an answer."""
    got = exchange(address, data, **how)
    if any(status not in expected for status, _ in got):
        raise Failure(f"expected {expected}, got {[(s, b[:200]) for s, b in got]} to {data[:200]!r}")
    return got
