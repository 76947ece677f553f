"""Random small programs over tensors: what the differential tests run under PyTorch.

A program is grown on real tensors, step by step: a step is drawn from STEPS, tried, and kept where
PyTorch takes it (and sometimes, as the last one, where PyTorch refuses it). Sizes are never written
down as numbers but asked of the tensors, so that the same program runs on other sizes and symbols.
"""
import torch
import torch.nn.functional as F

UNARY = [torch.relu, torch.sigmoid, torch.exp, torch.neg, torch.abs, torch.tanh, torch.sqrt,
         torch.sign, torch.floor, F.gelu, F.silu, torch.isnan, torch.logical_not, torch.clone,
         torch.square, torch.zeros_like, torch.rand_like]
BINARY = [torch.add, torch.sub, torch.mul, torch.maximum, torch.eq, torch.lt, torch.div,
          torch.atan2, torch.logical_and, torch.remainder]
SCALAR = [torch.add, torch.mul, torch.sub, torch.div, torch.pow, torch.gt, torch.ne, torch.fmod]
REDUCE = [torch.sum, torch.mean, torch.amax, torch.var, torch.all, torch.logsumexp, torch.prod,
          torch.argmax, torch.cumsum, torch.softmax, torch.max, torch.sort, torch.norm]
DTYPES = [torch.float32, torch.float32, torch.float32, torch.int64, torch.bool, torch.bfloat16,
          torch.float64, torch.int32]


def unary(rng, xs, i):
    fn = rng.choice(UNARY)
    return lambda t: fn(t[i])


def binary(rng, xs, i):
    fn = rng.choice(BINARY)
    j = rng.randrange(len(xs))
    return lambda t: fn(t[i], t[j])


def scalar(rng, xs, i):
    fn, value = rng.choice(SCALAR), rng.choice([2, 3, 0.5, True, -1])
    return lambda t: fn(t[i], value)


def reduce(rng, xs, i):
    fn, dim = rng.choice(REDUCE), rng.randrange(-xs[i].dim() - 1, xs[i].dim() + 1)
    if fn in (torch.cumsum, torch.softmax, torch.sort):
        return lambda t: first(fn(t[i], dim))
    keep = rng.random() < 0.5
    return lambda t: first(fn(t[i], dim=dim, keepdim=keep))


def first(out):
    return out if isinstance(out, torch.Tensor) else out[0]


def transpose(rng, xs, i):
    a, b = (rng.randrange(xs[i].dim()) for _ in range(2))
    return lambda t: t[i].transpose(a, b)


def permute(rng, xs, i):
    dims = list(range(xs[i].dim()))
    rng.shuffle(dims)
    return lambda t: t[i].permute(dims)


def unsqueeze(rng, xs, i):
    dim = rng.randrange(-xs[i].dim() - 1, xs[i].dim() + 1)
    return lambda t: t[i].unsqueeze(dim)


def squeeze(rng, xs, i):
    dim = rng.randrange(xs[i].dim())
    return lambda t: t[i].squeeze(dim)


def merge(rng, xs, i):
    """Two neighbouring dims become one."""
    d = rng.randrange(xs[i].dim() - 1)
    fn = rng.choice(["view", "reshape", "flatten", "infer"])

    def step(t):
        x = t[i]
        size = [*x.shape[:d], x.shape[d] * x.shape[d + 1], *x.shape[d + 2:]]
        if fn == "flatten":
            return x.flatten(d, d + 1)
        if fn == "infer":
            size[d] = -1
        return x.view(size) if fn == "view" else x.reshape(size)
    return step


def split_dim(rng, xs, i):
    """One dim becomes two."""
    d, k = rng.randrange(xs[i].dim()), rng.choice([1, 2, 3, 4])
    return lambda t: t[i].reshape(*t[i].shape[:d], -1, k, *t[i].shape[d + 1:])


def expand(rng, xs, i):
    j = rng.randrange(len(xs))
    return lambda t: t[i].expand(t[j].shape)


