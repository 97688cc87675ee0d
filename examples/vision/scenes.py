"""Makes the scenes that networks are trained and tested on, with their truth.

A digit scene is a photograph with digits strewn over it and a card that carries one more digit; its label is the digit
on the card. A depth scene is a textured floor and wall with boxes, whose depth is known. Scenes are made in chunks of
100 with a seed each, so the first 200 of a split are the same whether 200 or 2000 are asked for.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F

import data
from drawing import SIZE, Dice, crops, degraded, degrees, local_coordinates, luma, paint, rectangle, stamp

CHUNK = 100
DISTRACTORS = 4
BOXES = 4
WALL_DEPTH = 8.0
OUTSIDE, CARD, STROKE = 0, 1, 2


def to_bytes(images):
    return (images.clamp(0, 1) * 255).round().to(torch.uint8)


def to_floats(images):
    return images.float() / 255


@dataclass
class DigitScenes:
    clean: torch.Tensor    # uint8 [n, 3, 64, 64]
    input: torch.Tensor    # uint8 [n, 3, 32, 32], the degraded picture
    matte: torch.Tensor    # uint8 [n, 1, 64, 64], the card
    classes: torch.Tensor  # uint8 [n, 64, 64]: OUTSIDE, CARD or STROKE
    label: torch.Tensor    # int64 [n]


@dataclass
class DepthScenes:
    clean: torch.Tensor  # uint8 [n, 3, 64, 64]
    input: torch.Tensor  # uint8 [n, 3, 32, 32]
    depth: torch.Tensor  # float [n, 1, 64, 64]


def strew(dice, canvas, glyphs):
    """Digits that do not count, all over the picture."""
    count = len(canvas)
    for _ in range(DISTRACTORS):
        chosen = glyphs[dice.below(len(glyphs), count)]
        u, v = local_coordinates(dice.between(4, 60, count, 2), degrees(dice.between(-30, 30, count)))
        mask = stamp(chosen, u, v, dice.between(14, 30, count), torch.zeros(count))
        canvas = paint(canvas, dice.between(0, 1, count, 3), mask)
    return canvas


def ink_for(dice, colour):
    """A colour at least 0.35 lighter or darker than `colour`, for each row; the best of 16 where none is."""
    choices = dice.between(0, 1, len(colour), 16, 3)
    apart = (luma(choices.reshape(-1, 3)).view(-1, 16) - luma(colour)[:, None]).abs()
    first = (apart >= 0.35).float().argmax(1)
    chosen = torch.where((apart >= 0.35).any(1), first, apart.argmax(1))
    return choices[torch.arange(len(colour)), chosen]


def ruled(dice, card, v, colour):
    """Two thin lines across the card."""
    for _ in range(2):
        offset = dice.between(-16, 16, len(card))[:, None, None]
        line = (1.2 - (v - offset).abs()).clamp(0, 1)[:, None]
        card = paint(card, colour, 0.35 * line)
    return card


def digit_chunk(seed, photos, glyphs, labels):
    dice = Dice(seed)
    canvas = strew(dice, crops(dice, photos, CHUNK), glyphs)
    centre, angle = dice.between(24, 40, CHUNK, 2), degrees(dice.between(-20, 20, CHUNK))
    u, v = local_coordinates(centre, angle)
    matte = rectangle(u, v, dice.between(17, 21, CHUNK, 2))
    colour = dice.between(0, 1, CHUNK, 3)
    texture = crops(dice, photos, CHUNK)
    texture = texture - texture.mean((2, 3), keepdim=True)
    card = (colour[:, :, None, None] + 0.15 * texture).clamp(0, 1)
    card = ruled(dice, card, v, dice.between(0, 1, CHUNK, 3))
    which = dice.below(len(glyphs), CHUNK)
    u, v = local_coordinates(centre + dice.between(-2.5, 2.5, CHUNK, 2), angle + degrees(dice.between(-8, 8, CHUNK)))
    stroke = stamp(glyphs[which], u, v, dice.between(24, 31, CHUNK), dice.between(-0.2, 0.2, CHUNK)) * matte
    clean = paint(paint(canvas, card, matte), ink_for(dice, colour), stroke)
    clean = to_floats(to_bytes(clean))
    classes = (matte[:, 0] > 0.5).to(torch.uint8)
    classes[stroke[:, 0] > 0.5] = STROKE
    return DigitScenes(to_bytes(clean), to_bytes(degraded(dice, clean)), to_bytes(matte), classes, labels[which])


def floor_and_wall(dice, horizon, height, focal, photos):
    """(picture, depth): perspective floor up to the wall, textured by photographs."""
    count = len(horizon)
    axis = torch.arange(SIZE) + 0.5
    below = (axis[None] - horizon[:, None]).clamp(min=1e-3)
    floor = (height * focal)[:, None] / below
    depth = floor.clamp(max=WALL_DEPTH)[:, :, None].expand(-1, -1, SIZE)
    across = (axis[None, None] - SIZE / 2) / focal[:, None, None] * depth
    turn = dice.between(0.2, 0.5, count)[:, None, None]
    grid = torch.stack([across * turn, depth * turn - 1.5], dim=-1)
    ground = F.grid_sample(crops(dice, photos, count), grid, padding_mode="reflection", align_corners=False)
    wall = (floor >= WALL_DEPTH)[:, None, :, None].float()
    picture = paint(ground, 0.3 * crops(dice, photos, count) + 0.7 * dice.between(0, 1, count, 3, 1, 1), wall)
    return picture, depth[:, None]


def add_boxes(dice, picture, depth, view, photos):
    """Upright boxes on the floor, the farthest first."""
    horizon, height, focal = view
    count = len(picture)
    axis = torch.arange(SIZE) + 0.5
    for distance in dice.between(2.2, 7.0, count, BOXES).sort(1, descending=True).values.unbind(1):
        bottom = horizon + height * focal / distance
        top = bottom - dice.between(0.5, 1.7, count) * focal / distance
        left = dice.between(-8, 60, count)
        right = left + dice.between(0.5, 1.4, count) * focal / distance
        rows = (axis[None] >= top[:, None]) & (axis[None] < bottom[:, None])
        columns = (axis[None] >= left[:, None]) & (axis[None] < right[:, None])
        mask = (rows[:, :, None] & columns[:, None, :])[:, None].float()
        surface = 0.4 * crops(dice, photos, count) + 0.6 * dice.between(0, 1, count, 3, 1, 1)
        picture = paint(picture, surface, mask)
        depth = depth + mask * (distance[:, None, None, None] - depth)
    return picture, depth


def depth_chunk(seed, photos):
    dice = Dice(seed)
    view = (dice.between(18, 30, CHUNK), dice.between(1.1, 1.6, CHUNK), dice.between(50, 64, CHUNK))
    picture, depth = floor_and_wall(dice, *view, photos)
    picture, depth = add_boxes(dice, picture, depth, view, photos)
    thickness = dice.between(0.03, 0.12, CHUNK)[:, None, None, None]
    hazy = paint(picture, dice.between(0.6, 0.9, CHUNK, 3), 1 - torch.exp(-thickness * depth))
    clean = to_floats(to_bytes(hazy))
    return DepthScenes(to_bytes(clean), to_bytes(degraded(dice, clean)), depth)


def joined(chunks):
    kind = type(chunks[0])
    return kind(*(torch.cat([getattr(chunk, name) for chunk in chunks]) for name in kind.__dataclass_fields__))


def seeds(split, count):
    first = 1_000_000 * (1 + data.SPLITS.index(split))
    return [first + chunk for chunk in range(count // CHUNK)]


def digit_scenes(split, count):
    """`count` scenes, a multiple of 100, from the split's own pictures and digits."""
    photos, (glyphs, labels) = data.load_photos(split), data.load_digits(split)
    return joined([digit_chunk(seed, photos, glyphs, labels) for seed in seeds(split, count)])


def depth_scenes(split, count):
    photos = data.load_photos(split)
    return joined([depth_chunk(seed + 500_000, photos) for seed in seeds(split, count)])
