"""The six networks, and the single network that the README compares the chain with.

Each takes and returns batches, as TorchScript does in a worker. All are fully convolutional except the classifiers.
"""
from typing import Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def convolution(inputs: int, outputs: int, norm: bool, stride: int = 1) -> nn.Module:
    layers = [nn.Conv2d(inputs, outputs, 3, stride, 1, bias=not norm)]
    if norm:
        layers.append(nn.BatchNorm2d(outputs))
    layers.append(nn.ReLU())
    return nn.Sequential(*layers)


def from_nothing(layer: nn.Conv2d) -> nn.Conv2d:
    """The layer with zero weights: a network that adds to its input starts as the identity."""
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class UNet(nn.Module):
    """Three scales with skip connections."""

    def __init__(self, inputs: int, outputs: int, width: int, norm: bool):
        super().__init__()
        self.fine = nn.Sequential(convolution(inputs, width, norm), convolution(width, width, norm))
        self.middle = nn.Sequential(convolution(width, 2 * width, norm), convolution(2 * width, 2 * width, norm))
        self.coarse = nn.Sequential(convolution(2 * width, 4 * width, norm), convolution(4 * width, 4 * width, norm))
        self.to_middle = convolution(6 * width, 2 * width, norm)
        self.to_fine = convolution(3 * width, width, norm)
        self.last = nn.Conv2d(width, outputs, 3, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        fine = self.fine(x)
        middle = self.middle(F.max_pool2d(fine, 2))
        coarse = self.coarse(F.max_pool2d(middle, 2))
        up = F.interpolate(coarse, scale_factor=2.0, mode="nearest")
        middle = self.to_middle(torch.cat([up, middle], 1))
        up = F.interpolate(middle, scale_factor=2.0, mode="nearest")
        return self.last(self.to_fine(torch.cat([up, fine], 1)))


class HalfScaleUNet(nn.Module):
    """A U-Net on 2x2 pixel blocks: a quarter of the work at full size."""

    def __init__(self, inputs: int, outputs: int, width: int):
        super().__init__()
        self.net = UNet(4 * inputs, 4 * outputs, width, norm=True)

    def forward(self, x: Tensor) -> Tensor:
        return F.pixel_shuffle(self.net(F.pixel_unshuffle(x, 2)), 2)


class Deblur(nn.Module):
    """image [n, 3, h, w] -> image of the same size; h and w multiples of 4."""

    def __init__(self):
        super().__init__()
        self.net = UNet(3, 3, 16, norm=False)
        from_nothing(self.net.last)

    def forward(self, image: Tensor) -> Tensor:
        return (image + self.net(image - 0.5)).clamp(0.0, 1.0)


class SuperResolution(nn.Module):
    """image [n, 3, h, w] -> image [n, 3, 2h, 2w]: what bicubic interpolation misses."""

    def __init__(self, width: int = 28):
        super().__init__()
        self.first = convolution(3, width, norm=False)
        self.body = nn.Sequential(*(convolution(width, width, norm=False) for _ in range(4)))
        self.last = from_nothing(nn.Conv2d(width, 12, 3, 1, 1))

    def forward(self, image: Tensor) -> Tensor:
        features = self.first(image - 0.5)
        detail = F.pixel_shuffle(self.last(features + self.body(features)), 2)
        smooth = F.interpolate(image, scale_factor=2.0, mode="bicubic", align_corners=False)
        return (smooth + detail).clamp(0.0, 1.0)


class BackgroundRemoval(nn.Module):
    """image [n, 3, 64, 64] -> image [n, 4, 64, 64]: the same picture with the card's matte as alpha."""

    def __init__(self):
        super().__init__()
        self.net = HalfScaleUNet(3, 1, 16)

    def logits(self, image: Tensor) -> Tensor:
        return self.net(image - 0.5)

    def forward(self, image: Tensor) -> Tensor:
        return torch.cat([image, torch.sigmoid(self.logits(image))], 1)


class Segmentation(nn.Module):
    """image [n, 3 or 4, 64, 64] -> map [n, 3, 64, 64]: probabilities of outside, card, stroke. No alpha means 1."""

    def __init__(self):
        super().__init__()
        self.net = HalfScaleUNet(4, 3, 16)

    def logits(self, image: Tensor) -> Tensor:
        if image.size(1) == 3:
            image = torch.cat([image, torch.ones_like(image[:, :1])], 1)
        alpha = image[:, 3:]
        return self.net(torch.cat([(image[:, :3] - 0.5) * alpha, alpha - 0.5], 1))

    def forward(self, image: Tensor) -> Tensor:
        return torch.softmax(self.logits(image), 1)


class Classification(nn.Module):
    """map [n, 3, 64, 64] -> scores [n, 10] that sum to 1, label [n, 1]. Reads the stroke's probability only."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(convolution(1, 16, True, stride=2), convolution(16, 32, True), nn.MaxPool2d(2),
                                      convolution(32, 48, True), nn.MaxPool2d(2), convolution(48, 64, True),
                                      nn.MaxPool2d(2), nn.Dropout(0.2))
        self.last = nn.Linear(64 * 4 * 4, 10)

    def logits(self, map: Tensor) -> Tensor:
        return self.last(self.features(map[:, 2:]).flatten(1))

    def forward(self, map: Tensor) -> Tuple[Tensor, Tensor]:
        scores = torch.softmax(self.logits(map), 1)
        return scores, scores.argmax(1, keepdim=True)


class Depth(nn.Module):
    """image [n, 3, 64, 64] -> depth [n, 1, 64, 64]. Knows where in the picture it is: two planes of coordinates."""

    def __init__(self):
        super().__init__()
        self.net = HalfScaleUNet(5, 1, 16)

    def log_depth(self, image: Tensor) -> Tensor:
        count, _, height, width = image.shape
        rows = torch.linspace(-1.0, 1.0, height, device=image.device).view(1, 1, height, 1)
        columns = torch.linspace(-1.0, 1.0, width, device=image.device).view(1, 1, 1, width)
        planes = [image - 0.5, rows.expand(count, 1, height, width), columns.expand(count, 1, height, width)]
        return self.net(torch.cat(planes, 1)) + 1.5

    def forward(self, image: Tensor) -> Tensor:
        return torch.exp(self.log_depth(image))


class Direct(nn.Module):
    """degraded image [n, 3, 32, 32] -> logits [n, 10]: about as many parameters as the five networks of the chain."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(convolution(3, 32, True), convolution(32, 32, True), nn.MaxPool2d(2),
                                      convolution(32, 64, True), convolution(64, 64, True), nn.MaxPool2d(2),
                                      convolution(64, 128, True), convolution(128, 208, True), nn.MaxPool2d(2),
                                      nn.Dropout(0.2))
        self.last = nn.Linear(208 * 4 * 4, 10)

    def logits(self, image: Tensor) -> Tensor:
        return self.last(self.features(image - 0.5).flatten(1))


STAGES = {
    "deblur": Deblur,
    "super_resolution": SuperResolution,
    "background_removal": BackgroundRemoval,
    "segmentation": Segmentation,
    "classification": Classification,
    "depth": Depth,
}


def parameters_of(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())
