#!/usr/bin/env python3
"""Checks the text of the source tree: include arrows, forbidden words, file lists, the form of headers, sizes of
files, functions and classes.

Runs as the tests `tidy` and `tidy_headers`. The tables are in tidy_rules.py; tidy_test.py proves that every rule bites.
Only text is read, so a rule can be fooled: it is there for honest mistakes. A line that has to break a rule says why:
`// tidy: allow(rule) reason`.
"""
import argparse
import dataclasses
import functools
import json
import re
import sys
from pathlib import Path

from tidy_classes import check_classes
from tidy_folders import check_inner_folders, check_rivals
from tidy_headers import check_headers, unproven

from tidy_rules import (ABSOLUTE, ALLOWANCE, ARROWS, CODE, DECIDES, EXEMPT, FOLDERS, FUNCTION_LINES_MAX,
                        HEADER_LINES_MAX, LIBRARIES, ORDERED, OUTSIDE, OWN, PORTABLE, SOURCE_LINES_MAX, STANDARD, SYSTEM,
                        UNFINISHED, VAGUE_FOLDERS, WORDS)
from tidy_tree import Finding, Tree, blank, line_of


def folder_of(path):
    """Whose rules hold for a file; None if it may include anything."""
    if path.startswith("src/"):
        return path.split("/")[1]
    return "worker" if path.startswith("apps/sluice_worker") else None


@functools.cache
def reach(folder):
    """The folders that `folder` may include, itself among them."""
    return {folder}.union(*(reach(target) for target in ARROWS[folder]))


def check_includes(tree):
    outside = {"bench"} | {path.split("/")[1] for path in tree.files if path.startswith("tests/")}
    for path in tree.sources():
        folder = folder_of(path)
        if folder is not None and folder not in ARROWS:
            yield Finding(path, 1, "folder-unknown", f"src/{folder} is not a folder of the design",
                          "move the file, or add the folder and its arrows to tidy_rules.py")
            continue
        for line, name, own in tree.includes(path):
            if not well_formed(name, own, FOLDERS if folder else FOLDERS | outside):
                yield Finding(path, line, "include-form", f"`{name}` is not how a header is included here",
                              'write #include "folder/file.h" for own headers, #include <…> for all others')
            elif folder and own and name.split("/")[0] not in reach(folder):
                yield Finding(path, line, "include-arrow", f"{folder} must not include {name}",
                              f"it may include: {' '.join(sorted(reach(folder)))}")
            elif folder and not own and not may_include(folder, name):
                yield Finding(path, line, "include-external", f"{folder} must not include <{name}>",
                              "use the standard library, or move the code to where tidy_rules.py allows the header")


def check_own_header(tree):
    for path in tree.sources(tops=("src",), suffixes=(".cpp",)):
        header, includes = path.removeprefix("src/").removesuffix(".cpp") + ".h", tree.includes(path)
        if f"src/{header}" in tree.files and includes and includes[0][1] != header:
            yield Finding(path, includes[0][0], "own-header", f"does not include {header} first",
                          "so that compiling it shows that the header stands alone")


def well_formed(name, own, folders):
    top, *rest = name.split("/")
    return bool(rest) and top in folders and ".." not in rest if own else not rest or top not in FOLDERS


def may_include(folder, name):
    if name in STANDARD:
        return True
    for pattern, folders in LIBRARIES:
        if pattern.match(name):
            return folder in folders
    return folder not in DECIDES and (folder not in PORTABLE or bool(SYSTEM.match(name)))


def check_cycles(tree):
    files, folders = {}, {}  # (from, to) → where the include is
    for path in tree.sources(tops=("src",)):
        for line, name, own in tree.includes(path):
            target, folder = f"src/{name}", folder_of(path)
            if own and target in tree.files:
                files.setdefault((path, target), (path, line))
                if folder != folder_of(target):
                    folders.setdefault((folder, folder_of(target)), (path, line))
    for edges in (files, folders):
        for cycle in cycles(edges):
            yield Finding(*edges[cycle[-1], cycle[0]], "include-cycle", " → ".join([*cycle, cycle[0]]),
                          "move what both need to a third, lower place")


