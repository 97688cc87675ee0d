"""Trains the networks in the order of the chain, so that each learns from what its predecessors really deliver.

Every training scene has one way to reach a stage: half of them come through the whole chain, three in ten through the
shorter chain of another application, two in ten are clean. `Ways` says which.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from drawing import Dice, Shake, blurred, degraded
from networks import BackgroundRemoval, Classification, Deblur, Depth, Direct, Segmentation, SuperResolution
from optimise import applied, optimise
from scenes import STROKE, to_bytes, to_floats

SEED = 7  # the first network's; each has its own, so keeping some does not change the others
STEPS = {"deblur": 3000, "super_resolution": 2000, "background_removal": 2200, "segmentation": 2500,
         "classification": 3000, "depth": 1800, "direct": 6000}


@dataclass
class Ways:
    """Which scenes reach a stage clean, by another application, by the whole chain."""
    clean: torch.Tensor
    other: torch.Tensor
    chain: torch.Tensor

    @staticmethod
    def of(count):
        turn = torch.arange(count) % 10
        return Ways((turn < 2).nonzero()[:, 0], ((turn >= 2) & (turn < 5)).nonzero()[:, 0],
                    (turn >= 5).nonzero()[:, 0])


def mixed(ways, clean, other, chain):
    """One tensor with a row for each scene, from the three ways' rows."""
    count = sum(len(rows) for rows in (clean, other, chain))
    result = torch.empty(count, *chain.shape[1:], dtype=chain.dtype)
    result[ways.clean], result[ways.other], result[ways.chain] = clean, other, chain
    return result


class Batches:
    """Random batches of scenes, each scene once an epoch."""

    def __init__(self, count, size, seed):
        self.count, self.size, self.order = count, size, torch.empty(0, dtype=torch.long)
        self.generator = torch.Generator().manual_seed(seed)

    def next(self):
        if len(self.order) < self.size:
            self.order = torch.randperm(self.count, generator=self.generator)
        rows, self.order = self.order[:self.size], self.order[self.size:]
        return rows


def bicubic(images):
    return F.interpolate(images, scale_factor=2.0, mode="bicubic", align_corners=False).clamp(0, 1)


def dice_loss(probability, truth):
    """1 - Dice overlap, averaged over the batch."""
    both = (probability * truth).sum((-2, -1))
    return 1 - ((2 * both + 1) / (probability.sum((-2, -1)) + truth.sum((-2, -1)) + 1)).mean()


def train_deblur(pictures):
    """On 32x32, and every third step on 64x64, where a blur is twice as long and may be partly removed already."""
    network, chance = Deblur(), Dice(11)
    small, large = Batches(len(pictures), 32, 1), Batches(len(pictures), 8, 2)

    def loss_of(step):
        clean = to_floats(pictures[(large if step % 3 == 0 else small).next()])
        shaken, sharp = degraded(chance, clean), F.avg_pool2d(clean, 2)
        if step % 3 == 0:
            shaken, sharp = bicubic(shaken), clean
        already = chance.between(0, 0.3, len(clean), 1, 1, 1)
        already[chance.between(0, 1, len(clean)) < 0.1] = 1.0
        if step % 3 != 0:
            already = already.floor()
        return F.l1_loss(network(shaken + already * (sharp - shaken)), sharp)

    return network, optimise("deblur", network, STEPS["deblur"], 2e-3, loss_of)


def train_super_resolution(inputs, pictures, is_shaken):
    """Leaves deblurring to deblur: of a shaken picture it makes a larger picture that is just as shaken."""
    network, batches, chance = SuperResolution(), Batches(len(pictures), 16, 3), Dice(13)

    def loss_of(_):
        rows = batches.next()
        images, target, shaken = to_floats(inputs[rows]), to_floats(pictures[rows]), is_shaken[rows]
        if shaken.any():
            shake = Shake(chance, int(shaken.sum()))
            images[shaken] = degraded(chance, target[shaken], shake)
            target[shaken] = blurred(target[shaken], shake.kernels(2))
        return F.l1_loss(network(images), target)

    return network, optimise("super-resolution", network, STEPS["super_resolution"], 2e-3, loss_of)


def train_background_removal(inputs, mattes):
    network, batches = BackgroundRemoval(), Batches(len(inputs), 32, 4)

    def loss_of(_):
        rows = batches.next()
        logits, matte = network.logits(to_floats(inputs[rows])), to_floats(mattes[rows])
        return F.binary_cross_entropy_with_logits(logits, matte) + dice_loss(torch.sigmoid(logits), matte)

    return network, optimise("background-removal", network, STEPS["background_removal"], 3e-3, loss_of)


def train_segmentation(inputs, classes):
    network, batches = Segmentation(), Batches(len(inputs), 32, 5)
    weights = torch.tensor([1.0, 1.0, 2.0])

    def loss_of(_):
        rows = batches.next()
        logits, truth = network.logits(to_floats(inputs[rows])), classes[rows].long()
        stroke = torch.softmax(logits, 1)[:, STROKE]
        return F.cross_entropy(logits, truth, weights) + dice_loss(stroke, (truth == STROKE).float())

    return network, optimise("segmentation", network, STEPS["segmentation"], 3e-3, loss_of)


