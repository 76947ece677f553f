"""Calls that PyTorch has for the CPU only, on CUDA: what a recording of the CPU holds, as the same module on CUDA would have called it."""
import torch
from torch.nn.functional import pad

MULTIPLE = 32  # of the rows of the logarithms that CUDA's attention saves


def mask_of(attn_mask, query, key):
    """CUDA's attention takes a mask of all its sizes, of the queries' dtype."""
    if attn_mask is None:
        return None
    if attn_mask.dtype == torch.bool:
        attn_mask = torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill(~attn_mask, float("-inf"))
    return attn_mask.expand(*query.shape[:3], key.shape[-2])


def attention(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    found = torch.ops.aten._scaled_dot_product_efficient_attention.default(
        query, key, value, mask_of(attn_mask, query, key), True, dropout_p, is_causal, scale=scale)
    return found[0], found[1][..., :query.shape[-2]]


def attention_backward(grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, *, attn_mask=None, scale=None):
    logarithms = pad(logsumexp, (0, -query.shape[-2] % MULTIPLE))
    none = torch.zeros((), dtype=torch.int64, device=query.device)  # the seed and offset of dropout
    return torch.ops.aten._scaled_dot_product_efficient_attention_backward.default(
        grad_out, query, key, value, mask_of(attn_mask, query, key), out, logarithms, none, none, dropout_p, [True, True, True, False], is_causal, scale=scale)[:3]


CALLS = {
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default": "peers_cpu_calls.attention_backward",
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default": "peers_cpu_calls.attention",
}


def on_cuda(text):
    """A program that was recorded on the CPU, for CUDA as PyTorch's default device where its inputs are made."""
    for call, name in CALLS.items():
        text = text.replace(call + "(", name + "(")
    return "import peers_cpu_calls\n" + text.replace('device="cpu"', 'device="cuda"')
