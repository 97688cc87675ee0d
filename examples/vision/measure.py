"""Measures networks on the scenes of one split and prints the README's tables.

`networks` maps the names of models/ to anything that is called with a batch, trained modules or loaded TorchScript.
"""
import torch
import torch.nn.functional as F

from drawing import luma
from optimise import applied
from scenes import CARD, STROKE, to_bytes, to_floats
from stages import bicubic, small, true_map


def same(images):
    return images


def opaque(images):
    """Stands in for background removal: alpha 1 everywhere."""
    return torch.cat([images, torch.ones_like(images[:, :1])], 1)


def contrast(images):
    """Stands in for segmentation: how far a pixel's luma is from the mean inside the matte."""
    alpha, grey = images[:, 3:], luma(images)[:, None]
    mean = (grey * alpha).sum((2, 3), keepdim=True) / alpha.sum((2, 3), keepdim=True).clamp(min=1)
    far = (grey - mean).abs() * alpha
    stroke = far / far.amax((2, 3), keepdim=True).clamp(min=1e-3)
    return torch.cat([1 - alpha, alpha * (1 - stroke), stroke], 1)


STAND_INS = {"deblur": same, "super_resolution": bicubic, "background_removal": opaque, "segmentation": contrast}
CHAIN = ("deblur", "super_resolution", "background_removal", "segmentation")


def run(networks, names, inputs, left_out=()):
    """Float outputs of the stages `names` one after the other; those left out are replaced by their stand-in."""
    stages = [STAND_INS[name] if name in left_out else networks[name] for name in names]

    def all_stages(images):
        for stage in stages:
            images = stage(images)
        return images

    return applied(all_stages, inputs)


def accuracy(networks, maps, labels):
    """Share of maps that are classified rightly."""
    found = torch.cat([networks["classification"](piece)[1] for piece in maps.split(100)])
    return (found[:, 0] == labels).float().mean().item()


def psnr(images, truth):
    error = (images - truth).pow(2).mean((1, 2, 3)).clamp(min=1e-10)
    return (-10 * error.log10()).mean().item()


def overlap(found, truth):
    """Intersection over union of boolean masks, averaged over scenes."""
    both, either = (found & truth).flatten(1).sum(1), (found | truth).flatten(1).sum(1)
    return (both / either.clamp(min=1)).float().mean().item()


def stroke_overlap(maps, scenes):
    return overlap(maps.argmax(1) == STROKE, scenes.classes == STROKE)


def matte_overlap(images, scenes):
    return overlap(images[:, 3] > 0.5, scenes.classes >= CARD)


