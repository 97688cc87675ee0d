#!/usr/bin/env python3
"""Checks that every source is laid out as clang-format does it (.clang-format). `make format` puts it right.

Runs as the test `tidy_format`. Exits with 77 (skipped) where the clang-format of Debian 12 is not installed: other versions
lay out some lines differently.
usage: tidy_format.py [ROOT]
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tidy_tree import Finding, Tree

VERSION = "14"
SKIPPED = 77


def clang_format(which=shutil.which):
    """The program of the right version, or None and why not."""
    reason = "clang-format is not installed"
    for name in (f"clang-format-{VERSION}", "clang-format"):
        program = which(name)
        if program is None:
            continue
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
        version = re.search(r"version (\d+)", said)
        if version and version[1] == VERSION:
            return program, ""
        reason = f"clang-format {VERSION} is wanted, {program} says: {said.strip()}"
    return None, reason


def check_format(tree, program):
    command = [program, "--dry-run", "--ferror-limit=1", "--style=file", *tree.sources()]
    said = subprocess.run(command, cwd=tree.root, capture_output=True, text=True, check=False).stderr
    for m in re.finditer(r"^(\S+?):(\d+):\d+: (?:warning|error): (.*)$", said, re.M):
        message = "is laid out differently" if "clang-format-violations" in m[3] else m[3]
        yield Finding(m[1], int(m[2]), "layout", message, "make format")


def main():
    tree = Tree(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    program, reason = clang_format()
    if program is None:
        print(f"skipped: {reason}; the layout was not checked (apt-get install clang-format)")
        return SKIPPED
    findings = list(check_format(tree, program))
    print(*findings, f"tidy_format: {len(tree.sources())} files, {len(findings)} errors", sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
