# symtape diff

A tape does not differ from itself: standard output is empty. Neither does it from what --save writes of it.

    $ for r in $RECORDINGS/*.log.zst $RECORDINGS/torch-2.11/*.log.zst $RECORDINGS/exported.pt2 $RECORDINGS/two_ranks; do
    >   symtape diff -q $r $r && symtape diff -q --save saved.json --overwrite $r && symtape diff -q saved.json $r && symtape diff -q $r saved.json || echo $r
    > done

A window in one layer: which line adds the guards, and the recompile?

    $ symtape diff $RECORDINGS/layers.log.zst $RECORDINGS/layers_window.log.zst --labels main,window --ignore measures,times,phases,line_times -n 4
    before: main
    after: window
      * 1 compile new, 1 recompile new, 19 guards new, 1 symbol changed, 2 graphs changed, 16 nodes new, 52 nodes changed, 13 operators new, 26 operators changed

    User lines (+ new, - gone, ~ changed)
      incidents  guards  symbols   nodes  user line          code
             +1      +1        -       -  demo/layers.py:33  if length % self.window:
              -      +1       ~1  +2 ~22  demo/layers.py:26  t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
              -     +14        -      +7  demo/layers.py:35  windows = x.unflatten(1, (-1, self.window)).flatten(0, 1)
              -       -        -  +1 ~17  demo/layers.py:29  return self.out((weights @ v).transpose(1, 2).flatten(2))
      ... and 3 more

    Compiles
      change    time  compile  function  more                            user line
      new     4.67 s  0/0      forward   2 graphs, 3 symbols, 62 guards  demo/layers.py:49

    Recompiles
      change  times    time  compile  guard that failed       user line          code
      new         1  3.00 s  0/1      (x.size()[1] % 8) != 0  demo/layers.py:33  if length % self.window:

    Guards
      change  times  compile  asked by  guard                                                           user line          code
      new         2  0/1      kernel    Ne(32*s77*((s27//8))*((s27//((s27//8)))), 0)                    demo/layers.py:35  windows = x.unflatten(1, (-1, self.window)).flatten(0, 1)
      new         1  0/1      kernel    Ne(Mod(s77*((s27//8)), s77*((s27//8))*((s27//((s27//8))))), 0)  demo/layers.py:26  t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
      new         1  0/1      kernel    Ne(Mod(s77*((s27//8)), 4*s77*((s27//8))), 0)                    demo/layers.py:28  weights = (q @ k.transpose(-1, -2)).softmax(-1)
      new         1  0/1      dynamo    Eq(Mod(s27, 8), 0)                                              demo/layers.py:33  if length % self.window:
      ... and 14 more

    Symbols
      change   times  compile  symbol                  more                                                        user line          code
      changed      1  0/1      s27 = L['x'].size()[1]  hint 21, range [2, int_oo], now hint 24, range [2, int_oo]  demo/layers.py:26  t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)

    Shape of graphs
      change   before  after  compile  graph      more
      changed     235    246  0/1      inference  calls 199, now 210
      changed     129    134  0/1      dynamo     calls 93, now 98

    Nodes of graphs by user line
      change  times  level      node               more                                     user line          code
      new         1  inference  aten.sym_size.int  Sym((s27//((s27//8))))                   demo/layers.py:26  t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
      new         1  inference  operator.mul       Sym(s77*((s27//8))*((s27//((s27//8)))))  demo/layers.py:26  t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
      new         1  inference  operator.mul       Sym(4*s77*((s27//8)))                    demo/layers.py:28  weights = (q @ k.transpose(-1, -2)).softmax(-1)
      new         1  inference  operator.mul       Sym(s77*((s27//8))*((s27//((s27//8)))))  demo/layers.py:29  return self.out((weights @ v).transpose(1, 2).flatten(2))
      ... and 52 more

    Operators by level
      change  after  level      operator
      new         6  inference  aten.sym_size.int
      new         3  inference  aten.slice.Tensor
      new         2  dynamo     Tensor.reshape
      new         2  dynamo     Tensor.size
      ... and 35 more
    [exit 1]

One kind alone, and one ignored; what is ignored does not decide.

    $ symtape diff $RECORDINGS/layers.log.zst $RECORDINGS/layers_window.log.zst --only recompiles,failures
    before: $RECORDINGS/layers.log.zst
    after: $RECORDINGS/layers_window.log.zst
      * 1 recompile new

    User lines (+ new, - gone, ~ changed)
      incidents  user line          code
             +1  demo/layers.py:33  if length % self.window:

    Recompiles
      change  times    time  compile  guard that failed       user line          code
      new         1  3.00 s  0/1      (x.size()[1] % 8) != 0  demo/layers.py:33  if length % self.window:
    [exit 1]

    $ symtape diff $RECORDINGS/layers.log.zst $RECORDINGS/layers_window.log.zst --only failures
    2> symtape: no difference

    $ symtape diff $RECORDINGS/layers.log.zst $RECORDINGS/layers_window.log.zst --only suppressed -n 2
    before: $RECORDINGS/layers.log.zst
    after: $RECORDINGS/layers_window.log.zst
      * 5 suppressed guards new

    Asked while guards were suppressed
      change  times  compile  asked by  expression                                     user line          code
      new         2  0/1      kernel    Ne(32*s77*((s27//8))*((s27//((s27//8)))), 0)   demo/layers.py:35  windows = x.unflatten(1, (-1, self.window)).flatten(0, 1)
      new         1  0/1      kernel    Eq(32*s27, 32*((s27//8))*((s27//((s27//8)))))  demo/layers.py:35  windows = x.unflatten(1, (-1, self.window)).flatten(0, 1)
      ... and 2 more

    $ symtape diff $RECORDINGS/layers.log.zst $RECORDINGS/layers_window.log.zst --only guards,recompiles --format markdown -n 2
    ### symtape: differs

    `$RECORDINGS/layers.log.zst` and `$RECORDINGS/layers_window.log.zst`: 1 recompile new, 19 guards new

    **User lines (+ new, - gone, ~ changed)**

    | incidents | guards | user line | code |
    | ---: | ---: | --- | --- |
    | +1 | +1 | `demo/layers.py:33` | `if length % self.window:` |
    |  | +14 | `demo/layers.py:35` | `windows = x.unflatten(1, (-1, self.window)).flatten(0, 1)` |

    ... and 3 more

    **Recompiles**

    | change | times | time | compile | guard that failed | user line | code |
    | --- | ---: | ---: | --- | --- | --- | --- |
    | new | 1 | 3.00 s | 0/1 | `(x.size()[1] % 8) != 0` | `demo/layers.py:33` | `if length % self.window:` |

    **Guards**

    | change | times | compile | asked by | guard | user line | code |
    | --- | ---: | --- | --- | --- | --- | --- |
    | new | 2 | 0/1 | kernel | `Ne(32*s77*((s27//8))*((s27//((s27//8)))), 0)` | `demo/layers.py:35` | `windows = x.unflatten(1, (-1, self.window)).flatten(0, 1)` |
    | new | 1 | 0/1 | kernel | `Ne(Mod(s77*((s27//8)), s77*((s27//8))*((s27//((s27//8))))), 0)` | `demo/layers.py:26` | `t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)` |

    ... and 16 more
    [exit 1]

A saved file stands for its tape.

    $ symtape diff --save window.json $RECORDINGS/layers_window.log.zst

    $ symtape diff --json $RECORDINGS/layers.log.zst window.json > saved.json; symtape diff --json $RECORDINGS/layers.log.zst $RECORDINGS/layers_window.log.zst > tape.json
    > python3 -c 'import json
    > a, b = json.load(open("saved.json")), json.load(open("tape.json"))
    > for side in a, b: side["after"]["label"] = ""
    > print(a == b, a["schema"], a["differs"], a["undecided"], a["counts"]["recompiles"])'
    True symtape.diff/1 True False 1

Several runs of a side: medians, and a spread to judge times by.

    $ symtape diff $RECORDINGS/layers.log.zst $RECORDINGS/layers.log.zst --vs $RECORDINGS/layers_window.log.zst $RECORDINGS/layers_window.log.zst --only times,recompiles
    before: $RECORDINGS/layers.log.zst, $RECORDINGS/layers.log.zst, 2 runs; guards, graphs and lines are those of layers.log.zst
    after: $RECORDINGS/layers_window.log.zst, $RECORDINGS/layers_window.log.zst, 2 runs; guards, graphs and lines are those of layers_window.log.zst
      * 1 recompile new

    User lines (+ new, - gone, ~ changed)
      incidents  user line          code
             +1  demo/layers.py:33  if length % self.window:

    Recompiles
      change  times    time  compile  guard that failed       user line          code
      new         1  3.00 s  0/1      (x.size()[1] % 8) != 0  demo/layers.py:33  if length % self.window:

    Times and memory (medians)
       before    after  change  measure           verdict
       2.23 s   7.67 s  +244 %  compile_s         beyond the spread
       907 ms   3.61 s  +298 %  dynamo_s          beyond the spread
       1.29 s   3.66 s  +184 %  aot_s             beyond the spread
      11.2 ms  18.0 ms   +60 %  ms_per_op         beyond the spread
      24.0 ms  38.2 ms   +59 %  ms_per_dynamo_op  beyond the spread
    [exit 1]

    $ symtape diff $RECORDINGS/layers.log.zst $RECORDINGS/layers_window.log.zst --vs window.json $RECORDINGS/layers.log.zst --only times,recompiles,measures | tail -4

    Recompiles
      change  times    time  compile  guard that failed       user line          code
      new         1  3.00 s  0/1      (x.size()[1] % 8) != 0  demo/layers.py:33  if length % self.window:
    2> symtape: before: the runs do not agree: recompiles 0 to 1
    2> symtape: after: the runs do not agree: recompiles 0 to 1

What cannot be compared is said.

    $ symtape diff $RECORDINGS/mlp.log.zst $RECORDINGS/exported.pt2 | head -3
    before: $RECORDINGS/mlp.log.zst
    after: $RECORDINGS/exported.pt2
      * 2 compiles gone, 1 recompile gone, 3 symbols new, 1 graph new, 8 operators new, 7 operators gone
    2> symtape: after is an archive of torch.export, before a log: an archive has no compiles, guards or times, so little can be compared

    $ symtape diff $RECORDINGS/torch-2.11/encoder.log.zst $RECORDINGS/encoder.log.zst --only recompiles,failures
    2> symtape: torch 2.11.0+cu130 before, 2.13.0+cpu after: operators, guards and phases may differ because PyTorch does, not the program
    2> symtape: no difference

    $ symtape diff --bisect-codes $RECORDINGS/mlp.log.zst $RECORDINGS/graph_break.log.zst > /dev/null
    2> symtape: no compile is on both sides: are these runs of one program?
    [exit 125]

    $ zstd -dc $RECORDINGS/layers.log.zst | head -c 200000 > cut.log; symtape diff --bisect-codes $RECORDINGS/layers.log.zst cut.log > /dev/null
    2> symtape: cut.log: 1 place is damaged; the rest was read
    2> symtape: cut.log:1317: offset 199945: not a record
    2> symtape: after: cut.log is damaged in 1 place
    2> symtape: after: 1 compile of cut.log never ended: the rest of it is not compared
    [exit 125]

Compiles, and parts of them.

    $ symtape diff $RECORDINGS/encoder.log.zst:0/0_1 $RECORDINGS/encoder.log.zst:0/1 --only recompiles,graphs
    before: $RECORDINGS/encoder.log.zst:0/0_1
    after: $RECORDINGS/encoder.log.zst:0/1
      * 1 recompile new, 2 graphs changed

    User lines (+ new, - gone, ~ changed)
      incidents  user line           code
             +1  demo/encoder.py:25  if length % WINDOW:

    Recompiles
      change  times    time  compile  guard that failed       user line           code
      new         1  2.55 s  0/1      (x.size()[1] % 8) != 0  demo/encoder.py:25  if length % WINDOW:

    Shape of graphs
      change   before  after  compile  graph      more
      changed     269    240  0/1      inference  calls 226, now 197
      changed     139    134  0/1      dynamo     calls 96, now 91
    [exit 1]

Mistakes.

    $ symtape diff $RECORDINGS/mlp.log.zst
    2> symtape: diff: name the two sides that are to be compared, as in: symtape diff before.tape after.tape
    [exit 2]

    $ symtape diff a b c
    2> symtape: diff: put --vs between the TAPEs of the two sides
    [exit 2]

    $ symtape diff a b --vs
    2> symtape: diff: there is no TAPE behind --vs
    [exit 2]

    $ symtape diff a --labels x b
    2> symtape: diff: --labels needs two names, as in BEFORE,AFTER
    [exit 2]

    $ symtape diff $RECORDINGS/mlp.log.zst $RECORDINGS/mlp.log.zst --only guard
    2> symtape: diff: --only: "guard" is not one of compiles, restarts, recompiles, breaks, failures, specializations, guards, asserts, suppressed, symbols, graphs, nodes, operators, dispatches, size_uses, caches, measures, times, phases, line_times; did you mean "guards"?
    [exit 2]

    $ symtape diff $RECORDINGS/mlp.log.zst:0/0:dynamo $RECORDINGS/mlp.log.zst
    2> symtape: diff: $RECORDINGS/mlp.log.zst:0/0:dynamo: name a tape, a recording or a compile here, not a part of one
    [exit 2]

    $ symtape profile --json $RECORDINGS/mlp.log.zst > profile.json; symtape diff profile.json $RECORDINGS/mlp.log.zst
    2> symtape: profile.json: JSON, but not written by symtape diff --save
    [exit 3]

    $ sed 's/"lines":\[\[/"lines":[[99999,/' window.json > bad.json; symtape diff bad.json window.json
    2> symtape: bad.json: lines: an index is out of range
    [exit 3]

    $ symtape diff --save window.json $RECORDINGS/mlp.log.zst
    2> symtape: window.json exists already; --overwrite replaces it
    [exit 2]

    $ symtape diff --bisect-codes nowhere.tape $RECORDINGS/mlp.log.zst
    2> symtape: nowhere.tape: No such file or directory
    [exit 125]
