# The cost model

What the time of compiling consists of. In a deep recording dispatches are measured.

    $ symtape profile --cost-model $RECORDINGS/deep.log.zst
    What the time of compiling consists of
         time  share  kind                              count   a unit  basis
       125 ms   47 %  Dynamo, besides dispatches            -        -  measured
      46.6 ms   18 %  FakeTensorMode: decomposition        11  4.24 ms  measured
      42.6 ms   16 %  FakeTensorMode: meta kernel           7  6.09 ms  measured
      37.8 ms   14 %  FakeTensorMode: cache bypass          4  9.45 ms  measured
      20.6 ms    8 %  symtape's recorder                    -        -  measured
       175 us   <1 %  FakeTensor dispatch                   1   175 us  measured
      49.3 us   <1 %  FakeTensorMode: before the cache      3  16.4 us  measured
      The rows above and what is unexplained, -8.26 ms (-3.1 %), are the 265 ms of compiling. The time of a unit is fitted on the deep recordings among these tapes, or shipped with symtape where they have no such work.

    Where what is unexplained lies
      unexplained    phases  explained  part
         -8.26 ms  -8.26 ms       0 ns  no phase
             0 ns    273 ms     273 ms  Dynamo (tracing Python)

    Dispatches by operator, in deep recordings
         time  share  operator                            count   a unit  kind
      30.9 ms   12 %  aten.slice.Tensor                       1  30.9 ms  FakeTensorMode: cache bypass
      27.8 ms   11 %  aten.as_strided.default                 1  27.8 ms  FakeTensorMode: meta kernel
      22.3 ms    8 %  prims.abs.default                       1  22.3 ms  FakeTensorMode: decomposition
      9.35 ms    4 %  aten.abs.default                        1  9.35 ms  FakeTensorMode: decomposition
      8.22 ms    3 %  aten.empty_permuted.default             3  2.74 ms  FakeTensorMode: meta kernel
      6.54 ms    2 %  aten.empty_strided.default              3  2.18 ms  FakeTensorMode: meta kernel
      6.21 ms    2 %  aten._local_scalar_dense.default        1  6.21 ms  FakeTensorMode: cache bypass
      5.21 ms    2 %  aten.mean.dim                           1  5.21 ms  FakeTensorMode: decomposition
      4.78 ms    2 %  aten._to_copy.default                   1  4.78 ms  FakeTensorMode: decomposition
      1.78 ms    1 %  prims.convert_element_type.default      1  1.78 ms  FakeTensorMode: decomposition
      ... and 9 more

    What the rows of deep recordings contain
         time  share  work                                          count   a unit
      76.2 ms   29 %  ShapeEnv.create_symbol                            3  25.4 ms
      42.0 ms   16 %  ShapeEnv.evaluate_expr, 1 to 20 characters       19  2.21 ms
      8.08 ms    3 %  ShapeEnv.guard_or_defer_runtime_assert            3  2.69 ms
      6.63 ms    3 %  ShapeEnv.create_unbacked_symint                   2  3.31 ms
      4.42 ms    2 %  ShapeEnv.evaluate_expr, 21 to 100 characters      2  2.21 ms
      1.41 ms    1 %  pytree                                           47  29.9 us
       997 us   <1 %  ShapeEnv._maybe_evaluate_static                   1   997 us
       177 us   <1 %  ShapeEnv.evaluate_expr of a constant             70  2.53 us
      80.7 us   <1 %  no_dispatch()                                    26  3.10 us
      43.9 us   <1 %  FakeTensor.device                                60   731 ns
      38.1 us   <1 %  in_kernel_invocation_manager()                   20  1.90 us

