Archives and logs that a stranger made.

Requires: shared

A .pt2 that says of a value, a name or a target what cannot be is refused by every command that reads it, with the
place. (Names that are none in Python only get others.)

    $ for f in "$SHARED"/hostile/*.pt2; do symtape info "$f" 2>&1 >/dev/null | sed "s:.*/hostile/::"; done
    complex_arg.pt2:1: graph mlp/models/model.json: node linear: argument q: as_complex: found a string, expected a number
    custom_obj.pt2:1: graph mlp/models/model.json: node linear: argument q: as_custom_obj: name __import__('os').system('touch symtape-was-here-custom'): not a dotted name in Python
    device_arg.pt2:1: graph mlp/models/model.json: node linear: argument device: as_device: device cpu", layout=__import__('os').system('touch symtape-was-here-device_arg') and No: not a device of PyTorch with an index of 0 to 127
    device_in.pt2:1: graph mlp/models/model.json: value x: device cpu", layout=__import__("os").system("touch symtape-was-here-device_in") and Non: not a device of PyTorch with an index of 0 to 127
    float_inf.pt2:1: graph mlp/models/model.json: node layer_norm: argument eps: as_float: found a string, expected a number
    float_str.pt2:1: graph mlp/models/model.json: node layer_norm: argument eps: as_float: found a string, expected a number
    input_name.pt2: 1 name of a node or an input is not an identifier in Python and was replaced
    int_str.pt2:1: graph mlp/models/model.json: node mean: argument dim: as_ints: found a string, expected an integer
    key.pt2:1: graph mlp/models/model.json: node layer_norm: name eps=__import__('os').system('touch symtape-was-here-key') and 1e-5 or 1e-5, cudn: not a name in Python
    node_name.pt2: 1 name of a node or an input is not an identifier in Python and was replaced
    operator_arg.pt2:1: graph mlp/models/model.json: node linear: argument q: as_operator: not the name of an operator or function
    sym_name.pt2:1: graph mlp/models/model.json: value x: sizes: symbol s77=1;import os;os.system(1)#: not a name in Python
    target_expr.pt2:1: graph mlp/models/model.json: node linear: target torch.ops.aten.linear.default if __import__('os').system('touch symtape-was-here: not the name of an operator or function
    target_nl.pt2:1: graph mlp/models/model.json: node linear: target torch.ops.aten.sin.default(x)?    __import__('os').system('touch symtape-was-her: not the name of an operator or function
    target_nl0.pt2:1: graph mlp/models/model.json: node linear: target torch.ops.aten.sin.default(x)?__import__('os').system('touch symtape-was-here-ta: not the name of an operator or function

    $ for f in "$SHARED"/hostile/*.pt2; do
    >     for c in info show 'show --graphs' replay profile bisect 'diff --json' 'check --save saved' 'export --python'; do
    >         test "$c" = 'diff --json' && set -- "$f" "$f" || set -- "$f"
    >         symtape $c "$@" >out 2>err; echo $? >>codes
    >         rm -f saved; grep -q 'out of memory' out err && echo "$c $f: out of memory"
    >     done
    >     echo $(basename "$f") $(tr '\n' ' ' <codes); rm codes
    > done
    complex_arg.pt2 3 3 3 3 3 3 3 3 3
    custom_obj.pt2 3 3 3 3 3 3 3 3 3
    device_arg.pt2 3 3 3 3 3 3 3 3 3
    device_in.pt2 3 3 3 3 3 3 3 3 3
    float_inf.pt2 3 3 3 3 3 3 3 3 3
    float_str.pt2 3 3 3 3 3 3 3 3 3
    input_name.pt2 0 0 0 0 0 0 0 0 0
    int_str.pt2 3 3 3 3 3 3 3 3 3
    key.pt2 3 3 3 3 3 3 3 3 3
    node_name.pt2 0 0 0 0 0 0 0 0 0
    operator_arg.pt2 3 3 3 3 3 3 3 3 3
    string_arg.pt2 0 0 0 1 0 1 0 0 0
    sym_name.pt2 3 3 3 3 3 3 3 3 3
    target_expr.pt2 3 3 3 3 3 3 3 3 3
    target_nl.pt2 3 3 3 3 3 3 3 3 3
    target_nl0.pt2 3 3 3 3 3 3 3 3 3

What a graph cannot be walked for is told with that graph; the others go on.

    $ symtape replay "$SHARED/hostile/device_minus_one.log" 2>/dev/null
    4 graphs of 1 attempt, 88 calls (44 joint, 44 ATen): all match; 1 guard: 0 computed, 1 from the record
    kernel guards: 0 reproduced, 0 missing, 0 extra, 1 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      0      0         -        -            -        -  cond_true_0: input l_s_modules_b_parameters_bias__false_branch: no tensor is passed where one was recorded
    0/0_0:aot_joint_graph         44     44         -        -            -        -  -
    0/0_0:aot_forward_graph       11     11         -        -            -        -  -
    0/0_0:aot_backward_graph      33     33         -        -            -        -  -
    [exit 3]

    $ symtape profile "$SHARED/hostile/device_minus_one.log" 2>/dev/null | head -2
    1.86 s of compiling: 1 compile, 1 attempt, 4 graphs, 1 guard; 79 records
    No failure, recompile, restart, graph break or costly line was found.

Nothing of it ran.

    $ ls | grep was-here
    [exit 1]
