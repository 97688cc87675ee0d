#!/usr/bin/env python3
"""Networks for the tests of GPUs, as TorchScript in full precision, and what they answer: in double precision on the CPU.

usage: make_models.py FOLDER [NAME …]
Weights are random, by a seed: how long a network takes does not depend on them. Answers are of each row alone.
"""
import sys
from pathlib import Path

import torch
import torchvision

SIZES = {"resnet50": 224, "resnet50_other": 224, "vit_b_16": 224, "mobilenet_v3_large": 224, "deeplabv3_resnet50": 384, "looks": 32, "mixes": 32,
         "reads": 32, "grows": 32, "doubles": 512}


class Segment(torch.nn.Module):
    """The one tensor that counts of what a segmentation network returns."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        return self.network(x)["out"]


class Looks(torch.nn.Module):
    """Decides by what it sees: such a network cannot be recorded."""

    def forward(self, x):
        if bool(x.mean() > 0):
            return x.flatten(1) * 2
        return x.flatten(1) * 3


class Mixes(torch.nn.Module):
    """A row's answer depends on the others: it must not be batched."""

    def forward(self, x):
        return x.flatten(1) - x.flatten(1).mean(0, keepdim=True) * 0.5


class Reads(torch.nn.Module):
    """Looks things up in a table: with a large input beyond its end, which is a fault of the device."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(100, 1)

    def forward(self, x):
        return self.table((x.flatten(1) * 1000).long() // 11).flatten(1)


class Grows(torch.nn.Module):
    """Takes 3 GB of memory for every row."""

    def forward(self, x):
        large = torch.empty([x.size(0), 1500000000], dtype=torch.float16, device=x.device)
        return x.flatten(1) * 2 + large[:, :1].zero_()


class Doubles(torch.nn.Module):
    """Its answer has the form of its input, so that it can follow itself."""

    def forward(self, x):
        return x * 2 + 1


def network_of(name):
    torch.manual_seed(5 if name.endswith("_other") else 1)
    name = name.removesuffix("_other")
    if name in ("looks", "mixes", "reads", "grows", "doubles"):
        return {"looks": Looks, "mixes": Mixes, "reads": Reads, "grows": Grows, "doubles": Doubles}[name]()
    if name.startswith("deeplab"):
        return Segment(torchvision.models.segmentation.deeplabv3_resnet50(weights=None, weights_backbone=None))
    return getattr(torchvision.models, name)(weights=None)


def settle(network):
    """Normalisation as after a training, so that values stay where half precision has them."""
    torch.manual_seed(2)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
        if isinstance(module, torch.nn.Linear) and not module.weight.any():
            torch.nn.init.normal_(module.weight, std=0.02)  # else its answer says nothing
    return network.eval()


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or list(SIZES):
        network, size = settle(network_of(name)), SIZES[name]
        torch.manual_seed(3)
        sample = torch.rand(2, 3, size, size)
        with torch.inference_mode():
            traced = torch.jit.script(network) if name in ("looks", "grows") else torch.jit.trace(network, sample[:1], check_trace=False)
            torch.jit.save(traced, str(folder / f"{name}.pt"))
            answer = torch.cat([network.double()(sample[i : i + 1].double()) for i in range(2)])
        sample.numpy().tofile(folder / f"{name}.input")
        answer.numpy().tofile(folder / f"{name}.answer")
        print(f"{name}: input {list(sample.shape)}, answer {list(answer.shape)}")


if __name__ == "__main__":
    main()
