# symtape inputs

The sizes that the guards tell apart, with the smallest ones of each region:

    $ symtape inputs $RECORDINGS/mlp.log.zst
    0/1_0 serves s77 >= 2; other sizes fall into 2 other regions

      symbol  source            recorded  sizes  because of
      s77     L['x'].size()[0]         6  >= 2   demo/mlp.py:15

      region  what      calls     smallest sizes  sizes     told apart by      user line       code
           1  recorded  0/0, 0/1  s77=2           s77 >= 2                     -               -
           2  guards              s77=0           s77 = 0   1: not s77 >= 2    demo/mlp.py:15  return x + self.outer(torch.relu(self.inner(x)))
           3  guards              s77=1           s77 = 1   2: not Eq(s77, 0)  demo/mlp.py:15  return x + self.outer(torch.relu(self.inner(x)))

    $ symtape inputs $RECORDINGS/train.log.zst --seconds 600
    0/0_0 serves s23 in 2..15, s27 >= 2; other sizes fall into 12 other regions
      * regions 2, 3, 5, 8: RuntimeError: Calculated padded input size per channel: (2). Kernel size: (3). Kernel size can't be greater than actual input size

      symbol  source              recorded  sizes     because of
      s23     L['ids'].size()[0]         4  in 2..15  demo/train.py:17, demo/train.py:18
      s27     L['ids'].size()[1]        10  >= 2      demo/train.py:17

      region  what      calls  smallest sizes   sizes                    told apart by            user line         code
           1  recorded  0/0    s23=2, s27=2     s23 in 2..15, s27 >= 2                            -                 -
           2  refused          s23=0, s27=0     s23 = 0, s27 = 0         1: not s23 >= 2          demo/train.py:17  x = self.embedding(ids)
           3  refused          s23=2, s27=0     s23 in 2..15, s27 = 0    1: not s27 >= 2          demo/train.py:17  x = self.embedding(ids)
           4  guards           s23=16, s27=2    s23 >= 16, s27 >= 2      1: not s23 < 16          demo/train.py:18  x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
           5  refused          s23=1, s27=0     s23 = 1, s27 = 0         2: not Eq(s23, 0)        demo/train.py:17  x = self.embedding(ids)
           6  guards           s23=0, s27=1     s23 = 0, s27 = 1         2: not Eq(s27, 0)        demo/train.py:17  x = self.embedding(ids)
           7  guards           s23=2, s27=1     s23 in 2..15, s27 = 1    3: not Eq(s27, 0)        demo/train.py:17  x = self.embedding(ids)
           8  refused          s23=16, s27=0    s23 >= 16, s27 = 0       3: not s23 < 16          demo/train.py:18  x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
           9  guards           s23=1, s27=1     s23 = 1, s27 = 1         5: not Eq(s27, 0)        demo/train.py:17  x = self.embedding(ids)
          10  guards           s23=0, s27=2     s23 = 0, s27 >= 2        6: not Eq(s27, 1)        demo/train.py:17  x = self.embedding(ids)
          11  guards           s23=16, s27=1    s23 >= 16, s27 = 1       7: not s23 < 16          demo/train.py:18  x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
          12  guards           s23=1, s27=2     s23 = 1, s27 in 2..1280  9: not Eq(s27, 1)        demo/train.py:17  x = self.embedding(ids)
          13  guards           s23=1, s27=1281  s23 = 1, s27 >= 1281     12: not 16*s27 <= 20480  demo/train.py:18  x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))

    $ symtape inputs $RECORDINGS/exported.pt2
    exported: its asserts allow s77 in 0..64; other sizes fall into 1 other region

      symbol  source                       recorded  sizes     because of
      s77     L['x'].size()[0]                    6  in 0..64
      s82     L['pair']['rows'].size()[0]         5  any

      region  what      calls  smallest sizes  sizes         told apart by     user line  code
           1  recorded         s77=0, s82=0    s77 in 0..64                    -          -
           2  refused          s77=65, s82=0   s77 >= 65     1: not s77 <= 64  -          -

    $ symtape inputs $RECORDINGS/mlp.log.zst:0/1 --json
    {"schema":"symtape.inputs/1","compiles":[{"recording":"mlp","compile":"0/1","attempt":0,"status":"ok","complete":true,"undecided":0,"unread":0,"calls_left_out":0,"served":[{"symbol":"s77","source":"L['x'].size()[0]","words":">= 2","lines":[{"file":"/home/user/demo/mlp.py","line":15,"code":"return x + self.outer(torch.relu(self.inner(x)))"}]}],"regions":[{"what":"recorded","message":null,"words":"s77 >= 2","sizes":[{"symbol":"s77","source":"L['x'].size()[0]","recorded":6,"smallest":2}],"is_smallest":true,"calls":["0/0","0/1"],"times":null,"neighbor":null,"separator":null,"conditions":[{"expr":"s77 >= 2","recorded":true,"line":{"file":"/home/user/demo/mlp.py","line":15,"code":"return x + self.outer(torch.relu(self.inner(x)))"}}]},{"what":"guards","message":null,"words":"s77 = 0","sizes":[{"symbol":"s77","source":"L['x'].size()[0]","recorded":6,"smallest":0}],"is_smallest":true,"calls":[],"times":null,"neighbor":0,"separator":0,"conditions":[{"expr":"Eq(s77, 0)","recorded":false,"line":{"file":"/home/user/demo/mlp.py","line":15,"code":"return x + self.outer(torch.relu(self.inner(x)))"}}]},{"what":"guards","message":null,"words":"s77 = 1","sizes":[{"symbol":"s77","source":"L['x'].size()[0]","recorded":6,"smallest":1}],"is_smallest":true,"calls":[],"times":null,"neighbor":1,"separator":0,"conditions":[]}]}]}