Otherwise counts of the replay are multiplied by what a unit costs.

    $ symtape profile --cost-model $RECORDINGS/mlp.log.zst
    What the time of compiling consists of
         time  share  kind                                    count   a unit  basis
       360 ms   46 %  Dynamo, besides dispatches                  8  44.9 ms  estimated
       149 ms   19 %  building guards                             -        -  measured
       111 ms   14 %  AOTAutograd, besides dispatches            12  9.25 ms  estimated
      90.2 ms   12 %  FakeTensorMode: nested, path not known    103   876 us  estimated
      41.3 ms    5 %  FakeTensorMode: meta kernel                24  1.72 ms  estimated
      18.9 ms    2 %  FakeTensorMode: decomposition              10  1.89 ms  estimated
      14.2 ms    2 %  FakeTensorMode: cache hit                  32   444 us  estimated
      13.4 ms    2 %  ProxyTorchDispatchMode dispatch            30   446 us  estimated
      11.0 ms    1 %  FakeTensorMode: fast path                   5  2.20 ms  estimated
       967 us   <1 %  FakeTensorMode: before the cache           40  24.2 us  estimated
      99.0 us   <1 %  caches                                      6  16.5 us  measured
      The rows above and what is unexplained, -31.2 ms (-4.0 %), are the 779 ms of compiling. No tape is a deep recording: estimated times are counts of the replay by what a unit cost with PyTorch 2.13 on another machine, the others those of the log's phases. Of 17 recordings on that machine that were not used for the units, such a sum differed from the time by 9 % in the median.

    Where what is unexplained lies
      unexplained    phases  explained  part
         -28.9 ms    421 ms     450 ms  Dynamo (tracing Python)
         -4.88 ms  -4.88 ms       0 ns  no phase
          2.56 ms    214 ms     211 ms  AOTAutograd (tracing ATen graphs)
             0 ns    149 ms     149 ms  building guards
             0 ns   99.0 us    99.0 us  caches

    Lines of the program whose time in Dynamo and AOTAutograd is unexplained
      unexplained    time  expected  line            code
             0 ns  124 ms    124 ms  demo/mlp.py:15  return x + self.outer(torch.relu(self.inner(x)))

The lines whose time differs most from what units make of their calls.

    $ symtape profile --cost-model --limit 4 $RECORDINGS/encoder.log.zst | sed -n '/^Lines/,$p'
    Lines of the program whose time in Dynamo and AOTAutograd is unexplained
      unexplained    time  expected  line                code
          -893 ms  517 ms    1.41 s  demo/encoder.py:47  return x + self.mlp(self.norm2(x))
           452 ms  1.78 s    1.33 s  demo/encoder.py:31  weights = (q @ k.transpose(-1, -2) / self.temperature).softmax(-1)
          -379 ms  291 ms    670 ms  demo/encoder.py:46  x = x + self.attention(self.norm1(x))
           264 ms  1.52 s    1.25 s  demo/encoder.py:32  y = self.out((weights @ v).transpose(2, 3).flatten(3))
      ... and 7 more

    $ symtape profile --cost-model --json $RECORDINGS/encoder.log.zst | python3 -c 'import json, sys; rows = json.load(sys.stdin)["cost_model"]["lines"]; print(len(rows), all(r["ns"] - r["expected_ns"] == r["unexplained_ns"] for r in rows), rows == sorted(rows, key=lambda r: -abs(r["unexplained_ns"])))'
    11 True True

The units of a deep recording explain another one.

    $ symtape profile --cost-model $RECORDINGS/deep.log.zst $RECORDINGS/mlp.log.zst
    What the time of compiling consists of
         time  share  kind                                    count   a unit  basis
       617 ms   59 %  FakeTensorMode: nested, path not known    103  5.99 ms  estimated
       485 ms   46 %  Dynamo, besides dispatches                  8  60.6 ms  estimated
       212 ms   20 %  FakeTensorMode: meta kernel                31  6.85 ms  estimated
       149 ms   14 %  building guards                             -        -  measured
       111 ms   11 %  AOTAutograd, besides dispatches            12  9.25 ms  estimated
      95.2 ms    9 %  FakeTensorMode: decomposition              21  4.53 ms  estimated
      37.8 ms    4 %  FakeTensorMode: cache bypass                4  9.45 ms  measured
      20.6 ms    2 %  symtape's recorder                          -        -  measured
      14.2 ms    1 %  FakeTensorMode: cache hit                  32   444 us  estimated
      13.4 ms    1 %  ProxyTorchDispatchMode dispatch            30   446 us  estimated
      11.0 ms    1 %  FakeTensorMode: fast path                   5  2.20 ms  estimated
       707 us   <1 %  FakeTensorMode: before the cache           43  16.4 us  estimated
       175 us   <1 %  FakeTensor dispatch                         1   175 us  measured
      99.0 us   <1 %  caches                                      6  16.5 us  measured
      The rows above and what is unexplained, -724 ms (-69.3 %), are the 1.04 s of compiling. The time of a unit is fitted on the deep recordings among these tapes, or shipped with symtape where they have no such work.

    Where what is unexplained lies
      unexplained    phases  explained  part
          -365 ms    214 ms     579 ms  AOTAutograd (tracing ATen graphs)
          -345 ms    694 ms     1.04 s  Dynamo (tracing Python)
         -13.1 ms  -13.1 ms       0 ns  no phase
             0 ns    149 ms     149 ms  building guards
             0 ns   99.0 us    99.0 us  caches

    Dispatches by operator, in deep recordings
         time  share  operator                            count   a unit  kind
      30.9 ms    3 %  aten.slice.Tensor                       1  30.9 ms  FakeTensorMode: cache bypass
      27.8 ms    3 %  aten.as_strided.default                 1  27.8 ms  FakeTensorMode: meta kernel
      22.3 ms    2 %  prims.abs.default                       1  22.3 ms  FakeTensorMode: decomposition
      9.35 ms    1 %  aten.abs.default                        1  9.35 ms  FakeTensorMode: decomposition
      8.22 ms    1 %  aten.empty_permuted.default             3  2.74 ms  FakeTensorMode: meta kernel
      6.54 ms    1 %  aten.empty_strided.default              3  2.18 ms  FakeTensorMode: meta kernel
      6.21 ms    1 %  aten._local_scalar_dense.default        1  6.21 ms  FakeTensorMode: cache bypass
      5.21 ms   <1 %  aten.mean.dim                           1  5.21 ms  FakeTensorMode: decomposition
      4.78 ms   <1 %  aten._to_copy.default                   1  4.78 ms  FakeTensorMode: decomposition
      1.78 ms   <1 %  prims.convert_element_type.default      1  1.78 ms  FakeTensorMode: decomposition
      ... and 9 more

    What the rows of deep recordings contain
         time  share  work                                          count   a unit
      76.2 ms    7 %  ShapeEnv.create_symbol                            3  25.4 ms
      42.0 ms    4 %  ShapeEnv.evaluate_expr, 1 to 20 characters       19  2.21 ms
      8.08 ms    1 %  ShapeEnv.guard_or_defer_runtime_assert            3  2.69 ms
      6.63 ms    1 %  ShapeEnv.create_unbacked_symint                   2  3.31 ms
      4.42 ms   <1 %  ShapeEnv.evaluate_expr, 21 to 100 characters      2  2.21 ms
      1.41 ms   <1 %  pytree                                           47  29.9 us
       997 us   <1 %  ShapeEnv._maybe_evaluate_static                   1   997 us
       177 us   <1 %  ShapeEnv.evaluate_expr of a constant             70  2.53 us
      80.7 us   <1 %  no_dispatch()                                    26  3.10 us
      43.9 us   <1 %  FakeTensor.device                                60   731 ns
      38.1 us   <1 %  in_kernel_invocation_manager()                   20  1.90 us

