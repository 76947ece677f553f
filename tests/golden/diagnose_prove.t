# symtape diagnose --prove

What a replay of the calls on the tape shows of each remedy:

    $ symtape diagnose --prove $RECORDINGS/levels.log.zst | cut -c -130
    2.53 s of compiling: 17 compiles, 24 attempts, 38 graphs, 0 guards; 710 records
     1  graph break 6 times, 712 ms of 2.53 s
        .item() makes a Python number of a tensor's value, which is not known yet
        demo/levels.py:9  total = x.sum().item()
        recorded      Dynamo does not support tracing `Tensor.item()` with config.capture_scalar_outputs=False.
        recorded      it breaks the compiled functions `first`, `second` and `third`
        suggested     torch._dynamo.config.capture_scalar_outputs = True
        proved        keep the value as a tensor, or move .item() out of the compiled function
        saves         10 of 17 compiles, 16 of 24 attempts, 6 of 7 graph breaks; about 365 ms of 2.53 s
     2  recompiled, 128 ms of 2.53 s
        L['x'].size()[0] was compiled as the constant 4, and then it was 5
        demo/levels.py:10  return x.cos() + total
        recorded      guard of 3/0 that failed: tensor 'x' size mismatch at index 0. expected 4, actual 5
        recorded      x comes from `first`, through the graph break at demo/levels.py:9
        proved        torch.compiler.config.dynamic_sources = "L['x']"
        saves         4 of 17 compiles, 7 of 24 attempts, 3 of 7 graph breaks, 101 of 535 dispatches; about 182 ms of 2.53 s
        or            mark the argument of `first` that this size comes from with torch._dynamo.mark_dynamic() before the first call o
        ... and 8 more (--all)

    $ symtape diagnose --prove --json $RECORDINGS/levels.log.zst | python3 -c "import json, sys; d = json.load(sys.stdin); print([(f['kind'], r['kind'], r['proved'], r['saves'] and r['saves']['compiles']) for f in d['findings'] for r in f['remedies']])"
    [('break', 'change_setting', False, None), ('break', 'move_call', True, 10), ('recompile', 'dynamic_sources', True, 4), ('recompile', 'change_code', False, None), ('recompile', 'mark_dynamic', True, 4), ('recompile', 'dynamic_sources', True, 4), ('recompile', 'dynamic_sources', True, 3), ('recompile', 'change_code', False, None), ('recompile', 'dynamic_sources', True, 3), ('recompile', 'change_code', False, None), ('recompile', 'dynamic_sources', True, 4), ('recompile', 'change_code', False, None), ('break', 'change_setting', False, None), ('recompile', 'dynamic_sources', True, 3), ('recompile', 'change_code', False, None), ('recompile', 'mark_dynamic', True, 4), ('recompile', 'dynamic_sources', True, 4), ('recompile', 'mark_dynamic', True, 4), ('recompile', 'dynamic_sources', True, 4)]

A tape without calls:

    $ symtape diagnose --prove $RECORDINGS/graph_break.log.zst | cmp - <(symtape $RECORDINGS/graph_break.log.zst) && echo same
    same
    2> symtape: the tape has no calls to replay: symtape record --calls notes them

Mistakes:

    $ symtape diagnose --prove $RECORDINGS/mlp.log.zst:0/0
    2> symtape: --prove replays the calls of one whole tape or recording
    [exit 2]

    $ symtape diagnose --prove $RECORDINGS/mlp.log.zst $RECORDINGS/levels.log.zst
    2> symtape: --prove replays the calls of one whole tape or recording
    [exit 2]
