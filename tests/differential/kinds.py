"""Small programs of kinds that models rarely have: recurrent layers, higher-order operators, torch.func, nested tensors, hooks.

A program is a function of PROGRAMS; models.py runs each in a process of its own. Most compile one function and call it with two sizes.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

R = torch.randn
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=True)


def first(result):
    return result if isinstance(result, torch.Tensor) else first(result[0])


def infer(function, *calls):
    f = compiled(function)
    for call in calls:
        f(*call)


def train(function, *calls):
    f = compiled(function)
    for call in calls:
        first(f(*call)).sum().backward()


def leaf(*size):
    return torch.randn(*size, requires_grad=True)


@program
def recurrent():
    torch._dynamo.config.allow_rnn = True
    for layer in nn.LSTM(8, 16, 2), nn.LSTM(8, 16, bidirectional=True), nn.RNN(8, 16):
        train(layer, (R(5, 3, 8),), (R(6, 4, 8),))


@program
def gru_states():
    torch._dynamo.config.allow_rnn = True
    train(nn.GRU(8, 16), (R(5, 3, 8), R(1, 3, 16)), (R(6, 4, 8), R(1, 4, 16)))


@program
def recurrent_cells():
    for cell in nn.LSTMCell(8, 16), nn.GRUCell(8, 16), nn.RNNCell(8, 16):
        train(cell, (R(3, 8),), (R(4, 8),))


@program
def flex_attention():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention as attention

    def plain(q, k, v):
        return attention(q, k, v, score_mod=lambda score, b, h, i, j: score + (i - j))

    def masked(q, k, v):
        mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, q.shape[2], q.shape[2], device="cpu")
        return attention(q, k, v, block_mask=mask)
    infer(plain, *[[R(2, 2, n, 8) for _ in range(3)] for n in (48, 64)])
    infer(masked, *[[R(2, 2, n, 8) for _ in range(3)] for n in (128, 256)])


@program
def compiled_autograd():
    from torch._dynamo import compiled_autograd as autograd
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.LayerNorm(16), nn.Linear(16, 4))
    for n in (3, 4, 5):
        with autograd._enable(compiled):
            model(R(n, 8)).sum().backward()


@program
def hook():
    def f(x):
        y = x.sin()
        y.register_hook(lambda grad: grad * 2)
        return y.cos()
    train(f, (leaf(3, 8),), (leaf(4, 8),))


@program
def nested():
    layer = nn.Linear(8, 16)

    def f(x):
        y = F.layer_norm(layer(x), (16,))
        q = y.unflatten(-1, [2, 8]).transpose(1, 2)
        return F.scaled_dot_product_attention(q, q, q).transpose(1, 2).flatten(-2).values()
    infer(f, *[(torch.nested.nested_tensor([R(n, 8), R(n + 2, 8), R(1, 8)], layout=torch.jagged),) for n in (3, 4)])


@program
def invoke_quant():
    from torch._higher_order_ops import InvokeQuant
    quant = InvokeQuant()
    infer(lambda x, y: quant(lambda a, b: (a * b).sin(), x, y, scheme="nf4"), (R(3, 8), R(3, 8)), (R(4, 8), R(4, 8)))


@program
def functionalized():
    @torch.library.custom_op("symtape_test::increase", mutates_args={"x"})
    def increase(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return y + 1
    increase.register_fake(lambda x, y: torch.empty_like(y))

    def f(x, y):
        z = x.sin()
        return z + 1, increase(z, y), increase(z[1:], y)
    infer(f, (R(3, 8), R(3, 8)), (R(4, 8), R(4, 8)))


@program
def scans():
    from torch._higher_order_ops.associative_scan import associative_scan
    from torch._higher_order_ops.map import map as map_
    from torch._higher_order_ops.scan import scan
    from torch._higher_order_ops.while_loop import while_loop
    weight = leaf(8, 8)
    infer(lambda c, x: scan(lambda a, b: (a + b, a * b), c, x, dim=0), (R(8), R(3, 8)), (R(8), R(4, 8)))
    train(lambda c, x: scan(lambda a, b: (torch.tanh(a @ weight + b), a * 2), c, x, dim=0)[1], (R(8), R(3, 8)), (R(8), R(4, 8)))
    infer(lambda x: associative_scan(lambda a, b: a + b, x, dim=1, combine_mode="generic"), (R(5, 13),), (R(9, 17),))
    train(lambda x, y: map_(lambda a, b: a + b.sum(), x, y), (leaf(3, 8), R(8)), (leaf(4, 8), R(8)))
    infer(lambda x: while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (torch.tensor(0), x)), (R(3, 8),), (R(4, 8),))


@program
def associative_pairs():
    from torch._higher_order_ops.associative_scan import associative_scan

    def combine(a, b):
        return a[0] * b[0], a[1] * b[0] + b[1]
    infer(lambda x, y: associative_scan(combine, (x, y), dim=0, combine_mode="generic"), (R(5, 8), R(5, 8)), (R(9, 8), R(9, 8)))


@program
def checkpointed_dropout():
    from torch.utils.checkpoint import checkpoint
    layer = nn.Linear(8, 8)
    train(lambda x: checkpoint(lambda y: F.dropout(layer(y).relu(), 0.1), x, use_reentrant=False), (R(3, 8),), (R(4, 8),))


@program
def functional_transforms():
    infer(lambda x, w: torch.vmap(lambda a: F.linear(a, w).softmax(-1))(x), (R(3, 5, 8), R(4, 8)), (R(4, 5, 8), R(4, 8)))
    infer(lambda x, w: torch.func.grad(lambda a: (F.linear(a, w) ** 2).sum())(x), (R(3, 8), R(4, 8)), (R(4, 8), R(4, 8)))
    infer(torch.func.jacrev(lambda a: a.sin() * a.sum()), (R(3),), (R(4),))
    infer(torch.func.jacfwd(lambda a: a.sin() * a.sum()), (R(3),), (R(4),))


@program
def autograd_function():
    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            ctx.save_for_backward(x)
            return x.sin().view(n, -1)

        @staticmethod
        def backward(ctx, grad):
            x, = ctx.saved_tensors
            return grad.view(x.shape) * x.cos(), None
    train(lambda x: Sine.apply(x, x.shape[0]), (leaf(3, 8),), (leaf(4, 8),))


@program
def tensor_subclass():
    from torch.testing._internal.two_tensor import TwoTensor
    infer(lambda x: x.sin() @ x.t(), (TwoTensor(R(3, 8), R(3, 8)),), (TwoTensor(R(4, 8), R(4, 8)),))


@program
def data_dependent():
    torch._dynamo.config.capture_scalar_outputs = torch._dynamo.config.capture_dynamic_output_shape_ops = True

    def f(x, n):
        u = n.item()
        torch._check(u <= x.shape[0])
        part = torch.zeros(u, 4)[:, :2].reshape(-1)
        return x[:u].sum(), x.nonzero().sum(), torch.masked_select(x, x > 0).sum(), part.sum()
    infer(f, (R(3, 8), torch.tensor(2)), (R(4, 8), torch.tensor(2)))


@program
def autocast():
    model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 4))

    def f(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return model(x).softmax(-1)
    train(f, (R(3, 8),), (R(4, 8),))


@program
def compile_regions():
    layer = nn.Linear(8, 8)
    region = torch.compiler.nested_compile_region(lambda x: layer(x).relu())
    train(lambda x: region(region(x)), (R(3, 8),), (R(4, 8),))


@program
def chosen_attention():
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def f(q):
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(q, q, q, is_causal=True)
    train(f, (leaf(2, 2, 3, 8),), (leaf(2, 2, 4, 8),))


@program
def transformer_layers():
    attention, layer = nn.MultiheadAttention(8, 2, batch_first=True), nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    train(lambda x: attention(x, x, x)[0], (R(2, 3, 8),), (R(2, 4, 8),))
    with torch.no_grad():
        infer(layer, (R(2, 3, 8),), (R(2, 4, 8),))


@program
def optimizer():
    model = nn.Linear(8, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    step = compiled(optimizer.step)
    for n in (3, 4):
        model(R(n, 8)).sum().backward()
        step()


@program
def clipped_gradients():
    parameters = [leaf(8, 8), leaf(4)]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    for norm_type in 2.0, 1.0, float("inf"):
        infer(lambda most: nn.utils.clip_grad_norm_(parameters, most, norm_type), (1.0,), (2.0,))
    infer(lambda x, norm_type: nn.utils.get_total_norm([x, x * 2], norm_type), (R(4, 8), 2.0), (R(5, 8), 3.0))


@program
def ranges_of_floats():
    infer(lambda x, end: x + torch.arange(end).sum(), (R(3), 3.5), (R(4), 4.5))
    infer(lambda x, end: torch.arange(x.shape[0], end, 2), (R(3), 30.0), (R(4), 41.5))
    infer(lambda x: torch.arange(0.0, x.shape[0]), (R(3),), (R(4),))


@program
def matrix_ranks():
    infer(lambda x, tolerance: torch.linalg.matrix_rank(x, tolerance), (R(2, 3, 4), R(2)), (R(3, 4, 5), R(3)))
    infer(lambda x: torch.linalg.matrix_rank(x @ x.mT, hermitian=True), (R(3, 4),), (R(4, 5),))
    infer(lambda x: torch.linalg.matrix_rank(x, atol=0.1, rtol=0.2), (R(2, 3, 4),), (R(3, 4, 5),))


@program
def transforms_of_signals():
    def f(x):
        return torch.fft.irfft(torch.fft.rfft(x) * 2, n=x.shape[-1]), torch.view_as_real(torch.fft.fft(x)), torch.stft(x, 8, return_complex=True)
    infer(f, (R(3, 30),), (R(3, 44),))


@program
def vmaps():
    infer(lambda x, y: torch.vmap(lambda a, b: (a * b).sum(-1) + a.mean())(x, y), (R(3, 5, 8), R(3, 5, 8)), (R(4, 5, 8), R(4, 5, 8)))
    infer(torch.vmap(torch.vmap(lambda a: a.cumsum(0)[1:] / a.norm())), (R(3, 5, 8),), (R(4, 6, 8),))
    infer(torch.vmap(lambda a, b: torch.cat([a @ b, a]), in_dims=(1, None), out_dims=1), (R(8, 3), R(8, 4)), (R(8, 5), R(8, 4)))
    infer(torch.vmap(lambda a, j: a[j]), (R(3, 8), torch.zeros(3, dtype=torch.long)), (R(4, 8), torch.zeros(4, dtype=torch.long)))
    gradient = torch.vmap(torch.func.grad(lambda w, x: ((x @ w) ** 2).sum()), (None, 0))
    infer(gradient, (R(8), R(3, 8)), (R(8), R(5, 8)))


@program
def resized_positions():
    positions = nn.Parameter(R(1, 8, 4, 4))
    for mode in "bicubic", "bilinear", "nearest":
        infer(lambda x: x + F.interpolate(positions, size=x.shape[2:], mode=mode), (R(2, 8, 6, 10),), (R(2, 8, 8, 12),))


@program
def sampled_grids():
    def f(x, theta):
        grid = F.affine_grid(theta, (x.shape[0], 1, x.shape[2] // 2, x.shape[3]), align_corners=False)
        return [F.grid_sample(x, grid, mode=mode, padding_mode=padding, align_corners=False)
                for mode, padding in (("bilinear", "zeros"), ("bilinear", "reflection"), ("nearest", "border"))]
    infer(f, (R(2, 3, 12, 8), R(2, 2, 3)), (R(3, 3, 16, 10), R(3, 2, 3)))


@program
def padded_sequences():
    pad = torch.nn.utils.rnn.pad_sequence
    infer(lambda xs: (pad(xs, batch_first=True), pad(xs, padding_value=1.0)),
          ([R(3, 4), R(5, 4), R(2, 4)],), ([R(6, 4), R(4, 4), R(5, 4)],))


@program
def lists_of_sizes():
    torch._dynamo.config.specialize_int = False

    def f(values, lengths, splits):
        return [p.sum() for p in torch.split(values, splits)], lengths.cumsum(0), values * splits[0]
    infer(f, *[(R(sum(splits)), torch.tensor([2, 3]), splits) for splits in ([4, 6], [5, 10], [0, 15])])


@program
def static_cache():
    class Cached(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", torch.zeros(2, 16, 8))
            self.layer = nn.Linear(8, 8)

        def forward(self, x, positions):
            self.keys.index_copy_(1, positions, self.layer(x))
            return F.scaled_dot_product_attention(self.layer(x), self.keys, self.keys)
    model = Cached()
    torch._dynamo.mark_static_address(model.keys)
    with torch.no_grad():
        infer(model, (R(2, 4, 8), torch.arange(4)), (R(2, 3, 8), torch.arange(4, 7)))
        model.keys.zero_()
        infer(model, (R(2, 5, 8), torch.arange(5)))


@program
def transforms_of_viewed_signals():
    """The sizes are checked before the input becomes complex, and the result of a real transform is resized."""
    names = "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn hfft2 irfft hfft".split()
    for transform in (getattr(torch.fft, name) for name in names):
        torch._dynamo.reset()
        infer(lambda x: transform(x.view(x.shape[0], 1, 4, -1)), (R(3, 16),), (R(4, 20),))


@program
def slices_of_unknown_sizes():
    x = R(5, 8)
    torch._dynamo.decorators.mark_unbacked(x, 0)
    infer(lambda x: (x[1:], x.mean(0), x[:, None] + x[None]), (x,))


@program
def carried_numbers():
    from torch._higher_order_ops.while_loop import while_loop
    infer(lambda x: while_loop(lambda i, a: i < a.shape[0], lambda i, a: (i + 1, a.roll(1, 0) * 2), (0, x)), (R(3, 8),), (R(5, 8),))


@program
def numbers_specialized_later():
    f = torch.compile(lambda x, n, a: (x * (math.sqrt(n) * a), torch.ones(n), torch.linspace(0, 1, n)), backend="aot_eager")
    for call in (R(4, 8), 6, 0.5), (R(5, 9), 7, 0.25), (R(6, 9), 9, 1.5):
        f(*call)


class Correlation(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.convolution = nn.Linear(8, 8), nn.Conv1d(8, 8, 3, 2, 1)

    def forward(self, x, y):
        x, y = self.convolution(x.mT).mT, self.layer(y)
        return torch.einsum("btc,bsc->bts", x, y).flatten(1), x.mean(1) + y.sum(1)


@program
def decomposed_exports():
    """Several exports in a process, whose decomposed graphs belong to no compile."""
    automatic = ({0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO},) * 2
    batch, length = torch.export.Dim("batch", min=2, max=64), torch.export.Dim("length", min=4, max=512)
    for strict in True, False:
        for shapes in ({0: batch, 1: length}, {0: batch}), automatic:
            torch.export.export(Correlation(), (R(3, 10, 8), R(3, 6, 8)), dynamic_shapes=shapes, strict=strict).run_decompositions()


@program
def views_as_complex():
    def f(x):
        z = torch.view_as_complex(x.view(*x.shape[:-1], -1, 2))
        return torch.view_as_real(z * torch.polar(torch.ones_like(z.real), z.imag)).flatten(-2), z.abs(), z.angle()
    train(f, (leaf(2, 3, 8),), (leaf(3, 4, 8),))


@program
def masks_read_late():
    """A mask whose length is equal to that of the tokens, which code reads that makes no call, after calls with the other length."""
    places, table = torch.arange(64)[None], R(64, 8)

    def rows(mask):
        return None if mask.dim() != 2 else mask.bool()

    def f(x, mask):
        y = x + table[places[:, :x.shape[1]]]
        return y.masked_fill(rows(mask)[..., None], 0.0)
    for x, mask in (R(3, 9, 8), torch.zeros(3, 9)), (R(4, 7, 8), torch.zeros(4, 7)):
        for t in x, mask:
            torch._dynamo.mark_dynamic(t, 1)
        torch.compile(f, backend="aot_eager")(x, mask)


@program
def vmap_convolutions():
    """Convolutions of which the input, the weight or both have a batch of vmap."""
    weight, bias = R(4, 3, 3), R(4)
    infer(torch.vmap(lambda x: F.conv1d(x, weight, bias, padding=1)), (R(5, 2, 3, 8),), (R(6, 3, 3, 9),))
    infer(torch.vmap(lambda x, w: F.conv2d(x, w)), (R(5, 2, 3, 8, 8), R(5, 4, 3, 3, 3)), (R(6, 3, 3, 9, 9), R(6, 4, 3, 3, 3)))
    infer(torch.vmap(lambda x, w: F.conv1d(x, w, bias), (None, 0)), (R(2, 3, 8), R(5, 4, 3, 3)), (R(3, 3, 9), R(6, 4, 3, 3)))
    infer(torch.vmap(F.conv_transpose1d), (R(5, 2, 3, 8), R(5, 3, 4, 3)), (R(6, 3, 3, 9), R(6, 3, 4, 3)))