As JSON: the rows and what is unexplained are the time of the compiles, and so are the parts.

    $ for t in deep mlp train; do symtape profile --cost-model --json $RECORDINGS/$t.log.zst | python3 -c 'import json, sys; m = json.load(sys.stdin)["cost_model"]; print(m["fitted"], m["wall_ns"] > 0, m["wall_ns"] - m["unexplained_ns"] - sum(r["ns"] for r in m["rows"]), m["wall_ns"] - sum(p["ns"] for p in m["parts"]))'; done
    True True 0 0
    False True 0 0
    False True 0 0

    $ symtape profile --cost-model --json $RECORDINGS/deep.log.zst | tr '{' '\n' | grep -E 'wall_ns|meta kernel|Dynamo, |"no phase"'
    "wall_ns":264630000,"unexplained_ns":-8258000,"fitted":true,"release":213,"release_error":0.093,"rows":[
    "kind":"Dynamo, besides dispatches","count":0,"ns":124996717,"estimated_ns":0,"share":0.4723452254090617,"basis":"measured","unit_ns":0,"unit_low_ns":0,"unit_high_ns":0,"once_ns":0,"once_joint_ns":0,"each_ns":0,"symbolic_size_ns":0,"input_ns":0,"guard_ns":0,"joint_call_ns":0,"long_character_ns":0,"character_ns":0,"unit_basis":"shipped","samples":0},
    "kind":"FakeTensorMode: meta kernel","count":7,"ns":42602860,"estimated_ns":0,"share":0.16099028832709822,"basis":"measured","unit_ns":6086123,"unit_low_ns":6086123,"unit_high_ns":6086123,"once_ns":0,"once_joint_ns":0,"each_ns":6086123,"symbolic_size_ns":2085877,"input_ns":0,"guard_ns":0,"joint_call_ns":0,"long_character_ns":751217,"character_ns":0,"unit_basis":"fitted","samples":1},
    "part":"no phase","ns":-8258000,"explained_ns":0,"unexplained_ns":-8258000,"estimated_ns":0},
    "operator":"aten.as_strided.default","kind":"FakeTensorMode: meta kernel","count":1,"ns":27839003,"share":0.10519972414314326},
    "operator":"aten.empty_permuted.default","kind":"FakeTensorMode: meta kernel","count":3,"ns":8221098,"share":0.031066387030948873},
    "operator":"aten.empty_strided.default","kind":"FakeTensorMode: meta kernel","count":3,"ns":6542759,"share":0.024724177153006083},

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
