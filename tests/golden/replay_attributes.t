Attributes of Dynamo's graphs, `self.L__x___p` of L['x'].p and `self.x___d__q` of L['x'].d['q'], are the tensors that were described, and
`L_y_grad` has the sizes of L['y'], so that adding them makes their sizes equal. The kernel of `_foreach_add` adds them without the fast path.

    $ symtape replay --guards $RECORDINGS/attributes.log.zst
    4 graphs of 2 attempts, 12 calls (6 Dynamo, 6 ATen): all match; 4 guards: 4 computed, 0 from the record
    kernel guards: 4 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      3      3         -        -            -        -  -
    0/0_0:aot_inference_graph      3      3         -        -            -        -  -
    0/1_0:dynamo_output_graph      3      3         -        -            -        -  -
    0/1_0:aot_inference_graph      3      3         -        -            -        -  -

    compile  asked by  outcome     guard         node          operator            graph                      recorded in                        user line
    0/1_0    kernel    reproduced  Eq(s77, s17)  -             -                   -                          meta_utils.py:2165 meta_tensor     demo/attributes.py:17
    0/1_0    kernel    reproduced  Eq(s17, s6)   _foreach_add  torch._foreach_add  0/1_0:dynamo_output_graph  __init__.py:448 _broadcast_shapes  demo/attributes.py:17
    0/1_0    kernel    reproduced  Eq(s17, s4)   _foreach_add  torch._foreach_add  0/1_0:dynamo_output_graph  __init__.py:448 _broadcast_shapes  demo/attributes.py:17
    0/1_0    kernel    reproduced  Eq(s78, s17)  -             -                   -                          __init__.py:448 _broadcast_shapes  -

Dispatches of the first walk, and of one that finds the first one's tensors again:

    $ symtape replay --operators $RECORDINGS/attributes.log.zst
    4 graphs of 2 attempts, 12 calls (6 Dynamo, 6 ATen): all match; 4 guards: 4 computed, 0 from the record
    kernel guards: 4 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      3      3         -        -            -        -  -
    0/0_0:aot_inference_graph      3      3         -        -            -        -  -
    0/1_0:dynamo_output_graph      3      3         -        -            -        -  -
    0/1_0:aot_inference_graph      3      3         -        -            -        -  -

    Operators, in one replay of these graphs
    operator                calls  dispatches  hit  miss  guards  evaluations  exprs  fast path  bypassed  most from
    aten._foreach_add.List      4           4    1     3       2          110     59                       demo/attributes.py:17

    Dispatches that PyTorch makes while it compiles these graphs, estimated
    pass       FakeTensorMode  FakeTensor  Proxy  fast path  PyTorch's function
    dynamo                  2           -      -             get_fake_value (torch/_dynamo/utils.py)
    floats                  0           -      -             wrap_symfloat (torch/_dynamo/variables/builder.py)
    rng                    26           -      -             PhiloxStateTracker.reset (torch/_decomp/decompositions_for_rng.py)
    inputs                  6           -      -             _detach_and_copy_item_memo (torch/_functorch/_aot_autograd)
    metadata               12           -      -             run_functionalized_fw_and_collect_metadata (torch/_functorch/_aot_autograd)
    trace                  12           -     12             _trace_inner (torch/fx/experimental/proxy_tensor.py), forward
    backward                0           -      -             _trace_inner (torch/fx/experimental/proxy_tensor.py), backward
    tensorify               0           -      -             tensorify_python_scalars (torch/fx/passes)
    all                    58           -     12             -
