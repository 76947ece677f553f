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
