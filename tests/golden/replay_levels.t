A head over three levels of features, whose batch sizes a guard of torch.cat makes equal in the end. The graph prints one of them in each
view() and reshape(), but each call got that of its tensor, and asks nothing.

    $ symtape replay --guards $RECORDINGS/pyramid.log.zst
    2 graphs of 1 attempt, 39 calls (10 Dynamo, 29 ATen): all match; 2 guards: 2 computed, 0 from the record
    kernel guards: 2 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph     10     10         -        -            -        -  -
    0/0_0:aot_inference_graph     29     29         -        -            -        -  -

    compile  asked by  outcome     guard         node  operator   graph                      recorded in                 user line
    0/0_0    kernel    reproduced  Eq(s30, s15)  cat   torch.cat  0/0_0:dynamo_output_graph  __init__.py:1875 _cat_meta  demo/pyramid.py:11
    0/0_0    kernel    reproduced  Eq(s48, s15)  cat   torch.cat  0/0_0:dynamo_output_graph  __init__.py:1875 _cat_meta  demo/pyramid.py:11
