# symtape dynamic

Calls with other lengths, another scale and another mode, until the limit of 4 is reached:

    $ symtape dynamic -q --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    12 calls: 4 compiles (2.21 s), 2 calls run eagerly
    with dynamic_sources as below: 4 compiles (about 2.25 s), 0 calls run eagerly instead of 2

    The same calls under other policies; only recorded's compile time was measured
    policy     compiles  compile time  entries  refused  eager  guard time  how
    recorded          4        2.21 s        4        1      2     2.19 ms  as the tape has it
    static            4        2.35 s        4        1      7     2.98 ms  torch.compile(dynamic=False)
    automatic         4        2.21 s        4        1      2     2.19 ms  torch.compile(), from the first call on
    dynamic           4        2.25 s        4        -      -     1.96 ms  torch.compile(dynamic=True)
    batch             4        2.40 s        4        1      3     2.75 ms  the first dimension of each tensor dynamic, all else static
    partial           4        2.25 s        4        -      -     1.96 ms  sizes that Python reads static, the others dynamic
    marked            4        2.25 s        4        -      -     1.96 ms  torch.compile() with the marks that symtape proposes

    Sizes and numbers that changed; served: hits at another value
    input        values                 dynamic since   recompiles  served  mark  code
    x.size()[0]  4, 6, 9, 1 and 1 more  0/1: 4, then 6           1       2  yes   demo/sequence.py:13
    k            2, 3, 5, 7             0/2: 2, then 3           1       3  yes   demo/sequence.py:13

    To paste; no fewer marks spare as much
        # 4 compiles (about 2.25 s), 1 call run eagerly instead of 2
        # where scale (demo/sequence.py:13) is called, before the call; x is its argument
        torch._dynamo.mark_dynamic(x, 0)
        # or, with numbers, 4 compiles (about 2.25 s), 0 calls run eagerly instead of 2
        # before the first call; for all functions
        torch.compiler.config.dynamic_sources = "L['x']:0,L['k']"

In 60 columns:

    $ symtape dynamic -q --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst > whole; script -qec "stty cols 60; COLUMNS= symtape dynamic -q --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst" /dev/null < /dev/null | tr -d "\\r" | sed "s,\x1b\\[[0-9;]*m,,g"
    12 calls: 4 compiles (2.21 s), 2 calls run eagerly
    with dynamic_sources as below: 4 compiles (about 2.25 s), 0
    calls run eagerly instead of 2

    The same calls under other policies; only recorded's compile
    time was measured
    policy     compiles  compile time  eager
    recorded          4        2.21 s      2
    static            4        2.35 s      7
    automatic         4        2.21 s      2
    dynamic           4        2.25 s      -
    batch             4        2.40 s      3
    partial           4        2.25 s      -
    marked            4        2.25 s      -

    Sizes and numbers that changed; served: hits at another
      value
    input        values               dynamic since   recompiles
    x.size()[0]  4, 6, 9, 1 and 1...  0/1: 4, then 6           1
    k            2, 3, 5, 7           0/2: 2, then 3           1

    To paste; no fewer marks spare as much
        # 4 compiles (about 2.25 s), 1 call run eagerly instead
        # of 2
        # where scale (demo/sequence.py:13) is called, before
        # the call; x is its argument
        torch._dynamo.mark_dynamic(x, 0)
        # or, with numbers, 4 compiles (about 2.25 s), 0 calls
        # run eagerly instead of 2
        # before the first call; for all functions
        torch.compiler.config.dynamic_sources = (
            "L['x']:0,L['k']")