def jiggled(chance, maps):
    """Shifted up to 4 px, turned up to 8 degrees, up to 10 % larger or smaller, so no digit looks alike twice."""
    count = len(maps)
    angle, scale = chance.between(-0.14, 0.14, count), chance.between(0.9, 1.1, count)
    shift = chance.between(-0.125, 0.125, count, 2)
    rows = [scale * torch.cos(angle), -scale * torch.sin(angle), shift[:, 0],
            scale * torch.sin(angle), scale * torch.cos(angle), shift[:, 1]]
    grid = F.affine_grid(torch.stack(rows, 1).view(count, 2, 3), list(maps.shape), align_corners=False)
    return F.grid_sample(maps, grid, padding_mode="border", align_corners=False)


def train_classifier(name, network, inputs, labels):
    """The classification network on maps, or the direct one on degraded pictures."""
    batches, chance = Batches(len(inputs), 32, 6), Dice(12)

    def loss_of(_):
        rows = batches.next()
        logits = network.logits(jiggled(chance, to_floats(inputs[rows])))
        return F.cross_entropy(logits, labels[rows], label_smoothing=0.05)

    return network, optimise(name, network, STEPS[name], 3e-3, loss_of)


def train_depth(inputs, depths):
    network, batches = Depth(), Batches(len(inputs), 32, 7)

    def loss_of(_):
        rows = batches.next()
        return F.l1_loss(network.log_depth(to_floats(inputs[rows])), depths[rows].log())

    return network, optimise("depth", network, STEPS["depth"], 3e-3, loss_of)


def with_alpha(images, alpha=None):
    """uint8 RGBA of uint8 RGB; alpha 255 unless given."""
    return torch.cat([images, torch.full_like(images[:, :1], 255) if alpha is None else alpha], 1)


def true_map(classes):
    return (F.one_hot(classes.long(), 3) * 255).to(torch.uint8).permute(0, 3, 1, 2)


def small(pictures):
    return to_bytes(F.avg_pool2d(to_floats(pictures), 2))


def through(network, inputs):
    return to_bytes(applied(network, inputs))


class Trainer:
    """Trains the networks one after the other, or takes those of `kept`; each method needs those above it."""

    def __init__(self, scenes, depth_scenes, kept):
        self.scenes, self.depth_scenes, self.ways = scenes, depth_scenes, Ways.of(len(scenes.label))
        self.networks, self.seconds, self.chain = dict(kept), {}, scenes.input[self.ways.chain]

    def obtain(self, name, train):
        if name not in self.networks:
            torch.manual_seed(SEED + len(self.networks))
            self.networks[name], self.seconds[name] = train()
        return self.networks[name]

    def inputs(self, clean, other):
        return mixed(self.ways, clean[self.ways.clean], other, self.chain)

    def deblur(self):
        pictures = torch.cat([self.scenes.clean, self.depth_scenes.clean])
        self.chain = through(self.obtain("deblur", lambda: train_deblur(pictures)), self.chain)

    def super_resolution(self):
        inputs = self.inputs(small(self.scenes.clean), self.scenes.input[self.ways.other])
        shaken = torch.zeros(len(inputs), dtype=torch.bool)
        shaken[self.ways.other] = True
        network = self.obtain("super_resolution", lambda: train_super_resolution(inputs, self.scenes.clean, shaken))
        self.chain = through(network, self.chain)
        self.enlarged = through(network, self.scenes.input[self.ways.other])

    def background_removal(self):
        inputs = self.inputs(self.scenes.clean, through(self.networks["deblur"], self.enlarged))
        network = self.obtain("background_removal", lambda: train_background_removal(inputs, self.scenes.matte))
        self.chain = through(network, self.chain)

    def segmentation(self):
        inputs = self.inputs(with_alpha(self.scenes.clean, self.scenes.matte), with_alpha(self.enlarged))
        network = self.obtain("segmentation", lambda: train_segmentation(inputs, self.scenes.classes))
        self.chain = through(network, self.chain)
        self.other_map = through(network, self.enlarged)

    def classification(self):
        inputs, labels = self.inputs(true_map(self.scenes.classes), self.other_map), self.scenes.label
        self.obtain("classification", lambda: train_classifier("classification", Classification(), inputs, labels))

    def depth(self):
        scenes, ways = self.depth_scenes, Ways.of(len(self.depth_scenes.input))
        delivered = through(self.networks["super_resolution"], through(self.networks["deblur"], scenes.input))
        delivered[ways.clean] = scenes.clean[ways.clean]
        self.obtain("depth", lambda: train_depth(delivered, scenes.depth))

    def direct(self):
        inputs, labels = self.scenes.input, self.scenes.label
        self.obtain("direct", lambda: train_classifier("direct", Direct(), inputs, labels))
