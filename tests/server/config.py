#!/usr/bin/env python3
"""The configuration file of `sluice up`: every flag by its name, flags win, and what is wrong is said with its place.

usage: config.py
"""
import re
import subprocess
import unittest
from pathlib import Path

from serving import HERE, PATIENCE, PROGRAM, Folder, Server
from startup import refused

EXAMPLE = HERE.parents[1] / "deploy/sluice.yaml"
ABOUT_THE_FILE = {"help", "config", "check-config"}


def sluice(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
                          check=False)


def flags():
    """(name, takes a value) of every flag of `sluice up`, as its help has them."""
    found = re.findall(r"^  (?:-\w,)?--([a-z-]+)( [A-Z:]+)?", sluice("up", "--help").stdout, re.MULTILINE)
    return {name: bool(value) for name, value in found if name not in ABOUT_THE_FILE}


class Config(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.addCleanup(folder.__exit__)
        self.folder = Path(folder.__enter__())
        self.file = self.folder / "sluice.yaml"

    def write(self, text):
        self.file.write_text(text)
        return str(self.file)

    def check(self, text, *more):
        ended = sluice("up", "--check-config", "--config", self.write(text), *more)
        return ended.returncode, ended.stdout + ended.stderr

    def test_every_flag_is_known_to_the_file(self):
        all_flags = flags()
        self.assertGreaterEqual(set(all_flags), {"listen", "data", "threads", "durable", "tls-cert", "log-level", "json"})
        for name, takes_value in all_flags.items():
            with self.subTest(flag=name):
                _, said = self.check(f"{name}: {'1' if takes_value else 'true'}\n")
                self.assertNotIn("unknown", said)
                status, said = self.check(f"{name}: [1, 2]\n")
                self.assertEqual(status, 1)
                self.assertIn(f"sluice.yaml:1:{len(name) + 3}: ", said)

    def test_every_flag_is_in_the_example_and_among_the_completions(self):
        example, completions = EXAMPLE.read_text(), sluice("completion", "bash").stdout
        of_up = next(line for before, line in zip(completions.splitlines(), completions.splitlines()[1:])
                     if '"${COMP_WORDS[1]}" = up' in before)
        for name in flags():
            with self.subTest(flag=name):
                self.assertRegex(example, rf"(?m)^(# )?{name}: ")
                self.assertIn(f"--{name} ", of_up)
        for name in ("config", "check-config"):
            self.assertIn(f"--{name} ", of_up)

    def test_the_example_can_be_used(self):
        status, said = self.check(EXAMPLE.read_text(), "--data", str(self.folder / "data"))
        self.assertEqual((status, said), (0, "ok: these options can be used\n"))
        shown = re.sub(r"(?m)^# (?=[a-z-]+: )", "", EXAMPLE.read_text())  # and what it comments out is known
        self.assertNotIn("unknown", self.check(shown)[1])

    def test_a_server_is_as_the_file_says_and_flags_win(self):
        log = self.folder / "log"
        config = self.write(f"listen: 127.0.0.1:1\ndata: {self.folder}/wrong\nlog: json\nlog-file: {log}\nopen-metrics: true\n"
                            "scheduler: best-fit\ntriton-errors: false\n")
        with Server(self.folder / "data", "--config", config) as server:  # which says --listen and --data
            self.assertEqual(server.call("GET", "/metrics", headers={"X-API-Key": ""})[0], 200)
            self.assertEqual(server.get("/v1/status")["scheduler"], "best-fit")
            self.assertEqual(server.stop(), 0)
        self.assertIn('"component":"server"', log.read_text())
        self.assertFalse((self.folder / "wrong").exists())

    def test_unknown_names_are_refused_with_the_nearest_one(self):
        status, said = self.check("listen: 127.0.0.1:0\ntreads: 4\n")
        self.assertEqual(status, 1)
        self.assertIn("sluice.yaml:2:1: ", said)
        self.assertIn("Did you mean 'threads'?", said)
        self.assertEqual(self.check("config: other.yaml\n")[0], 1)
        self.assertIn("treads", refused("--config", str(self.write("treads: 4\n"))))

    def test_wrong_values_are_refused_with_their_place(self):
        for text, place, why in (("threads: many\n", "1:10", "many"), ("threads: 0\n", "1:10", "0"),
                                 ("durable: perhaps\n", "1:10", "neither true nor false"),
                                 ("\nobjects: much\n", "2:10", "is not a size"),
                                 ("log-level: loud\n", "1:12", "write debug, info, warning or error"),
                                 ("log: xml\n", "1:6", "write text or json"),
                                 ("listen: [\n", "2:1", ""), ("- listen\n", "1:1", "a mapping"),
                                 ("threads: 1\nthreads: 2\n", "2:1", "twice")):
            with self.subTest(text=text):
                status, said = self.check(text, "--data", str(self.folder / "data"))
                self.assertEqual(status, 1, said)
                self.assertIn(f"sluice.yaml:{place}: ", said)
                self.assertIn(why, said)

    def test_all_errors_are_shown_by_the_check_and_one_at_a_start(self):
        wrong = "treads: 4\nthreads: many\ndurable: perhaps\n"
        self.assertEqual(self.check(wrong)[1].count("error: "), 3)
        self.assertIn("--check-config", refused("--config", self.write(wrong)))

    def test_a_file_that_is_not_there(self):
        self.assertIn("nowhere.yaml", refused("--config", "/nowhere.yaml"))

    def test_what_only_a_start_would_find_is_checked_too(self):
        data = ("--data", str(self.folder / "data"))
        self.assertIn("/nowhere.pem", self.check("tls-cert: /nowhere.pem\ntls-key: /nowhere.key\n", *data)[1])
        self.assertIn("nowhere.yaml", self.check("cluster: nowhere.yaml\n", *data)[1])
        self.assertIn("nonesuch", self.check("scheduler: nonesuch\n", *data)[1])
        self.assertIn("no/such", self.check(f"log-file: {self.folder}/no/such/log\n", *data)[1])
        self.assertFalse((self.folder / "data").exists())  # a check leaves nothing behind


if __name__ == "__main__":
    unittest.main()
