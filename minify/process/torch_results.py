"""Results of eager mode, kept in a file until those of the compiled graph are compared with them, so that the tensors of
one of the two runs are in memory at a time. Part of the worker (minify/process/torch_worker.py)."""

import tempfile

PIECE = 1 << 24  # bytes of a tensor that are read, written and compared at once


def leaves(torch, value):
    return torch.utils._pytree.tree_flatten(value)[0]


def pieces(flat):
    n = PIECE // flat.element_size()
    return (flat[at:at + n] for at in range(0, flat.numel(), n))


class Stored:
    """A tensor whose elements are in the file."""

    def __init__(self, torch, file, tensor):
        self.dtype, self.shape, self.file, self.at = tensor.dtype, tensor.shape, file, file.tell()
        for piece in pieces(tensor.detach().reshape(-1)):
            data = bytearray(piece.numel() * piece.element_size())
            torch.frombuffer(data, dtype=self.dtype).copy_(piece)
            file.write(data)

    def pieces_beside(self, torch, actual):
        """Pieces of a tensor of the same dtype and shape, each with the one that is stored."""
        self.file.seek(self.at)
        for piece in pieces(actual.detach().reshape(-1)):
            data = bytearray(piece.numel() * piece.element_size())
            if self.file.readinto(data) != len(data):
                raise EOFError("the file with the results of eager mode is too short")
            yield piece, torch.frombuffer(data, dtype=self.dtype).to(piece.device)


class Results:
    """What eager mode computed. Its tensors are in a file of TMPDIR that has no name; sparse ones and subclasses are kept."""

    def __init__(self, torch, value):
        self.file = tempfile.TemporaryFile()
        self.leaves = [Stored(torch, self.file, leaf) if self.is_plain(torch, leaf) else leaf
                       for leaf in leaves(torch, value)]

    @staticmethod
    def is_plain(torch, leaf):
        return type(leaf) in (torch.Tensor, torch.nn.Parameter) and leaf.layout == torch.strided and \
            not leaf.is_quantized and leaf.device.type != "meta"


def compare_pieces(torch, pairs):
    """What differs in a tensor, and by how many times the tolerance."""
    nan, inf, most = False, False, 0.0
    for a, b in pairs:
        if not (a.is_floating_point() or a.is_complex()):
            if not torch.equal(a, b):
                return "value", float("inf")
            continue
        nan = nan or not torch.equal(torch.isnan(a), torch.isnan(b))
        inf = inf or not torch.equal(torch.isinf(a), torch.isinf(b))
        rtol, atol = torch.testing._comparison.default_tolerances(a, b)
        wide = torch.complex128 if a.is_complex() else torch.float64
        a, b = a.to(wide), b.to(wide)
        excess = ((a - b).abs() / (atol + rtol * b.abs()))[torch.isfinite(b)]
        if excess.numel():
            most = max(most, excess.max().item())
    return ("nan", float("inf")) if nan else ("inf", float("inf")) if inf else ("value", most)


def compare(torch, actual, expected):
    """What differs from the Results, and by how many times the tolerance."""
    actual = leaves(torch, actual)
    if len(actual) != len(expected.leaves):
        return "count", float("inf")
    worst = ("", 0.0)
    for a, b in zip(actual, expected.leaves):
        if not isinstance(b, (torch.Tensor, Stored)):
            if not isinstance(a, torch.Tensor) and a != b and not (a != a and b != b):
                return "value", float("inf")
            continue
        if not isinstance(a, torch.Tensor):
            return "value", float("inf")
        if a.dtype != b.dtype:
            return "dtype", float("inf")
        if a.shape != b.shape:
            return "shape", float("inf")
        kind, excess = compare_pieces(torch, b.pieces_beside(torch, a) if isinstance(b, Stored) else [(a, b)])
        if excess == float("inf"):
            return kind, excess
        if excess > worst[1]:
            worst = (kind, excess)
    return worst
