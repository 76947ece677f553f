# The cost model

What the time of compiling consists of. In a deep recording dispatches are measured.

    $ symtape profile --cost-model $RECORDINGS/deep.log.zst
    What the time of compiling consists of
         time  share  kind                              count   a unit  quartiles           basis     a compile
       125 ms   47 %  Dynamo, besides dispatches            -  13.2 ms    8.24 ms  17.3 ms  measured          -
      46.6 ms   18 %  FakeTensorMode: decomposition        11  4.24 ms    4.24 ms  4.24 ms  measured          -
      42.6 ms   16 %  FakeTensorMode: meta kernel           7  6.09 ms    6.09 ms  6.09 ms  measured          -
      37.8 ms   14 %  FakeTensorMode: cache bypass          4  9.45 ms    9.45 ms  9.45 ms  measured          -
      20.6 ms    8 %  symtape's recorder                    -        -          -        -  measured          -
       175 us   <1 %  FakeTensor dispatch                   1   175 us     175 us   175 us  measured          -
      49.3 us   <1 %  FakeTensorMode: before the cache      3  16.4 us    16.4 us  16.4 us  measured          -
      The rows above and what is unexplained, -8.26 ms (-3.1 %), are the 265 ms of compiling. The time of a unit is fitted on the deep recordings among these tapes, or shipped with symtape where they have no such work.

    Where what is unexplained lies
      unexplained    phases  explained  part
         -8.26 ms  -8.26 ms       0 ns  no phase
             0 ns    273 ms     273 ms  Dynamo (tracing Python)

Otherwise counts of the replay are multiplied by what a unit costs.

    $ symtape profile --cost-model $RECORDINGS/mlp.log.zst
    What the time of compiling consists of
         time  share  kind                                    count   a unit  quartiles           basis      a compile
       252 ms   32 %  FakeTensorMode: nested, path not known    103  2.45 ms    1.88 ms  7.08 ms  estimated          -
       150 ms   19 %  AOTAutograd, besides dispatches            12  12.5 ms    9.23 ms  38.1 ms  estimated          -
       105 ms   14 %  Dynamo, besides dispatches                  8  13.2 ms    8.24 ms  17.3 ms  estimated          -
      86.0 ms   11 %  FakeTensorMode: meta kernel                24  3.58 ms    2.51 ms  3.58 ms  estimated          -
      49.3 ms    6 %  FakeTensorMode: cache hit                  32  1.54 ms    1.22 ms  5.40 ms  estimated          -
      44.5 ms    6 %  FakeTensorMode: decomposition              10  4.45 ms    3.49 ms  9.29 ms  estimated          -
      37.4 ms    5 %  ProxyTorchDispatchMode dispatch            30  1.25 ms     649 us  3.36 ms  estimated          -
      21.6 ms    3 %  FakeTensorMode: fast path                   5  4.32 ms    2.87 ms  4.32 ms  estimated          -
      1.17 ms   <1 %  FakeTensorMode: before the cache           40  29.1 us    11.2 us  90.4 us  estimated          -
      The rows above and what is unexplained, 31.1 ms (4.0 %), are the 779 ms of compiling. No tape is a deep recording: times are counts of the replay by what a unit cost with PyTorch 2.13, on another machine.

    Where what is unexplained lies
      unexplained    phases  explained  part
          -223 ms    214 ms     437 ms  AOTAutograd (tracing ATen graphs)
           149 ms    149 ms       0 ns  building guards
           109 ms    421 ms     311 ms  Dynamo (tracing Python)
         -4.88 ms  -4.88 ms       0 ns  no phase
          99.0 us   99.0 us       0 ns  caches

