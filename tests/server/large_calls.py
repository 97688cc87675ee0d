#!/usr/bin/env python3
"""One large answer, or one large input, slows down no small call after it.

usage: large_calls.py [--megabytes N]    (default 60)
A Python function hands on what it is sent, another answers with its length. Small calls in a row on one connection are counted
before and after one large call of each: afterwards at least half as many are made in the same time. The best of a few short
windows counts, so that a busy machine spoils none.
"""
import argparse
import http.client
import json
import struct
import sys
import time

from calm import run_calmly
from serving import PATIENCE, SANITIZED, Failure, Server

WINDOWS, SECONDS = 4, 0.4  # of counting
SLOWER = 2.0               # times, at the most
FUNCTION = "{runtime: python, model: %s.py, memory: 1GB, inputs: {x: {type: BYTES, shape: [1]}}, outputs: {y: {type: %s, shape: [1]}}, " \
           "profile: {table: [[1, 1, 0, 1.0, 0.1]]}}"
DOCUMENT = ("application: large\nslo: {latency: 30s}\nfunctions:\n"
            f"  same: {FUNCTION % ('same', 'BYTES')}\n  length: {FUNCTION % ('length', 'INT64')}\nworkflow:\n  same: {{}}\n"
            "  length: {inputs: {x: request.x}}\n")
FILES = {"same.py": "def run(inputs):\n    return {'y': inputs['x']}\n",
         "length.py": "import numpy as np\n\n\ndef run(inputs):\n"
                      "    return {'y': np.array([[len(row[0])] for row in inputs['x']])}\n"}


class Caller:
    """Calls one function with a text, as bytes, on one connection."""

    def __init__(self, server, model):
        self.model, self.key = model, server.key
        self.connection = http.client.HTTPConnection(*server.host_and_port, timeout=PATIENCE)

    def call(self, text):
        tensor = struct.pack("<I", len(text)) + text
        head = json.dumps({"inputs": [{"name": "x", "datatype": "BYTES", "shape": [1, 1],
                                       "parameters": {"binary_data_size": len(tensor)}}],
                           "parameters": {"binary_data_output": True}}).encode()
        self.connection.request("POST", f"/v2/models/{self.model}/infer", head + tensor,
                                {"Inference-Header-Content-Length": str(len(head)), "X-API-Key": self.key})
        reply = self.connection.getresponse()
        body = reply.read()
        if reply.status != 200:
            raise Failure(f"{self.model}: {reply.status} {body[:300]!r}")
        return body[int(reply.getheader("Inference-Header-Content-Length")):]

    def rate(self):
        """Small calls a second, in the best window."""
        best = 0
        for _ in range(WINDOWS):
            calls, end = 0, time.monotonic() + SECONDS
            while time.monotonic() < end:
                self.call(b"small")
                calls += 1
            best = max(best, calls / SECONDS)
        return best


def play(folder, options):
    size = options.megabytes << 20
    with Server(folder) as server:
        server.deploy(DOCUMENT, files=FILES)
        for model, expected in (("large.same", struct.pack("<I", size) + b"a" * size), ("large.length", struct.pack("<q", size))):
            caller = Caller(server, model)
            before = caller.rate()
            if caller.call(b"a" * size) != expected:
                raise Failure(f"{model}: {size} bytes came back otherwise")
            after = caller.rate()
            print(f"{model}: {before:.0f} calls a second, {after:.0f} after one of {options.megabytes} MiB")
            if after * SLOWER < before and not SANITIZED:
                raise Failure(f"{model}: {before:.0f} small calls a second, after a large one {after:.0f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=60)
    sys.exit(run_calmly(play, parser.parse_args()))
