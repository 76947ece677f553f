# symtape show --levels

What each stage of an attempt did with its shape environment: symbols that became other symbols, which PyTorch does not record, are found
by a replay.

    $ symtape show $RECORDINGS/pyramid.log.zst --levels
    levels
    compile  level  stage          may                     symbols  replaced  guarded  equalities  asserted  suppressed  ignored
    0/0_0        1  Dynamo         replace, guard, assert        9         2        -           -         -           -        -
    0/0_0        2  AOT inference  replace, guard, assert        7         -        -           -         -           -        -

    conditions
    compile  stage   effect    condition     replaced   user line           code
    0/0_0    Dynamo  replaced  Eq(s30, s15)  s30 = s15  demo/pyramid.py:11  return torch.cat(flat, dim=1)
    0/0_0    Dynamo  replaced  Eq(s48, s15)  s48 = s15  demo/pyramid.py:11  return torch.cat(flat, dim=1)

Guards of Dynamo, of AOTAutograd's collection of metadata and of its graph, in both attempts of a compile that was restarted; what became a number,
with the guard from which it follows.

    $ symtape show $RECORDINGS/encoder.log.zst:0/0 --levels --limit 6
    levels
    compile  level  stage          may                     symbols  replaced  guarded  equalities  asserted  suppressed  ignored
    0/0_0        1  Dynamo         replace, guard, assert       12         7       60          14         -          25        -
    0/0_0        2  AOT metadata   replace, guard, assert        5         -        9           -         -           -        -
    0/0_0        2  AOT inference  replace, guard, assert        5         -        1           -         -           -        -
    0/0_1        1  Dynamo         replace, guard, assert       12         7       60          14         -          25        -
    0/0_1        2  AOT metadata   replace, guard, assert        5         -        9           -         -           -        -
    0/0_1        2  AOT inference  replace, guard, assert        5         -        1           -         -           -        -

    conditions
    compile  stage   effect    condition                                                                         replaced                    user line           code
    0/0_0    Dynamo  replaced  Eq(zf14, 1.0e-5)                                                                  zf14 = 1.00000000000000e-5  demo/encoder.py:46  x = x + self.attention(self.norm1(x))
    0/0_0    Dynamo  replaced  Eq(s53, 32)                                                                       s53 = 32                    demo/encoder.py:46  x = x + self.attention(self.norm1(x))
    0/0_0    Dynamo  guarded   Ne(Mod(s27, 8), 0)                                                                -                           demo/encoder.py:25  if length % WINDOW:
    0/0_0    Dynamo  guarded   Eq(s27 - (Mod(s27, 8)) + 8, 8) | Eq(Mod(s27 - (Mod(s27, 8)) + 8, 8), 0)           -                           demo/encoder.py:27  windows = x.unflatten(1, (-1, WINDOW))
    0/0_0    Dynamo  guarded   Eq(32*s77*(s27 - (Mod(s27, 8)) + 8), 256*s77*((((s27 - (Mod(s27, 8)))//8)) + 1))  -                           demo/encoder.py:27  windows = x.unflatten(1, (-1, WINDOW))
    0/0_0    Dynamo  guarded   Ne(32*s77*(s27 - (Mod(s27, 8)) + 8), 0)                                           -                           demo/encoder.py:27  windows = x.unflatten(1, (-1, WINDOW))
    2> symtape: conditions: 198 more not shown (--limit)

    $ symtape show $RECORDINGS/encoder.log.zst:0/0_1 --levels --json --file encoder.py --limit 1
    {"schema":"symtape.show/1","tape":"$RECORDINGS/encoder.log.zst","levels":[],"conditions":[{"recording":"encoder","compile":"0/0","attempt":1,"log_line":1771,"level":1,"stage":"Dynamo","frozen":false,"effect":"replaced","kind":"guard","expr":"Eq(zf14, 1.0e-5)","replaced":[{"symbol":"zf14","value":"1.00000000000000e-5","reason":"trivial_lhs","recorded":true}],"line":{"file":"/home/user/demo/encoder.py","line":46,"function":"forward","code":"x = x + self.attention(self.norm1(x))"}}],"omitted":{"conditions": 91}}

Guards of Inductor, of which no user line is recorded.

    $ symtape show $RECORDINGS/inductor.log.zst --levels
    levels
    compile  level  stage             may                     symbols  replaced  guarded  equalities  asserted  suppressed  ignored
    0/0_0        1  Dynamo            replace, guard, assert        3         -        -           -         -           -        -
    0/0_0        2  AOT inference     replace, guard, assert        3         -        -           -         -           -        -
    0/0_0        2  backend           replace, guard, assert        3         -        -           -         -           -        -
    0/0_0        3  Inductor forward  replace, guard                3         -        2           -         -           -        -

    conditions
    compile  stage             effect   condition    replaced  user line  code
    0/0_0    Inductor forward  guarded  s17 <= 4096  -         -          -
    0/0_0    Inductor forward  guarded  s77 <= 4096  -         -          -

Runtime asserts.

    $ symtape show $RECORDINGS/data_dependent.log.zst --levels
    levels
    compile  level  stage   may                     symbols  replaced  guarded  equalities  asserted  suppressed  ignored
    0/0_0        1  Dynamo  replace, guard, assert        4         -        -           -         2           -        -

    conditions
    compile  stage   effect    condition  replaced  user line                  code
    0/0_0    Dynamo  asserted  u1 >= 0    -         demo/data_dependent.py:12  y = x[:kept]
    0/0_0    Dynamo  asserted  u1 <= s77  -         demo/data_dependent.py:12  y = x[:kept]
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

The names of the symbols that a level may replace.

    $ symtape show $RECORDINGS/pyramid.log.zst --levels --stack --limit 1 | sed -n 1,14p
    levels
    compile     0/0_0
    level       1
    stage       Dynamo
    may         replace, guard, assert
    symbols     9
    replaced    2
    guarded     -
    equalities  -
    asserted    -
    suppressed  -
    ignored     -
      may replace:
        s15, s49, s40, s30, s59, s79, s48, s23, s27
    2> symtape: levels: 1 more not shown (--limit)
    2> symtape: conditions: 1 more not shown (--limit)

An archive has no shape environment. What belongs to no compile is listed without one, and a damaged record without its condition.

    $ symtape show $RECORDINGS/exported.pt2 --levels
    levels
    no shape environments

    conditions
    no conditions

    $ printf 'V1120 07:34:58.618000 673 a.py:1] {"guard_added_fast": 7}\n' > odd.log

    $ symtape show odd.log --levels
    levels
    compile  level  stage   may                     symbols  replaced  guarded  equalities  asserted  suppressed  ignored
    -            1  Dynamo  replace, guard, assert        0         -        1           -         -           -        -

    conditions
    compile  stage   effect   condition  replaced  user line  code
    -        Dynamo  guarded  -          -         -          -
