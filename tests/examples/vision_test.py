#!/usr/bin/python3
"""The committed networks of examples/vision do what its README says: exit 0 yes, 1 no, 77 packages are missing.

Takes some seconds. Scenes are generated, from pictures and digits that no network was trained on.
"""
import re
import sys
from pathlib import Path

VISION = Path(__file__).resolve().parents[2] / "examples" / "vision"
SKIPPED = 77
SCENES = 200
TOLERANCE = 3.0
BYTES_MAX = 5_000_000

sys.dont_write_bytecode = True
sys.path.insert(0, str(VISION))
try:
    import torch

    import measure
    import scenes
    import train
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)


def readme_accuracy():
    """The whole chain's percentage in the README's table."""
    row = re.search(r"^\| \*\*whole chain\*\* \| \**([0-9.]+) %", (VISION / "README.md").read_text(), re.MULTILINE)
    return float(row.group(1))


def check_weights():
    total = sum(file.stat().st_size for file in (VISION / "models").glob("*.pt"))
    return total < BYTES_MAX, f"weights are {total} bytes, {BYTES_MAX} at most"


def check_accuracy(networks):
    made = scenes.digit_scenes("test", SCENES)
    found = 100 * measure.accuracy(networks, measure.run(networks, measure.CHAIN, made.input), made.label)
    wanted = readme_accuracy()
    return abs(found - wanted) <= TOLERANCE, f"chain: {found:.1f} % of {SCENES} digits right, README says {wanted} %"


def check_declared_forms(networks):
    """Shapes and types are those of functions.yaml, for a batch of two."""
    image, large = torch.rand(2, 3, 32, 32), torch.rand(2, 3, 64, 64)
    scores, label = networks["classification"](large)
    outputs = [(networks["deblur"](image), (3, 32, 32)), (networks["deblur"](large), (3, 64, 64)),
               (networks["super_resolution"](image), (3, 64, 64)), (networks["background_removal"](large), (4, 64, 64)),
               (networks["segmentation"](large), (3, 64, 64)), (networks["depth"](large), (1, 64, 64)), (scores, (10,))]
    right = all(tensor.shape == (2, *shape) and tensor.dtype == torch.float32 for tensor, shape in outputs)
    return right and label.shape == (2, 1) and label.dtype == torch.int64, "outputs have the declared shapes and types"


@torch.inference_mode()
def main():
    torch.set_num_threads(2)
    networks = train.load()
    checks = [check_weights(), check_accuracy(networks), check_declared_forms(networks)]
    for passed, text in checks:
        print(("ok: " if passed else "FAILED: ") + text)
    return 0 if all(passed for passed, _ in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
