"""torch.export of arguments and results that are pytrees, before and after three changes: a field of
the batch has another name, a result has another name, and there is one result more."""
import dataclasses
from collections import OrderedDict, defaultdict, deque
from typing import NamedTuple

import torch
from torch.utils import _pytree as pytree


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


class Nested(NamedTuple):
    pair: Pair
    rows: list


class Output(OrderedDict):
    """A dictionary with a class of its own, as those of transformers and diffusers."""


@dataclasses.dataclass
class Batch:
    ids: torch.Tensor
    mask: torch.Tensor
    rest: object = None


@dataclasses.dataclass
class Renamed:
    tokens: torch.Tensor
    mask: torch.Tensor
    rest: object = None


pytree.register_pytree_node(
    Output, pytree._dict_flatten, lambda values, keys: Output(zip(keys, values)),
    serialized_type_name="pytrees.Output", flatten_with_keys_fn=pytree._dict_flatten_with_keys)
for kind in (Pair, Nested):
    pytree._register_namedtuple(kind, serialized_type_name="pytrees." + kind.__name__)
for kind in (Batch, Renamed):
    torch.export.register_dataclass(kind, serialized_type_name="pytrees." + kind.__name__)


class Before(torch.nn.Module):
    def forward(self, batch, nested, words, keyed):
        total = (batch.ids * batch.mask).sum(1)
        left = nested.pair.left + nested.rows[0]
        return Output(logits=total + keyed[1], pair=Pair(left, nested.pair.right)), words[0], None


class After(torch.nn.Module):
    def forward(self, batch, nested, words, keyed):
        total = (batch.tokens * batch.mask).sum(1)
        left = nested.pair.left + nested.rows[0]
        return Output(scores=total + keyed[1], pair=Pair(left, nested.pair.right),
                      loss=total.mean()), words[0], None


def arguments(batch):
    nested = Nested(Pair(torch.randn(3), torch.randn(2)), [torch.randn(3), None])
    keyed = defaultdict(list, {1: torch.randn(5), "it's": torch.randn(1)})
    return batch(torch.randn(5, 4), torch.randn(5, 4)), nested, deque([torch.randn(6)]), keyed


for module, batch, name in ((Before(), Batch, "before"), (After(), Renamed, "after")):
    values = arguments(batch)
    sizes = torch.export.ShapesCollection()
    sizes[values[0].mask] = {0: torch.export.Dim.DYNAMIC}
    sizes[pytree.tree_leaves(values[0])[0]] = {0: torch.export.Dim.DYNAMIC}
    sizes[values[3][1]] = {0: torch.export.Dim.DYNAMIC}
    program = torch.export.export(module, values, dynamic_shapes=sizes.dynamic_shapes(module, values))
    torch.export.save(program, "pytrees_%s.pt2" % name)
