"""Called with several requests at once: every array has them as its first dimension."""
import numpy as np

weight = None


def load():
    """Once, when the function is loaded: what takes long and is needed by every call."""
    global weight
    weight = np.float32(1)


def run(inputs):
    x = inputs["x"] * weight  # FP32 [requests, length]
    print("a batch of", len(x))  # sluice trace ID --log
    return {"mean": x.mean(axis=1, keepdims=True), "largest": x.max(axis=1, keepdims=True)}