def cycles(edges):
    """A cycle for each edge that closes one on a depth-first walk."""
    state, trail, found = {}, [], []

    def visit(node):
        state[node] = "open"
        trail.append(node)
        for target in [end for start, end in edges if start == node]:
            if state.get(target) == "open":
                found.append(trail[trail.index(target):])
            elif target not in state:
                visit(target)
        state[trail.pop()] = "done"

    for node, _ in edges:
        if node not in state:
            visit(node)
    return found


def check_words(tree):
    for path in tree.sources(tops=("src",)):
        code, folder = tree.code(path), folder_of(path)
        for rule, pattern, folders, advice in WORDS:
            if folder in folders and (rule, path) not in EXEMPT:
                for m in pattern.finditer(code):
                    yield Finding(path, line_of(code, m.start()), rule, f"`{m[0]}` in {folder}/", advice)


def check_unordered(tree):
    for path in tree.sources(tops=("src",)):
        if folder_of(path) not in ORDERED:
            continue
        code, header = tree.code(path), path.removesuffix(".cpp") + ".h"
        declarations = code + (tree.code(header) if header in tree.files else "")
        for name in sorted(unordered_names(declarations)):
            use = rf"\b{name}(?:\(\))?\s*"
            walk = rf"\bfor\s*\([^;{{}}()]*?[^:]:(?!:)(?:[^;{{}}()]|\([^()]*\))*?{use}[)|]"
            begin = rf"{use}(?:\.|->)\s*c?begin\s*\(|\bc?begin\s*\([^()]*{use}\)"
            for m in re.finditer(rf"{walk}|{begin}", code):
                yield Finding(path, line_of(code, m.start()), "unordered", f"walks `{name}` in hash order",
                              "walk a vector sorted by id or a std::map; hash tables are for look-ups")


def unordered_names(code):
    """Variables, members and functions whose type is an unordered container, directly or by an alias."""
    names, aliases = set(), set()
    for m in re.finditer(r"\bstd::unordered_\w+\s*<", code):
        end, depth = m.end(), 1
        while depth and end < len(code):
            depth += {"<": 1, ">": -1}.get(code[end], 0)
            end += 1
        alias = re.search(r"\busing\s+(\w+)\s*=\s*$", code[:m.start()])
        declared = re.match(r"\s*(?:const\b)?[\s&*]*(\w+)", code[end:])
        if alias:
            aliases.add(alias[1])
        elif declared:
            names.add(declared[1])
    for alias in aliases:
        names.update(re.findall(rf"\b{alias}\b\s*(?:const\b)?[\s&*]*(\w+)\s*[;={{(,)]", code))
    return names


def check_files(tree):
    for path in tree.sources(suffixes=(".cpp",)):
        if not any(Path(path).relative_to(folder).as_posix() in listed(tree, folder) for folder in Path(path).parents):
            yield Finding(path, 1, "unlisted", "no CMakeLists.txt of its folder or above names it",
                          "add it to SOURCES, or delete it")
    for path in tree.sources(tops=("src",), suffixes=(".h",)):
        if not tree.text(path).startswith("//"):
            yield Finding(path, 1, "header-form", "does not start with a // comment",
                          "say what it is, who uses it, the one thing to know")
        if not re.search(r"^#pragma once\s*$", tree.code(path), re.M):
            yield Finding(path, 1, "header-form", "has no #pragma once", "put it below the first comment")
    folders = {folder for path in tree.files for folder in Path(path).parents}
    for folder in folders:
        if folder.name in VAGUE_FOLDERS:
            yield Finding(folder.as_posix(), 1, "folder-name", f"`{folder.name}` does not say what is inside",
                          "name it for its concern")


@functools.cache
def listed(tree, folder):
    """The words of the CMakeLists.txt of `folder`."""
    path = (folder / "CMakeLists.txt").as_posix()
    text = re.sub(r"#.*", "", tree.text(path)) if path in tree.files else ""
    return set(re.split(r'[\s()"]+', text.replace("${CMAKE_CURRENT_SOURCE_DIR}/", "")))


