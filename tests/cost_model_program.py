"""Compiles one small model, of transformers or of its own, with random weights: cost_model_program.py MODEL train|eval BACKEND"""
import math
import sys

import torch
from torch import nn

SMALL = dict(vocab_size=200, hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=128)
DECODER = dict(SMALL, use_cache=False)
IMAGES = dict(hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=128, image_size=64, patch_size=8)
WIDTHS = [16, 32, 64, 64]

MODELS = {
    "bert": ("Bert", SMALL), "roberta": ("Roberta", SMALL), "mpnet": ("MPNet", SMALL),
    "electra": ("Electra", dict(SMALL, embedding_size=32)), "albert": ("Albert", dict(SMALL, embedding_size=32)),
    "distilbert": ("DistilBert", dict(vocab_size=200, dim=64, n_layers=4, n_heads=4, hidden_dim=128)),
    "gpt2": ("GPT2", dict(vocab_size=200, n_embd=64, n_layer=4, n_head=4, use_cache=False)),
    "opt": ("OPT", dict(vocab_size=200, hidden_size=64, num_hidden_layers=4, num_attention_heads=4, ffn_dim=128,
                        word_embed_proj_dim=64, use_cache=False)),
    "llama": ("Llama", dict(DECODER, num_key_value_heads=2)), "mistral": ("Mistral", dict(DECODER, num_key_value_heads=2)),
    "qwen2": ("Qwen2", dict(DECODER, num_key_value_heads=2)),
    "gemma": ("Gemma", dict(DECODER, num_key_value_heads=2, head_dim=16)),
    "phi": ("Phi", DECODER), "gpt_neox": ("GPTNeoX", DECODER),
    "vit": ("ViT", IMAGES), "deit": ("DeiT", IMAGES),
    "resnet": ("ResNet", dict(embedding_size=16, hidden_sizes=WIDTHS, depths=[2, 2, 2, 2], layer_type="basic")),
    "convnext": ("ConvNext", dict(hidden_sizes=WIDTHS, depths=[1, 1, 2, 1])),
}



class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.norm = nn.Linear(32, 96), nn.Linear(32, 32), nn.LayerNorm(32)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).view(*x.shape[:2], 3, 4, 8).permute(2, 0, 3, 1, 4)
        return (x + self.out(nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)),)


class Same(nn.Module):
    """Pads as TensorFlow does: sizes become longer with each layer."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(8, 8, 3, stride=2) for _ in range(3))

    def forward(self, x):
        for conv in self.convs:
            h, w = (max((math.ceil(n / 2) - 1) * 2 + 3 - n, 0) for n in x.shape[-2:])
            x = conv(nn.functional.pad(x, [w // 2, w - w // 2, h // 2, h - h // 2]))
        return (x,)


class Patches(nn.Module):
    """Merges neighbours, with padding where a size is odd."""

    def __init__(self):
        super().__init__()
        self.merges = nn.ModuleList(nn.Linear(32, 8) for _ in range(3))

    def forward(self, x):
        for merge in self.merges:
            x = nn.functional.pad(x, (0, 0, 0, x.shape[2] % 2, 0, x.shape[1] % 2))
            x = merge(torch.cat([x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)], -1))
        return (x,)


class Halves(nn.Module):
    """Splits a sequence in two, again and again, and puts the parts together in another way."""

    def forward(self, x):
        for _ in range(3):
            n = x.shape[1] // 2
            x = torch.cat([x[:, n:], x[:, :n] * 2, x[:, : (n + 1) // 2]], 1)
        return (x,)


class Pyramid(nn.Module):
    """Sizes that are halved, and interpolated to those before."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList(nn.Conv2d(8, 8, 3, stride=2, padding=1) for _ in range(4))

    def forward(self, x):
        levels = [x]
        for down in self.down:
            levels.append(down(levels[-1]).relu())
        y = levels[-1]
        for level in reversed(levels[:-1]):
            y = level + nn.functional.interpolate(y, size=level.shape[-2:])
        return (torch.cat([z.flatten(2) for z in levels], 2), y)


class Own(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return (self.layers(x),)


OWN = {
    "mlp": lambda: (Own(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 8)), torch.randn(5, 16)),
    "cnn": lambda: (Own(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3), nn.Flatten(2)),
                    torch.randn(3, 3, 20, 24)),
    "attention": lambda: (Attention(), torch.randn(3, 17, 32)),
    "same": lambda: (Same(), torch.randn(2, 8, 93, 121)),
    "patches": lambda: (Patches(), torch.randn(2, 93, 121, 8)),
    "halves": lambda: (nn.Sequential(nn.Linear(8, 8), Halves()), torch.randn(2, 61, 8)),
    "pyramid": lambda: (Pyramid(), torch.randn(2, 8, 93, 121)),
}


def inputs(config):
    if hasattr(config, "num_channels"):
        return torch.randn(3, 3, 64, 64)
    return torch.randint(0, 200, (3, 17))


def transformers_model(name):
    import transformers
    family, settings = MODELS[name]
    config = getattr(transformers, family + "Config")(**settings)
    return getattr(transformers, family + "Model")(config), inputs(config)


def make(name):
    """Returns a model and its argument. Its result's first item is a tensor."""
    torch.manual_seed(0)
    return OWN[name]() if name in OWN else transformers_model(name)


def main():
    name, train, backend = sys.argv[1], sys.argv[2] == "train", sys.argv[3]
    model, argument = make(name)
    with torch.set_grad_enabled(train):
        out = torch.compile(model.train(train), backend=backend, dynamic=True)(argument)
        if train:
            out[0].sum().backward()


if __name__ == "__main__":
    main()