Sizes that a call needs to be one number, which the recorded graph has instead of the symbol, are refused elsewhere:

    $ symtape inputs $RECORDINGS/layers.log.zst --seconds 600 -n 5
    0/0_0 serves s77 >= 2, s27 >= 2, s53 = 32; other sizes fall into at least 4 other regions
      * regions 2, 3: RuntimeError: a and b must have same reduction dim, but got [0, 0] X [32, 96].
      * region 4: RuntimeError: a and b must have same reduction dim, but got [s77**2, 0] X [32, 96].
      * region 5: RuntimeError: a and b must have same reduction dim, but got [s77**2, s77] X [32, 96].

      symbol  source            recorded  sizes  because of
      s77     L['x'].size()[0]         3  >= 2   demo/layers.py:26
      s27     L['x'].size()[1]        21  >= 2   demo/layers.py:26
      s53     L['x'].size()[2]        32  = 32   demo/layers.py:26

      region  what      calls  smallest sizes        sizes                                             told apart by       user line          code
           1  recorded  0/0    s77=2, s27=2, s53=32  s77 >= 2, s27 >= 2, s53 = 32                                          -                  -
           2  refused          s77=0, s27=0, s53=0   s77 = 0, s27 = 0, s53 = 0                         1: not s77 >= 2     demo/layers.py:26  t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
           3  refused          s77=2, s27=0, s53=0   s77 >= 2, s27 = 0, s53 = 0                        1: not s27 >= 2     demo/layers.py:26  t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
           4  refused          s77=2, s27=2, s53=0   s77 >= 2, s27 >= 2, s53 = 0                       1: not s53 >= 2     demo/layers.py:26  t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
           5  refused          s77=2, s27=2, s53=2   s77 >= 2 except 32, s27 >= 2, s53 >= 2 except 32  1: not Eq(s53, 32)  demo/layers.py:26  t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)

