"""Random calls of products of few bits, which PyTorch's own database has no inputs for."""
import torch

aten = torch.ops.aten
FLOATS = [torch.float32, torch.float16, torch.bfloat16]
SMALL = [torch.float8_e4m3fn, torch.float8_e5m2]


def sizes(rng):
    # Values of small tensors only are written (row.py).
    return rng.choice([1, 3, 4]), rng.choice([1, 7, 16]), rng.choice([1, 2, 4])


def spoiled(rng, size):
    """A tenth of all tensors have a size that no kernel wants."""
    size = list(size)
    if rng.random() < 0.1:
        size[rng.randrange(len(size))] += rng.choice([1, 2])
    return size


def floats(rng, *size, dtype=torch.float32):
    return torch.randn(spoiled(rng, size)).to(dtype)


def bits(rng, low, high, *size, dtype):
    return torch.randint(low, high, spoiled(rng, size), dtype=dtype)


def maybe_turned(rng, x):
    return x.t().contiguous().t() if rng.random() < 0.5 else x


def int_mm(rng):
    m, k, n = sizes(rng)
    low, dtype = rng.choice([(-128, torch.int8), (0, torch.uint8), (-5, torch.int32)])
    a = bits(rng, low, 127, m, k, dtype=dtype)
    return aten._int_mm.default, (a, maybe_turned(rng, bits(rng, -128, 127, k, n, dtype=torch.int8))), {}


def scaled_mm(rng):
    m, k, n = sizes(rng)
    a = floats(rng, m, k, dtype=rng.choice(SMALL))
    b = maybe_turned(rng, floats(rng, k, n, dtype=rng.choice(SMALL)))
    rows = rng.random() < 0.5
    scales = [torch.rand(spoiled(rng, (m, 1))), torch.rand(spoiled(rng, (1, n)))] if rows else \
        [torch.rand(rng.choice([(), (1,), (1, 1)])) for _ in range(2)]
    wanted = rng.choice(FLOATS) if rows else rng.choice([*FLOATS, *SMALL, None])
    bias = floats(rng, n) if rng.random() < 0.3 else None
    return aten._scaled_mm.default, (a, b, *scales, bias), {"out_dtype": wanted}


def weight_int8pack_mm(rng):
    # Its kernel for bfloat16 needs multiples of 32 along the inner dimension; others give wrong results, and it
    # reads past the end of rows.
    m, k, n = rng.choice([1, 2]), 32, rng.choice([1, 2])
    dtype = rng.choice(FLOATS)
    a = floats(rng, m, k, dtype=dtype)
    w = bits(rng, -128, 127, n, k, dtype=torch.int8)
    if dtype == torch.bfloat16:
        a, w = a[:, :k], w[:, :k]
    return aten._weight_int8pack_mm.default, (a.contiguous(), w.contiguous(), floats(rng, n, dtype=dtype)), {}


def weight_int4pack_mm(rng):
    m, words = rng.choice([1, 3, 17]), rng.choice([1, 2, 4])
    n, blocks, group = rng.choice([8, 24]), rng.choice([1, 2]), 32
    k = blocks * words * 32
    dtype = rng.choice([*FLOATS, torch.int64])
    return aten._weight_int4pack_mm.default, (
        floats(rng, m, k, dtype=dtype), bits(rng, -9, 9, n // 8, blocks, 32, words, dtype=torch.int32), group,
        floats(rng, k // group, n, 2, dtype=dtype)), {}


def weight_int4pack_mm_for_cpu(rng):
    m, k, n = rng.choice([1, 3, 17]), rng.choice([32, 64]), rng.choice([16, 64])
    dtype = rng.choice(FLOATS)
    return aten._weight_int4pack_mm_for_cpu.default, (
        floats(rng, m, k, dtype=dtype), bits(rng, 0, 255, n, k // 2, dtype=rng.choice([torch.uint8, torch.int32])),
        32, floats(rng, k // 32, n, 2, dtype=dtype)), {}


def packings(rng):
    n, k = rng.choice([8, 16, 21]), rng.choice([64, 128])
    if rng.random() < 0.5:
        return aten._convert_weight_to_int4pack.default, (
            bits(rng, 0, 255, n, k // 2, dtype=torch.uint8), rng.choice([2, 4, 8])), {}
    return aten._convert_weight_to_int4pack_for_cpu.default, (
        bits(rng, 0, 15, n, k, dtype=rng.choice([torch.int32, torch.uint8])), 1), {}


FAKE = [int_mm, scaled_mm, weight_int8pack_mm, weight_int4pack_mm, weight_int4pack_mm_for_cpu, packings]
REAL = [int_mm, scaled_mm, weight_int8pack_mm]  # those that PyTorch has a portable kernel for on a CPU
