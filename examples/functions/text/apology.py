import numpy as np


def run(inputs):
    return {"first": np.array([["sorry"]] * len(inputs["text"]), dtype=object), "count": np.zeros((len(inputs["text"]), 1), int)}