def table(title, header, rows):
    print(f"\n{title}\n\n| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def percent(share, count):
    return f"{100 * share:.1f} % ± {100 * (share * (1 - share) / count) ** 0.5:.1f}"


def chain_row(networks, scenes, title, left_out):
    maps = run(networks, CHAIN, scenes.input, left_out)
    overlapping = "" if "segmentation" in left_out else f"{stroke_overlap(maps, scenes):.3f}"
    return [title, percent(accuracy(networks, maps, scenes.label), len(scenes.label)), overlapping]


def accuracy_table(networks, scenes):
    left_out = [("**whole chain**", ()), ("without deblur (passed through)", ("deblur",)),
                ("without super-resolution (bicubic)", ("super_resolution",)),
                ("without both", ("deblur", "super_resolution")),
                ("without background removal (alpha 1)", ("background_removal",)),
                ("without segmentation (contrast inside the matte)", ("segmentation",)), ("without all four", CHAIN)]
    table("Accuracy on degraded input, other networks frozen", ("stages", "digits right", "stroke IoU"),
          [chain_row(networks, scenes, title, names) for title, names in left_out])


def other_inputs_table(networks, scenes):
    """The same networks on other inputs, among them the application image-classification."""
    sharp = small(scenes.clean)
    short = ("super_resolution", "segmentation")
    cases = [("image-classification, degraded input", run(networks, short, scenes.input)),
             ("image-classification, degraded input, bicubic", run(networks, short, scenes.input, short[:1])),
             ("image-classification, sharp 32x32 input", run(networks, short, sharp)),
             ("whole chain, sharp 32x32 input", run(networks, CHAIN, sharp)),
             ("background removal onwards, clean 64x64", run(networks, CHAIN[2:], scenes.clean)),
             ("classification alone, true map", to_floats(true_map(scenes.classes)))]
    rows = [[title, percent(accuracy(networks, maps, scenes.label), len(scenes.label)),
             f"{stroke_overlap(maps, scenes):.3f}"] for title, maps in cases]
    table("Accuracy on other inputs", ("stages and input", "digits right", "stroke IoU"), rows)


def picture_rows(networks, scenes, kind):
    """PSNR in dB of the networks that make pictures, beside what they start from."""
    truth, sharp = to_floats(scenes.clean), small(scenes.clean)
    deblurred = to_bytes(run(networks, CHAIN[:1], scenes.input))
    cases = [("deblur, 32x32", to_floats(sharp), to_floats(scenes.input), to_floats(deblurred)),
             ("super-resolution of the sharp picture (from: bicubic)", truth, applied(bicubic, sharp),
              applied(networks["super_resolution"], sharp)),
             ("super-resolution after deblur (from: bicubic)", truth, applied(bicubic, deblurred),
              applied(networks["super_resolution"], deblurred)),
             ("deblur, 64x64, after super-resolution", truth, applied(networks["super_resolution"], scenes.input),
              run(networks, ("super_resolution", "deblur"), scenes.input))]
    for title, wanted, before, after in cases:
        low, high = psnr(before, wanted), psnr(after, wanted)
        yield [f"{title}, {kind} scenes", f"{low:.2f}", f"{high:.2f}", f"{high - low:+.2f}"]


def picture_table(networks, scenes, depth_scenes):
    rows = [*picture_rows(networks, scenes, "digit"), *picture_rows(networks, depth_scenes, "depth")]
    table("Pictures, PSNR in dB against the truth", ("stage", "from", "to", "gain"), rows)


def matte_table(networks, scenes):
    other = ("super_resolution", "deblur", "background_removal")
    everything = torch.ones(len(scenes.label), 4, 64, 64)
    cases = [("everything is foreground", everything),
             ("clean 64x64", run(networks, CHAIN[2:3], scenes.clean)),
             ("in the whole chain", run(networks, CHAIN[:3], scenes.input)),
             ("background-elimination", run(networks, other, scenes.input)),
             ("background-elimination without deblur", run(networks, other, scenes.input, ("deblur",))),
             ("background-elimination without super-resolution", run(networks, other, scenes.input, other[:1]))]
    table("Background removal, IoU of the matte", ("input", "IoU"),
          [[title, f"{matte_overlap(images, scenes):.3f}"] for title, images in cases])


def depth_row(title, found, truth):
    relative = ((found - truth).abs() / truth).mean().item()
    squared = (found.log() - truth.log()).pow(2).mean((1, 2, 3)).sqrt().mean().item()
    near = (torch.maximum(found / truth, truth / found) < 1.25).float().mean().item()
    return [title, f"{relative:.3f}", f"{squared:.3f}", f"{100 * near:.1f} %"]


def depth_table(networks, scenes, mean_depth):
    names = ("deblur", "super_resolution", "depth")
    rows = [depth_row("none: mean of the training scenes", mean_depth.expand_as(scenes.depth), scenes.depth),
            depth_row("clean 64x64", run(networks, names[2:], scenes.clean), scenes.depth)]
    for title, left_out in (("**depth-recognition**", ()), ("without deblur", names[:1]),
                            ("without super-resolution", names[1:2]), ("without both", names[:2])):
        rows.append(depth_row(title, run(networks, names, scenes.input, left_out), scenes.depth))
    table("Depth", ("input", "mean relative error", "RMSE of log", "within 1.25x"), rows)


def direct_table(network, scenes):
    found = applied(network.logits, scenes.input).argmax(1)
    share = (found == scenes.label).float().mean().item()
    table("One network on the degraded picture", ("network", "digits right"),
          [["direct", percent(share, len(scenes.label))]])


@torch.no_grad()
def tables(networks, scenes, depth_scenes, mean_depth):
    accuracy_table(networks, scenes)
    other_inputs_table(networks, scenes)
    picture_table(networks, scenes, depth_scenes)
    matte_table(networks, scenes)
    depth_table(networks, depth_scenes, mean_depth)
