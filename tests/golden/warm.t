# symtape cache COLD WARM

Two starts of `starts.py` with one folder of caches, the second with another size and another constant:

    $ symtape cache $RECORDINGS/starts/cold.log.zst $RECORDINGS/starts/warm.log.zst
    The warm start compiled 2 of 5 graphs again (4.11 s)
    from the caches: 3 graphs (3.08 s spared); 2 were traced again by AOTAutograd
    compile time: 27.9 s cold (4 compiles), 5.22 s warm (4); 1.11 s if nothing were compiled again

    Why
      1 compiled again (3.01 s): example_inputs differs: shape=torch.Size([8, 16]) -> shape=torch.Size([9, 16])
      1 compiled again (1.10 s): gm differs: mul = torch.ops.aten.mul.Tensor(cos, 1); cos = None -> mul = torch.ops.aten.mul.Tensor(cos, 2); cos = None
      2 traced again: not cached, because it has a custom torch.autograd.Function

    To change
      make the sizes that differ between starts dynamic (symtape dynamic has the marks)
      torch._functorch.config.autograd_cache_allow_custom_autograd_functions = True

    What the caches answered
    cache        cold                warm                       spared
    FX graph     5 misses            3 hits, 2 misses           3.08 s
    AOTAutograd  3 misses, 1 bypass  1 hit, 2 misses, 1 bypass  1.16 s

    Graphs; the time was spared if they are from the cache
    compile  cold  graph     outcome           time  AOTAutograd  FX graph  differs in the key  function
    0/0      0/0   forward   compiled again  3.01 s  miss         miss      example_inputs[0]   project demo/starts.py:41
    1/0      1/0   forward   compiled again  1.10 s  miss         miss      gm                  forward demo/starts.py:32
    2/0      2/0   forward   traced again    993 ms  bypass       hit                           forward demo/starts.py:37
    2/0      2/0   backward  traced again    990 ms  bypass       hit                           forward demo/starts.py:37
    0/1      0/1   forward   from the cache  1.10 s  hit          hit                           project demo/starts.py:41
    [exit 1]

On a narrow terminal nothing is wider:

    $ echo 'script -qec "stty cols $1; COLUMNS= $2" /dev/null < /dev/null | tr -d "\r"' > tty

    $ sh tty 60 "symtape cache -n 3 $RECORDINGS/starts/cold.log.zst $RECORDINGS/starts/warm.log.zst"
    The warm start compiled 2 of 5 graphs again (4.11 s)
    from the caches: 3 graphs (3.08 s spared); 2 were traced
      again by AOTAutograd
    compile time: 27.9 s cold (4 compiles), 5.22 s warm (4);
      1.11 s if nothing were compiled again

    Why
      1 compiled again (3.01 s): example_inputs differs:
        shape=torch.Size([8, 16]) -> shape=torch.Size([9, 16])
      1 compiled again (1.10 s): gm differs: mul =
        torch.ops.aten.mul.Tensor(cos, 1); cos = None -> mul =
        torch.ops.aten.mul.Tensor(cos, 2); cos = None
      2 traced again: not cached, because it has a custom
        torch.autograd.Function

    To change
      make the sizes that differ between starts dynamic (symtape
      dynamic has the marks)
      torch._functorch.config.autograd_cache_allow_custom_autogr
      ad_functions = True

    What the caches answered
    cache        cold                warm                 spared
    FX graph     5 misses            3 hits, 2 misses     3.08 s
    AOTAutograd  3 misses, 1 bypass  1 hit, 2...1 bypass  1.16 s

    Graphs; the time was spared if they are from the cache
    compile  graph    outcome           time  differs in the key
    0/0      forward  compiled again  3.01 s  example_inputs[0]
    1/0      forward  compiled again  1.10 s  gm
    2/0      forward  traced again    993 ms
      ... and 2 more

A start against itself found none of its keys:

    $ symtape cache -n 2 $RECORDINGS/starts/cold.log.zst $RECORDINGS/starts/cold.log.zst
    The warm start compiled 5 of 5 graphs again (25.9 s)
    compile time: 27.9 s cold (4 compiles), 27.9 s warm (4); 2.00 s if nothing were compiled again

    Why
      5 compiled again (25.9 s): the cache did not have the key of the cold start

    To change
      set TORCHINDUCTOR_CACHE_DIR to one folder that is kept between the starts

    What the caches answered
    cache        cold                warm                spared
    FX graph     5 misses            5 misses                 -
    AOTAutograd  3 misses, 1 bypass  3 misses, 1 bypass       -

    Graphs; the time was spared if they are from the cache
    compile  cold  graph    outcome           time  AOTAutograd  FX graph  differs in the key  function
    0/0      0/0   forward  compiled again  21.3 s  miss         miss      same key            project demo/starts.py:41
    1/0      1/0   forward  compiled again  1.53 s  miss         miss      same key            forward demo/starts.py:32
      ... and 3 more
    [exit 1]

The other way round, and recordings without Inductor:

    $ symtape cache -n 0 $RECORDINGS/starts/warm.log.zst $RECORDINGS/starts/cold.log.zst | head -3
    The warm start compiled 5 of 5 graphs again (25.9 s)
    compile time: 5.22 s cold (4 compiles), 27.9 s warm (4); 2.00 s if nothing were compiled again

    $ symtape cache $RECORDINGS/mlp.log.zst $RECORDINGS/mlp.log.zst
    Inductor was asked for no graph in the warm start
    compile time: 779 ms cold (2 compiles), 779 ms warm (2)

    $ symtape cache $RECORDINGS/mlp.log.zst $RECORDINGS/starts/cold.log.zst | head -6
    The warm start compiled 5 graphs (25.9 s), which the cold one does not have
    compile time: 779 ms cold (2 compiles), 27.9 s warm (4)

    Why
      5 new (25.9 s): the cold start has no graph of the function

    $ symtape cache $RECORDINGS/starts/warm.log.zst $RECORDINGS/mlp.log.zst
    Inductor was asked for no graph in the warm start; 5 of the cold start were not asked for
    compile time: 5.22 s cold (4 compiles), 779 ms warm (2)

    What the caches answered
    cache        cold                       warm  spared
    FX graph     3 hits, 2 misses                      -
    AOTAutograd  1 hit, 2 misses, 1 bypass             -

