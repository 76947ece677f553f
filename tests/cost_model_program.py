"""Compiles one small model of transformers with random weights: cost_model_program.py MODEL train|eval BACKEND"""
import sys

import torch
import transformers

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


def inputs(config):
    if hasattr(config, "num_channels"):
        return torch.randn(3, 3, 64, 64)
    return torch.randint(0, 200, (3, 17))


name, train, backend = sys.argv[1], sys.argv[2] == "train", sys.argv[3]
torch.manual_seed(0)
family, settings = MODELS[name]
config = getattr(transformers, family + "Config")(**settings)
model = getattr(transformers, family + "Model")(config).train(train)
with torch.set_grad_enabled(train):
    out = torch.compile(model, backend=backend, dynamic=True)(inputs(config))
    if train:
        out[0].sum().backward()
