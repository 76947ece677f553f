# Ablations

Each change to PyTorch's dispatcher beside the baseline. An operator may be named without its namespace.

    $ symtape replay $RECORDINGS/encoder.log.zst --ablate fastpath,fastpath:add,fastpath:gelu,fastpath-if-symbolic,always-slow,restore-mode-before-slow,cache,cache:add,cached-meta
    Dispatches that PyTorch makes while it compiles these graphs, estimated
    ablation                  calls  FakeTensorMode  FakeTensor  proxy  attempt fast  fast  cache hits  misses  PyTorch's time     saved               between
    baseline                    938           3,742         200    822           105    99       1,307     489          4.86 s      0 ns                     -
    fastpath                    938           3,937         195    822             0     0       1,391     568          5.07 s   -215 ms    -384 ms to -120 ms
    fastpath:aten.add           938           3,848         200    822            66    66       1,323     549          5.06 s   -204 ms    -285 ms to -141 ms
    fastpath:aten.gelu          938           3,742         200    822           105    99       1,307     489          4.86 s      0 ns                     -
    fastpath-if-symbolic        938           3,742         200    822           114   108       1,307     489          4.88 s  -15.0 ms  -17.2 ms to -12.0 ms
    always-slow                 938           3,937         195    822            99     0       1,391     568          5.14 s   -283 ms    -398 ms to -225 ms
    restore-mode-before-slow    938           3,742         206    822           105    99       1,307     489          4.86 s  -62.1 us  -72.1 us to -62.1 us
    cache                       938           7,581         693    822           675   657           0       0          5.92 s   -1.06 s   -1.44 s to -43.1 ms
    cache:aten.add              938           3,794         203    822           178   160       1,251     456          4.86 s   4.03 ms   -50.2 ms to 99.3 ms
    cached-meta                 938           3,401         173    822           102    96       1,303     371          4.25 s    612 ms      471 ms to 706 ms
    fastpath:aten.gelu changes no count of these graphs
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine; with these costs, symtape profile --cost-model was 9 % off in the median of 17 recordings

    $ symtape replay $RECORDINGS/encoder.log.zst --ablate short-circuit-alloc,no-dispatch,device-property,inline:native_layer_norm,free:add.Tensor,roofline
    Dispatches that PyTorch makes while it compiles these graphs, estimated
    ablation                       calls  FakeTensorMode  FakeTensor  proxy  attempt fast  fast  cache hits  misses  PyTorch's time    saved             between
    baseline                         938           3,742         200    822           105    99       1,307     489          4.86 s     0 ns                   -
    short-circuit-alloc              938           3,692         200    822           108   102       1,284     468          4.78 s  76.1 ms  54.4 ms to 83.2 ms
    no-dispatch                      938           3,742         200    822           105    99       1,307     489               -        -                   -
    device-property                  938           2,728         200    498           105    99       1,307     489          4.83 s  31.9 ms  29.0 ms to 36.2 ms
    inline:aten.native_layer_norm    938           3,634         203    822            78    72       1,262     447          4.70 s   165 ms    142 ms to 176 ms
    free:aten.add.Tensor             938           3,622         203    786            66    66       1,237     446          4.70 s   155 ms    142 ms to 187 ms
    roofline                         938             981           0    498             0     0           0       0          393 ms   4.47 s    3.75 s to 5.42 s
    no-dispatch changes no count of these graphs
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine; with these costs, symtape profile --cost-model was 9 % off in the median of 17 recordings
    no-dispatch has a time only in a deep recording, which has what no_dispatch() takes

An ablation that changes a result's meta is invalid.

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate identity:addmm
    Dispatches that PyTorch makes while it compiles these graphs, estimated
    ablation             calls  FakeTensorMode  FakeTensor  proxy  attempt fast  fast  cache hits  misses  PyTorch's time   saved           between
    baseline                20             214           0     30             5     5          32      41          278 ms    0 ns                 -
    identity:aten.addmm     20             114           0     26             1     1          16      13          116 ms  161 ms  127 ms to 180 ms
    identity:aten.addmm is invalid: it changes the meta of 8 results, first that of linear in 0/0_0:dynamo_output_graph
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine; with these costs, symtape profile --cost-model was 9 % off in the median of 17 recordings

Several at once, and what they do to each other.

    $ symtape replay $RECORDINGS/encoder.log.zst --ablate cache+fastpath,cache
    Dispatches that PyTorch makes while it compiles these graphs, estimated
    ablation        calls  FakeTensorMode  FakeTensor  proxy  attempt fast  fast  cache hits  misses  PyTorch's time    saved              between  interaction
    baseline          938           3,742         200    822           105    99       1,307     489          4.86 s     0 ns                    -            -
    cache             938           7,581         693    822           675   657           0       0          5.92 s  -1.06 s  -1.44 s to -43.1 ms            -
    fastpath          938           3,937         195    822             0     0       1,391     568          5.07 s  -215 ms   -384 ms to -120 ms            -
    cache+fastpath    938           9,867         693    822             0     0           0       0          7.66 s  -2.80 s   -4.04 s to -1.28 s       -2,091
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine; with these costs, symtape profile --cost-model was 9 % off in the median of 17 recordings

