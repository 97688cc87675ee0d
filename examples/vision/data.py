"""The photographs and handwritten digits that scenes are made of, split into train, valid and test.

Everything comes from files that Debian packages ship (README.md lists each picture with its licence), so nothing is
downloaded. No picture and no digit is in two splits.
"""
import gzip
from pathlib import Path

import numpy as np
import scipy.misc
import skimage
import sklearn
import torch
import torch.nn.functional as F
from PIL import Image

SPLITS = ("train", "valid", "test")

PHOTOS = {
    "train": ("china", "face", "astronaut", "chelsea", "brick", "grass", "rocket", "hubble_deep_field"),
    "valid": ("flower", "clock_motion"),
    "test": ("camera", "gravel", "coffee", "ascent", "retina"),
}
DIGIT_ROWS = {"train": (0, 1147), "valid": (1147, 1347), "test": (1347, 1797)}

SHORT_SIDES = (96, 160, 256)  # a crop of 64 pixels shows much or little of the picture
GLYPH = 32


def photo_file(name):
    folders = (Path(skimage.__file__).parent / "data", Path(sklearn.__file__).parent / "datasets" / "images")
    for folder in folders:
        for ending in (".png", ".jpg"):
            if (folder / (name + ending)).exists():
                return folder / (name + ending)
    raise FileNotFoundError(f"{name}: install python3-skimage and python3-sklearn")


def load_photo(name):
    if name == "face":
        return Image.fromarray(scipy.misc.face())
    if name == "ascent":
        return Image.fromarray(scipy.misc.ascent().astype(np.uint8)).convert("RGB")
    return Image.open(photo_file(name)).convert("RGB")


def shrunk(photo, short_side):
    factor = short_side / min(photo.size)
    size = tuple(max(short_side, round(length * factor)) for length in photo.size)
    return torch.from_numpy(np.array(photo.resize(size, Image.LANCZOS))).permute(2, 0, 1).float() / 255


def load_photos(split):
    """For each picture of the split its [3, height, width] tensors, one for each of SHORT_SIDES."""
    photos = [load_photo(name) for name in PHOTOS[split]]
    return [[shrunk(photo, side) for side in SHORT_SIDES] for photo in photos]


def load_digits(split):
    """(glyphs [n, 1, 32, 32] in 0..1 with crisp edges, labels [n]) of the split."""
    with gzip.open(Path(sklearn.__file__).parent / "datasets" / "data" / "digits.csv.gz", "rt") as lines:
        rows = np.loadtxt(lines, delimiter=",", dtype=np.float32)
    first, end = DIGIT_ROWS[split]
    pixels = torch.from_numpy(rows[first:end, :64]).view(-1, 1, 8, 8) / 16
    smooth = F.interpolate(pixels, size=(GLYPH, GLYPH), mode="bicubic", align_corners=False)
    return torch.sigmoid((smooth - 0.45) * 12), torch.from_numpy(rows[first:end, 64]).long()
