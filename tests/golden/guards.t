# symtape guards

A function of tensors, an int and a dict, whose calls are those of cache.t. All its guards are on arguments:

    $ symtape guards --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    3 recompiles of 1 function with 4 entries: 5 of 17 guards told calls apart, most often L['x'] torch.float32 size=[4, 8] stride=[8, 1]
    A check that passes took PyTorch 95.6 us ("Guard latency", the median of the entries)
    12 look-ups made 23 checks; a look-up cost 13.9 guards and 4.8 accessors, about 130 us by their share of the latency
    0 of 17 guards can go

    Functions; guards of several entries count once
    entries  guards  shared  accessors  look-ups  guards a look-up  function
          4      17      10          4        12              13.9  demo/sequence.py:13 in scale

    Guards that told calls apart; times: checks that they ended
    times  entries      kind          guard                                           user line
        5  0/0          TENSOR_MATCH  L['x'] torch.float32 size=[4, 8] stride=[8, 1]  demo/sequence.py:15
        4  0/0 0/1      EQUALS_MATCH  L['k'] == 2                                     demo/sequence.py:16
        3  0/0 0/1 0/2  EQUALS_MATCH  L['options']['mode'] == 'sum'                   demo/sequence.py:14
        3  0/3          EQUALS_MATCH  L['options']['mode'] == 'keep'                  demo/sequence.py:14
        2  0/1 0/2 0/3  LAMBDA_GUARD  2 <= L['x'].size()[0]                           demo/sequence.py:15

    Entries; latency: what PyTorch measured when it compiled
    entry  guards  accessors  latency  function
    0/0        13          4  85.4 us  demo/sequence.py:13 in scale
    0/1        14          4   112 us  demo/sequence.py:13 in scale
    0/2        14          4  88.0 us  demo/sequence.py:13 in scale
    0/3        14          4   103 us  demo/sequence.py:13 in scale

    Kinds of guards and accessors
    guards  in all entries  kind
         5              20  DIMENSION_DYNAMIC_MARKING_GUARD
         3               6  EQUALS_MATCH
         2               7  LAMBDA_GUARD
         2               4  TENSOR_MATCH
         2               6  TYPE_MATCH
         1               4  DEFAULT_DEVICE
         1               4  GLOBAL_STATE
         1               4  TORCH_FUNCTION_MODE_STACK
         3              12  FrameLocalsGuardAccessor
         1               4  DictGetItemGuardAccessor

Without calls, what PyTorch logged for recompiles says which guards told calls apart:

    $ symtape guards -q -n 5 $RECORDINGS/encoder.log.zst
    1 recompile of 1 function with 2 entries: 1 of 501 guards told calls apart as far as PyTorch logged it, most often (L['x'].size()[1] % 8) != 0
    A check that passes took PyTorch 228 us ("Guard latency", the median of the entries)
    Which guards can go is not known: there are no calls; record them with symtape record --calls, or name a file with --calls FILE

    Functions; guards of several entries count once
    entries  guards  shared  accessors  look-ups  guards a look-up  function
          2     501     394        204         -                 -  demo/encoder.py:55 in forward

    Guards that PyTorch logged for recompiles
    times  entries  kind          guard                        user line
        1  0/0      LAMBDA_GUARD  (L['x'].size()[1] % 8) != 0  demo/encoder.py:25

    Entries; latency: what PyTorch measured when it compiled
    entry  guards  accessors  latency  function
    0/0       478        202   266 us  demo/encoder.py:55 in forward
    0/1       429        185   190 us  demo/encoder.py:55 in forward

    Kinds of guards and accessors
    guards  in all entries  kind
       185             370  DIMENSION_DYNAMIC_MARKING_GUARD
       107             122  LAMBDA_GUARD
        84             167  TYPE_MATCH
        37              74  TENSOR_MATCH
        34              68  DICT_CONTAINS
      ... and 15 more

