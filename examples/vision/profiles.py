"""Measures the saved networks with one thread and writes profiles/FUNCTION.csv, which the documents refer to.

Counts the thread's CPU time, so waiting for a core that other programs hold is left out. What they do to caches and to
the other hyperthread of the core is not: measure on a quiet machine for exact values.
"""
import statistics
import time

import torch

BATCHES = (1, 2, 4, 8)
WARM_UP, CALLS = 10, 60
PROFILES = {  # file: network, shape of one input
    "deblur": ("deblur", (3, 32, 32)),
    "deblur_large": ("deblur", (3, 64, 64)),
    "super_resolution": ("super_resolution", (3, 32, 32)),
    "background_removal": ("background_removal", (3, 64, 64)),
    "segmentation": ("segmentation", (4, 64, 64)),
    "classification": ("classification", (3, 64, 64)),
    "depth": ("depth", (3, 64, 64)),
}


@torch.inference_mode()
def measured(network, shape):
    """For each of BATCHES the ms of CALLS calls. Batches take turns, so that a slow spell of the machine hits all."""
    inputs, times = [torch.rand(batch, *shape) for batch in BATCHES], [[] for _ in BATCHES]
    for call in range(WARM_UP + CALLS):
        for images, taken in zip(inputs, times):
            began = time.thread_time()
            network(images)
            if call >= WARM_UP:
                taken.append(1000 * (time.thread_time() - began))
    return times


def write(networks, folder):
    torch.set_num_threads(1)
    folder.mkdir(exist_ok=True)
    for name, (network, shape) in PROFILES.items():
        lines = ["batch,vcpu,vgpu,mean_ms,sd_ms"]
        for batch, times in zip(BATCHES, measured(networks[network], shape)):
            mean, deviation = statistics.mean(times), statistics.stdev(times)
            lines.append(f"{batch},1,0,{mean:.3f},{deviation:.3f}")
            print(f"{name:<20} batch {batch}: {mean:.2f} ms ± {deviation:.2f}", flush=True)
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
