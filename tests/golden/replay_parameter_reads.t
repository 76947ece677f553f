The arguments of a parameter's method read a size after the parameter is taken. A parameter whose dtype was read first was described
before calls that ran before the one that takes it.

    $ symtape replay --guards $RECORDINGS/parameter_reads.log.zst
    3 graphs of 3 attempts, 15 calls: all match; 6 guards: 6 computed, 0 from the record
    kernel guards: 6 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                        calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph        3      3         -        -            -        -  -
    0/0.1_0:dynamo_output_graph      6      6         -        -            -        -  -
    0/0.2_0:dynamo_output_graph      6      6         -        -            -        -  -

    compile  asked by  outcome     guard         node  operator      graph                        recorded in                    user line
    0/0_0    kernel    reproduced  Eq(s64, s27)  add   operator.add  0/0_0:dynamo_output_graph    fake_impls.py:1960 infer_size  demo/parameter_reads.py:13
    0/0_0    kernel    reproduced  Eq(s31, s23)  add   operator.add  0/0_0:dynamo_output_graph    fake_impls.py:1960 infer_size  demo/parameter_reads.py:13
    0/0.1_0  kernel    reproduced  Eq(s64, s27)  mul   operator.mul  0/0.1_0:dynamo_output_graph  fake_impls.py:1960 infer_size  demo/parameter_reads.py:26
    0/0.1_0  kernel    reproduced  Eq(s31, s23)  mul   operator.mul  0/0.1_0:dynamo_output_graph  fake_impls.py:1960 infer_size  demo/parameter_reads.py:26
    0/0.2_0  kernel    reproduced  Eq(s64, s27)  mul   operator.mul  0/0.2_0:dynamo_output_graph  fake_impls.py:1960 infer_size  demo/parameter_reads.py:26
    0/0.2_0  kernel    reproduced  Eq(s31, s23)  mul   operator.mul  0/0.2_0:dynamo_output_graph  fake_impls.py:1960 infer_size  demo/parameter_reads.py:26
