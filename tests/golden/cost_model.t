# The cost model

What the time of compiling consists of. In a deep recording dispatches are measured.

    $ symtape profile --cost-model $RECORDINGS/deep.log.zst
    What the time of compiling consists of
         time  share  kind                              count   a unit  quartiles           basis     a compile
       125 ms   47 %  Dynamo, besides dispatches            -  8.36 ms    5.90 ms  16.4 ms  measured          -
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
       317 ms   41 %  building guards                             -  1.38 ms     857 us  2.60 ms  estimated     158 ms
       193 ms   25 %  FakeTensorMode: nested, path not known    103  1.88 ms    1.26 ms  2.45 ms  estimated          -
       107 ms   14 %  AOTAutograd, besides dispatches            12  8.96 ms    4.60 ms  12.5 ms  estimated          -
      66.9 ms    9 %  Dynamo, besides dispatches                  8  8.36 ms    5.90 ms  16.4 ms  estimated          -
      60.2 ms    8 %  FakeTensorMode: meta kernel                24  2.51 ms    2.21 ms  3.58 ms  estimated          -
      37.3 ms    5 %  FakeTensorMode: cache hit                  32  1.17 ms     718 us  1.54 ms  estimated          -
      34.9 ms    4 %  FakeTensorMode: decomposition              10  3.49 ms    2.58 ms  4.45 ms  estimated          -
      19.5 ms    3 %  ProxyTorchDispatchMode dispatch            30   649 us     448 us  1.25 ms  estimated          -
      14.4 ms    2 %  FakeTensorMode: fast path                   5  2.87 ms    1.75 ms  4.32 ms  estimated          -
      4.75 ms    1 %  caches                                      6   791 us     791 us   791 us  estimated          -
       569 us   <1 %  FakeTensorMode: before the cache           40  14.2 us    9.79 us  16.8 us  estimated          -
      The rows above and what is unexplained, -77.0 ms (-9.9 %), are the 779 ms of compiling. No tape is a deep recording: times are counts of the replay by what a unit cost with PyTorch 2.13, on another machine. Of 10 models that were not used for the units, such a sum differed from the time by 58 % in the median.

    Where what is unexplained lies
      unexplained    phases  explained  part
           203 ms    421 ms     218 ms  Dynamo (tracing Python)
          -167 ms    149 ms     317 ms  building guards
          -103 ms    214 ms     316 ms  AOTAutograd (tracing ATen graphs)
         -4.88 ms  -4.88 ms       0 ns  no phase
         -4.65 ms   99.0 us    4.75 ms  caches

The units of a deep recording explain another one.

    $ symtape profile --cost-model $RECORDINGS/deep.log.zst $RECORDINGS/mlp.log.zst
    What the time of compiling consists of
         time  share  kind                                    count   a unit  quartiles           basis      a compile
       477 ms   46 %  FakeTensorMode: nested, path not known    103  4.63 ms    4.63 ms  4.63 ms  estimated          -
       317 ms   30 %  building guards                             -  1.38 ms     857 us  2.60 ms  estimated     158 ms
       192 ms   18 %  Dynamo, besides dispatches                  8  8.36 ms    5.90 ms  16.4 ms  estimated          -
       189 ms   18 %  FakeTensorMode: meta kernel                31  6.09 ms    6.09 ms  6.09 ms  estimated          -
       107 ms   10 %  AOTAutograd, besides dispatches            12  8.96 ms    4.60 ms  12.5 ms  estimated          -
      89.0 ms    9 %  FakeTensorMode: decomposition              21  4.24 ms    4.24 ms  4.24 ms  estimated          -
      37.8 ms    4 %  FakeTensorMode: cache bypass                4  9.45 ms    9.45 ms  9.45 ms  measured           -
      37.3 ms    4 %  FakeTensorMode: cache hit                  32  1.17 ms     718 us  1.54 ms  estimated          -
      20.6 ms    2 %  symtape's recorder                          -        -          -        -  measured           -
      19.5 ms    2 %  ProxyTorchDispatchMode dispatch            30   649 us     448 us  1.25 ms  estimated          -
      14.4 ms    1 %  FakeTensorMode: fast path                   5  2.87 ms    1.75 ms  4.32 ms  estimated          -
      4.75 ms   <1 %  caches                                      6   791 us     791 us   791 us  estimated          -
       707 us   <1 %  FakeTensorMode: before the cache           43  16.4 us    16.4 us  16.4 us  estimated          -
       175 us   <1 %  FakeTensor dispatch                         1   175 us     175 us   175 us  measured           -
      The rows above and what is unexplained, -462 ms (-44.3 %), are the 1.04 s of compiling. The time of a unit is fitted on the deep recordings among these tapes, or shipped with symtape where they have no such work.

    Where what is unexplained lies
      unexplained    phases  explained  part
          -307 ms    214 ms     521 ms  AOTAutograd (tracing ATen graphs)
          -167 ms    149 ms     317 ms  building guards
          30.3 ms    694 ms     663 ms  Dynamo (tracing Python)
         -13.1 ms  -13.1 ms       0 ns  no phase
         -4.65 ms   99.0 us    4.75 ms  caches

As JSON: the rows and what is unexplained are the time of the compiles, and so are the parts.

    $ for t in deep mlp train; do symtape profile --cost-model --json $RECORDINGS/$t.log.zst | python3 -c 'import json, sys; m = json.load(sys.stdin)["cost_model"]; print(m["fitted"], m["wall_ns"] > 0, m["wall_ns"] - m["unexplained_ns"] - sum(r["ns"] for r in m["rows"]), m["wall_ns"] - sum(p["ns"] for p in m["parts"]))'; done
    True True 0 0
    False True 0 0
    False True 0 0

    $ symtape profile --cost-model --json $RECORDINGS/deep.log.zst | tr '{' '\n' | grep -E 'wall_ns|cache hit|Dynamo, |"no phase"'
    "wall_ns":264630000,"unexplained_ns":-8258000,"fitted":true,"release":213,"release_error":0.583,"rows":[
    "kind":"Dynamo, besides dispatches","count":0,"ns":124996717,"share":0.4723452254090617,"basis":"measured","unit_ns":8361985,"unit_low_ns":5903923,"unit_high_ns":16438810,"base_ns":0,"unit_basis":"shipped","samples":10},
    "kind":"FakeTensorMode: cache hit","count":0,"ns":0,"share":0,"basis":"measured","unit_ns":1166867,"unit_low_ns":717816,"unit_high_ns":1542057,"base_ns":0,"unit_basis":"shipped","samples":10},
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
