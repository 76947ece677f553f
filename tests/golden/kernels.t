Kernels of Triton, which have comments in the program. Requires: shared

The user's kernel is launched at one line and defined at another.

    $ symtape show $SHARED/variety/triton_kernel.log.zst --kernels
    kernels
    compile  program      kernel                  kind         calls  compiled    tuned  configs  nodes  nodes from  user line              code                                                                    other lines      operators  names of nodes
    0/0_0    0_inference  add_0                   user Triton      1    209 ms        -        1      1  comments    models/rec_misc.py:85  _tk.add[(triton.cdiv(x.numel(), 256),)](x, y, o, x.numel(), BLOCK=256)  models/_tk.py:2  -          triton_kernel_wrapper_mutation
    0/0_0    0_inference  triton_poi_fused_mul_0  Triton           1   73.2 ms  23.2 ms        2      1  comments    models/rec_misc.py:86  return o * 2                                                                             aten.mul   mul_5

    programs
    compile  program      kernels  code generation  loading and compiling  max-autotune
    0/0_0    0_inference        2          81.3 ms                 296 ms             -

    failed_fusions
    none on this tape; PyTorch prints them with TORCH_LOGS=fusion

A block for each kernel has all of its lines and nodes.

    $ symtape show $SHARED/traces/unet.train.inductor.log.zst --kernels --stack --limit 1
    kernels
    compile         0/0_1
    program         1_backward
    kernel          triton_poi_fused_native_group_norm_native_group_norm_backward_silu_silu_backward_10
    kind            Triton
    calls           1
    compiled        1.49 s
    tuned           41.2 ms
    configs         6
    nodes           25
    nodes from      comments
    user line       models/zoo.py:106
    code            x = torch.nn.functional.silu(g(d(x)))
    other lines
    operators       aten.native_group_norm, aten.silu, aten.silu_backward, aten.native_group_norm_backward
    names of nodes  view_4, add_139, mul_168, mul_169, mul_170, mul_171, reciprocal, sub_75, add_84, exp_2, neg_2, squeeze_5, add_140, add_141, mul_175, mul_185, mul_186, unsqueeze_20, unsqueeze_21, unsqueeze_22, unsqueeze_23, unsqueeze_24, unsqueeze_25, view_10, view_11


    programs
    compile                0/0_1
    program                1_forward
    kernels                13
    code generation        4.04 s
    loading and compiling  3.15 s
    max-autotune           -


    failed_fusions
    none on this tape; PyTorch prints them with TORCH_LOGS=fusion
    2> symtape: kernels: 38 more not shown (--limit)
    2> symtape: programs: 1 more not shown (--limit)

One kernel is called six times, for six pairs of modules.

    $ symtape show $SHARED/variety/reduce_overhead.log.zst --kernels --json | python3 -c 'import json, sys
    > for k in json.load(sys.stdin)["kernels"]: print(k["position"], k["kernel"], k["calls"], k["autotune_ns"], k["nodes_from"], [n["name"] for n in k["nodes"]])'
    1 triton_per_fused_gelu_native_layer_norm_0 6 40059200 comments ['add_3', 'add_4', 'mul_4', 'mul_5', 'rsqrt', 'sub_1', 'var_mean', 'add_14', 'erf', 'mul_10', 'mul_11', 'mul_12', 'input_2', 'input_3', 'input_5', 'input_6', 'input_8', 'input_9', 'input_11', 'input_12', 'input_14', 'input_15', 'input_17', 'input_18']
    0 extern_kernels.addmm 6 None comments ['input_3', 'input_1', 'input_4', 'input_6', 'input_7', 'input_9', 'input_10', 'input_12', 'input_13', 'input_15', 'input_16']

Only kernels of lines in a file.

    $ symtape show $SHARED/variety/triton_kernel.log.zst --kernels --file _tk.py --json | python3 -c 'import json, sys
    > print([k["kernel"] for k in json.load(sys.stdin)["kernels"]])'
    ['add_0']

The slowest three of a training step, in 80 columns.

    $ COLUMNS=80 script -qec "symtape show $SHARED/traces/unet.train.inductor.log.zst --kernels --limit 3 --color never" /dev/null | tr -d '\r'
    kernels
    compile  kernel                             compiled    tuned  user line
    0/0_1    ...backward_silu_silu_backward_10    1.49 s  41.2 ms  models/zoo.py:106
    0/0_1    ...backward_silu_silu_backward_16    1.42 s  37.0 ms  models/zoo.py:106
    0/0_1    ...poi_fused_native_group_norm_13    788 ms  23.4 ms  models/zoo.py:106
    symtape: kernels: 36 more not shown (--limit)

    programs
    compile  program     kernels  code generation  loading and compiling
    0/0_1    1_forward        13           4.04 s                 3.15 s
    0/0_1    1_backward       26           8.99 s                 9.10 s

    failed_fusions
    none on this tape; PyTorch prints them with TORCH_LOGS=fusion