def slice_(rng, xs, i):
    d, start = rng.randrange(xs[i].dim()), rng.choice([0, 0, 1, -3, 5])
    end, step = rng.choice([None, -1, 3, 7, 2**63 - 1]), rng.choice([1, 1, 2])
    if rng.random() < 0.3:
        return lambda t: t[i].narrow(d, 0, t[i].shape[d] // 2)
    return lambda t: t[i][(slice(None),) * d + (slice(start, end, step),)]


def select(rng, xs, i):
    d, k = rng.randrange(xs[i].dim()), rng.choice([0, 0, 1, -1, 4])
    return lambda t: t[i].select(d, k)


def split(rng, xs, i):
    d, k, n = rng.randrange(xs[i].dim()), rng.choice([1, 2, 3]), rng.random()
    if n < 0.4:
        return lambda t: t[i].chunk(k, d)[0]
    if n < 0.7:
        return lambda t: t[i].split(k, d)[0]
    return lambda t: t[i].unbind(d)[0]


def cat(rng, xs, i):
    j, d = rng.randrange(len(xs)), rng.randrange(max(1, xs[i].dim()))
    fn = rng.choice([torch.cat, torch.cat, torch.stack])
    return lambda t: fn([t[i], t[j], t[i]], d)


def matmul(rng, xs, i):
    j = rng.randrange(len(xs))
    return rng.choice([lambda t: torch.matmul(t[i], t[j]), lambda t: torch.matmul(t[i], t[i].mT),
                       lambda t: F.linear(t[i], t[j])])


def factory(rng, xs, i):
    d = rng.randrange(xs[i].dim())
    return rng.choice([
        lambda t: torch.arange(t[i].shape[d]), lambda t: torch.ones(t[i].shape[d], 2),
        lambda t: t[i].new_zeros(t[i].shape[d] + 1), lambda t: torch.full((t[i].numel(),), 2.0),
        lambda t: torch.empty(t[i].shape, dtype=torch.int64), lambda t: torch.zeros_like(t[i]),
        lambda t: torch.ones(t[i].shape[d], t[i].shape[d]).triu()])


def to(rng, xs, i):
    dtype = rng.choice(DTYPES)
    return rng.choice([lambda t: t[i].to(dtype), lambda t: t[i].contiguous(),
                       lambda t: t[i].type_as(t[0]), lambda t: t[i].detach()])


def index(rng, xs, i):
    d = rng.randrange(xs[i].dim())
    return rng.choice([
        lambda t: t[i].index_select(d, torch.arange(t[i].shape[d] - 1)),
        lambda t: torch.where(t[i] > 0, t[i], 0), lambda t: t[i].masked_fill(t[i] > 1, 2),
        lambda t: torch.gather(t[i], d, torch.zeros_like(t[i], dtype=torch.int64)),
        lambda t: t[i][torch.arange(t[i].shape[0])], lambda t: t[i].flip(d),
        lambda t: t[i].repeat(*([2] * t[i].dim())), lambda t: t[i].roll(1, d)])


def pad(rng, xs, i):
    amounts = [rng.choice([0, 1, 2, -1]) for _ in range(2 * rng.randrange(1, 3))]
    return lambda t: F.pad(t[i], amounts)


def network(rng, xs, i):
    k, s, p = rng.choice([1, 2, 3]), rng.choice([1, 2]), rng.choice([0, 1])
    return rng.choice([
        lambda t: F.layer_norm(t[i], t[i].shape[-1:]), lambda t: F.dropout(t[i], 0.5),
        lambda t: F.max_pool2d(t[i], k, s, p), lambda t: F.avg_pool2d(t[i], k, s, p),
        lambda t: F.adaptive_avg_pool2d(t[i], (k, s)), lambda t: F.log_softmax(t[i], -1),
        lambda t: F.interpolate(t[i], scale_factor=2), lambda t: F.normalize(t[i], dim=-1),
        lambda t: F.conv2d(t[i], t[i].new_ones(4, t[i].shape[1], k, k), None, s, p),
        lambda t: F.batch_norm(t[i], None, None, training=True),
        lambda t: F.scaled_dot_product_attention(t[i], t[i], t[i]),
        lambda t: F.embedding(torch.zeros_like(t[i], dtype=torch.int64), t[0]),
        lambda t: F.glu(t[i], -1), lambda t: F.mse_loss(t[i], t[i])])


STEPS = [unary, binary, binary, scalar, reduce, transpose, permute, unsqueeze, squeeze, merge,
         split_dim, expand, slice_, select, split, cat, matmul, factory, to, index, pad, network]
LARGEST = 1 << 16  # elements: a program must not grow without end


def random_tensor(rng):
    size = [rng.choice([1, 2, 3, 4, 5, 6, 8, 9, 12]) for _ in range(rng.choice([1, 2, 2, 3, 3, 4]))]
    dtype = rng.choice(DTYPES)
    x = torch.arange(int(torch.Size(size).numel())).reshape(size).to(dtype)
    if len(size) > 1 and rng.random() < 0.3:
        a = rng.randrange(len(size) - 1)
        x = x.transpose(a, a + 1).contiguous().transpose(a, a + 1)
    if len(size) == 4 and rng.random() < 0.3:
        x = x.contiguous(memory_format=torch.channels_last)
    return x


def random_program(rng, refused=True, most=8):
    """Inputs, and a function from such inputs to the list of all tensors that it makes."""
    inputs = [random_tensor(rng) for _ in range(rng.choice([1, 2, 2, 3]))]
    if rng.random() < 0.5:
        inputs.append(torch.ones(inputs[0].shape).to(rng.choice(DTYPES)))
    steps, seen = [], list(inputs)
    for _ in range(4 * most):
        if len(steps) == most:
            break
        try:
            step = rng.choice(STEPS)(rng, seen, rng.randrange(len(seen)))
        except (ValueError, IndexError):  # a tensor without the dims that the step wants
            continue
        try:
            out = step(seen)
            if out.numel() > LARGEST:
                continue
        except Exception:
            if refused and rng.random() < 0.05:
                steps.append(step)
                break
            continue
        steps.append(step)
        seen.append(out)

    def run(tensors):
        seen = list(tensors)
        for step in steps:
            seen.append(step(seen))
        return seen[len(tensors):]

    return inputs, run
