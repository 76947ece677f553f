# What an archive of torch.export holds

What a program takes, returns and demands, and its symbols:

    $ symtape show $RECORDINGS/exported.pt2 --symbols --signature
    symbols
    compile  symbol  value  range                     specialized  source                       user line  code
    -        s77         6  [2, 64]                   -            L['x'].size()[0]             -          -
    -        s82         5  [0, int_oo]               -            L['pair']['rows'].size()[0]  -          -
    -        u0          -  [0, 9223372036854775806]  -            -                            -          -

    inputs
    program                     kind                     input      bound to           meta
    exported/models/model.json  parameter                p_scale    scale              f32[4][1]cpu
    exported/models/model.json  buffer                   b_calls    calls              i64[][]cpu
    exported/models/model.json  buffer (not persistent)  b_shift    shift              f32[4][1]cpu
    exported/models/model.json  tensor_constant          c_offset   offset             f32[1][1]cpu
    exported/models/model.json  user_input               x          L['x']             f32[s77, 4][4, 1]cpu
    exported/models/model.json  user_input               pair_rows  L['pair']['rows']  f32[s82, 4][4, 1]cpu
    exported/models/model.json  constant_input           repeat     L['repeat']        3

    outputs
    program                     kind             output  goes to    meta
    exported/models/model.json  buffer_mutation  add     calls      i64[][]cpu
    exported/models/model.json  user_output      add_18  output[0]  f32[s77, 4][4, 1]cpu
    exported/models/model.json  user_output      sum_2   output[1]  f32[4][1]cpu

    range_constraints
    program                     symbol  min                  max
    exported/models/model.json  u0        0  9223372036854775806
    exported/models/model.json  s77       2                   64
    exported/models/model.json  s82       0                    -

    guards_code
    no guards in an exported program

Where its tensors lie; a tape of it says the same, without the weights:

    $ symtape show $RECORDINGS/exported.pt2 --weights
    program                     name    kind       dtype  sizes  strides  starts at  member                            offset  bytes  readable
    exported/models/model.json  scale   parameter  f32    [4]    [1]              0  exported/data/weights/weight_0        64     16  yes
    exported/models/model.json  calls   buffer     i64    []     []               0  exported/data/weights/weight_1       192      8  yes
    exported/models/model.json  offset  constant   f32    [1]    [1]              0  exported/data/constants/tensor_0     960      4  yes
    exported/models/model.json  shift   constant   f32    [4]    [1]              0  exported/data/constants/tensor_1   1,088     16  yes

    $ symtape import $RECORDINGS/exported.pt2 -o exported.tape 2> import.log

    $ symtape show exported.tape --symbols --signature --weights > tape.txt
    > symtape show $RECORDINGS/exported.pt2 --symbols --signature --weights | cmp - tape.txt && echo same
    same

    $ symtape show exported.tape --symbols --signature --weights --limit 1 --json | grep -o '"inputs.*omitted.*'
    "inputs":[{"recording":"exported","compile":null,"attempt":null,"log_line":1,"program":"exported/models/model.json","kind":"parameter","name":"p_scale","target":"scale","source":"","meta":"f32[4][1]cpu"}],"outputs":[{"recording":"exported","compile":null,"attempt":null,"log_line":1,"program":"exported/models/model.json","kind":"buffer_mutation","name":"add","target":"calls","path":"","meta":"i64[][]cpu"}],"range_constraints":[{"recording":"exported","compile":null,"attempt":null,"log_line":1,"program":"exported/models/model.json","symbol":"u0","min":0,"max":9223372036854775806}],"guards_code":[],"weights":[{"recording":"exported","compile":null,"attempt":null,"log_line":1,"program":"exported/models/model.json","fqn":"scale","kind":"parameter","dtype":"torch.float32","sizes":[4],"strides":[1],"storage_offset":0,"device":"cpu","requires_grad":true,"member":"exported/data/weights/weight_0","offset":64,"bytes":16,"pickled":false,"readable":true}],"omitted":{"symbols": 2, "inputs": 6, "outputs": 2, "range_constraints": 2, "weights": 3}}

    $ symtape info exported.tape | head -8
    13 records, 8 payloads, 21.8 kB of log in {*} of tape {*}
    3 symbols, 0 guards (not counted: 0 suppressed, 0 runtime asserts)

    tape           recording  rank  pid  torch       records  payloads  damaged  whole
    exported.tape  exported      -    0  2.13.0+cpu       13         8        0  yes

    no compile was recorded

A log has neither:

    $ symtape show $RECORDINGS/mlp.log.zst --signature --weights
    inputs
    no inputs of an exported program

    outputs
    no outputs of an exported program

    range_constraints
    no range constraints

    guards_code
    no guards in an exported program

    weights
    no weights

