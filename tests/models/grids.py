"""Decompositions that compare sizes: grids at which an image is sampled, and sequences that are padded to the longest."""
import torch
import torch.nn.functional as F


def sampled(image, theta):
    grid = F.affine_grid(theta, (image.shape[0], 1, image.shape[2] // 2, image.shape[3]))
    return F.grid_sample(image, grid, padding_mode="border"), F.grid_sample(image, grid, mode="nearest")


def padded(sequences):
    return torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True)


torch.manual_seed(0)
for f, args in ((sampled, [torch.rand(4, 2, 12, 6), torch.rand(4, 2, 3)]),
                (padded, [[torch.rand(3, 4), torch.rand(5, 4), torch.rand(2, 4)]])):
    torch.compile(f, backend="aot_eager", dynamic=True)(*args)
