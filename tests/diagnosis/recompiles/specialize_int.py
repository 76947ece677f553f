"""The position of the next token is an int; a setting makes every int a constant."""
import torch

torch._dynamo.config.specialize_int = True


def rotate(x, position):
    frequencies = torch.arange(x.shape[-1] // 2) * 0.1
    angle = position * frequencies
    a, b = x.chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


compiled = torch.compile(rotate, backend="aot_eager")
for position in range(3, 10):
    out = compiled(torch.randn(2, 4, 16), position)
print(out.shape)
