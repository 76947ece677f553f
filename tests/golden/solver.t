# --solver: what symtape's own methods leave undecided

Products of quotients are not decided by them:

    $ symtape validate --solver own --limit 1 $RECORDINGS/layers_window.log.zst:0/1
    1 attempt, 103 claims: 0 of 1 attempts proved, 0 refuted, 1 undecided

    compile  verdict    guards  questions  decided  known  replacements  ranges  specializations
    0/1_0    undecided      20         19    100 %     80             1       2                1

    Not proved, in the order in which it was claimed
    0/1_0: undecided: known Ne(s77*((s27//8))*((s27//((s27//8)))), s77*((s27//8)))
      tried 0 points in {*} ms
      asked by linear_8, torch._C._nn.linear
      demo/layers.py:26 in attention: t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
    3 more not shown (--limit)
    [exit 125]

Z3 is asked about them where it is installed. Where it is not, the report says so, and the claims stay undecided:

    $ mkdir none && : > none/libz3.so.4 && : > none/libz3.so

    $ LD_LIBRARY_PATH=none symtape validate --limit 1 $RECORDINGS/layers_window.log.zst:0/1
    1 attempt, 103 claims: 0 of 1 attempts proved, 0 refuted, 1 undecided

    compile  verdict    guards  questions  decided  known  replacements  ranges  specializations
    0/1_0    undecided      20         19    100 %     80             1       2                1

    Not proved, in the order in which it was claimed
    0/1_0: undecided: known Ne(s77*((s27//8))*((s27//((s27//8)))), s77*((s27//8)))
      tried 0 points in {*} ms; Z3 is not installed (libz3.so.4)
      asked by linear_8, torch._C._nn.linear
      demo/layers.py:26 in attention: t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
    3 more not shown (--limit)
    [exit 125]

    $ LD_LIBRARY_PATH=none symtape validate --solver z3 $RECORDINGS/layers_window.log.zst
    2> symtape: --solver: Z3 is not installed (libz3.so.4): none/libz3.so.4: file too short
    [exit 4]

    $ LD_LIBRARY_PATH=none symtape inputs --cover s27=8..64:8 --solver z3 $RECORDINGS/layers_window.log.zst
    2> symtape: --solver: Z3 is not installed (libz3.so.4): none/libz3.so.4: file too short
    [exit 4]

A cover that our own methods decide needs no solver:

    $ LD_LIBRARY_PATH=none symtape inputs --limit 1 --cover s27=8..64:8 $RECORDINGS/layers_window.log.zst:0/1
    0/1_0: refuted: 15 of 18 conditions on these sizes always hold
      * the smallest sizes that violate one: s27=8; Ne((s27//8), 1) is false, at demo/layers.py:35 `windows = x.unflatten(1, (-1, self.window)).flatten(0, 1)`
      * not examined, because no size of them varies: 3

      Violated by some sizes of the range
      verdict  sizes  kind   condition        user line          code
      refuted  s27=8  guard  Ne((s27//8), 1)  demo/layers.py:35  windows = x.unflatten(1, (-1, self.window)).flatten(0, 1)
      ... and 2 more

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind   condition  user line          code
      proved          range  s27 >= 2   demo/layers.py:26  t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
      ... and 14 more
    [exit 1]

Wrong uses:

    $ symtape validate --solver yices $RECORDINGS/layers_window.log.zst
    2> symtape: validate: --solver: "yices" is not one of own|auto|z3
    [exit 2]

    $ symtape inputs --solver own $RECORDINGS/layers_window.log.zst
    2> symtape: inputs: --solver needs --cover
    [exit 2]
