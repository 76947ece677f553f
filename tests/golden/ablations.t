# Ablations

Each change to PyTorch's dispatcher beside the baseline. An operator may be named without its namespace.

    $ symtape replay $RECORDINGS/encoder.log.zst --ablate fastpath,fastpath:add,fastpath:gelu,fastpath-if-symbolic,always-slow,restore-mode-before-slow,cache,cache:add,cached-meta
    Dispatches that PyTorch makes while it compiles these graphs, estimated
    ablation                  calls  FakeTensorMode  FakeTensor  proxy  attempt fast  fast  cache hits  misses  PyTorch's time     saved               between
    baseline                    938           3,845         203    822           120   112       1,303     514          7.43 s      0 ns                     -
    fastpath                    938           4,082         197    822             0     0       1,410     615          7.93 s   -499 ms    -1.39 s to -218 ms
    fastpath:aten.add           938           3,950         203    822            75    75       1,326     576          7.69 s   -263 ms    -590 ms to -134 ms
    fastpath:aten.gelu          938           3,845         203    822           120   112       1,303     514          7.43 s      0 ns                     -
    fastpath-if-symbolic        938           3,845         203    822           129   121       1,303     514          7.43 s  -6.69 ms   -16.3 ms to 6.36 ms
    always-slow                 938           4,082         197    822           114     0       1,410     615          8.15 s   -721 ms    -1.52 s to -543 ms
    restore-mode-before-slow    938           3,845         211    822           120   112       1,303     514          7.43 s  -1.48 ms  -3.81 ms to -1.15 ms
    cache                       938           7,581         693    822           675   657           0       0          20.7 s   -13.2 s    -27.5 s to -3.99 s
    cache:aten.add              938           3,824         203    822           190   172       1,238     456          7.55 s   -127 ms     -170 ms to 281 ms
    cached-meta                 938           3,401         173    822           105    99       1,288     362          6.19 s    1.24 s      922 ms to 2.74 s
    fastpath:aten.gelu changes no count of these graphs
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine

    $ symtape replay $RECORDINGS/encoder.log.zst --ablate short-circuit-alloc,no-dispatch,device-property,inline:native_layer_norm,free:add.Tensor,roofline
    Dispatches that PyTorch makes while it compiles these graphs, estimated
    ablation                       calls  FakeTensorMode  FakeTensor  proxy  attempt fast  fast  cache hits  misses  PyTorch's time    saved            between
    baseline                         938           3,845         203    822           120   112       1,303     514          7.43 s     0 ns                  -
    short-circuit-alloc              938           3,808         203    822           123   115       1,293     503          7.34 s  86.8 ms  62.6 ms to 256 ms
    no-dispatch                      938           3,845         203    822           120   112       1,303     514               -        -                  -
    device-property                  938           2,831         203    498           120   112       1,303     514          6.99 s   433 ms   222 ms to 1.18 s
    inline:aten.native_layer_norm    938           3,650         203    822            81    73       1,252     445          6.87 s   553 ms   402 ms to 1.14 s
    free:aten.add.Tensor             938           3,622         203    786            72    72       1,216     440          6.87 s   558 ms   406 ms to 1.12 s
    roofline                         938             981           0    498             0     0           0       0          649 ms   6.78 s   5.04 s to 17.6 s
    no-dispatch changes no count of these graphs
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine

An ablation that changes a result's meta is invalid.

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate identity:addmm
    Dispatches that PyTorch makes while it compiles these graphs, estimated
    ablation             calls  FakeTensorMode  FakeTensor  proxy  attempt fast  fast  cache hits  misses  PyTorch's time   saved           between
    baseline                20             214           0     30             5     5          32      41          484 ms    0 ns                 -
    identity:aten.addmm     20             114           0     26             1     1          16      13          194 ms  289 ms  213 ms to 656 ms
    identity:aten.addmm is invalid: it changes the meta of 8 results, first that of linear in 0/0_0:dynamo_output_graph
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine

Several at once, and what they do to each other.

    $ symtape replay $RECORDINGS/encoder.log.zst --ablate cache+fastpath,cache
    Dispatches that PyTorch makes while it compiles these graphs, estimated
    ablation        calls  FakeTensorMode  FakeTensor  proxy  attempt fast  fast  cache hits  misses  PyTorch's time    saved             between  interaction
    baseline          938           3,845         203    822           120   112       1,303     514          7.43 s     0 ns                   -            -
    cache             938           7,581         693    822           675   657           0       0          20.7 s  -13.2 s  -27.5 s to -3.99 s            -
    fastpath          938           4,082         197    822             0     0       1,410     615          7.93 s  -499 ms  -1.39 s to -218 ms            -
    cache+fastpath    938           9,867         693    822             0     0           0       0          26.9 s  -19.4 s  -39.9 s to -8.45 s       -2,049
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine

