"""Draws in batches: crops of photographs, rotated shapes and glyphs, blur. For scenes.py and stages.py; in pixels."""
import math

import torch
import torch.nn.functional as F

SIZE = 64
REACH = 5  # of a blur kernel to either side


class Dice:
    """Random numbers from one generator, so that a seed repeats every scene."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def between(self, low, high, *shape):
        return low + (high - low) * torch.rand(*shape, generator=self.generator)

    def below(self, limit, *shape):
        return torch.randint(limit, shape, generator=self.generator)

    def normal(self, shape):
        return torch.randn(shape, generator=self.generator)


def luma(colour):
    return 0.299 * colour[:, 0] + 0.587 * colour[:, 1] + 0.114 * colour[:, 2]


def paint(canvas, colour, mask):
    """`colour` ([n, 3] or [n, 3, 64, 64]) over `canvas` where `mask` [n, 1, 64, 64] says."""
    if colour.dim() == 2:
        colour = colour[:, :, None, None]
    return canvas + mask * (colour - canvas)


def crops(dice, photos, count):
    """[count, 3, 64, 64]: pieces of random pictures at random scale, mirrored half of the time."""
    pieces = []
    for _ in range(count):
        sizes = photos[int(dice.below(len(photos), 1))]
        photo = sizes[int(dice.below(len(sizes), 1))]
        top = int(dice.below(photo.shape[1] - SIZE + 1, 1))
        left = int(dice.below(photo.shape[2] - SIZE + 1, 1))
        piece = photo[:, top:top + SIZE, left:left + SIZE]
        pieces.append(piece.flip(2) if int(dice.below(2, 1)) else piece)
    return torch.stack(pieces)


def local_coordinates(centre, angle):
    """Where every pixel lies in the frame of a shape with this centre [n, 2] and angle [n]: two [n, 64, 64] tensors."""
    axis = torch.arange(SIZE) + 0.5
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    dx = x[None] - centre[:, 0, None, None]
    dy = y[None] - centre[:, 1, None, None]
    cosine, sine = torch.cos(angle)[:, None, None], torch.sin(angle)[:, None, None]
    return cosine * dx + sine * dy, cosine * dy - sine * dx


def rectangle(u, v, half):
    """Soft-edged mask [n, 1, 64, 64] of a rectangle with half sides [n, 2]."""
    across = (half[:, 0, None, None] - u.abs() + 0.5).clamp(0, 1)
    along = (half[:, 1, None, None] - v.abs() + 0.5).clamp(0, 1)
    return (across * along)[:, None]


def stamp(glyphs, u, v, size, slant):
    """Mask [n, 1, 64, 64] of glyphs [n, 1, 32, 32] drawn `size` [n] pixels high, sheared by `slant` [n]."""
    scale = 2 / size[:, None, None]
    grid = torch.stack([(u + slant[:, None, None] * v) * scale, v * scale], dim=-1)
    return F.grid_sample(glyphs, grid, align_corners=False)


class Shake:
    """How the camera moved in each of `count` pictures: 2..5 px of the small picture, nearly horizontal, and a
    Gaussian of 0.4..0.7 px."""

    def __init__(self, dice, count):
        self.length, self.angle = dice.between(2, 5, count), dice.between(-0.2, 0.2, count)
        self.sigma = dice.between(0.4, 0.7, count)

    def kernels(self, scale=1):
        """[count, k, k] with k odd; `scale` 2 is the same movement in the large picture."""
        along = torch.linspace(-0.5, 0.5, 15)[None] * self.length[:, None] * scale
        x = (along * torch.cos(self.angle)[:, None])[:, :, None, None]
        y = (along * torch.sin(self.angle)[:, None])[:, :, None, None]
        reach = REACH * scale
        axis = torch.arange(-reach, reach + 1)
        distance = (axis[None, None, None, :] - x) ** 2 + (axis[None, None, :, None] - y) ** 2
        kernels = torch.exp(-distance / (2 * (scale * self.sigma[:, None, None, None]) ** 2)).sum(1)
        return kernels / kernels.sum((1, 2), keepdim=True)


def blurred(images, kernels):
    """Each picture convolved with its own kernel."""
    count, channels, height, width = images.shape
    margin = kernels.shape[1] // 2
    padded = F.pad(images, (margin,) * 4, mode="reflect").view(1, count * channels, height + 2 * margin, -1)
    weights = kernels.repeat_interleave(channels, 0)[:, None]
    return F.conv2d(padded, weights, groups=count * channels).view(count, channels, height, width)


def degraded(dice, images, shake=None):
    """What the camera delivers of a clean 64x64 picture: 32x32, shaken, noisy, 8 bits."""
    small = F.avg_pool2d(images, 2)
    shaken = blurred(small, (shake or Shake(dice, len(images))).kernels())
    noisy = shaken + 0.004 * dice.normal(shaken.shape)
    return (noisy.clamp(0, 1) * 255).round() / 255


def degrees(value):
    return value * math.pi / 180
