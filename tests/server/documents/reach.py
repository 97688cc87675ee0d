# A function that tries to get at what is not its own. What it tries comes with the request; it says whether it got there.
import json
import os
import re
import signal

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
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        for begin, _ in arenas():
            memory.seek(begin + PLACE)
            memory.write(secret.encode())


def finds(secret):
    """Whether some process of a tenant planted it in shared memory that this one can see."""
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        for begin, _ in arenas():
            memory.seek(begin + PLACE)
            if memory.read(len(secret)) == secret.encode():
                return True
    return False


def tries(what):
    kind, data, server = what["try"], what.get("data", ""), what.get("server", 0)
    if kind == "secret":
        plant(SECRET)
        return {"secret": SECRET}
    if kind == "ftruncate":
        return {"reached": cut()}
    if kind == "key":
        return {"reached": reads(f"{data}/key") or os.access(data, os.R_OK)}
    if kind == "database":
        names = [name for name in os.listdir(data) if ".db" in name] if os.access(data, os.R_OK) else ["sluice.db"]
        return {"reached": any(reads(f"{data}/{name}") for name in names)}
    if kind == "environ":
        return {"reached": reads(f"/proc/{server}/environ") or "SLUICE_KEY" in os.environ}
    if kind == "memory":
        return {"reached": reads(f"/proc/{server}/maps") or reads(f"/proc/{server}/mem")}
    if kind == "models":
        return {"reached": os.access(f"{data}/models", os.R_OK)}
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
