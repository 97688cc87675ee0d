"""The training loop that every network shares, and running a network over many pictures."""
import math
import time

import torch
from torch import nn

REPORT_EVERY = 200


def learning_rate(step, steps):
    """Share of the peak rate: 5 % warm-up, then a cosine to zero."""
    warm_up = max(1, steps // 20)
    if step < warm_up:
        return (step + 1) / warm_up
    return 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up)))


def report(name, step, steps, loss, began):
    spent = time.monotonic() - began
    left = spent / step * (steps - step)
    print(f"  {name:<18} step {step:>5}/{steps}  loss {loss:.4f}  {spent:4.0f} s, {left:4.0f} s left", flush=True)


def optimise(name, network, steps, rate, loss_of):
    """Trains `network` for a fixed number of steps on `loss_of(step)`; returns the CPU seconds it took."""
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: learning_rate(step, steps))
    network.train()
    began, processor_began, total = time.monotonic(), time.process_time(), 0.0
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        loss = loss_of(step)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total += loss.item()
        if step % REPORT_EVERY == 0 or step == steps:
            report(name, step, steps, total / (step % REPORT_EVERY or REPORT_EVERY), began)
            total = 0.0
    network.eval()
    return time.process_time() - processor_began


@torch.no_grad()
def applied(function, inputs, batch=100):
    """`function` over uint8 pictures, in batches; the result as float."""
    return torch.cat([function(piece.float() / 255) for piece in inputs.split(batch)])
