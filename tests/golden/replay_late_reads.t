A size of a mask is read at a line without a call; the parameters that were described before tell which calls had run. Functions of NumPy
make floats constants.

    $ symtape replay --guards $RECORDINGS/late_reads.log.zst
    10 graphs of 5 attempts, 81 calls (38 Dynamo, 43 ATen): all match; 6 guards: 6 computed, 0 from the record
    kernel guards: 0 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 4 torch function, 2 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph     13     13         -        -            -        -  -
    0/0_0:aot_inference_graph     27     27         -        -            -        -  -
    1/0_0:dynamo_output_graph      7      7         -        -            -        -  -
    1/0_0:aot_inference_graph      4      4         -        -            -        -  -
    1/0_1:dynamo_output_graph      6      6         -        -            -        -  -
    1/0_1:aot_inference_graph      4      4         -        -            -        -  -
    1/1_0:dynamo_output_graph      6      6         -        -            -        -  -
    1/1_0:aot_inference_graph      4      4         -        -            -        -  -
    1/2_0:dynamo_output_graph      6      6         -        -            -        -  -
    1/2_0:aot_inference_graph      4      4         -        -            -        -  -

    compile  asked by        outcome     guard         node                          operator                                   graph                      recorded in                          user line
    0/0_0    dynamo          reproduced  Eq(s53, s70)  scaled_dot_product_attention  torch._C._nn.scaled_dot_product_attention  0/0_0:dynamo_output_graph  utils.py:4231 run_node               demo/late_reads.py:22
    0/0_0    dynamo          reproduced  Eq(s43, s72)  scaled_dot_product_attention  torch._C._nn.scaled_dot_product_attention  0/0_0:dynamo_output_graph  utils.py:4231 run_node               demo/late_reads.py:22
    1/0_0    torch function  reproduced  Eq(zf6, 2.0)  bound                         torch__dynamo_utils_wrapped_log            1/0_0:dynamo_output_graph  _util.py:177 _try_convert_to_tensor  demo/late_reads.py:31
    1/0_1    torch function  reproduced  Eq(zf6, 2.0)  bound                         torch__dynamo_utils_wrapped_log            1/0_1:dynamo_output_graph  _util.py:177 _try_convert_to_tensor  demo/late_reads.py:31
    1/1_0    torch function  reproduced  Eq(zf6, 2.5)  bound                         torch__dynamo_utils_wrapped_log            1/1_0:dynamo_output_graph  _util.py:177 _try_convert_to_tensor  demo/late_reads.py:31
    1/2_0    torch function  reproduced  Eq(zf6, 3.5)  bound                         torch__dynamo_utils_wrapped_log            1/2_0:dynamo_output_graph  _util.py:177 _try_convert_to_tensor  demo/late_reads.py:31
