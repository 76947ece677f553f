What a replay says of a recording: each graph's calls beside the record, then the guards.

    $ symtape replay $RECORDINGS/train.log.zst
    4 graphs of 1 attempt, 89 calls (8 Dynamo, 40 joint, 41 ATen): all match; 1 guard: 1 computed, 0 from the record
    kernel guards: 1 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      8      8         -        -            -        -  -
    0/0_0:aot_joint_graph         40     40         -        -            -        -  -
    0/0_0:aot_forward_graph       17     17         -        -            -        -  -
    0/0_0:aot_backward_graph      24     24         -        -            -        -  -

A graph that is named is reported alone; the graphs before it are walked for what they ask.

    $ symtape replay $RECORDINGS/train.log.zst:0/0:backward --guards
    1 graph of 1 attempt, 24 calls: all match; 1 guard: 1 computed, 0 from the record
    kernel guards: 1 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                     calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:aot_backward_graph     24     24         -        -            -        -  -

    compile  asked by  outcome     guard     node    operator      graph                      recorded in              user line
    0/0_0    kernel    reproduced  s23 < 16  conv1d  torch.conv1d  0/0_0:dynamo_output_graph  fake_impls.py:1811 conv  demo/train.py:18

Several policies are put side by side; times differ from run to run.

    $ symtape replay $RECORDINGS/train.log.zst --dynamic recorded,static | head -6 | tr -s ' '
    Sums over the graphs, each replayed with symbols and guards of its own
     recorded static
    calls 89 89
    match 89 89
    symbols 2 0
    guards 1 0

A policy makes symbols of sizes that were recorded as numbers.

    $ symtape replay $RECORDINGS/mlp.log.zst:0/0 --dynamic all --guards
    2 graphs of 1 attempt, 10 calls (4 Dynamo, 6 ATen): all match
    kernel guards: 0 reproduced, 0 missing, 1 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      4      4         -        -            -        -  -
    0/0_0:aot_inference_graph      6      6         -        -            -        -  -

    compile  asked by  outcome  guard        node    operator             graph                      recorded in  user line
    0/0_0    kernel    extra    Eq(s27, 16)  linear  torch._C._nn.linear  0/0_0:dynamo_output_graph  -            -

    $ symtape replay $RECORDINGS/mlp.log.zst:0/0 --dynamic static,batch,all --json | python3 -c 'import json,sys; [print(run["name"], run["match"], run["symbols"], run["dispatches"]) for run in json.load(sys.stdin)["runs"]]'
    static 10 0 104
    batch 10 1 110
    all 10 2 110

A hint or a mark has to name something.

    $ symtape replay $RECORDINGS/mlp.log.zst --sizes s999=3
    2> symtape: no attempt has a symbol s999; symtape show --symbols lists them
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --dynamic-shapes "L['nobody']:0=dynamic"
    2> symtape: no attempt has an input L['nobody'] with that dimension
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --dynamic-shapes "L['x']=dynamic"
    2> symtape: L['x']=dynamic: a dynamic shape is SOURCE:DIM=dynamic|static|unbacked|MIN..MAX|Dim(NAME)
    [exit 2]

What PyTorch would say of the constraints, were sizes marked so: with Dims as torch.export does.

    $ symtape replay $RECORDINGS/train.log.zst --dynamic-shapes "L['ids']:0=Dim(batch)"
    1 graph of 1 attempt, 8 calls: all match

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      8      8         -        -            -        -  -

    $ symtape replay $RECORDINGS/layers.log.zst:0/0 --dynamic-shapes "L['x']:0=Dim(batch,1..64),L['x']:2=Dim(width)" | tail -n +7

    0/0_0: Constraints violated (width)! For more information, run with TORCH_LOGS="+dynamic".
      - You marked width as dynamic but your code specialized it to be a constant (32). If you're using mark_dynamic, either remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with either Dim.STATIC or Dim.AUTO.
    Suggested fixes:
      width = 32

    $ symtape replay $RECORDINGS/encoder.log.zst:0/1 --dynamic-shapes "L['x']:1=7*Dim(windows)" | tail -n +7

    0/1_0: Expected input L['x'].size()[1] to be equal to 7*windows, where windows = 3, but got 24

    $ symtape replay $RECORDINGS/encoder.log.zst:0/1 --dynamic-shapes "L['x']:1=100..200" | tail -n +8

    0/1_0: 24 not in range [100, 200]

    $ symtape replay $RECORDINGS/layers.log.zst:0/0 --dynamic-shapes "L['x']:2=dynamic" | tail -n +8

    0/0_0: Constraints violated (L['x'].size()[2])! For more information, run with TORCH_LOGS="+dynamic".
      - You marked L['x'].size()[2] as dynamic but your code specialized it to be a constant (32). If you're using mark_dynamic, either remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with either Dim.STATIC or Dim.AUTO.

    User stack:
      File "/home/user/demo/layers.py", line 51, in forward
        x = layer(x)
      File "/home/user/demo/layers.py", line 40, in forward
        x = x + (self.windowed(x) if self.window else self.attention(x))
      File "/home/user/demo/layers.py", line 26, in attention
        t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
      File "/home/user/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 134, in forward
        return F.linear(input, self.weight, self.bias)

