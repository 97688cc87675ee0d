"""What the checks of tidy.py look at: the files of the tree, their text, their code, their includes."""
import dataclasses
import functools
import re
import shutil
import subprocess
from pathlib import Path

from tidy_rules import CODE

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")', re.M)
# What is not code; numbers are kept but matched, because they may hold a ' that starts no character.
TOKEN = re.compile(r"""
    (?P<keep> \#[ \t]*include[ \t]*"[^"\n]*" | \b\d(?:'?[\w.])* )
    | //(?:\\\n|[^\n])* | /\*.*?\*/
    | \b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.X | re.S)


@dataclasses.dataclass
class Finding:
    path: str
    line: int
    rule: str
    message: str
    advice: str
    severity: str = "error"

    def __str__(self):
        severity = "warning: " if self.severity == "warning" else ""
        return f"{self.path}:{self.line}: {severity}{self.rule}: {self.message}\n    {self.advice}"


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class Tree:
    """The files that are or may become part of the repository, by path from its root; each is read once."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.files = dict.fromkeys(sorted(path for path in self._list() if (self.root / path).is_file()))
        self.text = functools.cache(self._text)
        self.code = functools.cache(self._code)

    def _list(self):
        if (self.root / ".git").exists() and shutil.which("git"):
            command = ["git", "-C", str(self.root), "ls-files", "-coz", "--exclude-standard"]
            git = subprocess.run(command, capture_output=True, text=True, check=False)
            if git.returncode == 0:
                return filter(None, git.stdout.split("\0"))
        skipped = {".git", "build", "__pycache__", "node_modules"}
        paths = (path.relative_to(self.root) for path in self.root.rglob("*"))
        return (path.as_posix() for path in paths if not skipped.intersection(path.parts))

    def _text(self, path):
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return ""  # not text: nothing to check in it

    def _code(self, path):
        """The text with comments, strings and characters blanked, so that positions stay the same."""
        return TOKEN.sub(lambda m: m[0] if m["keep"] else blank(m[0]), self.text(path))

    def lines(self, path):
        return enumerate(self.text(path).split("\n"), 1)

    def sources(self, tops=CODE, suffixes=(".h", ".cpp")):
        return [path for path in self.files if path.split("/")[0] in tops and path.endswith(suffixes)]

    def includes(self, path):
        """(line, name, own) of every include; `own` if it is written with quotes."""
        code = self.code(path)
        return [(line_of(code, m.start()), m[1] or m[2], m[2] is not None) for m in INCLUDE.finditer(code)]
