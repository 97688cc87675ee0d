# A function that tries to get at what is not its own. What it tries comes with the request; it says whether it got there.
import ctypes
import json
import os
import re
import signal
import socket

import numpy as np

SECRET = os.urandom(16).hex()  # known to nobody until it is asked for


def arenas():
    """Mappings of shared memory of this process, as (begin, end)."""
    with open("/proc/self/maps", encoding="ascii") as maps:
        for line in maps:
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) .*memfd:sluice", line)
            if found:
                yield int(found[1], 16), int(found[2], 16)


def reads(path):
    try:
        with open(path, "rb") as file:
            return bool(file.read(16))
    except OSError:
        return False


def lists(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def cut():
    """Every way to the arena's descriptor: its own, and those behind its mappings."""
    for place in [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")] + \
                 [f"/proc/self/map_files/{a:x}-{b:x}" for a, b in arenas()]:
        try:
            if "memfd:sluice" not in os.readlink(place):
                continue
            descriptor = os.open(place, os.O_RDWR)
            os.ftruncate(descriptor, 0)
            return True
        except OSError:
            continue
    return False


PLACE = 8 << 20  # in an arena: what small requests do not use


def plant(secret):
    for begin, _ in arenas():
        ctypes.memmove(begin + PLACE, secret.encode(), len(secret))


def finds(secret):
    """Whether some process of a tenant planted it in shared memory that this one can see."""
    return any(ctypes.string_at(begin + PLACE, len(secret)) == secret.encode() for begin, _ in arenas())


def tries(what):
    kind, data, server = what["try"], what.get("data", ""), what.get("server", 0)
    if kind == "secret":
        plant(SECRET)
        return {"secret": SECRET}
    if kind == "ftruncate":
        return {"reached": cut()}
    if kind == "key":
        return {"reached": reads(f"{data}/key") or bool(lists(data))}
    if kind == "database":
        names = [name for name in lists(data) if ".db" in name] or ["sluice.db"]
        return {"reached": any(reads(f"{data}/{name}") for name in names)}
    if kind == "environ":
        return {"reached": reads(f"/proc/{server}/environ") or "SLUICE_KEY" in os.environ}
    if kind == "memory":
        return {"reached": reads(f"/proc/{server}/maps") or reads(f"/proc/{server}/mem")}
    if kind == "socket":
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(f"{data}/socket")
            return {"reached": True}
        except OSError:
            return {"reached": False}
    if kind == "models":
        return {"reached": bool(lists(f"{data}/models"))}
    if kind == "signal":
        try:
            os.kill(server, signal.SIGCONT)
            return {"reached": True}
        except OSError:
            return {"reached": False}
    return {"reached": finds(what["secret"])}


def run(inputs):
    answers = []
    for row in inputs["what"]:
        answer = tries(json.loads(row[0]))
        answers.append([json.dumps(answer).encode()])
    return {"said": np.array(answers, dtype=object)}