Calls of another program make no check, so they prove nothing:

    $ symtape guards -q -n 1 --calls $RECORDINGS/sequence.jsonl $RECORDINGS/encoder.log.zst | head -3
    1 recompile of 1 function with 2 entries: 1 of 501 guards told calls apart, most often (L['x'].size()[1] % 8) != 0
    A check that passes took PyTorch 228 us ("Guard latency", the median of the entries)
    Which guards can go is not known: these calls made no check of an entry

    $ symtape guards -q --filter --calls $RECORDINGS/sequence.jsonl $RECORDINGS/encoder.log.zst
    2> symtape: $RECORDINGS/encoder.log.zst: which guards can go is not known: these calls made no check of an entry
    [exit 2]

A module. The last call of its three fails the guards of the first entry:

    $ for n in 4 6 9; do echo '{"call": '$n', "function": "forward", "module": 0, "args": [{"source": "L[\"x\"]", "size": ['$n', 16], "stride": [16, 1], "dtype": "torch.float32"}]}' | sed "s/\\\\\"/'/g"; done > mlp.jsonl

    $ symtape guards --calls mlp.jsonl -n 3 $RECORDINGS/mlp.log.zst
    1 recompile of 1 function with 2 entries: 1 of 55 guards told calls apart, most often L['x'] torch.float32 size=[4, 16] stride=[16, 1]
    A check that passes took PyTorch 138 us ("Guard latency", the median of the entries)
    3 look-ups made 2 checks; a look-up cost 13.0 guards and 9.0 accessors, about 53.5 us by their share of the latency
    43 of 55 guards can go; a look-up then costs 4.0 guards and 0.7 accessors, about 10.9 us
    Without them 3 look-ups of these calls have the answers that they had; other calls can be answered wrongly

    Functions; guards of several entries count once
    entries  guards  shared  accessors  look-ups  guards a look-up  function
          2      55      52         26         3              13.0  demo/mlp.py:14 in forward

    Guards that told calls apart; times: checks that they ended
    times  entries  kind          guard                                             user line
        1  0/0      TENSOR_MATCH  L['x'] torch.float32 size=[4, 16] stride=[16, 1]  modules/linear.py:134

    Entries; latency: what PyTorch measured when it compiled
    entry  guards  accessors  latency  function
    0/0        53         26   128 us  demo/mlp.py:14 in forward
    0/1        54         26   147 us  demo/mlp.py:14 in forward

    Kinds of guards and accessors
    guards  in all entries  kind
        25              50  DIMENSION_DYNAMIC_MARKING_GUARD
        11              22  TYPE_MATCH
         6              12  ID_MATCH
      ... and 11 more

    A filter that removes the guards that can go
    # 43 guards that told none of 3 look-ups apart.
    # Other calls can be answered wrongly without them.
    import re

    REMOVED_GUARDS = (
        "G",
        "L['self']",
    )

    def keep_guards(guards):
        def keep(name):
            at = re.search(r"\b[LG]\[", name)
            name = name[at.start():] if at else ""
            return not any(
                name.startswith(r)
                and name[len(r):][:1] in ".[),"
                for r in REMOVED_GUARDS)
        return [keep(g.orig_guard.name) for g in guards]

    # torch.compile(f, options={
    #     "guard_filter_fn": keep_guards})

Calls that the tape contradicts, since its second compile was for 6 rows, prove nothing:

    $ sed 's/"size": .6,/"size": [8,/' mlp.jsonl | symtape guards -q --calls - $RECORDINGS/mlp.log.zst | grep -E 'logged|proved'
    1 compile: PyTorch logged other reasons, so the calls are others, or a value changed that they do not list
    So it is not proved that the calls have the same answers without them
    # Not proved: these guards may have told calls apart.