Where nothing compares a size, shapes_spec is proposed, too; the lines are Python at any width:

    $ head -4 $RECORDINGS/sequence.jsonl > four.jsonl; symtape dynamic -q --calls four.jsonl $RECORDINGS/sequence.log.zst | sed '/^The same/,/^Sizes/d'
    4 calls: 2 compiles (1.49 s)
    3 compiles of the tape not asked for by these calls
    with the marks below: 1 compile (about 1.31 s)

    input        values   dynamic since   recompiles  served  mark  code
    x.size()[0]  4, 6, 9  0/1: 4, then 6           1       1  yes   demo/sequence.py:13

    To paste; no fewer marks spare as much
        # 1 compile (about 1.31 s)
        # where scale (demo/sequence.py:13) is called, before the call; x is its argument
        torch._dynamo.mark_dynamic(x, 0)
        # or 1 compile (about 1.31 s)
        # before the first call; for all functions
        torch.compiler.config.dynamic_sources = "L['x']:0"
        # or, for scale (demo/sequence.py:13) alone, 1 compile (about 1.31 s)
        # its sizes are unbacked: calls with size 1, or that broadcast, can fail
        from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec
        shapes_spec = ShapesSpec({"x": TensorSpec([ShapeVar("x0"), None])})
        # torch.compile(scale, shapes_spec=shapes_spec)

    $ for columns in 60 80; do script -qec "stty cols $columns; COLUMNS= symtape dynamic -q --calls four.jsonl $RECORDINGS/sequence.log.zst" /dev/null < /dev/null | tr -d "\\r" | sed '1,/^To paste/d; s/^    //' > paste.py; python3 -c 'import ast; print(len(ast.parse(open("paste.py").read()).body))'; awk "length > $columns" paste.py; done
    4
    4

Other marks:

    $ symtape dynamic -q --marks "L['x']:1" --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst | head -2
    12 calls: 4 compiles (2.21 s), 2 calls run eagerly
    with the 1 mark given: 4 compiles (about 2.40 s), 2 calls run eagerly

    $ symtape dynamic -q --marks "L['k'],L['typo']:0" --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: L['typo']:0 cannot be marked: no compiled function has such an input; there are L['x']:0, L['x']:1, L['k']
    [exit 2]

    $ symtape dynamic -q --marks "L['k']" --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst | grep marked
    marked            4        2.30 s        4        1      1     2.04 ms  torch.compile() with the marks that were given

Calls of a function that the tape does not have:

    $ for n in 12 13 14; do echo '{"call": '$n', "function": "other", "code": "other.py:1:other", "args": []}'; done | cat $RECORDINGS/sequence.jsonl - | symtape dynamic -q --calls - $RECORDINGS/sequence.log.zst | head -3
    15 calls: 4 compiles (2.21 s), 2 calls run eagerly
    3 calls whose compile the tape does not have, not counted as compiles
    with dynamic_sources as below: 4 compiles (about 2.25 s), 0 calls run eagerly instead of 2

A source with a control character:

    $ for n in 4 6 9; do printf '{"call": %d, "function": "scale", "args": [{"source": "L[\\u0027\\u001bx\\u0027]", "type": "int", "value": %d}]}\n' $n $n; done > control.jsonl; zstd -dcq $RECORDINGS/sequence.log.zst | sed "s/L\['k'\]/L['\x1bx']/g" > control.log; symtape dynamic -q --calls control.jsonl control.log | sed -n '/^Sizes/,$p'
    Sizes and numbers that changed; served: hits at another value
    input  values   dynamic since  recompiles  served  mark  code
    \x1bx  4, 6, 9                          1       1  yes   demo/sequence.py:13

    To paste; no fewer marks spare as much
        # with numbers, 1 compile (about 408 ms)
        # before the first call; for all functions
        torch.compiler.config.dynamic_sources = "L['\u001bx']"

Marks of a part of an argument, and of sources that no statement can name, or no list of sources:

    $ paste_of() { zstd -dcq $RECORDINGS/sequence.log.zst | sed "s/L\['x'\]/$1/g" > named.log; sed "s/L\['x'\]/$1/g" $RECORDINGS/sequence.jsonl | symtape dynamic -q --calls - named.log | sed -n '/^To paste/,$p' | grep -v '#'; }; for source in "L['m'].w[0]['a b']" "L['m'].w[0]['a b'].T" "L['class']" "L['m'].lambda" "L['m, 0) or print('][0]" "G['x']"; do paste_of "$source"; done
    To paste; no fewer marks spare as much
        torch._dynamo.mark_dynamic(m.w[0]['a b'], 0)
        torch.compiler.config.dynamic_sources = "L['k']"
        torch.compile(model, dynamic=True)
    To paste; no fewer marks spare as much
        torch._dynamo.mark_dynamic(m.w[0]['a b'].T, 0)
        torch.compiler.config.dynamic_sources = "L['k']"
        torch.compile(model, dynamic=True)
    To paste; no fewer marks spare as much
        torch.compiler.config.dynamic_sources = "L['class']:0,L['k']"
    To paste; no fewer marks spare as much
        torch.compiler.config.dynamic_sources = "L['m'].lambda:0,L['k']"
    To paste; no fewer marks spare as much
        torch.compiler.config.dynamic_sources = "L['k']"
        torch.compile(model, dynamic=True)
    To paste; no fewer marks spare as much
        torch.compiler.config.dynamic_sources = "G['x']:0,L['k']"

