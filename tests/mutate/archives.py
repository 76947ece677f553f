"""Archives of torch.export (.pt2): members are read, changed and packed anew, with right CRCs."""
import io
import struct
import zipfile

import jsons
from pick import flip_bytes, hostile, number, one_of

DATE = (1980, 1, 1, 0, 0, 0)


def read(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(rng, members):
    out = io.BytesIO()
    kind = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name, DATE), content, kind)
    return out.getvalue()


def change_sizes(rng, raw):
    """What an entry of the directory says of its member: sizes, method, offset."""
    raw = bytearray(raw)
    places, at = [], raw.find(b"PK\x01\x02")
    while at >= 0:
        places.append(at)
        at = raw.find(b"PK\x01\x02", at + 4)
    if places:
        at, (field, form) = rng.choice(places), rng.choice(
            ((8, "<H"), (10, "<H"), (16, "<I"), (20, "<I"), (24, "<I"), (28, "<H"), (30, "<H"), (32, "<H"), (42, "<I")))
        bits = 8 * struct.calcsize(form)
        struct.pack_into(form, raw, at + field, number(rng) % 2**bits)
    return bytes(raw)


def change_member(rng, members):
    texts = [i for i, (name, content) in enumerate(members) if name.endswith(".json")]
    model = [i for i in texts if "models/" in members[i][0]] or texts
    at = rng.choice(model if rng.randrange(4) else texts or model)
    members[at] = (members[at][0], jsons.mutate_bytes(rng, members[at][1], 4))


def change_members(rng, members):
    at = rng.randrange(len(members))
    name, content = members[at]
    kind = rng.randrange(4)
    if kind == 0:
        del members[at]
    elif kind == 1:
        members.append(members[at])
    elif kind == 2:
        members[at] = (hostile(rng).replace("\0", "").encode("utf-8", "replace").decode() or "x", content)
    else:
        members[at] = (name, flip_bytes(rng, content))


def mutate(rng, raw):
    members = list(read(raw).items())
    for _ in range(rng.choice((1, 1, 2))):
        if members:
            one_of(rng, (8, lambda: change_member(rng, members)), (1, lambda: change_members(rng, members)))
    out = write(rng, members)
    if rng.randrange(12) == 0:
        out = change_sizes(rng, out)
    return flip_bytes(rng, out) if rng.randrange(20) == 0 else out
