"""Checks includes of folders inside of folders: formats know nothing of each other, production nothing of its rivals."""
from tidy_rules import INNER, PRODUCTION, RIVALS
from tidy_tree import Finding


def check_inner_folders(tree):
    for path in tree.sources(tops=("src",)):
        for line, name, own in tree.includes(path):
            folder = name.rpartition("/")[0]
            if own and folder in INNER and not path.startswith(f"src/{folder}/") and not INNER[folder].match(path):
                yield Finding(path, line, "include-inner", f"{path} must not include {name}",
                              f"what several need is on top of src/{folder.split('/')[0]}/; tidy_rules.py says who may")


def check_rivals(tree):
    known = {}  # header → whether it is, or includes, one of a rival's
    for path in tree.sources(tops=("src",)):
        if not PRODUCTION.match(path):
            continue
        for line, name, own in tree.includes(path):
            if own and leads_to_rivals(tree, name, known):
                yield Finding(path, line, "include-rival", f"{name} is, or includes, what only rivals use",
                              f"move what production needs out of src/{RIVALS}")


def leads_to_rivals(tree, name, known):
    if name not in known:
        known[name] = name.startswith(RIVALS)  # also ends walks in a circle, which another check names
        path = f"src/{name}"
        if path in tree.files:
            known[name] = known[name] or any(
                [own and leads_to_rivals(tree, target, known) for _, target, own in tree.includes(path)])
    return known[name]