The filter alone is a Python program:

    $ symtape guards --calls mlp.jsonl --filter $RECORDINGS/mlp.log.zst
    # 43 guards that told none of 3 look-ups apart.
    # Other calls can be answered wrongly without them.
    import re

    REMOVED_GUARDS = (
        "G",
        "L['self']",
    )

    def keep_guards(guards):
        def keep(name):
            at = re.search(r"\b[LG]\[", name)
            name = name[at.start():] if at else ""
            return not any(
                name.startswith(r)
                and name[len(r):][:1] in ".[),"
                for r in REMOVED_GUARDS)
        return [keep(g.orig_guard.name) for g in guards]

    # torch.compile(f, options={
    #     "guard_filter_fn": keep_guards})

Arguments stay unless they are asked for, and tensors stay in any case:

    $ for n in 0 1; do echo '{"call": '$n', "function": "shuffle", "args": []}'; done > shuffle.jsonl; symtape guards -q --calls shuffle.jsonl -f shuffle $RECORDINGS/releases.log.zst | grep go
    5 of 54 guards can go; a look-up then costs 4.5 guards and 2.0 accessors, about 50.6 us
    A filter that removes the guards that can go

    $ symtape guards -q --calls shuffle.jsonl -f shuffle --arguments $RECORDINGS/releases.log.zst | grep -E 'go|L\['
    6 of 54 guards can go; a look-up then costs 4.0 guards and 1.5 accessors, about 42.8 us
    A filter that removes the guards that can go
        "L['n']",

Calls of another width than the compiles on the tape, so that entries are assumed:

    $ sed 's/"size": \[9, 8\], "stride": \[8, 1\]/"size": [9, 10], "stride": [10, 1]/' $RECORDINGS/sequence.jsonl | symtape guards -q --calls - $RECORDINGS/sequence.log.zst | sed '/^Entries/,$d'
    3 recompiles of 1 function with 4 entries: 5 of 17 guards told calls apart, most often L['x'] torch.float32 size=[4, 8] stride=[8, 1]
    A check that passes took PyTorch 95.6 us ("Guard latency", the median of the entries)
    12 look-ups made 14 checks; a look-up cost 6.7 guards and 1.8 accessors, about 60.6 us by their share of the latency
    0 of 17 guards can go
    2 compiles not on the tape: the guards of such an entry are not counted
    2 compiles: PyTorch logged other reasons, so the calls are others, or a value changed that they do not list

    Functions; guards of several entries count once
    entries  guards  shared  accessors  look-ups  guards a look-up  function
          4      17      10          4        12               6.7  demo/sequence.py:13 in scale

    Guards that told calls apart; times: checks that they ended
    times  entries      kind          guard                                              user line
        7  0/0          TENSOR_MATCH  L['x'] torch.float32 size=[4, 8] stride=[8, 1]     demo/sequence.py:15
        4  0/1 0/2 0/3  TENSOR_MATCH  L['x'] torch.float32 size=[None, 8] stride=[8, 1]  demo/sequence.py:15
        2  0/0 0/1      EQUALS_MATCH  L['k'] == 2                                        demo/sequence.py:16
        -  0/0 0/1 0/2  EQUALS_MATCH  L['options']['mode'] == 'sum'                      demo/sequence.py:14
        -  0/1 0/2 0/3  LAMBDA_GUARD  2 <= L['x'].size()[0]                              demo/sequence.py:15

