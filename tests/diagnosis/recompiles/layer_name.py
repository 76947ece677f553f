"""A helper is told the name of the layer and looks its limit up by a part of it."""
import torch

LIMITS = {"attn": 2.0, "mlp": 4.0}


def clip_activations(x, name):
    limit = LIMITS["attn" if name.endswith("attn") else "mlp"]
    scale = x.norm(dim=-1, keepdim=True).clamp(min=limit) / limit
    return x / scale


clip = torch.compile(clip_activations, backend="aot_eager")
x = torch.randn(8, 32)
for i in range(6):
    x = clip(x, f"decoder.layers.{i}.attn")
    x = clip(x, f"decoder.layers.{i}.mlp")
print(x.shape)
