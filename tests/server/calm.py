"""Milliseconds on a machine whose CPUs others use too. A virtual machine's kernel says how much of them went to other guests of its host: what
failed while they were felt is tried again, and is wrong if it always fails. On a machine of its own a failure counts at once.
"""
import os
import sys
import threading
import time

from serving import Failure, run_in_folder

ATTEMPTS = 5
WINDOW = 0.25  # seconds
FELT = 0.1     # of all CPUs in a window: calls are late by some tens of milliseconds


def stolen_s():
    """Seconds of CPUs that other guests had while something was to run here, since the machine started."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


class Neighbours:
    """The most that others had of the CPUs in any window while it is entered."""

    def __enter__(self):
        self.most, self.over = 0.0, threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def look(self):
        while not self.over.is_set():
            began, before = time.monotonic(), stolen_s()
            self.over.wait(WINDOW)
            passed = max(time.monotonic() - began, WINDOW)
            self.most = max(self.most, (stolen_s() - before) / (passed * os.cpu_count()))


def run_calmly(run, options):
    """As run_in_folder(), for what counts milliseconds."""
    def attempts(folder, given):
        for attempt in range(ATTEMPTS):
            os.mkdir(f"{folder}/{attempt}")
            neighbours = Neighbours()
            try:
                with neighbours:
                    return run(f"{folder}/{attempt}", given)
            except Failure as failure:
                if neighbours.most < FELT or attempt + 1 == ATTEMPTS:
                    raise
                print(f"once more: {failure}, while others had up to {neighbours.most:.0%} of the CPUs", file=sys.stderr)
        return None
    return run_in_folder(attempts, options)
