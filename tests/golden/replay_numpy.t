Functions of NumPy that Dynamo traces: Python's floats are float64, and so are the results for integers.

    $ symtape replay $RECORDINGS/arrays.log.zst
    2 graphs of 1 attempt, 36 calls (14 Dynamo, 22 ATen): all match

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph     14     14         -        -            -        -  -
    0/0_0:aot_inference_graph     22     22         -        -            -        -  -
