"""JSON, mutated by kind (a value becomes one of another kind) and by name (a key goes, comes twice, or
gets what stands under another)."""
import copy
import json

import texts
from pick import FLOATS, hostile, number, one_of

EMPTY = [None, True, False, {}, [], "", 0]


def places(tree):
    """(container, key) of every value in the tree."""
    found, ahead = [], [tree]
    for holder in ahead:
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            found.append((holder, key))
            if isinstance(holder[key], (dict, list)):
                ahead.append(holder[key])
    return found


def other_kind(rng, value):
    """The value in another shape, or nothing like it."""
    if isinstance(value, bool) or value is None:
        return rng.choice([number(rng), hostile(rng), [value], *EMPTY])
    if isinstance(value, (int, float)):
        return rng.choice([str(value), hostile(rng), [value], {"as_int": value}, -value, *EMPTY, *FLOATS])
    if isinstance(value, str):
        return rng.choice([number(rng), [value], {value: value}, list(value[:50]), *EMPTY])
    return rng.choice([number(rng), hostile(rng), [value], {"as_none": value}, *EMPTY])


def same_kind(rng, value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return number(rng)
    if isinstance(value, float):
        return rng.choice(FLOATS)
    if isinstance(value, str):
        return one_of(rng, (2, lambda: hostile(rng)), (3, lambda: texts.mutate(rng, value)),
                      (1, lambda: value + hostile(rng)))
    return copy.deepcopy(value)


def nested(rng, value):
    for _ in range(rng.choice((2, 60, 120, 300))):
        value = [value] if rng.randrange(2) else {"a": value}
    return value


def change_list(rng, items):
    if not items:
        items.append(number(rng))
    elif rng.randrange(2):
        del items[rng.randrange(len(items))]
    else:
        items[0:0] = copy.deepcopy(items[:rng.choice((1, 2, 50))])


def change_name(rng, tree, key):
    if rng.randrange(3) == 0:
        del tree[key]
    else:
        tree[rng.choice([hostile(rng), key + "x", *list(tree)])] = tree.pop(key)


def change(rng, tree):
    found = places(tree)
    if not found:
        return
    holder, key = rng.choice(found)
    value = holder[key]

    def put(new):
        holder[key] = new
    ways = [(3, lambda: put(other_kind(rng, value))), (4, lambda: put(same_kind(rng, value))),
            (2, lambda: put(copy.deepcopy(rng.choice(found)[0])) if len(found) < 5000 else None),
            (1, lambda: put(nested(rng, value)))]
    if isinstance(holder, dict):
        ways.append((3, lambda: change_name(rng, holder, key)))
        alike = [h for h, k in found if k == key and h is not holder]
        if alike:
            ways.append((3, lambda: put(copy.deepcopy(rng.choice(alike)[key]))))
    else:
        ways.append((2, lambda: change_list(rng, holder)))
    one_of(rng, *ways)


def mutate(rng, tree, most=3):
    """Changed in place, unless it holds nothing: what comes back is the tree."""
    if not isinstance(tree, (dict, list)):
        return other_kind(rng, tree)
    for _ in range(rng.randint(1, most)):
        change(rng, tree)
    return tree


def dumps(rng, tree, **how):
    """As json.dumps does it, sometimes with bytes that are not ASCII. Lone surrogates stay."""
    text = json.dumps(tree, ensure_ascii=rng.randrange(4) > 0, **how)
    return text.encode("utf-8", "surrogatepass")


def mutate_bytes(rng, raw, most=3):
    """A JSON text; where it is none, or now and then, its bytes."""
    try:
        tree = json.loads(raw)
    except (ValueError, RecursionError):
        return texts.mutate(rng, raw.decode("utf-8", "replace"), most).encode("utf-8", "surrogatepass")
    if rng.randrange(8) == 0:
        return texts.mutate(rng, raw.decode("utf-8", "replace"), most).encode("utf-8", "surrogatepass")
    return dumps(rng, mutate(rng, tree, most))
