#!/usr/bin/env python3
"""Workers that do not keep to the protocol, under a live server: each costs the calls it answers and itself, nothing else.

usage: hostile_workers.py ADDRESS SECONDS    0 seconds: every manner once
The server runs with SLUICE_WORKER set to tests/invoker/hostile_worker, which does what the name of its function says. Run by
abuse.py; the first answer that is not clear ends the process with a line on stderr and status 1.
"""
import json
import sys
import time
from urllib.parse import quote

from serving import Failure, call, deployment, floats

NEVER_LOADS = ("ends at load", "fails to load")  # not deployed at all
FAILS = ("answers before it is asked", "ends", "speaks garbage", "sends too much",
         "answers another batch", "wants space for another batch", "wants everything", "claims the memory before",
         "claims the memory behind", "claims more than there is", "claims an offset that wraps", "claims another shape",
         "claims other rows", "answers for too many rows")
SERVES = ("good", "says it took for ever", "closes its output", "cuts the arena")
EITHER = ("changes lengths",)  # as the server happens to look
ALL = FAILS + SERVES + EITHER
# The worker goes by the function's name; what was tried is known by content, so each has a command of its own.
BODY = "{{runtime: process, command: ['{}'], memory: 10MB, profile: {{table: [[1, 1, 0, 1.0, 0.1]]}}}}"


def document(manners):
    functions = "".join(f"  {name}: {BODY.format(name)}\n" for name in manners)
    stages = "".join(f"  {name}: {{}}\n" for name in manners)
    return f"application: liars\ntenant: liars\nslo: {{latency: 60s}}\nfunctions:\n{functions}workflow:\n{stages}"


def ask(address, manner):
    status, _, body = call(address, "POST", f"/v2/models/{quote('liars.' + manner)}/infer", floats(1, 2))
    if manner in SERVES and status != 200:
        raise Failure(f"'{manner}' was answered {status} {body[:300]!r}")
    if manner in FAILS and (status < 400 or not json.loads(body).get("error")):
        raise Failure(f"'{manner}' was answered {status} {body[:300]!r}, not with what went wrong")


def main(address, seconds):
    ended = time.monotonic() + float(seconds)
    try:
        for manner in NEVER_LOADS:
            status, _, body = call(address, "POST", "/v1/applications", deployment(document([manner])))
            if status != 400 or "does not work" not in json.loads(body)["error"]:
                raise Failure(f"'{manner}' was deployed: {status} {body!r}")
        status, _, body = call(address, "POST", "/v1/applications", deployment(document(ALL)))
        if status != 200:
            raise Failure(f"not deployed: {status} {body!r}")
        while True:
            for manner in ALL:
                ask(address, manner)
                if float(seconds) > 0 and time.monotonic() >= ended:
                    return 0
            if time.monotonic() >= ended:
                return 0
    except (Failure, OSError, ValueError) as wrong:
        print(f"error: hostile workers: {type(wrong).__name__}: {wrong}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
