"""native_layer_norm with a shape of numbers that are inputs: its guards compare them with the sizes of the weight and of the input."""
import torch


@torch.compile(backend="aot_eager", dynamic=True)
def normalize(x, shape, weight):
    return torch.native_layer_norm(x, shape, weight, None, 1e-5)[0]


x, weight = torch.randn(4, 6, 5), torch.randn(6, 5)
for tensor in (x, weight):
    for dim in range(tensor.ndim):
        torch._dynamo.maybe_mark_dynamic(tensor, dim)
normalize(x, (6, 5), weight)