A list of guards is cut where asked for.

    $ symtape replay $RECORDINGS/encoder.log.zst:0/1 --guards --limit 2 | tail -n +8

    compile  asked by        outcome     guard             node        operator                        graph                      recorded in                         user line
    0/1_0    torch function  reproduced  Eq(zf14, 1.0e-5)  layer_norm  torch.nn.functional.layer_norm  0/1_0:dynamo_output_graph  functional.py:2987 layer_norm       demo/encoder.py:46
    0/1_0    kernel          reproduced  Eq(s53, 32)       layer_norm  torch.nn.functional.layer_norm  0/1_0:dynamo_output_graph  __init__.py:3469 native_layer_norm  demo/encoder.py:46

    36 more guards

Exported programs, ranks, logs without graphs.

    $ symtape replay $RECORDINGS/exported.pt2
    1 graph, 12 calls: all match

    graph                         calls  match  mismatch  refused  unsupported  adopted  error
    ::exported/models/model.json     12     12         -        -            -        -  -

    $ symtape replay $RECORDINGS/two_ranks@rank1
    2 graphs of 1 attempt, 8 calls (4 Dynamo, 4 ATen): all match

    graph                             calls  match  mismatch  refused  unsupported  adopted  error
    @rank1:0/0_0:dynamo_output_graph      4      4         -        -            -        -  -
    @rank1:0/0_0:aot_inference_graph      4      4         -        -            -        -  -

    $ symtape replay $RECORDINGS/data_dependent.log.zst --bisect-codes
    no graphs; 0/0 failed in PyTorch: UserError, demo/data_dependent.py:13
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
    [exit 125]

A recording that ends in an exception never looks like one in which all is well, also without notes.

    $ symtape replay -q $RECORDINGS/deep.log.zst | head -1
    1 graph of 1 attempt, 9 calls: all match; 0/0 failed in PyTorch: UserError, demo/data_dependent.py:13

    $ symtape replay -q --json $RECORDINGS/deep.log.zst | tr '{' '\n' | grep -A 1 '"failures"'
    },"failures":[
    "recording":"deep","compile":"0/0","attempt":0,"type":"UserError","summary":"Consider annotating your code using torch._check*(). Could not guard on data-dependent expression u1 > 4 (unhinted: u1 > 4).  (Size-like symbols: none)","file":"/home/user/demo/data_dependent.py","line":13}],"mismatches":[],"contradictions":[],"violations":[],"branches":[],"operators":[

    $ symtape run -q $RECORDINGS/deep.log.zst:0/0:partial_dynamo | head -1
    1 graph on cpu: ran; peak memory 468 B; 0/0 failed in PyTorch: UserError, demo/data_dependent.py:13

Sizes of one value share the symbol that the graph prints for them, and a call before the line where an input was created takes another
input that the graph prints alike.

    $ symtape replay $RECORDINGS/shared_sizes.log.zst --guards | sed -n '1,2p;8,$p' | cut -c 1-92
    2 graphs of 1 attempt, 16 calls (8 Dynamo, 8 ATen): all match; 4 guards: 4 computed, 0 from
    kernel guards: 4 reproduced, 0 missing, 0 extra, 0 invisible

    compile  asked by  outcome     guard                                         node  operator
    0/0_0    kernel    reproduced  Ne(s26, -1)                                   view  Tensor.vi
    0/0_0    kernel    reproduced  s26 >= 0                                      view  Tensor.vi
    0/0_0    kernel    reproduced  Eq(s79*(s35 + s52*s72), s26*(s35 + s52*s72))  view  Tensor.vi
    0/0_0    kernel    reproduced  Eq(s26, s79)                                  view  Tensor.vi

A list of inputs has the items that the graph takes out of it, and no more items than the graph has nodes, whatever an index says.

    $ python3 $ROOT/tests/golden/make_hostile.py lists > lists.log; symtape replay lists.log | head -4
    1 graph of 1 attempt, 7 calls: 4 match, 0 mismatch, 3 refused, 0 unsupported; 3 adopted

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      7      4         -        3            -        3  -

A size that the recorded graph has as a number is replayed with the size that is set, so that the call that needs the number refuses it:

    $ symtape replay $RECORDINGS/layers.log.zst --what-if s53=2
    guards
      - 0/0_0  Eq(s53, 32)
      + 0/0_0  Ne(s53, 32)
    specializations and replacements
      - 0/0_0  s53 = 32
    results
      0/0_0:dynamo_output_graph linear: torch._C._nn.linear
        - f32[s77, s27, 96][96*s27, 96, 1]cpu
        + RuntimeError: a and b must have same reduction dim, but got [s27*s77, s53] X [32, 96].
      0/0_0:dynamo_output_graph x: operator.add
        - f32[s77, s27, 32][32*s27, 32, 1]cpu
        + RuntimeError: The size of tensor a (s53) must match the size of tensor b (32) at non-singleton dimension 2)

Sources in the places of symbols:

    $ symtape replay $RECORDINGS/encoder.log.zst:0/1 --what-if "x.size(1)=31" | head -3
    0/1_0: the program branches at demo/encoder.py:25, because Eq(Mod(s27, 8), 0) does not hold; what comes after is another program
    guards
      - 0/1_0  Eq(Mod(s27, 8), 0)

    $ symtape replay $RECORDINGS/mlp.log.zst:0/1 --sizes "y.size(0)=5"
    2> symtape: no attempt has a symbol y.size(0); symtape show --symbols lists them
    [exit 2]
