Rules of vmap make numbers of sizes, inputs that a guard made equal are told apart by the first use of their tensors, the sizes of a
gradient are compared with those of its tensor, and attention on a CPU does not take the kernel that has no gradient of its mask.

    $ symtape replay $RECORDINGS/equal_inputs.log.zst
    18 graphs of 7 attempts, 361 calls (47 Dynamo, 55 joint, 259 ATen): all match; 29 guards: 19 computed, 10 from the record
    kernel guards: 16 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 0 torch function, 10 dynamo, 3 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      2      2         -        -            -        -  -
    0/0_0:aot_inference_graph      4      4         -        -            -        -  -
    1/0_0:dynamo_output_graph     11     11         -        -            -        -  -
    1/0_0:aot_inference_graph     13     13         -        -            -        -  -
    1/1_0:dynamo_output_graph     12     12         -        -            -        -  -
    1/1_0:aot_inference_graph      3      3         -        -            -        -  -
    2/0_0:dynamo_output_graph     10     10         -        -            -        -  -
    2/0_0:aot_inference_graph     19     19         -        -            -        -  -
    3/0_0:dynamo_output_graph      4      4         -        -            -        -  -
    3/0_0:aot_joint_graph         50     50         -        -            -        -  -
    3/0_0:aot_forward_graph       28     28         -        -            -        -  -
    3/0_0:aot_backward_graph      28     28         -        -            -        -  -
    4/0_0:dynamo_output_graph      6      6         -        -            -        -  -
    4/0_0:aot_inference_graph    159    159         -        -            -        -  -
    5/0_0:dynamo_output_graph      2      2         -        -            -        -  -
    5/0_0:aot_joint_graph          5      5         -        -            -        -  -
    5/0_0:aot_forward_graph        3      3         -        -            -        -  -
    5/0_0:aot_backward_graph       2      2         -        -            -        -  -
