import numpy as np


def run(inputs):
    wanted = int(inputs["n"][0][0])
    if wanted < 0:
        raise ValueError(f"{wanted} numbers cannot be counted")
    return {"numbers": np.arange(wanted, dtype="i8").reshape(1, wanted), "text": np.array([[b"%d" % wanted]], dtype=object)}
