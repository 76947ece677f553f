"""Views of tensors by the sizes of another one: each tensor is read at the line of its view, whose guards make the sizes equal."""
import torch


@torch.compile(backend="aot_eager", dynamic=True)
def heads(hidden, query, key, value):
    shape = (*hidden.shape[:-1], -1, 2)
    query = query.view(shape)
    key = key.view(shape)
    value = value.view(shape)
    return query + key + value


tensors = [torch.randn(3, 5, 8) for _ in range(4)]
for tensor in tensors:
    for dim in range(2):
        torch._dynamo.maybe_mark_dynamic(tensor, dim)
heads(*tensors)