The units of a deep recording explain another one.

    $ symtape profile --cost-model $RECORDINGS/deep.log.zst $RECORDINGS/mlp.log.zst
    What the time of compiling consists of
         time  share  kind                                    count   a unit  quartiles           basis      a compile
       477 ms   46 %  FakeTensorMode: nested, path not known    103  4.63 ms    4.63 ms  4.63 ms  estimated          -
       230 ms   22 %  Dynamo, besides dispatches                  8  13.2 ms    8.24 ms  17.3 ms  estimated          -
       189 ms   18 %  FakeTensorMode: meta kernel                31  6.09 ms    6.09 ms  6.09 ms  estimated          -
       150 ms   14 %  AOTAutograd, besides dispatches            12  12.5 ms    9.23 ms  38.1 ms  estimated          -
      89.0 ms    9 %  FakeTensorMode: decomposition              21  4.24 ms    4.24 ms  4.24 ms  estimated          -
      49.3 ms    5 %  FakeTensorMode: cache hit                  32  1.54 ms    1.22 ms  5.40 ms  estimated          -
      37.8 ms    4 %  FakeTensorMode: cache bypass                4  9.45 ms    9.45 ms  9.45 ms  measured           -
      37.4 ms    4 %  ProxyTorchDispatchMode dispatch            30  1.25 ms     649 us  3.36 ms  estimated          -
      21.6 ms    2 %  FakeTensorMode: fast path                   5  4.32 ms    2.87 ms  4.32 ms  estimated          -
      20.6 ms    2 %  symtape's recorder                          -        -          -        -  measured           -
       707 us   <1 %  FakeTensorMode: before the cache           43  16.4 us    16.4 us  16.4 us  estimated          -
       175 us   <1 %  FakeTensor dispatch                         1   175 us     175 us   175 us  measured           -
      The rows above and what is unexplained, -259 ms (-24.8 %), are the 1.04 s of compiling. The time of a unit is fitted on the deep recordings among these tapes, or shipped with symtape where they have no such work.

    Where what is unexplained lies
      unexplained    phases  explained  part
          -380 ms    214 ms     593 ms  AOTAutograd (tracing ATen graphs)
           149 ms    149 ms       0 ns  building guards
         -15.5 ms    694 ms     709 ms  Dynamo (tracing Python)
         -13.1 ms  -13.1 ms       0 ns  no phase
          99.0 us   99.0 us       0 ns  caches

As JSON: the rows and what is unexplained are the time of the compiles, and so are the parts.

    $ for t in deep mlp train; do symtape profile --cost-model --json $RECORDINGS/$t.log.zst | python3 -c 'import json, sys; m = json.load(sys.stdin)["cost_model"]; print(m["fitted"], m["wall_ns"] > 0, m["wall_ns"] - m["unexplained_ns"] - sum(r["ns"] for r in m["rows"]), m["wall_ns"] - sum(p["ns"] for p in m["parts"]))'; done
    True True 0 0
    False True 0 0
    False True 0 0

    $ symtape profile --cost-model --json $RECORDINGS/deep.log.zst | tr '{' '\n' | grep -E 'wall_ns|cache hit|Dynamo, |"no phase"'
    "wall_ns":264630000,"unexplained_ns":-8258000,"fitted":true,"release":213,"rows":[
    "kind":"Dynamo, besides dispatches","count":0,"ns":124996717,"share":0.4723452254090617,"basis":"measured","unit_ns":13182196,"unit_low_ns":8244593,"unit_high_ns":17322653,"base_ns":0,"unit_basis":"shipped","samples":4},
    "kind":"FakeTensorMode: cache hit","count":0,"ns":0,"share":0,"basis":"measured","unit_ns":1542057,"unit_low_ns":1223242,"unit_high_ns":5395904,"base_ns":0,"unit_basis":"shipped","samples":4},
    "part":"no phase","ns":-8258000,"explained_ns":0,"unexplained_ns":-8258000},

Options that exclude each other.

    $ symtape profile --cost-model --by op $RECORDINGS/mlp.log.zst
    2> symtape: profile: --cost-model excludes --by and the formats of viewers
    [exit 2]

    $ symtape profile --cost-model --no-replay $RECORDINGS/mlp.log.zst
    2> symtape: profile: --cost-model and --no-replay exclude each other
    [exit 2]

    $ symtape profile --cost-model --format folded $RECORDINGS/mlp.log.zst
    2> symtape: profile: --cost-model excludes --by and the formats of viewers
    [exit 2]

    $ symtape profile $RECORDINGS/mlp.log.zst --json | grep -c cost_model
    0
    [exit 1]
