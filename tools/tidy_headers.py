"""Headers of src/ stand alone: whoever includes one needs to include nothing before it.

The build itself proves that for a header that some source includes first, and tidy.py sees to it that a source includes its
own header first. Only the others are compiled here, each alone: 78 of 354, a quarter of the processor time that all take.
What passed is remembered in the build folder by a hash of all that was read of the tree and the build folder; a header of
a library that changes is not noticed.
"""
import hashlib
import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tidy_tree import INCLUDE, Finding

COMPILER = ("g++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-")


def check_headers(tree, build):
    remembered = build / "tidy_headers.json"
    passed = json.loads(remembered.read_text()) if remembered.exists() else {}
    flags = folder_flags(tree.root, build)
    version = run(["g++", "-dumpfullversion"]).stdout

    def check(header):
        command = [*COMPILER, f"-I{tree.root / 'src'}", *flags.get(header.split("/")[1], [])]
        key = digest(tree.root / header, command, version)
        if passed.get(header) == key:
            return header, key, None
        compiled = run(command, f'#include "{header.removeprefix("src/")}"\n')
        return header, key, None if compiled.returncode == 0 else failure(header, compiled.stderr)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, unproven(tree)))
    build.mkdir(parents=True, exist_ok=True)
    remembered.write_text(json.dumps({header: key for header, key, finding in results if finding is None}, indent=1))
    return [finding for _, _, finding in results if finding is not None]


def unproven(tree):
    """The headers that no source includes before everything else."""
    first = {tree.includes(path)[0] for path in tree.sources(("src",), (".cpp",)) if tree.includes(path)}
    proven = {f"src/{name}" for _, name, own in first if own}
    return [header for header in tree.sources(("src",), (".h",)) if header not in proven]


def run(command, text=""):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def failure(header, stderr):
    error = re.search(r"error: (.*)", stderr)
    line = re.search(rf"{re.escape(header)}:(\d+)[:,]", stderr)
    return Finding(header, int(line[1]) if line else 1, "header-alone", error[1] if error else stderr.strip(),
                   "include in the header what it uses")


def folder_flags(root, build):
    """Folder of src/ → the include folders and macros its sources are compiled with."""
    commands = build / "compile_commands.json"
    flags = {}
    for entry in json.loads(commands.read_text()) if commands.exists() else []:
        source = Path(entry["file"])
        if source.is_relative_to(root / "src"):
            words = re.sub(r"(^|\s)-isystem\s+", r"\1-isystem", entry["command"])
            used = [word for word in shlex.split(words) if word.startswith(("-I", "-isystem", "-D"))]
            flags.setdefault(source.relative_to(root / "src").parts[0], used)
    return flags


def digest(header, command, version):
    """Of the compiler, the command, and the text of `header` and of everything it includes by quotes."""
    folders = [word[2:] for word in command if word.startswith("-I")]
    sha, seen, waiting = hashlib.sha256(repr((command, version)).encode()), {header}, [header]
    while waiting:
        content = waiting.pop().read_text(encoding="utf-8")
        sha.update(content.encode())
        found = {Path(folder) / m[2] for m in INCLUDE.finditer(content) if m[2] for folder in folders}
        new = sorted(path for path in found - seen if path.is_file())
        seen.update(new)
        waiting.extend(new)
    return sha.hexdigest()