def check_text(tree):
    for path in [path for path in tree.files if path not in OWN]:
        for number, line in tree.lines(path):
            if path.split("/")[0] in (*CODE, "tools"):
                for m in UNFINISHED.finditer(line):
                    yield Finding(path, number, "unfinished", f"`{m[0]}`", "finish it, or document what falls short")
                for m in OUTSIDE.finditer(line):
                    yield Finding(path, number, "path", f"`{m[0]}` leaves the repository",
                                  "put a small sample into examples/, or make it an option without a default")
            for m in ABSOLUTE.finditer(line):
                yield Finding(path, number, "path", f"`{m[0]}` is a path of one machine",
                              "make it relative to the repository, or an option")


def check_sizes(tree):
    for path in tree.sources():
        lines = tree.text(path).count("\n")
        lines_max = HEADER_LINES_MAX if path.endswith(".h") else SOURCE_LINES_MAX
        if lines > lines_max:
            yield Finding(path, 1, "size", f"{lines} lines, more than {lines_max}",
                          "look twice: does it have a second purpose?", "warning")
        for first, last in functions(tree.code(path)):
            if last - first >= FUNCTION_LINES_MAX:
                yield Finding(path, first, "size", f"{last - first + 1} lines in one function, more than "
                              f"{FUNCTION_LINES_MAX}", "look twice: do its steps have names?", "warning")


def functions(code):
    """(first, last) line of each outermost block that is neither a namespace, a type nor a table of values."""
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: blank(m[0]), code, flags=re.M)
    begin = 0    # of the text that leads to the next brace
    blocks = []  # the open ones: the first line of a function, else None
    for m in re.finditer(r"[;{}]", code):
        head = code[begin:m.start()].lstrip()
        if m[0] == "{":
            body = not re.search(r"\b(?:namespace|class|struct|union|enum|extern)\b[^()=]*$|=\s*$", head)
            blocks.append(line_of(code, m.start() - len(head)) if body and not any(blocks) else None)
        elif m[0] == "}" and blocks:
            if first := blocks.pop():
                yield first, line_of(code, m.start())
        begin = m.end()


def apply_allowances(tree, findings):
    """Drops one finding for each allowance with a reason; an allowance that allows nothing is itself a finding."""
    for path in tree.files:
        if path in OWN or path.endswith(".md"):
            continue
        for number, line in tree.lines(path):
            for rule, reason in ALLOWANCE.findall(line):
                found = next((f for f in findings if (f.path, f.line, f.rule) == (path, number, rule)), None)
                if not reason:
                    findings.append(Finding(path, number, "allowance", f"allow({rule}) without a reason", "say why"))
                elif found is None:
                    findings.append(Finding(path, number, "allowance", f"allow({rule}) allows nothing", "remove it"))
                else:
                    findings.remove(found)


def check_tree(tree):
    checks = (check_includes, check_inner_folders, check_rivals, check_own_header, check_cycles, check_words, check_unordered, check_files, check_text, check_sizes,
              check_classes)
    findings = [finding for check in checks for finding in check(tree)]
    apply_allowances(tree, findings)
    return sorted(findings, key=lambda f: (f.path, f.line, f.rule, f.message))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("root", nargs="?", default=Path(__file__).parent.parent, help="of the repository")
    parser.add_argument("--headers", metavar="BUILD", type=Path, help="instead compile every header of src/ alone that no source "
                        "includes first; flags come from BUILD/compile_commands.json and what passed is remembered in BUILD")
    parser.add_argument("--json", action="store_true", help="print the findings as a list")
    options = parser.parse_args()
    tree = Tree(options.root)
    checked = unproven(tree) if options.headers else tree.files
    findings = check_headers(tree, options.headers) if options.headers else check_tree(tree)
    errors = sum(finding.severity == "error" for finding in findings)
    if options.json:
        print(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=1))
    else:
        print(*findings, f"tidy: {len(checked)} files, {errors} errors, {len(findings) - errors} warnings", sep="\n")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
