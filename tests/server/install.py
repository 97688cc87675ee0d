#!/usr/bin/env python3
"""`make install` into a folder of its own, and what is there then: programs that find each other, a unit that systemd
takes, completions, an example that can be used. `make uninstall` takes it away.

usage: install.py
"""
import json
import os
import re
import shutil
import socket
import subprocess
import unittest
from pathlib import Path

from serving import HERE, PATIENCE, PROGRAM, Folder, Server

ROOT = HERE.parents[1]


def run(*command, **how):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False, **how)


def install(action, prefix, destination):
    return run("sh", str(ROOT / "tools/install.sh"), action, str(Path(PROGRAM).parent),
               env={**os.environ, "PREFIX": prefix, "DESTDIR": destination})


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = Folder()
        cls.addClassCleanup(folder.__exit__)
        cls.root = Path(folder.__enter__())
        os.chmod(cls.root, 0o755)  # functions run as users of their own, who have to get to their worker
        done = install("install", "/opt/sluice", str(cls.root))
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.prefix = cls.root / "opt/sluice"
        cls.sluice = str(cls.prefix / "bin/sluice")

    def test_the_demo_runs_from_there(self):
        if not (self.prefix / "lib/sluice/sluice-torch.so").exists():
            self.skipTest("clang builds no plug-in for torch, which the demo needs")
        with Folder() as data:
            server = subprocess.Popen([self.sluice, "up", "--demo", "--json", "--data", data, "--listen", "127.0.0.1:0"],
                                      cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(server.wait)
            self.addCleanup(server.kill)
            line = server.stdout.readline()
            self.assertTrue(line.startswith('{"listening"'), line or server.stderr.read())
            server.terminate()
            self.assertEqual(server.wait(timeout=PATIENCE), 0)
            said = server.stderr.read()
            server.stdout.close()
            server.stderr.close()
            self.assertIn(f"{self.prefix}/lib/sluice/examples/vision", said)
            printed = re.search(r"^  (\S+) invoke ", said, re.MULTILINE)[1]  # as it can be called from there
            self.assertEqual(run(printed, "--version", cwd="/").returncode, 0)

    def test_the_doctor_finds_the_worker_with_all_its_runtimes(self):
        there = run(self.sluice, "doctor", "--json", "--data", str(self.root / "data"), cwd="/")
        checks = {check["check"]: check for check in json.loads(there.stdout)["checks"]}
        worker = next(check["message"] for check in checks.values() if "sluice-worker" in check["message"])
        self.assertIn(f"{self.prefix}/lib/sluice/sluice-worker runs ", worker)
        if Path(PROGRAM).with_name("sluice-torch.so").exists():
            self.assertIn("torch", worker)

    def test_completions_and_documents_are_there(self):
        completion = self.prefix / "share/bash-completion/completions/sluice"
        self.assertEqual(completion.read_text(), run(self.sluice, "completion", "bash").stdout)
        for document in ("README.md", "docs/operating.md", "docs/live.md", "sluice.yaml", "LICENSE"):
            self.assertTrue((self.prefix / "share/doc/sluice" / document).is_file(), document)

    def test_the_configuration_can_be_used_and_is_never_overwritten(self):
        config = self.root / "etc/sluice/sluice.yaml"
        with Folder() as data:
            checked = run(self.sluice, "up", "--check-config", "--config", str(config), "--data", data)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        config.write_text("threads: 2\n")
        self.assertEqual(install("install", "/opt/sluice", str(self.root)).returncode, 0)
        self.assertEqual(config.read_text(), "threads: 2\n")

    def test_the_unit_names_programs_and_files_that_are_installed(self):
        unit = (self.prefix / "lib/systemd/system/sluice.service").read_text()
        self.assertNotIn("@", unit.replace("@system", ""))
        for line in unit.splitlines():
            if line.startswith(("ExecStart=", "ExecStartPre=")):
                words = line.split("=", 1)[1].split()
                self.assertTrue((self.root / words[0].lstrip("/")).exists(), line)
                self.assertTrue((self.root / words[words.index("--config") + 1].lstrip("/")).exists(), line)
        self.assertIn("Delegate=yes", unit)

    def test_systemd_takes_the_unit(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("there is no systemd-analyze here")
        # The programs have to be there for the check: the unit is written for where they are.
        with Folder() as folder:
            unit = Path(folder, "sluice.service")
            text = (self.prefix / "lib/systemd/system/sluice.service").read_text()
            unit.write_text(text.replace("/opt/sluice/", f"{self.prefix}/"))
            checked = run("systemd-analyze", "verify", "--man=no", str(unit))
        wrong = [line for line in (checked.stdout + checked.stderr).splitlines() if "sluice.service" in line]
        self.assertEqual(wrong, [])

    def test_uninstalled_nothing_is_left_but_the_configuration(self):
        with Folder() as other:
            self.assertEqual(install("install", "/usr/local", other).returncode, 0)
            self.assertEqual(install("uninstall", "/usr/local", other).returncode, 0)
            left = [str(path.relative_to(other)) for path in Path(other).rglob("*") if not path.is_dir()]
            self.assertEqual(left, ["etc/sluice/sluice.yaml"])

    def test_a_prefix_that_is_not_absolute_is_refused(self):
        refused = install("install", "here", "")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("is not an absolute path", refused.stderr)


class ServiceManager(unittest.TestCase):
    def test_it_is_told_when_the_server_is_ready_and_when_it_stops(self):
        with Folder() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(f"{folder}/notify")
            manager.settimeout(PATIENCE)
            with Server(f"{folder}/data", environment={"NOTIFY_SOCKET": f"{folder}/notify"}) as server:
                self.assertIn("READY=1", manager.recv(4096).decode())
                server.stop()
                self.assertIn("STOPPING=1", manager.recv(4096).decode())


if __name__ == "__main__":
    unittest.main()