A program that Dynamo did not trace has no passes.

    $ symtape replay $RECORDINGS/exported.pt2 --ablate cache
    Dispatches of one walk of each graph, which Dynamo did not trace
    ablation  calls  FakeTensorMode  attempt fast  fast  cache hits  misses
    baseline     12              40             4     4           0      12
    cache        12              40             4     4           0       0

As JSON.

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate identity:addmm,cache+roofline --json | sed 's/"ns":[0-9]*/"ns":1/g' | tr '{' '\n' | cut -d, -f1-3,11-18,21-

    "schema":"symtape.replay/1","modelled":true,"basis":"estimated"
    "name":"baseline","valid":true,"calls":20,"asserts":0,"dispatches":214,"fake_tensor":0,"proxy":30,"fast_attempts":5,"fast_answers":5,"cache_hits":32,"cache_misses":41,"symbolic_tensors":11,"ns":1,"pytorch_ns":483601198,"saved_ns":0,"saved_low_ns":0,"saved_high_ns":0},
    "name":"identity:aten.addmm","valid":false,"changed":
    "calls":8,"recording":"mlp","compile":"0/0","unsupported":0,"symbols":1,"guards":0,"replacements":0,"asserts":0,"dispatches":114,"fake_tensor":0,"proxy":26,"cache_hits":16,"cache_misses":13,"evaluations":42,"exprs":0,"symbolic_tensors":6,"ns":1,"pytorch_ns":194141862,"saved_ns":289459336,"saved_low_ns":213221072,"saved_high_ns":656258904},
    "name":"cache","valid":true,"calls":20,"asserts":0,"dispatches":274,"fake_tensor":0,"proxy":30,"fast_attempts":15,"fast_answers":15,"cache_hits":0,"cache_misses":0,"symbolic_tensors":18,"ns":1,"pytorch_ns":731569912,"saved_ns":-247968714,"saved_low_ns":-420329784,"saved_high_ns":-39693644},
    "name":"roofline","valid":true,"calls":20,"asserts":0,"dispatches":24,"fake_tensor":0,"proxy":12,"fast_attempts":0,"fast_answers":0,"cache_hits":0,"cache_misses":0,"symbolic_tensors":12,"ns":1,"pytorch_ns":15649284,"saved_ns":467951914,"saved_low_ns":343909130,"saved_high_ns":1107605356},
    "name":"cache+roofline","valid":true,"calls":20,"asserts":0,"dispatches":24,"fake_tensor":0,"proxy":12,"fast_attempts":0,"fast_answers":0,"cache_hits":0,"cache_misses":0,"symbolic_tensors":18,"ns":1,"pytorch_ns":15649284,"saved_ns":467951914,"saved_low_ns":343909130,"saved_high_ns":1107605356,"interaction":60,"interaction_ns":247968714}]}

The audit of the fast path.

    $ symtape replay $RECORDINGS/encoder.log.zst --audit fastpath
    operator           calls  could be fast  attempts  hits  misses  elided a hit  dispatches saved
    aten.add.Tensor       36              9        45    37       8           2.8               105  -
    aten.div.Tensor       18              -        27    27       -           3.3                90  -
    aten.mul.Tensor        0              -        36    36       -           1.4                49  -
    aten.sub.Tensor        0              -        12    12       -           2.3                28  -
    aten.gelu.default     18              9         -     -       -             -                 -  not registered

    $ symtape replay $RECORDINGS/mlp.log.zst --audit fastpath --json
    {"schema":"symtape.replay/1","fastpath":[{"op":"aten.add.Tensor","calls":4,"could_be_fast":1,"attempts":3,"hits":3,"misses":0,"elided_per_hit":4,"saved":12,"saved_ns":null,"missed_ns":null,"registered":true,"valid":true},{"op":"aten.relu.default","calls":4,"could_be_fast":1,"attempts":1,"hits":1,"misses":0,"elided_per_hit":6,"saved":6,"saved_ns":null,"missed_ns":null,"registered":false,"valid":true},{"op":"aten.mul.Tensor","calls":0,"could_be_fast":0,"attempts":2,"hits":2,"misses":0,"elided_per_hit":2,"saved":4,"saved_ns":null,"missed_ns":null,"registered":true,"valid":true}]}
