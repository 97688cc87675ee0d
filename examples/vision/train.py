#!/usr/bin/python3
"""Trains the six networks of this example, saves them as TorchScript in models/ and prints what they achieve.

    train.py            train, save, print the tables of the validation and the test scenes
    train.py --from X   the same, but keep the models of the stages before X
    train.py --direct   train only the single network that the chain is compared with
    train.py --measure  print the test tables of the models that are there
    train.py --scenes   write eight test scenes to scenes/
    train.py --profile  measure the models on this machine with one thread, write profiles/
"""
import argparse
import json
import time
from pathlib import Path

import torch
from PIL import Image

import measure
import profiles
import scenes
from networks import STAGES, parameters_of
from stages import STEPS, Trainer

HERE = Path(__file__).parent
MODELS = HERE / "models"
TRAINING, DEPTH_TRAINING = 8000, 3000
VALIDATION, TEST, DEPTH_TEST = 1000, 2000, 500
SHOWN = 8


def save(name, network):
    frozen = torch.jit.freeze(torch.jit.script(network.eval()))
    torch.jit.save(frozen, str(MODELS / f"{name}.pt"))


def load(names=STAGES):
    """The saved networks by name."""
    return {name: torch.jit.load(str(MODELS / f"{name}.pt")) for name in names}


def training_scenes():
    began = time.monotonic()
    made = scenes.digit_scenes("train", TRAINING), scenes.depth_scenes("train", DEPTH_TRAINING)
    print(f"{TRAINING} digit and {DEPTH_TRAINING} depth scenes made in {time.monotonic() - began:.0f} s", flush=True)
    return made


def print_tables(networks, split, digits, depths):
    print(f"\n## {split}: {digits} digit scenes, {depths} depth scenes")
    mean_depth = scenes.depth_scenes("train", DEPTH_TEST).depth.mean(0, keepdim=True)
    measure.tables(networks, scenes.digit_scenes(split, digits), scenes.depth_scenes(split, depths), mean_depth)


def train(first):
    MODELS.mkdir(exist_ok=True)
    names = list(STAGES)
    trainer = Trainer(*training_scenes(), load(names[:names.index(first)]))
    for name in names:
        getattr(trainer, name)()
        if name in trainer.seconds:
            save(name, trainer.networks[name])
    rows = [[name, f"{parameters_of(trainer.networks[name]):,}", str(STEPS[name]), f"{seconds:.0f}"]
            for name, seconds in trainer.seconds.items()]
    measure.table("Training", ("network", "parameters", "steps", "CPU seconds"), rows)
    print_tables(load(), "valid", VALIDATION, DEPTH_TEST)
    print_tables(load(), "test", TEST, DEPTH_TEST)


def train_direct():
    trainer = Trainer(*training_scenes(), {})
    trainer.direct()
    network = trainer.networks["direct"]
    print(f"{parameters_of(network):,} parameters, {STEPS['direct']} steps, {trainer.seconds['direct']:.0f} CPU s")
    for split, count in (("valid", VALIDATION), ("test", TEST)):
        print(f"\n## {split}")
        measure.direct_table(network, scenes.digit_scenes(split, count))


def write_scenes():
    """The first eight test scenes, not selected."""
    folder = HERE / "scenes"
    folder.mkdir(exist_ok=True)
    made = scenes.digit_scenes("test", scenes.CHUNK)
    labels = {}
    for row in range(SHOWN):
        for kind, images in (("input", made.input), ("truth", made.clean)):
            Image.fromarray(images[row].permute(1, 2, 0).numpy()).save(folder / f"{row}_{kind}.png", optimize=True)
        labels[f"{row}_input.png"] = int(made.label[row])
    (folder / "labels.json").write_text(json.dumps(labels, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("direct", "measure", "scenes", "profile"):
        parser.add_argument(f"--{option}", action="store_true")
    parser.add_argument("--from", dest="first", choices=STAGES, default=next(iter(STAGES)))
    chosen = parser.parse_args()
    if chosen.direct:
        train_direct()
    elif chosen.measure:
        print_tables(load(), "test", TEST, DEPTH_TEST)
    elif chosen.scenes:
        write_scenes()
    elif chosen.profile:
        profiles.write(load(), HERE / "profiles")
    else:
        train(chosen.first)


if __name__ == "__main__":
    main()
