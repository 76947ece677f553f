"""Functions of NumPy in a compiled function, on numbers and on an array."""
import numpy as np
import torch


@torch.compile(backend="aot_eager", dynamic=True)
def scale(x):
    y = x / np.sqrt(8) * np.prod([2, 3]) + np.log(2.5)
    z = x.numpy()
    return y, np.exp(z), np.sum(z), np.sqrt(np.prod([2, 2])), np.mean(z), np.square([1, 2]), np.absolute(z)


scale(torch.randn(4, 8))