Arguments and results that are pytrees: dataclasses, named tuples in named tuples, lists, a deque, a defaultdict with other
keys than names, a class that is a dictionary. Inputs are called as the guards call them.

    $ symtape show $RECORDINGS/pytrees_before.pt2 --signature
    inputs
    program                           kind            input              bound to                meta
    pytrees_before/models/model.json  user_input      batch_ids          L['batch'].ids          f32[s29, 4][4, 1]cpu
    pytrees_before/models/model.json  user_input      batch_mask         L['batch'].mask         f32[s29, 4][4, 1]cpu
    pytrees_before/models/model.json  user_input      nested_pair_left   L['nested'].pair.left   f32[3][1]cpu
    pytrees_before/models/model.json  user_input      nested_pair_right  L['nested'].pair.right  f32[2][1]cpu
    pytrees_before/models/model.json  user_input      nested_rows_0      L['nested'].rows[0]     f32[3][1]cpu
    pytrees_before/models/model.json  constant_input  nested_rows_1      L['nested'].rows[1]     None
    pytrees_before/models/model.json  user_input      words_0            L['words'][0]           f32[6][1]cpu
    pytrees_before/models/model.json  user_input      keyed_1            L['keyed'][1]           f32[s29][1]cpu
    pytrees_before/models/model.json  user_input      keyed_it_s         L['keyed']["it's"]      f32[1][1]cpu

    outputs
    program                           kind         output             goes to                  meta
    pytrees_before/models/model.json  user_output  add_1              output[0]['logits']      f32[s29][1]cpu
    pytrees_before/models/model.json  user_output  add                output[0]['pair'].left   f32[3][1]cpu
    pytrees_before/models/model.json  user_output  nested_pair_right  output[0]['pair'].right  f32[2][1]cpu
    pytrees_before/models/model.json  user_output  words_0            output[1]                f32[6][1]cpu
    pytrees_before/models/model.json  user_output  -                  output[2]                -

    range_constraints
    program                           symbol  min  max
    pytrees_before/models/model.json  s29       2    -

    guards_code
    program                           guard
    pytrees_before/models/model.json  L['batch'].ids.size()[0] == L['batch'].mask.size()[0]
    pytrees_before/models/model.json  L['batch'].mask.size()[0] == L['keyed'][1].size()[0]

Of two versions, the paths that changed are listed: a field of the batch, a result that has another name, a new one.

    $ symtape diff $RECORDINGS/pytrees_before.pt2 $RECORDINGS/pytrees_after.pt2 --only graphs,nodes
    before: $RECORDINGS/pytrees_before.pt2
    after: $RECORDINGS/pytrees_after.pt2
      * 1 graph changed, 2 nodes new, 7 nodes changed

    User lines (+ new, - gone, ~ changed)
      nodes  user line           code
         ~2  demo/pytrees.py:57  total = (batch.tokens * batch.mask).sum(1)
         ~1  demo/pytrees.py:59  return Output(scores=total + keyed[1], pair=Pair(left, nested.pair.right),
         +1  demo/pytrees.py:60  loss=total.mean()), words[0], None

    Shape of graphs
      change   before  after  graph     more
      changed      14     15  exported  calls 4, now 5; outputs 5, now 6

    Nodes of graphs by user line
      change   times  level     node                  more                                                                             user line           code
      new          1  exported  output[0]['loss']     f32[][]cpu                                                                       -                   -
      new          1  exported  aten.mean.default     f32[][]cpu                                                                       demo/pytrees.py:60  loss=total.mean()), words[0], None
      changed      1  exported  L['batch'].mask       f32[s29, 4][4, 1]cpu, now f32[s11, 4][4, 1]cpu                                   -                   -
      changed      1  exported  L['batch'].tokens     L['batch'].ids f32[s29, 4][4, 1]cpu, now L['batch'].tokens f32[s11, 4][4, 1]cpu  -                   -
      changed      1  exported  L['keyed'][1]         f32[s29][1]cpu, now f32[s11][1]cpu                                               -                   -
      changed      1  exported  output[0]['scores']   output[0]['logits'] f32[s29][1]cpu, now output[0]['scores'] f32[s11][1]cpu       -                   -
      changed      1  exported  aten.mul.Tensor       f32[s29, 4][4, 1]cpu, now f32[s11, 4][4, 1]cpu                                   demo/pytrees.py:57  total = (batch.tokens * batch.mask).sum(1)
      changed      1  exported  aten.sum.dim_IntList  f32[s29][1]cpu, now f32[s11][1]cpu                                               demo/pytrees.py:57  total = (batch.tokens * batch.mask).sum(1)
      changed      1  exported  aten.add.Tensor       f32[s29][1]cpu, now f32[s11][1]cpu                                               demo/pytrees.py:59  return Output(scores=total + keyed[1], pair=Pair(left, nested.pair.right),
    [exit 1]

    $ symtape diff -q $RECORDINGS/pytrees_before.pt2 $RECORDINGS/pytrees_before.pt2 && echo same
    same
