
native_layer_norm with a shape of numbers. Its guards make symbols of the shape, the weight and the input equal, and the graph prints one of
them wherever another was: each number of the shape is still the one that the call got.

    $ symtape replay --guards $RECORDINGS/normalized_shape.log.zst
    2 graphs of 1 attempt, 4 calls (2 Dynamo, 2 ATen): all match; 2 guards: 2 computed, 0 from the record
    kernel guards: 2 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      2      2         -        -            -        -  -
    0/0_0:aot_inference_graph      2      2         -        -            -        -  -

    compile  asked by  outcome     guard                        node               operator                 graph                      recorded in                         user line
    0/0_0    kernel    reproduced  Eq(s36, s86) & Eq(s85, s52)  native_layer_norm  torch.native_layer_norm  0/0_0:dynamo_output_graph  __init__.py:3451 native_layer_norm  demo/normalized_shape.py:7
    0/0_0    kernel    reproduced  Eq(s27, s36) & Eq(s53, s52)  native_layer_norm  torch.native_layer_norm  0/0_0:dynamo_output_graph  __init__.py:3469 native_layer_norm  demo/normalized_shape.py:7
