"""A dataclass of options is passed; the sampler changes one of its integers in every call."""
import dataclasses

import torch


@dataclasses.dataclass
class Sampling:
    temperature: float = 0.8
    top: int = 10
    position: int = 0


def sample(logits, options):
    logits = logits / options.temperature
    kept = logits.topk(options.top, -1)
    noise = torch.cos(kept.values * (options.position + 1))
    return kept.indices.gather(-1, (kept.values + 0.01 * noise).argmax(-1, keepdim=True))


compiled = torch.compile(sample, backend="aot_eager")
options = Sampling()
for position in range(12):
    options.position = position
    token = compiled(torch.randn(2, 40), options)
print(token.shape)
