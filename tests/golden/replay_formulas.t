A score function indexes by scalars, the gradient of trace() fills by copying, vander takes a size as a number, and compiled
autograd calls formulas of autograd and the prologue of AOTAutograd's backward.

    $ symtape replay $RECORDINGS/formulas.log.zst
    16 graphs of 6 attempts, 289 calls (153 Dynamo, 21 joint, 115 ATen): all match; 45 guards: 7 computed, 38 from the record
    kernel guards: 7 reproduced, 0 missing, 0 extra, 5 invisible
    other guards: 0 torch function, 33 dynamo, 0 backend, 0 user

    graph                         calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph        41     41         -        -            -        -  -
    0/0_0:aot_inference_graph        34     34         -        -            -        -  -
    1/0_0:dynamo_output_graph         5      5         -        -            -        -  -
    1/0_0:aot_joint_graph            13     13         -        -            -        -  -
    1/0_0:aot_forward_graph           5      5         -        -            -        -  -
    1/0_0:aot_backward_graph          9      9         -        -            -        -  -
    2/0_0:dynamo_output_graph         6      6         -        -            -        -  -
    2/0_0:aot_inference_graph        18     18         -        -            -        -  -
    !0/3/0_0:dynamo_output_graph     74     74         -        -            -        -  -
    !0/3/0_0:aot_inference_graph     29     29         -        -            -        -  -
    4/0_0:dynamo_output_graph         1      1         -        -            -        -  -
    4/0_0:aot_joint_graph             8      8         -        -            -        -  -
    4/0_0:aot_forward_graph           2      2         -        -            -        -  -
    4/0_0:aot_backward_graph          6      6         -        -            -        -  -
    !1/5/0_0:dynamo_output_graph     26     26         -        -            -        -  -
    !1/5/0_0:aot_inference_graph     12     12         -        -            -        -  -