JSON:

    $ symtape cache --json $RECORDINGS/starts/cold.log.zst $RECORDINGS/starts/warm.log.zst > warm.json; echo $?
    1

    $ python3 -c 'import json; d = json.load(open("warm.json")); print(d["schema"], d["totals"]); print(d["causes"]); print(d["graphs"][0])'
    symtape.cache.compare/1 {'again': 2, 'new': 0, 'traced': 2, 'taken': 1, 'unasked': 0, 'partial': False, 'again_seconds': 4.111152162, 'new_seconds': 0, 'saved_seconds': 3.080216981}
    [{'outcome': 'compiled again', 'cause': 'key', 'graphs': 1, 'seconds': 3.01223828, 'component': 'example_inputs', 'guard': None, 'message': None, 'because': None, 'remedy': None}, {'outcome': 'compiled again', 'cause': 'key', 'graphs': 1, 'seconds': 1.098913882, 'component': 'gm', 'guard': None, 'message': None, 'because': None, 'remedy': None}, {'outcome': 'traced again', 'cause': 'bypass', 'graphs': 2, 'seconds': None, 'component': None, 'guard': None, 'message': 'Unsupported call_function target autograd_function_apply. \n Function module: torch.ops.higher_order, \nFunction name: autograd_function_apply', 'because': 'it has a custom torch.autograd.Function', 'remedy': 'torch._functorch.config.autograd_cache_allow_custom_autograd_functions = True'}]
    {'recording': 'warm', 'compile': '0/0', 'cold_recording': 'cold', 'cold_compile': '0/0', 'backward': False, 'function': 'project', 'file': '/home/user/demo/starts.py', 'line': 41, 'outcome': 'compiled again', 'cause': 'key', 'fx_graph': 'miss', 'aotautograd': 'miss', 'key': 'f7wki4atczetb4csdbseatypq55mcug3frv62fd7nggksrbgdopl', 'cold_key': 'fejuywldrvobylryxzrq3wdjuwiok2l6at3vsv3g3phbhfwjcylh', 'aotautograd_key': 'ai2psmhicnxslnuosjdemurgpfmj5sr7vkof2dhgxujraaa63ww2', 'guard': None, 'message': None, 'differ': 1, 'changes': [{'component': 'example_inputs[0]', 'before': 'shape=torch.Size([8, 16])', 'after': 'shape=torch.Size([9, 16])'}], 'seconds': 3.01223828}

Options of one tape, and bad input:

    $ symtape cache --all $RECORDINGS/starts/cold.log.zst $RECORDINGS/starts/warm.log.zst
    2> symtape: --calls, --inputs, --all, --policy and the limits are for one tape
    [exit 2]

    $ symtape cache $RECORDINGS/starts/cold.log.zst nowhere.tape
    2> symtape: nowhere.tape: No such file or directory
    [exit 4]

    $ symtape cache $RECORDINGS/starts/cold.log.zst $RECORDINGS/exported.pt2
    Inductor was asked for no graph in the warm start; 5 of the cold start were not asked for

    What the caches answered
    cache        cold                warm  spared
    FX graph     5 misses                       -
    AOTAutograd  3 misses, 1 bypass             -

    $ symtape cache $RECORDINGS/starts/cold.log.zst $RECORDINGS/starts/warm.log.zst $RECORDINGS/mlp.log.zst
    2> symtape: cache: more than two tapes need --ranks
    [exit 2]

All ranks of a job are one start, unless a recording is named:

    $ symtape import -q -o both.tape $RECORDINGS/starts/cold.log.zst $RECORDINGS/starts/warm.log.zst

    $ symtape cache both.tape@cold both.tape@warm | head -1
    The warm start compiled 2 of 5 graphs again (4.11 s)

    $ symtape cache -n 3 both.tape both.tape@warm
    The warm start compiled 2 of 5 graphs again (4.11 s); 2 of the cold start were not asked for
    from the caches: 3 graphs (3.08 s spared); 2 were traced again by AOTAutograd
    compile time: 33.1 s cold (8 compiles), 5.22 s warm (4); 1.11 s if nothing were compiled again

    Why
      2 compiled again (4.11 s): the cache did not have the key of the cold start
      2 traced again: not cached, because it has a custom torch.autograd.Function

    To change
      set TORCHINDUCTOR_CACHE_DIR to one folder that is kept between the starts
      torch._functorch.config.autograd_cache_allow_custom_autograd_functions = True

    What the caches answered
    cache        cold                         warm                       spared
    FX graph     3 hits, 7 misses             3 hits, 2 misses           3.08 s
    AOTAutograd  1 hit, 5 misses, 2 bypasses  1 hit, 2 misses, 1 bypass  1.16 s

    Graphs; the time was spared if they are from the cache
    compile  cold      graph    outcome           time  AOTAutograd  FX graph  differs in the key  function
    0/0      0/0 warm  forward  compiled again  3.01 s  miss         miss      same key            project demo/starts.py:41
    1/0      1/0 warm  forward  compiled again  1.10 s  miss         miss      same key            forward demo/starts.py:32
    2/0      2/0 cold  forward  traced again    993 ms  bypass       hit                           forward demo/starts.py:37
      ... and 2 more
    [exit 1]
