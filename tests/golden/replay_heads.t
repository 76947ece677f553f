
Tensors that are viewed by the sizes of another one, each of which is read at the line of its view. The graph prints the sizes of the last one
everywhere; each view() passed those that the guards before had made the hidden state's, and its guards compare them with its tensor's.

    $ symtape replay --guards $RECORDINGS/heads.log.zst
    2 graphs of 1 attempt, 10 calls (5 Dynamo, 5 ATen): all match; 26 guards: 26 computed, 0 from the record
    kernel guards: 26 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      5      5         -        -            -        -  -
    0/0_0:aot_inference_graph      5      5         -        -            -        -  -

    compile  asked by  outcome     guard                                                                                   node   operator           graph                      recorded in                                               user line
    0/0_0    kernel    reproduced  Eq(Mod(s5*s83*s94, 2*s59*s81), 0)                                                       query  Tensor.view        0/0_0:dynamo_output_graph  __init__.py:1118 infer_size                               demo/heads.py:8
    0/0_0    kernel    reproduced  Eq(s5*s83*s94, 2*s59*s81*(((s5*s83*s94)//(2*s59*s81))))                                 query  Tensor.view        0/0_0:dynamo_output_graph  __init__.py:4063 _reshape_view_helper                     demo/heads.py:8
    0/0_0    kernel    reproduced  Eq(s59, s5)                                                                             query  Tensor.view        0/0_0:dynamo_output_graph  __init__.py:3965 _reshape_view_helper_core_alg            demo/heads.py:8
    0/0_0    kernel    reproduced  Eq(s81, s83)                                                                            query  Tensor.view        0/0_0:dynamo_output_graph  __init__.py:3965 _reshape_view_helper_core_alg            demo/heads.py:8
    0/0_0    kernel    reproduced  Ne((s94//2), s94)                                                                       query  Tensor.view        0/0_0:dynamo_output_graph  __init__.py:3965 _reshape_view_helper_core_alg            demo/heads.py:8
    0/0_0    kernel    reproduced  Eq(Mod(s94, (s94//2)), 0)                                                               query  Tensor.view        0/0_0:dynamo_output_graph  __init__.py:3971 _reshape_view_helper_core_alg            demo/heads.py:8
    0/0_0    kernel    reproduced  Ne((s94//((s94//2))), 0)                                                                query  Tensor.view        0/0_0:dynamo_output_graph  __init__.py:2068 are_strides_like_channels_last_or_false  demo/heads.py:8
    0/0_0    kernel    reproduced  Eq((s94//((s94//2))), 2)                                                                query  Tensor.view        0/0_0:dynamo_output_graph  __init__.py:3965 _reshape_view_helper_core_alg            demo/heads.py:8
    0/0_0    kernel    reproduced  Eq(Mod(s30*s64*s94, 2*s5*s81), 0)                                                       key    Tensor.view        0/0_0:dynamo_output_graph  __init__.py:1118 infer_size                               demo/heads.py:9
    0/0_0    kernel    reproduced  Eq(s30*s64*s94, 2*s5*s81*(((s30*s64*s94)//(2*s5*s81))))                                 key    Tensor.view        0/0_0:dynamo_output_graph  __init__.py:4063 _reshape_view_helper                     demo/heads.py:9
    0/0_0    kernel    reproduced  Eq(s5, s64)                                                                             key    Tensor.view        0/0_0:dynamo_output_graph  __init__.py:3965 _reshape_view_helper_core_alg            demo/heads.py:9
    0/0_0    kernel    reproduced  Eq(s81, s30)                                                                            key    Tensor.view        0/0_0:dynamo_output_graph  __init__.py:3965 _reshape_view_helper_core_alg            demo/heads.py:9
    0/0_0    kernel    reproduced  Eq(Mod(s14*s4*s94, 2*s30*s5), 0)                                                        value  Tensor.view        0/0_0:dynamo_output_graph  __init__.py:1118 infer_size                               demo/heads.py:10
    0/0_0    kernel    reproduced  Eq(s14*s4*s94, 2*s30*s5*(((s14*s4*s94)//(2*s30*s5))))                                   value  Tensor.view        0/0_0:dynamo_output_graph  __init__.py:4063 _reshape_view_helper                     demo/heads.py:10
    0/0_0    kernel    reproduced  Eq(s5, s4)                                                                              value  Tensor.view        0/0_0:dynamo_output_graph  __init__.py:3965 _reshape_view_helper_core_alg            demo/heads.py:10
    0/0_0    kernel    reproduced  Eq(s30, s14)                                                                            value  Tensor.view        0/0_0:dynamo_output_graph  __init__.py:3965 _reshape_view_helper_core_alg            demo/heads.py:10
    0/0_0    kernel    reproduced  Ne((s94//((s94//2))), 1)                                                                add    operator.add       0/0_0:dynamo_output_graph  fake_impls.py:1961 infer_size                             demo/heads.py:11
    0/0_0    kernel    reproduced  Ne((s94//2), 1)                                                                         add    operator.add       0/0_0:dynamo_output_graph  fake_impls.py:1961 infer_size                             demo/heads.py:11
    0/0_0    kernel    reproduced  s14*s4*((s94//2))*((s94//((s94//2)))) >= 2                                              add    operator.add       0/0_0:dynamo_output_graph  __init__.py:322 is_contiguous                             demo/heads.py:11
    0/0_0    kernel    reproduced  Eq(s94, ((s94//2))*((s94//((s94//2)))))                                                 add    operator.add       0/0_0:dynamo_output_graph  __init__.py:288 check_contiguous_sizes_strides            demo/heads.py:11
    0/0_0    kernel    reproduced  Eq(s14*s94, s14*((s94//2))*((s94//((s94//2)))))                                         add    operator.add       0/0_0:dynamo_output_graph  __init__.py:288 check_contiguous_sizes_strides            demo/heads.py:11
    0/0_0    kernel    reproduced  Eq(Max(1, (s94//((s94//2)))), (s94//((s94//2))))                                        add_1  operator.add       0/0_0:dynamo_output_graph  __init__.py:288 check_contiguous_sizes_strides            demo/heads.py:11
    0/0_0    kernel    reproduced  Eq(Max(1, (s94//2))*Max(1, (s94//((s94//2)))), ((s94//2))*((s94//((s94//2)))))          add_1  operator.add       0/0_0:dynamo_output_graph  __init__.py:288 check_contiguous_sizes_strides            demo/heads.py:11
    0/0_0    kernel    reproduced  Eq(s14*Max(1, (s94//2))*Max(1, (s94//((s94//2)))), s14*((s94//2))*((s94//((s94//2)))))  add_1  operator.add       0/0_0:dynamo_output_graph  __init__.py:288 check_contiguous_sizes_strides            demo/heads.py:11
    0/0_0    kernel    reproduced  Ne(Max(1, (s94//2))*Max(1, (s94//((s94//2)))), 1)                                       add_1  operator.add       0/0_0:dynamo_output_graph  __init__.py:351 is_channels_last_contiguous_2d            demo/heads.py:11
    0/0_0    kernel    reproduced  Eq(Mod(s14*s4*s94, 2*s14*s4), 0)                                                        view   aten.view.default  0/0_0:aot_inference_graph  __init__.py:1118 infer_size                               -
