# Ablations

Each change to PyTorch's dispatcher beside the baseline. An operator may be named without its namespace.

    $ symtape replay $RECORDINGS/encoder.log.zst --ablate fastpath,fastpath:add,fastpath:gelu,fastpath-if-symbolic,always-slow,restore-mode-before-slow,cache,cache:add,cached-meta
    Dispatches that PyTorch makes while it compiles these graphs, estimated
    ablation                  calls  FakeTensorMode  FakeTensor  proxy  attempt fast  fast  cache hits  misses  PyTorch's time     saved               between
    baseline                    938           3,845         203    822           120   112       1,303     514          4.18 s      0 ns                     -
    fastpath                    938           4,094         197    822             0     0       1,404     621          4.45 s   -278 ms    -452 ms to -162 ms
    fastpath:aten.add           938           3,950         203    822            75    75       1,326     576          4.32 s   -142 ms   -208 ms to -97.3 ms
    fastpath:aten.gelu          938           3,845         203    822           120   112       1,303     514          4.18 s      0 ns                     -
    fastpath-if-symbolic        938           3,845         203    822           129   121       1,303     514          4.18 s  -3.41 ms   -9.51 ms to 2.89 ms
    always-slow                 938           4,094         197    822           114     0       1,404     621          4.83 s   -657 ms    -786 ms to -554 ms
    restore-mode-before-slow    938           3,845         211    822           120   112       1,303     514          4.18 s  -98.6 us  -98.6 us to -92.3 us
    cache                       938           7,581         693    822           675   657           0       0          12.0 s   -7.85 s    -9.77 s to -6.79 s
    cache:aten.add              938           3,824         203    822           190   172       1,238     456          4.26 s  -84.8 ms   -134 ms to -61.2 ms
    cached-meta                 938           3,401         173    822           105    99       1,288     362          3.43 s    744 ms      662 ms to 873 ms
    fastpath:aten.gelu changes no count of these graphs
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine; estimates of compile times with these costs were off by 14 % in the median of 15 recordings

    $ symtape replay $RECORDINGS/encoder.log.zst --ablate short-circuit-alloc,no-dispatch,device-property,inline:native_layer_norm,free:add.Tensor,roofline
    Dispatches that PyTorch makes while it compiles these graphs, estimated
    ablation                       calls  FakeTensorMode  FakeTensor  proxy  attempt fast  fast  cache hits  misses  PyTorch's time    saved             between
    baseline                         938           3,845         203    822           120   112       1,303     514          4.18 s     0 ns                   -
    short-circuit-alloc              938           3,808         203    822           123   115       1,293     503          4.12 s  53.3 ms  43.8 ms to 62.7 ms
    no-dispatch                      938           3,845         203    822           120   112       1,303     514               -        -                   -
    device-property                  938           2,831         203    498           120   112       1,303     514          3.99 s   182 ms    161 ms to 208 ms
    inline:aten.native_layer_norm    938           3,650         203    822            81    73       1,252     445          3.85 s   329 ms    294 ms to 386 ms
    free:aten.add.Tensor             938           3,622         203    786            72    72       1,216     440          3.84 s   338 ms    307 ms to 389 ms
    roofline                         938             981           0    498             0     0           0       0          267 ms   3.91 s    3.43 s to 4.54 s
    no-dispatch changes no count of these graphs
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine; estimates of compile times with these costs were off by 14 % in the median of 15 recordings

An ablation that changes a result's meta is invalid.

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate identity:addmm
    Dispatches that PyTorch makes while it compiles these graphs, estimated
    ablation             calls  FakeTensorMode  FakeTensor  proxy  attempt fast  fast  cache hits  misses  PyTorch's time   saved           between
    baseline                20             214           0     30             5     5          32      41          283 ms    0 ns                 -
    identity:aten.addmm     20             114           0     26             1     1          16      13          111 ms  173 ms  153 ms to 202 ms
    identity:aten.addmm is invalid: it changes the meta of 8 results, first that of linear in 0/0_0:dynamo_output_graph
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine; estimates of compile times with these costs were off by 14 % in the median of 15 recordings