As JSON:

    $ symtape dynamic -q --json --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    {"schema":"symtape.dynamic/1","torch":"2.13.0+cpu","guessed":[],"profile":false,"upper_bound":false,"policies":[{"policy":"recorded","meaning":"as the tape has it","lookups":12,"hits":6,"compiles":4,"refused":1,"eager":2,"unknown":0,"entries":4,"checks":23,"bail_outs":0,"breaks":0,"compile_seconds":2.2079419999999996,"guard_seconds":0.0021939999999999998,"compiled":[0,2,4,6],"refused_at":[7]},{"policy":"static","meaning":"torch.compile(dynamic=False)","lookups":12,"hits":1,"compiles":4,"refused":1,"eager":7,"unknown":0,"entries":4,"checks":35,"bail_outs":0,"breaks":0,"compile_seconds":2.3541679999999996,"guard_seconds":0.002975,"compiled":[0,2,3,4],"refused_at":[5]},{"policy":"automatic","meaning":"torch.compile(), from the first call on","lookups":12,"hits":6,"compiles":4,"refused":1,"eager":2,"unknown":0,"entries":4,"checks":23,"bail_outs":0,"breaks":0,"compile_seconds":2.2079419999999996,"guard_seconds":0.0021939999999999998,"compiled":[0,2,4,6],"refused_at":[7]},{"policy":"dynamic","meaning":"torch.compile(dynamic=True)","lookups":12,"hits":8,"compiles":4,"refused":0,"eager":0,"unknown":0,"entries":4,"checks":21,"bail_outs":0,"breaks":0,"compile_seconds":2.252230461538461,"guard_seconds":0.001955,"compiled":[0,6,7,8],"refused_at":[]},{"policy":"batch","meaning":"the first dimension of each tensor dynamic, all else static","lookups":12,"hits":5,"compiles":4,"refused":1,"eager":3,"unknown":0,"entries":4,"checks":25,"bail_outs":0,"breaks":0,"compile_seconds":2.398456461538461,"guard_seconds":0.0027549999999999996,"compiled":[0,4,5,6],"refused_at":[7]},{"policy":"partial","meaning":"sizes that Python reads static, the others dynamic","lookups":12,"hits":8,"compiles":4,"refused":0,"eager":0,"unknown":0,"entries":4,"checks":21,"bail_outs":0,"breaks":0,"compile_seconds":2.252230461538461,"guard_seconds":0.001955,"compiled":[0,6,7,8],"refused_at":[]},{"policy":"marked","meaning":"torch.compile() with the marks that symtape proposes","lookups":12,"hits":8,"compiles":4,"refused":0,"eager":0,"unknown":0,"entries":4,"checks":21,"bail_outs":0,"breaks":0,"compile_seconds":2.252230461538461,"guard_seconds":0.001955,"compiled":[0,6,7,8],"refused_at":[]}],"inputs":[{"code":"/home/user/demo/sequence.py:13:scale","source":"L['x']","dim":0,"values":5,"first_values":[4,6,9,1],"dynamic":true,"from_profile":false,"stale":false,"constant":false,"since":{"compile":"0/1","call":2,"rank":false,"from":4,"to":6},"recompiles":1,"served":2,"mark":true},{"code":"/home/user/demo/sequence.py:13:scale","source":"L['x']","dim":1,"values":1,"first_values":[8],"dynamic":false,"from_profile":false,"stale":false,"constant":false,"since":null,"recompiles":0,"served":0,"mark":false},{"code":"/home/user/demo/sequence.py:13:scale","source":"L['k']","dim":null,"values":4,"first_values":[2,3,5,7],"dynamic":true,"from_profile":false,"stale":false,"constant":false,"since":{"compile":"0/2","call":4,"rank":false,"from":2,"to":3},"recompiles":1,"served":3,"mark":true}],"state":[{"code":"/home/user/demo/sequence.py:13:scale","source":"L['x']","scalar":"?","size":["?",8],"stride":["S(1)",1]},{"code":"/home/user/demo/sequence.py:13:scale","source":"L['k']","scalar":"?","size":"?","stride":"?"}],"compiles":[{"compile":"0/0","symbols":[]},{"compile":"0/1","symbols":["L['x'].size()[0]"]},{"compile":"0/2","symbols":["L['x'].size()[0]","L['k']"]},{"compile":"0/3","symbols":["L['x'].size()[0]","L['k']"]}],"marks":{"marks":2,"minimal":true,"alternatives":[{"kind":"mark_dynamic","code":null,"numbers":false,"compiles":4,"eager":1,"compile_seconds":2.252230461538461,"paste":[{"code":"/home/user/demo/sequence.py:13:scale","text":"torch._dynamo.mark_dynamic(x, 0)"}]},{"kind":"dynamic_sources","code":null,"numbers":true,"compiles":4,"eager":0,"compile_seconds":2.252230461538461,"paste":[{"code":null,"text":"torch.compiler.config.dynamic_sources = \"L['x']:0,L['k']\""}]}]}}

