"""Counts the private methods of classes: a class with many of them has parts that want names of their own."""
import re

from tidy_rules import PRIVATE_METHODS_MAX
from tidy_tree import Finding, blank, line_of

CLASS = re.compile(r"(?<!\benum )\b(class|struct)\s+(\w+(?:::\w+)*)[^;{}()=]*\{")
LABEL = re.compile(r"\s*\b(public|protected|private)\s*:(?!:)")
NO_METHOD = re.compile(r"\s*(?:using|typedef|friend|static_assert|enum|class|struct|union)\b")
TEMPLATE = re.compile(r"<[^<>;{}]*>")
OPERATOR = re.compile(r"\boperator\s*(?:\(\s*\)|\[\s*\]|[^\s\w(]+)")


def check_classes(tree):
    for path in tree.sources(tops=("src",)):
        for line, name, count in private_methods(tree.code(path)):
            if count > PRIVATE_METHODS_MAX:
                yield Finding(path, line, "private-methods", f"{name} has {count} private methods, more than {PRIVATE_METHODS_MAX}",
                              "make parts of it values of their own, or functions over its data")


def private_methods(code):
    """(line, name, how many) of each class and struct that has a body; overloads count one by one."""
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: blank(m[0]), code, flags=re.M)
    code = OPERATOR.sub(lambda m: "operator" + blank(m[0][8:]), code)  # `operator<` opens no list of arguments
    while TEMPLATE.search(code):
        code = TEMPLATE.sub(lambda m: blank(m[0]), code)
    for m in CLASS.finditer(code):
        access = "private" if m[1] == "class" else "public"
        count = 0
        for head in members(code, m.end()):
            while label := LABEL.match(head):
                access, head = label[1], head[label.end():]
            count += access == "private" and is_method(head)
        yield line_of(code, m.start()), m[2], count


def members(code, begin):
    """What each member of the class whose body begins there says before its `;` or its own body."""
    depth, head, opened = 0, begin, begin
    for m in re.finditer(r"[;{}]", code[begin:]):
        at = begin + m.start()
        if m[0] == "{":
            if depth == 0:
                opened = at
            depth += 1
        elif m[0] == "}":
            depth -= 1
            if depth < 0:
                return
            if depth == 0 and is_method(LABEL.sub("", code[head:opened])):  # ends without a `;`
                yield code[head:opened]
                head = at + 1
        elif depth == 0:
            yield code[head:at]
            head = at + 1


def is_method(head):
    return not NO_METHOD.match(head) and "(" in re.sub(r"\balignas\s*\([^()]*\)", "", head).split("=")[0].split("{")[0]
