One line views several tensors by a batch size. The call whose tensor has another one is that which added the guards of the line:
their other symbols are in its arguments.

    $ symtape replay --guards $RECORDINGS/shared_line.log.zst
    2 graphs of 1 attempt, 29 calls (11 Dynamo, 18 ATen): all match; 3 guards: 3 computed, 0 from the record
    kernel guards: 3 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph     11     11         -        -            -        -  -
    0/0_0:aot_inference_graph     18     18         -        -            -        -  -

    compile  asked by  outcome     guard                                    node    operator     graph                      recorded in                                     user line
    0/0_0    kernel    reproduced  Eq(Mod(8*s61*s74, 8*s63), 0)             view_2  Tensor.view  0/0_0:dynamo_output_graph  __init__.py:1118 infer_size                     demo/shared_line.py:7
    0/0_0    kernel    reproduced  Eq(8*s61*s74, 8*s63*(((s61*s74)//s63)))  view_2  Tensor.view  0/0_0:dynamo_output_graph  __init__.py:4063 _reshape_view_helper           demo/shared_line.py:7
    0/0_0    kernel    reproduced  Eq(s63, s61)                             view_2  Tensor.view  0/0_0:dynamo_output_graph  __init__.py:3965 _reshape_view_helper_core_alg  demo/shared_line.py:7
