Usage that a newcomer gets wrong: each answer says what to do.

A kind is misspelt, or abbreviated, or its compile is missing.

    $ symtape show $RECORDINGS/train.log.zst:fwd
    2> symtape: "fwd" is not COMPILE[_ATTEMPT][:KIND[#I]]; did you mean 0/0:forward?
    [exit 2]

    $ symtape show $RECORDINGS/train.log.zst:forward
    2> symtape: "forward" is not COMPILE[_ATTEMPT][:KIND[#I]]; did you mean 0/0:forward?
    [exit 2]

    $ symtape show $RECORDINGS/train.log.zst:0/0:fwd
    2> symtape: $RECORDINGS/train.log.zst: no graph is of kind "fwd"; did you mean "forward"?
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:bwd
    2> symtape: $RECORDINGS/train.log.zst: no graph is of kind "bwd"; did you mean "backward"?
    [exit 2]

    $ symtape show $RECORDINGS/train.log.zst --graph 0/0:backwrad
    2> symtape: no graph is of kind "backwrad"; did you mean "backward"?
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:aot_foward_graph
    2> symtape: $RECORDINGS/train.log.zst: no graph is of kind "aot_foward_graph"; did you mean "aot_forward_graph"?
    [exit 2]

A list of show stands where a part of the tape, an event or an artifact is expected.

    $ symtape show $RECORDINGS/train.log.zst:gaurds
    2> symtape: "gaurds" is not COMPILE[_ATTEMPT][:KIND[#I]], as in 0/0:forward
    2> symtape: did you mean: symtape show $RECORDINGS/train.log.zst --guards?
    [exit 2]

    $ symtape show $RECORDINGS/train.log.zst gaurds
    2> symtape: show: too many arguments; did you mean --guards?
    [exit 2]

    $ symtape show $RECORDINGS/mlp.log.zst --events gaurds
    2> symtape: no event "gaurds"; did you mean --guards?
    [exit 2]

    $ symtape show $RECORDINGS/mlp.log.zst --artifact gaurds
    2> symtape: no artifact "gaurds"; did you mean --guards?
    [exit 2]

    $ symtape show $RECORDINGS/mlp.log.zst --gaurds
    2> symtape: show: unknown option --gaurds; did you mean --guards?
    [exit 2]

A program has to be recorded.

    $ echo 'print(1)' > train.py

    $ symtape import train.py
    2> symtape: train.py: a Python program, not a recording; to record it, run: symtape record -o train.tape -- python train.py
    [exit 3]

    $ symtape import -o train.tape train.py
    2> symtape: 1 damaged place; kept as raw bytes, the rest was read
    2> symtape: train.py:1: offset 0: not a record
    2> symtape: train.py: a Python program, not a recording; to record it, run: symtape record -o train.tape -- python train.py
    [exit 3]

    $ symtape profile train.py
    2> symtape: train.py: a Python program, not a recording; to record it, run: symtape record -o train.tape -- python train.py
    [exit 3]

    $ symtape diff train.py train.py
    2> symtape: train.py: a Python program, not a recording; to record it, run: symtape record -o train.tape -- python train.py
    [exit 3]

    $ symtape record train.py
    2> symtape: cannot run train.py; did you mean: symtape record -- python train.py?
    [exit 127]

    $ symtape import $RECORDINGS/mlp.log.zst
    2> symtape: import: -o TAPE is missing; it names the tape to write: symtape import -o mlp.tape $RECORDINGS/mlp.log.zst
    [exit 2]

    $ symtape import - < /dev/null
    2> symtape: import: -o TAPE is missing; it names the tape to write: symtape import -o stdin.tape -
    [exit 2]

An operator that no graph calls cannot be ablated.

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate free:nonsense
    2> symtape: --ablate: no graph calls nonsense; symtape replay --operators lists the operators
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate free:aten.sni
    2> symtape: --ablate: no graph calls aten.sni; did you mean "aten.sin"?
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate free:aten.sin
    2> symtape: --ablate: no graph calls aten.sin; symtape replay --operators lists the operators
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate free:aten.ad
    2> symtape: --ablate: no graph calls aten.ad; did you mean "aten.add"?
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate cache,fastpath:aten.add.Tensro
    2> symtape: --ablate: no graph calls aten.add.Tensro; did you mean "aten.add.Tensor"?
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate fastpaht
    2> symtape: --ablate: no ablation fastpaht; there are fastpath[:OPERATOR], fastpath-if-symbolic, always-slow, restore-mode-before-slow, cache[:OPERATOR], cached-meta, short-circuit-alloc, no-dispatch, device-property, inline:OPERATOR, identity:OPERATOR, free:OPERATOR and roofline; did you mean "fastpath"?
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate roofline:add
    2> symtape: --ablate: roofline has no operator
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate free
    2> symtape: --ablate: free needs an operator: free:aten.add
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate cache:
    2> symtape: --ablate: cache needs an operator: cache:aten.add
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate cache+
    2> symtape: --ablate: an ablation is missing
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate cache+cache
    2> symtape: --ablate: cache+cache names an ablation twice
    [exit 2]

    $ symtape replay $RECORDINGS/mlp.log.zst --ablate cache+fastpath+roofline+no-dispatch+device-property
    2> symtape: --ablate: cache+fastpath+roofline+no-dispatch+device-property combines more than 4
    [exit 2]

Words of lists.

    $ symtape replay $RECORDINGS/mlp.log.zst --dynamic bach
    2> symtape: --dynamic: no policy bach; there are recorded, static, batch, partial, auto and all; did you mean "batch"?
    [exit 2]

    $ symtape diff $RECORDINGS/mlp.log.zst $RECORDINGS/mlp.log.zst --only gaurds
    2> symtape: diff: --only: "gaurds" is not one of compiles, restarts, recompiles, breaks, failures, specializations, guards, asserts, suppressed, symbols, graphs, nodes, operators, dispatches, size_uses, caches, measures, times, phases, line_times; did you mean "guards"?
    [exit 2]

    $ symtape profile $RECORDINGS/mlp.log.zst --by lines
    2> symtape: profile: --by: "lines" is not one of op, line, stack, module; did you mean "line"?
    [exit 2]

    $ symtape minify $RECORDINGS/mlp.log.zst:0/0:inference --passes sice --check true
    2> symtape: --passes: there is no pass "sice"; --list-passes lists them
    [exit 2]

    $ symtape minify $RECORDINGS/mlp.log.zst:0/0:inference --has-ops aten.sni
    2> symtape: $RECORDINGS/mlp.log.zst:0/0:inference: does not fail: it does not have all of the calls of --has-ops, which have the names that symtape show --graph prints, as in aten.add.Tensor
    [exit 1]

    $ symtape run $RECORDINGS/mlp.log.zst --sizes 31
    2> symtape: --sizes: "31" is neither SYMBOL=NUMBER, as in s77=31, nor a file
    [exit 2]

    $ symtape --json info $RECORDINGS/mlp.log.zst
    2> symtape: --json goes behind the command: symtape info --json ...
    [exit 2]

    $ symtape info -x
    2> symtape: info: unknown option -x; --help lists the options
    [exit 2]

    $ echo no > base.json; symtape check $RECORDINGS/mlp.log.zst --baseline base.json
    2> symtape: base.json: offset 0: expected a value
    [exit 3]

    $ symtape export $RECORDINGS/mlp.log.zst -o base.json
    2> symtape: base.json exists already; --overwrite replaces it
    [exit 2]

The cause of a failure, the whole message and the user's frames.

    $ symtape show $RECORDINGS/data_dependent.log.zst --failures --stack
    compile    0/0_0
    type       UserError
    user line  demo/data_dependent.py:13
    code       if y.shape[0] > 4:
    message    Consider annotating your code using torch._check*(). Could not guard on data-dependent expression u1 > 4 (unhinted: u1 > 4). (Size-like symbols: none)
    cause      GuardOnDataDependentSymNode: Could not guard on data-dependent expression u1 > 4 (unhinted: u1 > 4). (Size-like symbols: none)
      whole message:
        Consider annotating your code using torch._check*(). Could not guard on data-dependent expression u1 > 4 (unhinted: u1 > 4). (Size-like symbols: none)

        consider using data-dependent friendly APIs such as guard_or_false, guard_or_true and statically_known_true.
        Caused by: if y.shape[0] > 4: # demo/data_dependent.py:13 in keep_large (_dynamo/variables/tensor.py:2606 in evaluate_expr)
        For more information, run with TORCH_LOGS="dynamic"
        For extended logs when we create symbols, also add TORCHDYNAMO_EXTENDED_DEBUG_CREATE_SYMBOL="u1"
        If you suspect the guard was triggered from C++, add TORCHDYNAMO_EXTENDED_DEBUG_CPP=1
        For more debugging help, see https://docs.google.com/document/d/1HSuTTVvYH1pTew89Rtpeu84Ht3nQEFTYhAX3Ypa_xJs/edit?usp=sharing

        User Stack (most recent call last):
        (snipped, see stack below for prefix)
        File "/home/user/demo/data_dependent.py", line 13, in keep_large
        if y.shape[0] > 4:
        ^^^^^^^^^^^^^^^

        For C++ stack trace, run with TORCHDYNAMO_EXTENDED_DEBUG_CPP=1
        For more information about this error, see: https://pytorch.org/docs/main/generated/exportdb/index.html#constrain-as-size-example
      user stack:
        File "/home/user/demo/data_dependent.py", line 13, in keep_large
          if y.shape[0] > 4:

    $ symtape show $RECORDINGS/data_dependent.log.zst --failures --stack --json | python3 -c 'import json, sys
    > f = json.load(sys.stdin)["failures"][0]; print(f["cause"]); print(f["user_stack"])'
    GuardOnDataDependentSymNode: Could not guard on data-dependent expression u1 > 4 (unhinted: u1 > 4).  (Size-like symbols: none)
    [{'file': '/home/user/demo/data_dependent.py', 'line': 13, 'function': 'keep_large', 'code': 'if y.shape[0] > 4:'}]

Former names of options are accepted.

    $ symtape run --backend null $RECORDINGS/train.log.zst:0/0:forward --save tanh
    > symtape bisect $RECORDINGS/train.log.zst:0/0 --guard 's23 < 16' --only 12
    > symtape bisect --between $RECORDINGS/train.log.zst
    > symtape minify $RECORDINGS/train.log.zst:0/0:forward --backend eager
    > symtape why $RECORDINGS/encoder.log.zst s27 --set s77=3
    > symtape replay --all $RECORDINGS/inductor.log.zst | head -2
    2 graphs of 1 attempt, 18 calls (5 Dynamo, 13 ATen): all match; 2 guards: 0 computed, 2 from the record
    other graphs: 6, 62 calls: 62 match, 0 mismatch, 0 refused, 0 unsupported
    2> symtape: --save-nodes goes with --outputs FILE, where it is written
    2> symtape: bisect: --first-bad: "12" is not an event's id, as in e1c81bad162d1681; the last line of an earlier run prints it
    2> symtape: bisect: --first-difference needs two TAPEs
    2> symtape: --torch-backend, --cpu, --values, --import, --env and --config need --torch-oracle
    2> symtape: why: --sizes needs --between

A near miss of any name gets a suggestion; the text of a graph is told from a recording.

    $ symtape check --max gaurds:1 $RECORDINGS/mlp.log.zst
    > symtape check --max guards:1,recompile:0 $RECORDINGS/mlp.log.zst
    > symtape minify $RECORDINGS/mlp.log.zst:0/0:fwd
    > symtape minify $RECORDINGS/mlp.log.zst:fwd
    2> symtape: check: --max: "gaurds" is not a measure; did you mean "guards"?
    2> symtape: check: --max: "recompile" is not a measure; did you mean "recompiles"?
    2> symtape: $RECORDINGS/mlp.log.zst: no graph is of kind "fwd"; did you mean "forward"?
    2> symtape: "fwd" is not COMPILE[_ATTEMPT][:KIND[#I]]; did you mean 0/0:forward?
    [exit 2]

    $ symtape minify -q $RECORDINGS/train.log.zst:0/0:dynamo --guard 's23 < 16' -o g.tape --fx g.fx > out; symtape replay g.fx
    2> symtape: g.fx: the text of a graph, not a recording; symtape minify, symtape bisect and symtape rewrite take it, as in: symtape bisect --list g.fx
    [exit 3]

Options of symtape TAPE stand before it, too; those of a command do not.

    $ symtape --all -q $RECORDINGS/mlp.log.zst | head -1
    779 ms of compiling: 2 compiles, 2 attempts, 4 graphs, 0 guards; 113 records

    $ symtape --all -o all.json --json $RECORDINGS/mlp.log.zst && head -c 30 all.json; echo
    {"schema":"symtape.diagnosis/1

    $ symtape --guards show $RECORDINGS/mlp.log.zst
    > symtape --all info $RECORDINGS/mlp.log.zst
    > symtape --json info $RECORDINGS/mlp.log.zst
    2> symtape: unknown option --guards; options of a command go behind it: symtape show ...
    2> symtape: info has no option --all; symtape info --help lists its options
    2> symtape: --json goes behind the command: symtape info --json ...
    [exit 2]

What is in the wrong place, or goes with something else, is answered with what would be right.

    $ symtape why s27 $RECORDINGS/encoder.log.zst
    > symtape diff $RECORDINGS/mlp.log.zst
    > symtape export $RECORDINGS/mlp.log.zst:0/0:forward
    > symtape run $RECORDINGS/mlp.log.zst --samples 3
    > symtape run $RECORDINGS/mlp.log.zst --compare-with gpu
    > symtape run $RECORDINGS/train.log.zst:0/0:forward --perturb tahn=1
    > symtape -h info | head -1
    Usage: symtape info [options] TAPE[@RECORDING]...
    2> symtape: why: s27: no such file; did you mean: symtape why $RECORDINGS/encoder.log.zst s27?
    2> symtape: diff: name the two sides that are to be compared, as in: symtape diff before.tape after.tape
    2> symtape: export: $RECORDINGS/mlp.log.zst:0/0:forward: a log is that of a whole recording; --python writes a graph, and symtape show prints it
    2> symtape: --samples goes with --save-nodes, whose values it thins out
    2> symtape: --compare-with gpu: there is no such file or backend; the backends are cpu, cuda and null
    2> symtape: 0/0_0:aot_forward_graph: --perturb: no node tahn; did you mean "tanh"?