A program that Dynamo did not trace has no passes.

    $ symtape replay $RECORDINGS/exported.pt2 --ablate cache
    Dispatches of one walk of each graph, which Dynamo did not trace
    ablation  calls  FakeTensorMode  attempt fast  fast  cache hits  misses
    baseline     12              40             4     4           0      12
    cache        12              40             4     4           0       0

As JSON.

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate identity:addmm,cache+roofline --json | sed 's/"ns":[0-9]*/"ns":1/g' | tr '{' '\n' | cut -d, -f1-3,11-18,21-

    "schema":"symtape.replay/1","modelled":true,"basis":"estimated"
    "name":"baseline","valid":true,"calls":20,"asserts":0,"dispatches":214,"fake_tensor":0,"proxy":30,"fast_attempts":5,"fast_answers":5,"cache_hits":32,"cache_misses":41,"symbolic_tensors":11,"ns":1,"pytorch_ns":277542116,"saved_ns":0,"saved_low_ns":0,"saved_high_ns":0},
    "name":"identity:aten.addmm","valid":false,"changed":
    "calls":8,"recording":"mlp","compile":"0/0","unsupported":0,"symbols":1,"guards":0,"replacements":0,"asserts":0,"dispatches":114,"fake_tensor":0,"proxy":26,"cache_hits":16,"cache_misses":13,"evaluations":42,"exprs":0,"symbolic_tensors":6,"ns":1,"pytorch_ns":116217410,"saved_ns":161324705,"saved_low_ns":127436807,"saved_high_ns":180227313},
    "name":"cache","valid":true,"calls":20,"asserts":0,"dispatches":274,"fake_tensor":0,"proxy":30,"fast_attempts":15,"fast_answers":15,"cache_hits":0,"cache_misses":0,"symbolic_tensors":18,"ns":1,"pytorch_ns":194483274,"saved_ns":83058841,"saved_low_ns":63031034,"saved_high_ns":102382690},
    "name":"roofline","valid":true,"calls":20,"asserts":0,"dispatches":24,"fake_tensor":0,"proxy":12,"fast_attempts":0,"fast_answers":0,"cache_hits":0,"cache_misses":0,"symbolic_tensors":12,"ns":1,"pytorch_ns":9088669,"saved_ns":268453446,"saved_low_ns":212518965,"saved_high_ns":301060073},
    "name":"cache+roofline","valid":true,"calls":20,"asserts":0,"dispatches":24,"fake_tensor":0,"proxy":12,"fast_attempts":0,"fast_answers":0,"cache_hits":0,"cache_misses":0,"symbolic_tensors":18,"ns":1,"pytorch_ns":9088669,"saved_ns":268453446,"saved_low_ns":212518965,"saved_high_ns":301060073,"interaction":60,"interaction_ns":-83058841}]}

The audit of the fast path.

    $ symtape replay $RECORDINGS/encoder.log.zst --audit fastpath
    operator           calls  could be fast  attempts  hits  misses  elided a hit  dispatches saved  time saved  in misses
    aten.add.Tensor       36              9        39    33       6           3.2               106      204 ms    28.0 ms  -
    aten.mul.Tensor        0              -        30    30       -           2.6                79      145 ms       0 ns  -
    aten.sub.Tensor        0              -         9     9       -           6.6                59      107 ms       0 ns  -
    aten.div.Tensor       18              -        27    27       -           2.0                54    -3.72 ms       0 ns  -
    aten.gelu.default     18              9         -     -       -             -                 -           -          -  not registered
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine; with these costs, symtape profile --cost-model was 9 % off in the median of 17 recordings

What the fast path saves is what its ablation loses.

    $ for op in add mul div; do symtape replay $RECORDINGS/encoder.log.zst --audit fastpath --json | python3 -c 'import json, sys; print(*[-r["saved_ns"] for r in json.load(sys.stdin)["fastpath"] if r["op"] == sys.argv[1]], end=" ")' aten.$op.Tensor; symtape replay $RECORDINGS/encoder.log.zst --ablate fastpath:aten.$op --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][1]["saved_ns"])'; done
    -204021001 -204021001
    -144826003 -144826003
    3721182 3721182

    $ symtape replay $RECORDINGS/mlp.log.zst --audit fastpath --json
    {"schema":"symtape.replay/1","basis":"estimated","fastpath":[{"op":"aten.add.Tensor","calls":4,"could_be_fast":1,"attempts":3,"hits":3,"misses":0,"elided_per_hit":4,"saved":12,"saved_ns":23828743,"missed_ns":0,"registered":true,"valid":true},{"op":"aten.relu.default","calls":4,"could_be_fast":1,"attempts":1,"hits":1,"misses":0,"elided_per_hit":6,"saved":6,"saved_ns":14795958,"missed_ns":0,"registered":false,"valid":true},{"op":"aten.mul.Tensor","calls":0,"could_be_fast":0,"attempts":2,"hits":2,"misses":0,"elided_per_hit":2,"saved":4,"saved_ns":6570191,"missed_ns":0,"registered":true,"valid":true}]}
