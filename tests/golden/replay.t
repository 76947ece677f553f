What a replay says of a recording: each graph's calls beside the record, then the guards.

    $ symtape replay $RECORDINGS/train.log.zst
    4 graphs, 89 calls: all match
    kernel guards: 1 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      8      8         -        -            -        -  -
    0/0_0:aot_joint_graph         40     40         -        -            -        -  -
    0/0_0:aot_forward_graph       17     17         -        -            -        -  -
    0/0_0:aot_backward_graph      24     24         -        -            -        -  -

A graph that is named is reported alone; the graphs before it are walked for what they ask.

    $ symtape replay $RECORDINGS/train.log.zst:0/0:backward --guards
    1 graph, 24 calls: all match
    kernel guards: 1 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                     calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:aot_backward_graph     24     24         -        -            -        -  -

    compile  asked by  outcome     guard     node    operator      graph                      recorded in              user line
    0/0_0    kernel    reproduced  s23 < 16  conv1d  torch.conv1d  0/0_0:dynamo_output_graph  fake_impls.py:1811 conv  demo/train.py:18

Several policies are put side by side; times differ from run to run.

    $ symtape replay $RECORDINGS/train.log.zst --policy recorded,static | head -6 | tr -s ' '
     recorded static
    calls 89 89
    match 89 89
    symbols 2 0
    guards 1 0
    replacements 0 0

A policy invents no symbol, and a hint or a mark has to name something.

    $ symtape replay $RECORDINGS/mlp.log.zst:0/0 --policy all
    2> symtape: policy all: size 0 of L['x'] was recorded as the number 4, and a policy invents no symbol
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --set s999=3
    2> symtape: no attempt has a symbol s999
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --mark "L['nobody']:0=dynamic"
    2> symtape: no attempt has an input L['nobody'] of that size
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --mark "L['x']=dynamic"
    2> symtape: L['x']=dynamic: a mark is SOURCE:DIM=dynamic|static|unbacked|MIN..MAX
    [exit 2]

Exported programs, ranks, logs without graphs.

    $ symtape replay $RECORDINGS/exported.pt2
    1 graph, 12 calls: all match

    graph                         calls  match  mismatch  refused  unsupported  adopted  error
    ::exported/models/model.json     12     12         -        -            -        -  -

    $ symtape replay $RECORDINGS/two_ranks@rank1
    2 graphs, 8 calls: all match

    graph                             calls  match  mismatch  refused  unsupported  adopted  error
    @rank1:0/0_0:dynamo_output_graph      4      4         -        -            -        -  -
    @rank1:0/0_0:aot_inference_graph      4      4         -        -            -        -  -

    $ symtape replay $RECORDINGS/data_dependent.log.zst --bisect-codes
    no graphs
    [exit 125]