If the graph has numbers that may come from such a size, what the program does with others is not known:

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --seconds 600 -n 5
    0/1_0 serves s77 >= 2, s27 in {16, 24, 32, ...} (computed up to 271), s53 = 32, and 3 conditions on several sizes; other sizes fall into at least 4 other regions
      * regions 2, 3, 4, 5: the program needs Eq(s53, 32) at /home/user/demo/encoder.py:46; what it does with other sizes was not recorded

      symbol  source            recorded  sizes                                      because of
      s77     L['x'].size()[0]         3  >= 2                                       demo/encoder.py:46
      s27     L['x'].size()[1]        24  in {16, 24, 32, ...} (computed up to 271)  demo/encoder.py:46, demo/encoder.py:25, demo/encoder.py:27 and 2 other lines
      s53     L['x'].size()[2]        32  = 32                                       demo/encoder.py:46

      condition on several sizes                                      user line           code
      Eq(32*s27*s77, 256*s77*((s27//8)))                              demo/encoder.py:27  windows = x.unflatten(1, (-1, WINDOW))
      Ne(Mod(s77, s77*((s27//8))*((s27//((s27//8))))), 0)             demo/encoder.py:29  t.unflatten(-1, (HEADS, -1)).transpose(2, 3) for t in self.qkv(windows).chunk(3, -1)
      Ne(Mod(s77*((s27//8)), s77*((s27//8))*((s27//((s27//8))))), 0)  demo/encoder.py:29  t.unflatten(-1, (HEADS, -1)).transpose(2, 3) for t in self.qkv(windows).chunk(3, -1)

      region  what         calls  smallest sizes         sizes                                                                                                 told apart by       user line           code
           1  recorded     0/1    s77=2, s27=16, s53=32  s77 >= 2, s27 in {16, 24, 32, ...} (computed up to 271), s53 = 32, and 3 conditions on several sizes                      -                   -
           2  specialized         s77=0, s27=0, s53=0    s77 = 0, s27 = 0, s53 = 0                                                                             1: not s77 >= 2     demo/encoder.py:46  x = x + self.attention(self.norm1(x))
           3  specialized         s77=2, s27=0, s53=0    s77 >= 2, s27 = 0, s53 = 0                                                                            1: not s27 >= 2     demo/encoder.py:46  x = x + self.attention(self.norm1(x))
           4  specialized         s77=2, s27=2, s53=0    s77 >= 2, s27 >= 2 except {8, 16, 24, ...}, s53 = 0                                                   1: not s53 >= 2     demo/encoder.py:46  x = x + self.attention(self.norm1(x))
           5  specialized         s77=2, s27=2, s53=2    s77 >= 2 except 32, s27 >= 2 except {8, 16, 24, ...}, s53 >= 2 except 32                              1: not Eq(s53, 32)  demo/encoder.py:46  x = x + self.attention(self.norm1(x))

As a Python program with an input for each:

    $ symtape inputs $RECORDINGS/train.log.zst --seconds 600 -n 4 --python
    """One input for each region of sizes that symtape inputs found.

    REGIONS has a row for each: the compile, the number of the region, what it is, its sizes, and
    the arguments by source. Modules and globals are not listed.
    """
    import torch


    def tensor(size, stride, dtype):
        n = 0 if 0 in size else 1 + sum((a - 1) * b for a, b in zip(size, stride))
        return torch.randint(0, 2, (n,)).to(dtype).as_strided(size, stride)


    REGIONS = [
        ("0/0_0", 1, "recorded", "s23 in 2..15, s27 >= 2", {
            "L['ids']": tensor([2, 2], [2, 1], torch.int64),
        }),
        ("0/0_0", 2, "refused", "s23 = 0, s27 = 0", {
            "L['ids']": tensor([0, 0], [0, 1], torch.int64),
        }),
        ("0/0_0", 3, "refused", "s23 in 2..15, s27 = 0", {
            "L['ids']": tensor([2, 0], [0, 1], torch.int64),
        }),
        ("0/0_0", 4, "guards", "s23 >= 16, s27 >= 2", {
            "L['ids']": tensor([16, 2], [2, 1], torch.int64),
        }),
    ]

    $ symtape inputs $RECORDINGS/train.log.zst --python --json
    2> symtape: inputs: --python excludes --cover and --json
    [exit 2]

A compile without symbols:

    $ symtape inputs $RECORDINGS/mlp.log.zst:0/0
    2> symtape: no sizes and no numbers are symbols of a compile there
    [exit 125]

All sizes of a range satisfy what the compile relies on:

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover s27=16..512:8 -n 3
    0/1_0: proved: 29 of 29 conditions on these sizes always hold
      * not examined, because no size of them varies: 9

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind   condition                           user line           code
      proved          range  s27 >= 2                            demo/encoder.py:46  x = x + self.attention(self.norm1(x))
      proved          guard  Eq(Mod(s27, 8), 0)                  demo/encoder.py:25  if length % WINDOW:
      proved          guard  Eq(32*s27*s77, 256*s77*((s27//8)))  demo/encoder.py:27  windows = x.unflatten(1, (-1, WINDOW))
      ... and 26 more

The smallest sizes that do not, with the guard and its line, and which guards can be dropped for the range:

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover "x.size(1)=8..512:8,L['x'].size()[0]=1..64" -n 2
    0/1_0: refuted: 25 of 30 conditions on these sizes always hold
      * the smallest sizes that violate one: s77=1; s77 >= 2 is false, at demo/encoder.py:46 `x = x + self.attention(self.norm1(x))`
      * not examined, because no size of them varies: 8

      Violated by some sizes of the range
      verdict  sizes  kind   condition        user line           code
      refuted  s77=1  range  s77 >= 2         demo/encoder.py:46  x = x + self.attention(self.norm1(x))
      refuted  s27=8  guard  Ne((s27//8), 1)  demo/encoder.py:29  t.unflatten(-1, (HEADS, -1)).transpose(2, 3) for t in self.qkv(windows).chunk(3, -1)
      ... and 3 more

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind   condition           user line           code
      proved          range  s27 >= 2            demo/encoder.py:46  x = x + self.attention(self.norm1(x))
      proved          guard  Eq(Mod(s27, 8), 0)  demo/encoder.py:25  if length % WINDOW:
      ... and 23 more
    [exit 1]

Only sizes that satisfy a condition, over symbols or sources:

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover s27=1..512 --assume "x.size(1) % 8 == 0 and s27 > 8" -n 1
    0/1_0: proved: 29 of 29 conditions on these sizes always hold
      * not examined, because no size of them varies: 9

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind   condition  user line           code
      proved          range  s27 >= 2   demo/encoder.py:46  x = x + self.attention(self.norm1(x))
      ... and 28 more

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover s27=1..7 --assume 's27 > 8'
    0/1_0: proved: no sizes of the range satisfy --assume

A symbol that became a number, and lists of sizes:

    $ symtape inputs $RECORDINGS/encoder.log.zst --cover "x.size(2)=16,32,64..256:x2" -n 2
    forward (demo/encoder.py:55): refuted: 2 entries, and there are sizes in the range that none serves
      * the smallest such sizes: s53=16
      * sizes that are not named are those of 0/1_0

      entry  adds  kind         violated there  user line           code
      0/0_1  none  specialized  Eq(s53, 32)     demo/encoder.py:46  x = x + self.attention(self.norm1(x))
      0/1_0  some  specialized  Eq(s53, 32)     demo/encoder.py:46  x = x + self.attention(self.norm1(x))

    0/0_1: refuted: 1 of 2 conditions on these sizes always hold
      * the smallest sizes that violate one: s53=16; Eq(s53, 32) is false, at demo/encoder.py:46 `x = x + self.attention(self.norm1(x))`
      * not examined, because no size of them varies: 70

      Violated by some sizes of the range
      verdict  sizes   kind         condition    user line           code
      refuted  s53=16  specialized  Eq(s53, 32)  demo/encoder.py:46  x = x + self.attention(self.norm1(x))

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind   condition  user line           code
      proved          range  s53 >= 2   demo/encoder.py:46  x = x + self.attention(self.norm1(x))

    0/1_0: refuted: 1 of 2 conditions on these sizes always hold
      * the smallest sizes that violate one: s53=16; Eq(s53, 32) is false, at demo/encoder.py:46 `x = x + self.attention(self.norm1(x))`
      * not examined, because no size of them varies: 36

      Violated by some sizes of the range
      verdict  sizes   kind         condition    user line           code
      refuted  s53=16  specialized  Eq(s53, 32)  demo/encoder.py:46  x = x + self.attention(self.norm1(x))

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind   condition  user line           code
      proved          range  s53 >= 2   demo/encoder.py:46  x = x + self.attention(self.norm1(x))
    [exit 1]

As JSON:

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover s53=31,32 --json
    {"schema":"symtape.inputs.cover/1","cover":"s53=31,32","assume":null,"functions":[],"compiles":[{"recording":"encoder","compile":"0/1","attempt":0,"status":"ok","verdict":"refuted","empty":false,"missing":[],"unrelated":36,"of_data":0,"counterexample":[{"symbol":"s53","source":"L['x'].size()[2]","value":31}],"conditions":[{"kind":"range","expr":"s53 >= 2","verdict":"proved","method":"intervals","can_be_dropped":true,"counterexample":null,"smallest":false,"raises":false,"not_exact":false,"points":0,"log_line":4187,"line":{"file":"/home/user/demo/encoder.py","line":46,"function":"forward","code":"x = x + self.attention(self.norm1(x))"}},{"kind":"specialized","expr":"Eq(s53, 32)","verdict":"refuted","method":"search","can_be_dropped":false,"counterexample":[{"symbol":"s53","source":"L['x'].size()[2]","value":31}],"smallest":true,"raises":false,"not_exact":false,"points":1,"log_line":4195,"line":{"file":"/home/user/demo/encoder.py","line":46,"function":"forward","code":"x = x + self.attention(self.norm1(x))"}}]}],"verdict":"refuted"}
    [exit 1]

Mistakes:

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover s99=1..4
    2> symtape: --cover: s99 is no symbol and no source of one; there are s77 (L['x'].size()[0]), s27 (L['x'].size()[1]), s53 (L['x'].size()[2])
    [exit 2]

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover s27=4..1
    2> symtape: --cover: 4..1 is an empty range
    [exit 2]

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover s27
    2> symtape: --cover: s27: a range is SYMBOL=MIN..MAX
    [exit 2]

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover s27=x
    2> symtape: --cover: "x" is no size: a whole number, MIN..MAX, MIN..MAX:STEP or MIN..MAX:xFACTOR
    [exit 2]

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover s27=1..4,s27=5
    2> symtape: --cover: s27 is given twice
    [exit 2]

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover "s27=1..4,x.size(1)=5"
    2> symtape: --cover: x.size(1) and another name are both the symbol s27
    [exit 2]

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover s27=1..9 --assume "s27 +"
    2> symtape: --assume: "s27 +" is no condition on sizes, such as "s77 % 8 == 0 and s27 <= s77"
    [exit 2]

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover s27=1..9 --assume "s27 + 1"
    2> symtape: --assume: "s27 + 1" is no condition on sizes, such as "s77 % 8 == 0 and s27 <= s77"
    [exit 2]

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --cover s27=1..9 --assume "y.size(0) == s27" -n 1
    2> symtape: --assume: y.size(0) is no symbol and no source of one in 0/1
    [exit 2]

    $ symtape inputs $RECORDINGS/encoder.log.zst:0/1 --assume "s27 > 1"
    2> symtape: inputs: --assume needs --cover
    [exit 2]

More symbols than regions are found for:

    $ python3 $ROOT/tests/golden/make_hostile.py symbols > symbols.log; symtape inputs symbols.log
    2> symtape: 0/0_0: not examined: it has 4097 symbols; the regions of at most 4096 are found
    [exit 125]

A guard that cannot be read may leave out sizes, so that the list is not said to be complete:

    $ python3 $ROOT/tests/golden/make_hostile.py unread > unread.log; symtape inputs unread.log
    0/0_0 (unfinished) was traced for s0 in {2, 3, 4, 5}; other sizes fall into at least 3 other regions
      * not known what they require: 1 condition that cannot be read

      symbol  source            recorded  sizes            because of
      s0      L['x'].size()[0]         3  in {2, 3, 4, 5}

      region  what      calls  smallest sizes  sizes               told apart by     user line  code
           1  recorded  0/0    s0=2            s0 in {2, 3, 4, 5}                    -          -
           2  guards           s0=0            s0 = 0              1: not s0 >= 2    -          -
           3  branch           s0=6            s0 >= 6             1: not s0 <= 5    -          -
           4  guards           s0=1            s0 = 1              2: not Eq(s0, 0)  -          -

Without time, the sizes that the compile serves are found, and no other region:

    $ symtape inputs $RECORDINGS/mlp.log.zst:0/1 --seconds 0
    0/1_0 serves s77 >= 2; no region of other sizes was found, but there may be some

      symbol  source            recorded  sizes  because of
      s77     L['x'].size()[0]         6  >= 2   demo/mlp.py:15

      region  what      calls     smallest sizes  sizes     told apart by  user line  code
           1  recorded  0/0, 0/1  s77=2           s77 >= 2                 -          -

What torch.export makes without a compile has symbols, and no graph:

    $ printf 'V1120 07:34:58.618000 673 a.py:1] {"create_symbol": {"symbol": "s77", "val": "6", "vr": "[2, 64]", "source": "L[x].size()[0]", "user_stack": [], "stack": []}}\n' > outside.log

    $ symtape inputs outside.log
    2> symtape: no sizes and no numbers are symbols of a compile there; 1 symbol belongs to no compile, because torch.export records no graph unless strict=True: name the .pt2 that torch.export.save() writes, or see symtape diagnose and symtape show --guards
    [exit 125]

    $ symtape inputs outside.log --cover s77=2..9
    2> symtape: --cover: no compile there has symbols, so that s77 is none; 1 symbol belongs to no compile, because torch.export records no graph unless strict=True: name the .pt2 that torch.export.save() writes, or see symtape diagnose and symtape show --guards
    [exit 2]

    $ symtape validate outside.log
    2> symtape: validate: outside.log has no attempt of a compile with guards; 1 symbol belongs to no compile, because torch.export records no graph unless strict=True: name the .pt2 that torch.export.save() writes, or see symtape diagnose and symtape show --guards
    [exit 2]
