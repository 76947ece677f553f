# The cost model

What the time of compiling consists of. In a deep recording dispatches are measured.

    $ symtape profile --cost-model $RECORDINGS/deep.log.zst
    What the time of compiling consists of
         time  share  kind                              count   a unit  quartiles           basis     a compile
       125 ms   47 %  Dynamo, besides dispatches            -        -          -        -  measured          -
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
       250 ms   32 %  building guards                             -  1.28 ms    1.19 ms  1.79 ms  estimated     125 ms
       160 ms   21 %  FakeTensorMode: nested, path not known    103  1.56 ms    1.08 ms  1.65 ms  estimated          -
      61.8 ms    8 %  AOTAutograd, besides dispatches            12  5.15 ms    3.65 ms  6.17 ms  estimated          -
      59.7 ms    8 %  FakeTensorMode: meta kernel                24  2.49 ms    1.63 ms  2.65 ms  estimated          -
      52.1 ms    7 %  Dynamo, besides dispatches                  8  6.52 ms    5.99 ms  10.8 ms  estimated          -
      27.7 ms    4 %  FakeTensorMode: cache hit                  32   865 us     683 us   905 us  estimated          -
      22.9 ms    3 %  FakeTensorMode: decomposition              10  2.29 ms    1.87 ms  2.52 ms  estimated          -
      12.4 ms    2 %  ProxyTorchDispatchMode dispatch            30   413 us     404 us   614 us  estimated          -
      9.84 ms    1 %  FakeTensorMode: fast path                   5  1.97 ms    1.69 ms  2.23 ms  estimated          -
      2.42 ms   <1 %  caches                                      6   403 us     403 us  1.09 ms  estimated          -
       411 us   <1 %  FakeTensorMode: before the cache           40  10.3 us    9.37 us  11.5 us  estimated          -
      The rows above and what is unexplained, 120 ms (15.4 %), are the 779 ms of compiling. No tape is a deep recording: times are counts of the replay by what a unit cost with PyTorch 2.13, on another machine. Of 11 recordings that were not used for the units, such a sum differed from the time by 52 % in the median.

    Where what is unexplained lies
      unexplained    phases  explained  part
           241 ms    421 ms     180 ms  Dynamo (tracing Python)
          -101 ms    149 ms     250 ms  building guards
         -13.5 ms    214 ms     227 ms  AOTAutograd (tracing ATen graphs)
         -4.88 ms  -4.88 ms       0 ns  no phase
         -2.32 ms   99.0 us    2.42 ms  caches

The units of a deep recording explain another one.

    $ symtape profile --cost-model $RECORDINGS/deep.log.zst $RECORDINGS/mlp.log.zst
    What the time of compiling consists of
         time  share  kind                                    count   a unit  quartiles           basis      a compile
       477 ms   46 %  FakeTensorMode: nested, path not known    103  4.63 ms    4.63 ms  4.63 ms  estimated          -
       250 ms   24 %  building guards                             -  1.28 ms    1.19 ms  1.79 ms  estimated     125 ms
       189 ms   18 %  FakeTensorMode: meta kernel                31  6.09 ms    6.09 ms  6.09 ms  estimated          -
       177 ms   17 %  Dynamo, besides dispatches                  8  6.52 ms    5.99 ms  10.8 ms  estimated          -
      89.0 ms    9 %  FakeTensorMode: decomposition              21  4.24 ms    4.24 ms  4.24 ms  estimated          -
      61.8 ms    6 %  AOTAutograd, besides dispatches            12  5.15 ms    3.65 ms  6.17 ms  estimated          -
      37.8 ms    4 %  FakeTensorMode: cache bypass                4  9.45 ms    9.45 ms  9.45 ms  measured           -
      27.7 ms    3 %  FakeTensorMode: cache hit                  32   865 us     683 us   905 us  estimated          -
      20.6 ms    2 %  symtape's recorder                          -        -          -        -  measured           -
      12.4 ms    1 %  ProxyTorchDispatchMode dispatch            30   413 us     404 us   614 us  estimated          -
      9.84 ms    1 %  FakeTensorMode: fast path                   5  1.97 ms    1.69 ms  2.23 ms  estimated          -
      2.42 ms   <1 %  caches                                      6   403 us     403 us  1.09 ms  estimated          -
       707 us   <1 %  FakeTensorMode: before the cache           43  16.4 us    16.4 us  16.4 us  estimated          -
       175 us   <1 %  FakeTensor dispatch                         1   175 us     175 us   175 us  measured           -
      The rows above and what is unexplained, -311 ms (-29.8 %), are the 1.04 s of compiling. The time of a unit is fitted on the deep recordings among these tapes, or shipped with symtape where they have no such work.

    Where what is unexplained lies
      unexplained    phases  explained  part
          -245 ms    214 ms     458 ms  AOTAutograd (tracing ATen graphs)
          -101 ms    149 ms     250 ms  building guards
          49.6 ms    694 ms     644 ms  Dynamo (tracing Python)
         -13.1 ms  -13.1 ms       0 ns  no phase
         -2.32 ms   99.0 us    2.42 ms  caches

As JSON: the rows and what is unexplained are the time of the compiles, and so are the parts.

    $ for t in deep mlp train; do symtape profile --cost-model --json $RECORDINGS/$t.log.zst | python3 -c 'import json, sys; m = json.load(sys.stdin)["cost_model"]; print(m["fitted"], m["wall_ns"] > 0, m["wall_ns"] - m["unexplained_ns"] - sum(r["ns"] for r in m["rows"]), m["wall_ns"] - sum(p["ns"] for p in m["parts"]))'; done
    True True 0 0
    False True 0 0
    False True 0 0

    $ symtape profile --cost-model --json $RECORDINGS/deep.log.zst | tr '{' '\n' | grep -E 'wall_ns|meta kernel|Dynamo, |"no phase"'
    "wall_ns":264630000,"unexplained_ns":-8258000,"fitted":true,"release":213,"release_error":0.522,"rows":[
    "kind":"Dynamo, besides dispatches","count":0,"ns":124996717,"share":0.4723452254090617,"basis":"measured","unit_ns":0,"unit_low_ns":0,"unit_high_ns":0,"base_ns":0,"unit_basis":"shipped","samples":0},
    "kind":"FakeTensorMode: meta kernel","count":7,"ns":42602860,"share":0.16099028832709822,"basis":"measured","unit_ns":6086123,"unit_low_ns":6086123,"unit_high_ns":6086123,"base_ns":0,"unit_basis":"fitted","samples":1},
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