Several at once, and what they do to each other.

    $ symtape replay $RECORDINGS/encoder.log.zst --ablate cache+fastpath,cache
    Dispatches that PyTorch makes while it compiles these graphs, estimated
    ablation        calls  FakeTensorMode  FakeTensor  proxy  attempt fast  fast  cache hits  misses  PyTorch's time    saved             between  interaction
    baseline          938           3,845         203    822           120   112       1,303     514          4.18 s     0 ns                   -            -
    cache             938           7,581         693    822           675   657           0       0          12.0 s  -7.85 s  -9.77 s to -6.79 s            -
    fastpath          938           4,094         197    822             0     0       1,404     621          4.45 s  -278 ms  -452 ms to -162 ms            -
    cache+fastpath    938           9,867         693    822             0     0           0       0          15.7 s  -11.5 s  -14.3 s to -10.0 s       -2,037
    PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts times what a dispatch handled in this way cost with PyTorch 2.13, on another machine; estimates of compile times with these costs were off by 14 % in the median of 15 recordings

A program that Dynamo did not trace has no passes.

    $ symtape replay $RECORDINGS/exported.pt2 --ablate cache
    Dispatches of one walk of each graph, which Dynamo did not trace
    ablation  calls  FakeTensorMode  attempt fast  fast  cache hits  misses
    baseline     12              40             4     4           0      12
    cache        12              40             4     4           0       0

As JSON.

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate identity:addmm,cache+roofline --json | sed 's/"ns":[0-9]*/"ns":1/g' | tr '{' '\n' | cut -d, -f1-3,11-18,21-

    "schema":"symtape.replay/1","modelled":true,"basis":"estimated"
    "name":"baseline","valid":true,"calls":20,"asserts":0,"dispatches":214,"fake_tensor":0,"proxy":30,"fast_attempts":5,"fast_answers":5,"cache_hits":32,"cache_misses":41,"symbolic_tensors":11,"ns":1,"pytorch_ns":283428302,"saved_ns":0,"saved_low_ns":0,"saved_high_ns":0},
    "name":"identity:aten.addmm","valid":false,"changed":
    "calls":8,"recording":"mlp","compile":"0/0","unsupported":0,"symbols":1,"guards":0,"replacements":0,"asserts":0,"dispatches":114,"fake_tensor":0,"proxy":26,"cache_hits":16,"cache_misses":13,"evaluations":42,"exprs":0,"symbolic_tensors":6,"ns":1,"pytorch_ns":110846742,"saved_ns":172581560,"saved_low_ns":153087468,"saved_high_ns":201896656},
    "name":"cache","valid":true,"calls":20,"asserts":0,"dispatches":274,"fake_tensor":0,"proxy":30,"fast_attempts":15,"fast_answers":15,"cache_hits":0,"cache_misses":0,"symbolic_tensors":18,"ns":1,"pytorch_ns":426860596,"saved_ns":-143432294,"saved_low_ns":-186024614,"saved_high_ns":-126776654},
    "name":"roofline","valid":true,"calls":20,"asserts":0,"dispatches":24,"fake_tensor":0,"proxy":12,"fast_attempts":0,"fast_answers":0,"cache_hits":0,"cache_misses":0,"symbolic_tensors":12,"ns":1,"pytorch_ns":6429264,"saved_ns":276999038,"saved_low_ns":244874485,"saved_high_ns":322107947},
    "name":"cache+roofline","valid":true,"calls":20,"asserts":0,"dispatches":24,"fake_tensor":0,"proxy":12,"fast_attempts":0,"fast_answers":0,"cache_hits":0,"cache_misses":0,"symbolic_tensors":18,"ns":1,"pytorch_ns":6429264,"saved_ns":276999038,"saved_low_ns":244874485,"saved_high_ns":322107947,"interaction":60,"interaction_ns":143432294}]}

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
