"""Sizes that a call makes equal to others: attention that asserts the sizes of its weights, and a view by three numbers."""
import torch
import torch.nn.functional as F


@torch.compile(backend="aot_eager", dynamic=True)
def attention(x, weight, bias):
    x = x[:, ::2][:, 1:]
    length = x.shape[1]
    mask = torch.ones(4 * x.shape[0], length, length)
    x, biases = x.transpose(0, 1), torch.cat([bias, bias, bias])
    return F.multi_head_attention_forward(
        x, x, x, 32, 4, None, biases, None, None, False, 0.0, weight, bias, attn_mask=mask,
        use_separate_proj_weight=True, q_proj_weight=weight, k_proj_weight=weight, v_proj_weight=weight)


@torch.compile(backend="aot_eager", dynamic=True)
def heads(x, batch, length, width):
    return x.reshape(batch, length, width)


with torch.no_grad():
    attention(torch.randn(3, 17, 32), torch.randn(32, 32), torch.randn(32))
    heads(torch.randn(6, 32), 2, 3, 32)