The merged tree: what only some entries have is marked, and so is what told calls apart:

    $ symtape guards -q --tree --function scale --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst | tail -26 | cut -c -100
         1               4  TORCH_FUNCTION_MODE_STACK
         3              12  FrameLocalsGuardAccessor
         1               4  DictGetItemGuardAccessor

    demo/sequence.py:13 in scale; * told calls apart, [entries] that have it
      LAMBDA_GUARD torch._functorch.aot_autograd.utils.top_saved_tensors_hooks ids == None
      GLOBAL_STATE ___check_global_state() against {"allow_bf16_reduce":0,"allow_fp16_reduce":0,"allow_t
      TORCH_FUNCTION_MODE_STACK ___check_torch_function_mode_stack()
      DEFAULT_DEVICE utils_device.CURRENT_DEVICE == None
      L['k']
        * EQUALS_MATCH L['k'] == 2  [0/0 0/1]
        TYPE_MATCH ___check_type_id(L['k']), type=<class 'int'>  [0/2 0/3]
      L['x']
        * TENSOR_MATCH L['x'] torch.float32 size=[4, 8] stride=[8, 1]  [0/0]
        DIMENSION_DYNAMIC_MARKING_GUARD hasattr(L['x'], '_dynamo_dynamic_indices') == False
        DIMENSION_DYNAMIC_MARKING_GUARD hasattr(L['x'], '_dynamo_weak_dynamic_indices') == False
        DIMENSION_DYNAMIC_MARKING_GUARD hasattr(L['x'], '_dynamo_unbacked_indices') == False
        DIMENSION_DYNAMIC_MARKING_GUARD hasattr(L['x'], '_dynamo_strict_unbacked_indices') == False
        DIMENSION_DYNAMIC_MARKING_GUARD hasattr(L['x'], '_dynamo_static_indices') == False
        TENSOR_MATCH L['x'] torch.float32 size=[None, 8] stride=[8, 1]  [0/1 0/2 0/3]
      L['options']
        TYPE_MATCH ___check_type_id(L['options']), type=<class 'dict'>
        L['options']['mode']
          * EQUALS_MATCH L['options']['mode'] == 'sum'  [0/0 0/1 0/2]
          * EQUALS_MATCH L['options']['mode'] == 'keep'  [0/3]
      * LAMBDA_GUARD 2 <= L['x'].size()[0]  [0/1 0/2 0/3]

JSON:

    $ symtape guards -q --json --calls mlp.jsonl $RECORDINGS/mlp.log.zst | head -c 1500
    {"schema":"symtape.guards/1","totals":{"functions":1,"entries":2,"recompiles":1,"guards":55,"guards_in_entries":107,"accessors":26,"telling":1,"lookups":3,"checks":2,"unknown":0,"cost":{"guards":39,"accessors":27,"us":160.46847457627118},"filtered_cost":{"guards":12,"accessors":2,"us":32.70447457627118}},"functions":[{"code":"/home/user/demo/mlp.py:14:forward","recompiles":1,"lookups":3,"checks":2,"cost":{"guards":39,"accessors":27,"us":160.46847457627118},"filtered_cost":{"guards":12,"accessors":2,"us":32.70447457627118},"entries":[{"compile":"0/0","guards":53,"accessors":26,"latency_us":128.31},{"compile":"0/1","guards":54,"accessors":26,"latency_us":147.42}],"guards":[{"kind":"LAMBDA_GUARD","code":"torch._functorch.aot_autograd.utils.top_saved_tensors_hooks ids == None","source":null,"owner":null,"file":"_dynamo/output_graph.py","line":1135,"entries":["0/0","0/1"],"shared":true,"tells":false,"turned_away":0,"logged":0,"status":"state"},{"kind":"GLOBAL_STATE","code":"___check_global_state() against {\"allow_bf16_reduce\":0,\"allow_fp16_reduce\":0,\"allow_tf32\":false,\"autocast_state\":{\"cached_enabled\":true,\"dtype\":[15,5,5,15,5,5,15,15,5,5],\"enabled\":[false,false,false,false,false,false,false,false,false,false]},\"default_dtype\":6,\"deterministic_algorithms\":false,\"deterministic_algorithms_warn_only\":false,\"grad_mode\":false,\"num_threads\":2,\"torch_function\":true,\"torch_function_all_disabled\":false}","source":null,"owner":null,"file":null,"line":0,"entries"

Functions have names, and places:

    $ symtape guards -q -n 1 --function sequence.py:13 $RECORDINGS/sequence.log.zst | head -4
    3 recompiles of 1 function with 4 entries: 4 of 17 guards told calls apart as far as PyTorch logged it, most often L['x'] torch.float32 size=[4, 8] stride=[8, 1]
    A check that passes took PyTorch 95.6 us ("Guard latency", the median of the entries)
    Which guards can go is not known: there are no calls; record them with symtape record --calls, or name a file with --calls FILE

    $ symtape guards --function nothing $RECORDINGS/sequence.log.zst
    2> symtape: $RECORDINGS/sequence.log.zst has no function nothing with guards
    [exit 2]

Two tapes; the numbers of objects do not count:

    $ symtape guards $RECORDINGS/mlp.log.zst $RECORDINGS/mlp.log.zst
    0 guards differ, 55 are the same

    $ symtape guards -n 6 $RECORDINGS/layers.log.zst $RECORDINGS/layers_window.log.zst
    86 guards differ, 297 are the same
    entries: 1 before, 2 after

    The entries that have each guard
    before  after  kind          guard                                                                                                                                                                                                                                                                                                                                                                      function
            0/0    LAMBDA_GUARD  ((((8 + L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // (1 + ((L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // 8)))*((L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // 8) + ((8 + L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // (1 + ((L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // 8)))) % (8 + L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8))) == 0  demo/layers.py:49 in forward
            0/0    LAMBDA_GUARD  (((8 + L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // (1 + ((L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // 8)))*((L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // 8) + ((8 + L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // (1 + ((L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // 8)))) != 0                                                           demo/layers.py:49 in forward
            0/0    LAMBDA_GUARD  (((8 + L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // (1 + ((L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // 8)))*((L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // 8) + ((8 + L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // (1 + ((L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // 8)))) != 1                                                           demo/layers.py:49 in forward
            0/0    LAMBDA_GUARD  ((1 + ((L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // 8)) % (8 + L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8))) != 0                                                                                                                                                                                                                                                demo/layers.py:49 in forward
            0/0    LAMBDA_GUARD  ((8 + L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) % (1 + ((L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // 8))) == 0                                                                                                                                                                                                                                                demo/layers.py:49 in forward
            0/0    LAMBDA_GUARD  ((8 + L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // (1 + ((L['x'].size()[1] + (-1)*(L['x'].size()[1] % 8)) // 8))) != 1                                                                                                                                                                                                                                               demo/layers.py:49 in forward
      ... and 80 more
    [exit 1]

    $ symtape guards --json $RECORDINGS/mlp.log.zst $RECORDINGS/sequence.log.zst | head -c 600
    {"schema":"symtape.guards.compare/1","same":0,"entries_before":2,"entries_after":4,"changes":[{"code":"/home/user/demo/mlp.py:14:forward","kind":"DEFAULT_DEVICE","source":null,"guard":"utils_device.CURRENT_DEVICE == None","before":["0/0","0/1"],"after":null},{"code":"/home/user/demo/mlp.py:14:forward","kind":"GLOBAL_STATE","source":null,"guard":"___check_global_state() against {\"allow_bf16_reduce\":0,\"allow_fp16_reduce\":0,\"allow_tf32\":false,\"autocast_state\":{\"cached_enabled\":true,\"dtype\":[15,5,5,15,5,5,15,15,5,5],\"enabled\":[false,false,false,false,false,false,false,false,false,fal

    $ symtape guards --filter $RECORDINGS/mlp.log.zst $RECORDINGS/mlp.log.zst
    2> symtape: --calls, --filter, --arguments and --tree are for one tape
    [exit 2]

Errors:

    $ symtape guards --filter $RECORDINGS/sequence.log.zst
    2> symtape: $RECORDINGS/sequence.log.zst has no calls: record them with symtape record --calls, or name a file with --calls FILE
    [exit 2]

    $ symtape guards $RECORDINGS/exported.pt2
    2> symtape: $RECORDINGS/exported.pt2 has no guards of Dynamo
    [exit 2]

    $ echo '{"call": 0}' > bad.jsonl; symtape guards --calls bad.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: bad.jsonl: line 1: a call has no "function"
    [exit 3]

    $ symtape guards --calls nowhere.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: nowhere.jsonl: No such file or directory
    [exit 4]
