# A function that harms what it can: processor time, processes, memory, its output, the shared memory of its tenant. What it does
# comes with the request.
import ctypes
import os
import re
import sys
import time

import numpy as np


def arenas():
    """Mappings of shared memory of this process, as (begin, end)."""
    with open("/proc/self/maps", encoding="ascii") as maps:
        for line in maps:
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) .*memfd:sluice", line)
            if found:
                yield int(found[1], 16), int(found[2], 16)


def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def leave_behind(work):
    """Runs `work` in a process that belongs to nobody: the one that started it is gone."""
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            if os.fork() == 0:
                work()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def burn(seconds):
    """Keeps every processor busy, and goes on after its answer."""
    for _ in range(4):
        leave_behind(lambda: spin(seconds))
    spin(0.2)


def fork_bomb(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.fork()
        except OSError:
            pass


def flood(seconds):
    lines = b"a line of it\n" * 5000
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        os.write(1, lines)


def one_long_line(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        os.write(2, b"x" * 65536)


def write_behind_the_end(_seconds):
    for _, end in arenas():
        ctypes.memset(end - 4096, 255, 8192)


def scribble(seconds):
    """Changes all that its tenant shares with the server, also while the server reads the answer: lengths of texts are among it."""
    def work():
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for begin, _ in arenas():
                ctypes.memset(begin, 255, 1 << 20)
    leave_behind(work)


def cut(_seconds):
    for name in os.listdir("/proc/self/fd"):
        try:
            descriptor = os.open(f"/proc/self/fd/{name}", os.O_RDWR)
            os.ftruncate(descriptor, 0)
        except OSError:
            continue


def grow(_seconds):
    held = []
    for _ in range(128):  # a gigabyte: where nothing holds it back it ends all the same
        held.append(np.ones(1 << 20))


def never(_seconds):
    time.sleep(1000)


def end(_seconds):
    os._exit(3)


MANNERS = {"burn": burn, "fork bomb": fork_bomb, "flood": flood, "one long line": one_long_line, "write behind the end": write_behind_the_end,
           "scribble": scribble, "cut": cut, "grow": grow, "never": never, "end": end}


def run(inputs):
    for row in inputs["what"]:
        name, seconds = row[0].decode().split("/")
        MANNERS[name](float(seconds))
    sys.stdout.flush()
    return {"said": np.array([[b"done"] for _ in inputs["what"]], dtype=object)}
