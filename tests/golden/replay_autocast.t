A function that was compiled within torch.autocast(): no record has it, so that the first call that autocast casts decides.

    $ symtape replay $RECORDINGS/autocast_around.log.zst
    4 graphs of 2 attempts, 29 calls (7 Dynamo, 22 ATen): all match; 4 guards: 3 computed, 1 from the record
    kernel guards: 2 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 2 torch function, 0 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      4      4         -        -            -        -  -
    0/0_0:aot_inference_graph     11     11         -        -            -        -  -
    0/0_1:dynamo_output_graph      3      3         -        -            -        -  -
    0/0_1:aot_inference_graph     11     11         -        -            -        -  -