Two code objects of one name, and a profile that names them, and two sources twice:

    $ printf "\t%s\n" "hash(0)/home/user/demo/sequence.py:13:scale:" "  L['x']: tensor size=[?, 8] stride=[8, 1]" "  L['x']: scalar 3" "  L['k']: scalar 2" "  L['k']: fully dynamic scalar or tensor" > profile; zstd -dcq $RECORDINGS/sequence.log.zst > one.log; sed 's/"frame_id": 0/"frame_id": 1/; s/"compile_id": "0/"compile_id": "1/' one.log > other.log

    $ printf 'V1123 12:16:22.264000 7898 torch/_dynamo/pgo.py:1] {"artifact": {"name": "get_local_code_state", "encoding": "string"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "%s"}\n' $(printf '%s' "$(cut -c2- profile)" | md5sum | cut -c-32) | cat one.log - profile other.log > two.log

    $ sed 's/"scale"/"scale:second"/' $RECORDINGS/sequence.jsonl | cat $RECORDINGS/sequence.jsonl - | symtape dynamic -q --calls - two.log | sed -n '/^Sizes/,$p'
    Sizes and numbers that changed; served: hits at another value
    input        values                 dynamic since                                     recompiles  served  mark  code
    x.size()[0]  4, 6, 9, 1 and 1 more  the profile; the code makes it a constant                  1       2  -     demo/sequence.py:13
    x.size()[1]  8                      the profile; stale; the code makes it a constant           -       -  -     demo/sequence.py:13
    k            2, 3, 5, 7             the profile; the code makes it a constant                  1       3  -     demo/sequence.py:13
    x.size()[0]  4, 6, 9, 1 and 1 more  the profile; the code makes it a constant                  1       2  -     demo/sequence.py:13
    x.size()[1]  8                      the profile; stale; the code makes it a constant           -       -  -     demo/sequence.py:13
    k            2, 3, 5, 7             the profile; the code makes it a constant                  1       3  -     demo/sequence.py:13

    The profile of an earlier run made 6 inputs dynamic; 2 of them had one value here, such as x.size()[1] = 8

Calls of another program:

    $ symtape dynamic -q --calls $RECORDINGS/sequence.jsonl $RECORDINGS/encoder.log.zst
    12 calls: no compile on the tape is for them; do the calls belong to this tape?

Damaged calls, no calls, a tape without compiles:

    $ echo '{"call": 0, "function": "f", "args": [{"size": [1]}]}' | symtape dynamic -q --calls - $RECORDINGS/sequence.log.zst
    2> symtape: -: line 1: a value has no "source"
    [exit 3]

    $ symtape dynamic -q $RECORDINGS/sequence.log.zst
    2> symtape: $RECORDINGS/sequence.log.zst has no calls: record them with symtape record --calls, or name a file with --calls FILE
    [exit 2]

    $ symtape dynamic -q --calls nowhere.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: nowhere.jsonl: No such file or directory
    [exit 4]
