Products and convolutions of float32 whose factors may be rounded to TF32, on a fake device. They are
further off, and the tolerances allow for it.

Requires: cuda

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --tf32 $RECORDINGS/train.log.zst:0/0:forward --compare-with cpu --nodes --perturb addmm=1 | grep -E 'graph|nodes:|bad'
    1 graph on cuda with TF32, compared with cpu: differs; peak memory 18.5 kB
    0/0_0:aot_forward_graph: 13 operator calls, peak 18484 bytes
      nodes: 11 equal, 10 within the tolerance, 1 differ, 1 differ because of these
      first bad node: addmm (torch.ops.aten.addmm.default) at demo/train.py:19 `return self.head(x)`, whose inputs agree: 200 of 200 elements differ; {*}; tolerance 0.00396 + 0.00195 |x| of 16 terms

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda $RECORDINGS/train.log.zst:0/0:forward --compare-with cpu --nodes --perturb addmm=1 | tail -n 1
      first bad node: addmm (torch.ops.aten.addmm.default) at demo/train.py:19 `return self.head(x)`, whose inputs agree: 200 of 200 elements differ; {*}; tolerance 7.95e-06 + 1.3e-06 |x| of 16 terms

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --tf32 $RECORDINGS/train.log.zst:0/0:forward --json | cut -c 1-80
    {"schema":"symtape.run/1","backend":"cuda","against":null,"tf32":true,"graphs":[

    $ symtape run --tf32 $RECORDINGS/train.log.zst:0/0:forward
    2> symtape: --tf32: backend cpu has none
    [exit 2]

    $ symtape replay --tf32 $RECORDINGS/train.log.zst
    2> symtape: --tf32: only with --backend
    [exit 2]

    $ symtape minify --tf32 --cost 'guards>=1' $RECORDINGS/train.log.zst:0/0:forward -o x.tape
    2> symtape: --tf32 needs --backend-mismatch
    [exit 2]
