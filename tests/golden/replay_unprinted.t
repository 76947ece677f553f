What the printed graphs do not show: the length of a tensor that is a list of sizes, the meta that a tensor had before it was changed in place,
a size that was read in the frame before a graph break, the sizes that block_diag keeps for its gradient, the order of two batch sizes
that cdist compares, the backward of the program's own function. 5/0 asks whether what index_put returns is contiguous, and 8/0 has a
condition that is simplified by one of two Mods.

    $ symtape replay --guards $RECORDINGS/unprinted.log.zst | cut -c -150
    30 graphs of 12 attempts, 201 calls (90 Dynamo, 28 joint, 83 ATen): all match; 62 guards: 61 computed, 1 from the record
    kernel guards: 54 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 5 torch function, 3 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph     23     23         -        -            -        -  -
    0/0_0:aot_inference_graph     23     23         -        -            -        -  -
    1/0_0:dynamo_output_graph      4      4         -        -            -        -  -
    1/0_0:aot_inference_graph      4      4         -        -            -        -  -
    2/0_1:dynamo_output_graph      2      2         -        -            -        -  -
    2/0_1:aot_inference_graph      2      2         -        -            -        -  -
    3/0_1:dynamo_output_graph      2      2         -        -            -        -  -
    3/0_1:aot_inference_graph      2      2         -        -            -        -  -
    4/0_0:dynamo_output_graph      5      5         -        -            -        -  -
    4/0_0:aot_inference_graph      6      6         -        -            -        -  -
    5/0_0:dynamo_output_graph      2      2         -        -            -        -  -
    5/0_0:aot_inference_graph      2      2         -        -            -        -  -
    6/0_0:dynamo_output_graph      5      5         -        -            -        -  -
    6/0_0:aot_joint_graph         12     12         -        -            -        -  -
    6/0_0:aot_forward_graph        5      5         -        -            -        -  -
    6/0_0:aot_backward_graph       7      7         -        -            -        -  -
    7/0_0:dynamo_output_graph      1      1         -        -            -        -  -
    7/0_0:aot_inference_graph      1      1         -        -            -        -  -
    7/1_0:dynamo_output_graph      1      1         -        -            -        -  -
    7/1_0:aot_inference_graph      6      6         -        -            -        -  -
    8/0_0:dynamo_output_graph      9      9         -        -            -        -  -
    8/0_0:aot_inference_graph      9      9         -        -            -        -  -
    9/0_0:dynamo_output_graph     18     18         -        -            -        -  -
    9/0_0:aot_joint_graph          8      8         -        -            -        -  -
    9/0_0:aot_forward_graph        2      2         -        -            -        -  -
    9/0_0:aot_backward_graph       6      6         -        -            -        -  -
    9/1_0:dynamo_output_graph     18     18         -        -            -        -  -
    9/1_0:aot_joint_graph          8      8         -        -            -        -  -
    9/1_0:aot_forward_graph        2      2         -        -            -        -  -
    9/1_0:aot_backward_graph       6      6         -        -            -        -  -

    compile  asked by        outcome            guard
    0/0_0    dynamo          applied            Eq(s46, 3)
    0/0_0    kernel          reproduced assert  u0 >= 0
    0/0_0    kernel          reproduced assert  u1 >= 0
    0/0_0    kernel          reproduced assert  u2 >= 0
    0/0_0    kernel          reproduced assert  Eq(u0 + u1 + u2, s77)
    2/0_0    kernel          reproduced         Ne(s86, -1)
    2/0_0    kernel          reproduced         s86 >= 0
    2/0_0    kernel          reproduced         Ne(s86, 0)
    2/0_0    kernel          reproduced         Eq(Mod(s27*s77, s86), 0)
    2/0_0    kernel          reproduced         Eq(s27*s77, s86*(((s27*s77)//s86)))
    2/0_0    kernel          reproduced         Eq(((s27*s77)//s86), s77)
    2/0_0    kernel          reproduced         Eq(s86, s27)
    2/0_1    kernel          reproduced         Ne(s86, -1)
    2/0_1    kernel          reproduced         s86 >= 0
    2/0_1    kernel          reproduced         Ne(s86, 0)
    2/0_1    kernel          reproduced         Eq(Mod(s27*s77, s86), 0)
    2/0_1    kernel          reproduced         Eq(s27*s77, s86*(((s27*s77)//s86)))
    2/0_1    kernel          reproduced         Eq(((s27*s77)//s86), s77)
    2/0_1    kernel          reproduced         Eq(s86, s27)
    3/0_0    kernel          reproduced         Eq(Mod(s17*s94, s77), 0)
    3/0_0    kernel          reproduced         Eq(s17*s94, s77*(((s17*s94)//s77)))
    3/0_0    kernel          reproduced         Eq(s77, s17)
    3/0_1    kernel          reproduced         Eq(Mod(s17*s94, s77), 0)
    3/0_1    kernel          reproduced         Eq(s17*s94, s77*(((s17*s94)//s77)))
    3/0_1    kernel          reproduced         Eq(s77, s17)
    4/0_0    kernel          reproduced         Eq(Mod(s32*s68, s17), 0)
    4/0_0    kernel          reproduced         Eq(s32*s68, s17*(((s32*s68)//s17)))
    4/0_0    kernel          reproduced         Eq(s17, s68)
    4/0_0    kernel          reproduced         s32 <= s17
    5/0_0    kernel          reproduced         s86 >= 0
    5/0_0    kernel          reproduced         Ne(s86, 0)
    5/0_0    kernel          reproduced         Ne(s86, 1)
    5/0_0    kernel          reproduced         s86 >= 2
    6/0_0    kernel          reproduced         Eq(s27, 5)
    6/0_0    kernel          reproduced         Eq(s53, 6)
    7/0_0    torch function  reproduced         s44 <= 25
    7/0_0    torch function  reproduced         s34 <= 25
    7/1_0    torch function  reproduced         s44 > 25
    7/1_0    torch function  reproduced         Eq(s7, s85)
    8/0_0    kernel          reproduced         Ne(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16), 0)
    8/0_0    kernel          reproduced         Eq(Mod(s77 + (Mod(16 - (Mod(s77, 16)), 16)), ((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16)), 0)
    8/0_0    torch function  reproduced         Ne(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16))), 0)
    8/0_0    kernel          reproduced         Ne(2*(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16))*(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//(((s77 + (Mo
    8/0_0    kernel          reproduced         2*(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16))*(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//(((s77 + (Mod(1
    8/0_0    kernel          reproduced         Ne(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16))), 1)
    8/0_0    kernel          reproduced         Eq(Max(1, ((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16)))), ((s77
    8/0_0    kernel          reproduced         Ne(2*(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16)), 2)
    8/0_0    kernel          reproduced         Ne((((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16))*(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//(((s77 + (Mod(
    8/0_0    kernel          reproduced         Ne(Mod(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16), (((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16))*(((s77
    8/0_0    kernel          reproduced         Ne(2*(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16))*(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//(((s77 + (Mo
    8/0_0    kernel          reproduced         Ne((((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16))*(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//(((s77 + (Mod(
    8/0_0    kernel          reproduced         (((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16))*(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//(((s77 + (Mod(16
    8/0_0    kernel          reproduced         Ne(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16), 1)
    8/0_0    kernel          reproduced         Ne((((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16))*(((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//(((s77 + (Mod(
    8/0_0    kernel          reproduced         Eq((((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//16))*Max(1, ((s77 + (Mod(16 - (Mod(s77, 16)), 16)))//(((s77 +
    9/0_0    kernel          reproduced         s77 < 16
    9/0_0    kernel          reproduced         s21 <= 3
    9/0_0    dynamo          reproduced         Eq(s21, 3)
    9/0_0    kernel          reproduced         s53 >= 3
    9/0_0    kernel          reproduced         Ne(s53 - 2, 1)
    9/1_0    kernel          reproduced         Eq(s27, s21)
    9/1_0    kernel          reproduced         s77 < 16
    9/1_0    kernel          reproduced         s6 > 3
    9/1_0    dynamo          reproduced         Eq(s6, 5)
    9/1_0    kernel          reproduced         s53 >= 5
    9/1_0    kernel          reproduced         Ne(s53 - 4, 1)

The backward of an autograd function runs in Dynamo; AOTAutograd traces the forward, and autograd runs the backward.

    $ symtape replay --json $RECORDINGS/unprinted.log.zst:9/0 | python3 -c 'import json, sys; print(*["{pass} {fake_tensor_mode} {proxy}".format(**p) for p in json.load(sys.stdin)["dispatch_passes"] if p["fake_tensor_mode"]], sep="\n")'
    dynamo 48 0
    rng 13 0
    inputs 3 0
    metadata 23 0
    trace 17 7
    backward 27 10
