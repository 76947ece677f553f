# Calls of a function that the tape does not have

The calls are those of scale, the tape has one of forward. They are taken for its calls, since no others are; each report says so, and a
filter is not said to be proved:

    $ symtape cache -n 1 --calls $RECORDINGS/sequence.jsonl $RECORDINGS/train.log.zst
    12 calls: 11 hits, 1 compile (1.32 s)
    calls of scale were taken for demo/train.py:16 in forward, as the tape has no function of this name

    call  function  outcome       compile time  turned away by
       0  scale     compiled 0/0        1.32 s
      ... and 11 more

    Entries; a hit saves the time of its compile
    entry  hits  guards  compile time   saved  code
    0/0      11     110        1.32 s  14.5 s  demo/train.py:16 in forward

    $ symtape guards --filter --calls $RECORDINGS/sequence.jsonl $RECORDINGS/train.log.zst
    # Not proved: these guards may have told calls apart.
    import re

    REMOVED_GUARDS = (
        "G",
        "L['self']",
    )

    def keep_guards(guards):
        def keep(name):
            at = re.search(r"\b[LG]\[", name)
            name = name[at.start():] if at else ""
            return not any(
                name.startswith(r)
                and name[len(r):][:1] in ".[),"
                for r in REMOVED_GUARDS)
        return [keep(g.orig_guard.name) for g in guards]

    # torch.compile(f, options={
    #     "guard_filter_fn": keep_guards})

    $ symtape guards -n 1 --calls $RECORDINGS/sequence.jsonl $RECORDINGS/train.log.zst
    0 recompiles of 1 function with 1 entry: 0 of 110 guards told calls apart
    A check that passes took PyTorch 147 us ("Guard latency", the median of the entries)
    12 look-ups made 11 checks; a look-up cost 67.8 guards and 50.4 accessors, about 134 us by their share of the latency
    97 of 110 guards can go; a look-up then costs 6.4 guards and 0.9 accessors, about 8.34 us
    calls of scale were taken for demo/train.py:16 in forward, as the tape has no function of this name
    So it is not proved that the calls have the same answers without them

    Functions; guards of several entries count once
    entries  guards  shared  accessors  look-ups  guards a look-up  function
          1     110     110         55        12              67.8  demo/train.py:16 in forward

    Entries; latency: what PyTorch measured when it compiled
    entry  guards  accessors  latency  function
    0/0       110         55   147 us  demo/train.py:16 in forward

    Kinds of guards and accessors
    guards  in all entries  kind
        40              40  DIMENSION_DYNAMIC_MARKING_GUARD
      ... and 18 more

    A filter that removes the guards that can go
    It has 2 names; --filter prints it

    $ symtape dynamic -n 1 --calls $RECORDINGS/sequence.jsonl $RECORDINGS/train.log.zst
    12 calls: 1 compile (1.32 s)
    calls of scale were taken for demo/train.py:16 in forward, as the tape has no function of this name
    no mark spares a compile or an eager call

    The same calls under other policies; only recorded's compile time was measured
    policy     compiles  compile time  entries  refused  eager  guard time  how
    recorded          1        1.32 s        1        -      -     1.61 ms  as the tape has it
    static            1        1.32 s        1        -      -     1.61 ms  torch.compile(dynamic=False)
    automatic         1        1.32 s        1        -      -     1.61 ms  torch.compile(), from the first call on
    dynamic           1        1.32 s        1        -      -     1.61 ms  torch.compile(dynamic=True)
    batch             1        1.32 s        1        -      -     1.61 ms  the first dimension of each tensor dynamic, all else static
    partial           1        1.32 s        1        -      -     1.61 ms  sizes that Python reads static, the others dynamic
      ... and 1 more

A frame id that the tape does not have tells nothing; nor does one of another function:

    $ printf '%s\n' '{"call": 0, "function": "f", "frame_id": 7, "args": []}' > unknown.jsonl

    $ symtape cache --calls unknown.jsonl $RECORDINGS/train.log.zst
    1 call: 0 hits, 1 compile (1.32 s)
    calls of f were taken for demo/train.py:16 in forward, as the tape has no function of this name

    call  function  outcome       compile time  turned away by
       0  f         compiled 0/0        1.32 s

    Entries; a hit saves the time of its compile
    entry  hits  guards  compile time  saved  code
    0/0       0     110        1.32 s      -  demo/train.py:16 in forward

    $ printf '%s\n' '{"call": 0, "function": "f", "code": "f.py:1:f", "frame_id": 0, "args": []}' > other.jsonl

    $ symtape cache --calls other.jsonl $RECORDINGS/train.log.zst
    1 call: 0 hits, 0 compiles, 1 whose compile the tape does not have

    call  function  outcome  compile time  turned away by
       0  f         unknown             -  the tape has no compile of it
