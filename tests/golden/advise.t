# symtape advise

The calls of a function whose limit is reached: padding saves the eager calls, marks save compiles, and a higher limit costs more compiles:

    $ symtape advise -q --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    3 changes together save 2 of 4 compiles, 2 of 4 attempts, 2 of 2 eager look-ups, 54 of 103 dispatches; about 674 ms of 2.21 s

    Proved, and of use together
     1  pad or drop such batches (drop_last=True of a DataLoader)
        because     `scale` reached the recompile limit of 4: L['x'].size()[0] was 0 or 1: these sizes are compiled for themselves, at demo/sequence.py:16
        saves       2 of 2 eager look-ups
     2  torch.compiler.config.dynamic_sources = "L['x']"
        because     L['x'].size()[0] was compiled as the constant 4, and then it was 6, at demo/sequence.py:15
        saves       1 of 2 eager look-ups, 5 of 103 dispatches; compiling takes about 44.3 ms longer than 2.21 s
     3  torch.compiler.config.dynamic_sources = "L['k']"
        because     the value of k was compiled as the constant 2, and then it was 3, at demo/sequence.py:16
        saves       1 of 2 eager look-ups, 5 of 103 dispatches; compiling takes about 91.9 ms longer than 2.21 s
        in one line torch.compiler.config.dynamic_sources = "L['x']:0,L['k']"

    With the first of these changes; times are estimated
        changes  compiles  attempts  eager  compile time
              0         4         4      2        2.21 s
              1         4         4      -        2.21 s
              2         3         3      -        1.94 s
              3         2         2      -        1.53 s

    Proved, instead of those above
     4  torch._dynamo.decorators.mark_unbacked(x, 0) before the first call
        because     `scale` reached the recompile limit of 4: L['x'].size()[0] was 0 or 1: these sizes are compiled for themselves, at demo/sequence.py:16
        saves       1 of 2 eager look-ups, 2 more dispatches; compiling takes about 143 ms longer than 2.21 s
     5  torch._dynamo.mark_dynamic(x, 0) before the first call
        because     L['x'].size()[0] was compiled as the constant 4, and then it was 6, at demo/sequence.py:15
        saves       1 of 2 eager look-ups, 5 of 103 dispatches; compiling takes about 44.3 ms longer than 2.21 s

    Suggested
     6  pass torch.tensor(k) or keep it as a tensor, if it is used in arithmetic only
        because     the value of k was compiled as the constant 2, and then it was 3, at demo/sequence.py:16
        might save  1 of 2 eager look-ups; about 408 ms of 2.21 s
        not proved  whether the program can compute with a tensor there is not on the tape
     7  pass what the function derives from options['mode'] instead; each value needs its compile
        because     the value of options['mode'] was compiled as the constant 'sum', and then it was 'keep', at demo/sequence.py:14
        not proved  the program would be another one
     8  keep options['mode'] constant; each value needs its compile
        because     the value of options['mode'] was compiled as the constant 'sum', and then it was 'keep', at demo/sequence.py:14
        not proved  the program would be another one

    Without gain
     9  torch._dynamo.config.recompile_limit = 8, if each version is needed
        because     `scale` reached the recompile limit of 4: L['x'].size()[0] was 0 or 1: these sizes are compiled for themselves, at demo/sequence.py:16
        saves       2 more compiles, 2 more attempts, 2 of 2 eager look-ups
        no gain     it compiles more; what the calls gain is not on the tape

In 60 columns, two of each list:

    $ script -qec "stty cols 60; COLUMNS= symtape advise -q -n 2 --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst" /dev/null < /dev/null | tr -d "\\r" | sed "s,\x1b\\[[0-9;]*m,,g"
    3 changes together save 2 of 4 compiles, 2 of 4 attempts, 2
    of 2 eager look-ups, 54 of 103 dispatches; about 674 ms of
    2.21 s

    Proved, and of use together
     1  pad or drop such batches (drop_last=True of a
          DataLoader)
        because     `scale` reached the recompile limit of 4:
                    L['x'].size()[0] was 0 or 1: these sizes are
                    compiled for themselves, at
                    demo/sequence.py:16
        saves       2 of 2 eager look-ups
     2  torch.compiler.config.dynamic_sources = "L['x']"
        because     L['x'].size()[0] was compiled as the
                    constant 4, and then it was 6, at
                    demo/sequence.py:15
        saves       1 of 2 eager look-ups, 5 of 103 dispatches;
                    compiling takes about 44.3 ms longer than
                    2.21 s
     3  torch.compiler.config.dynamic_sources = "L['k']"
        because     the value of k was compiled as the constant
                    2, and then it was 3, at demo/sequence.py:16
        saves       1 of 2 eager look-ups, 5 of 103 dispatches;
                    compiling takes about 91.9 ms longer than
                    2.21 s
        in one line torch.compiler.config.dynamic_sources =
                    "L['x']:0,L['k']"

    With the first of these changes; times are estimated
        changes  compiles  attempts  eager  compile time
              0         4         4      2        2.21 s
              1         4         4      -        2.21 s
              2         3         3      -        1.94 s
              3         2         2      -        1.53 s

    Proved, instead of those above
     4  torch._dynamo.decorators.mark_unbacked(x, 0) before the
          first call
        because     `scale` reached the recompile limit of 4:
                    L['x'].size()[0] was 0 or 1: these sizes are
                    compiled for themselves, at
                    demo/sequence.py:16
        saves       1 of 2 eager look-ups, 2 more dispatches;
                    compiling takes about 143 ms longer than
                    2.21 s
     5  torch._dynamo.mark_dynamic(x, 0) before the first call
        because     L['x'].size()[0] was compiled as the
                    constant 4, and then it was 6, at
                    demo/sequence.py:15
        saves       1 of 2 eager look-ups, 5 of 103 dispatches;
                    compiling takes about 44.3 ms longer than
                    2.21 s

    Suggested
     6  pass torch.tensor(k) or keep it as a tensor, if it is
          used in arithmetic only
        because     the value of k was compiled as the constant
                    2, and then it was 3, at demo/sequence.py:16
        might save  1 of 2 eager look-ups; about 408 ms of 2.21
                    s
        not proved  whether the program can compute with a
                    tensor there is not on the tape
     7  pass what the function derives from options['mode']
          instead; each value needs its compile
        because     the value of options['mode'] was compiled as
                    the constant 'sum', and then it was 'keep',
                    at demo/sequence.py:14
        not proved  the program would be another one
        ... and 1 more

    Without gain
     8  torch._dynamo.config.recompile_limit = 8, if each
          version is needed
        because     `scale` reached the recompile limit of 4:
                    L['x'].size()[0] was 0 or 1: these sizes are
                    compiled for themselves, at
                    demo/sequence.py:16
        saves       2 more compiles, 2 more attempts, 2 of 2
                    eager look-ups
        no gain     it compiles more; what the calls gain is not
                    on the tape

The program as it was recorded, and its patch, which patch(1) takes:

    $ cp $ROOT/tests/models/sequence.py . && symtape advise --apply sequence.py --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    --- sequence.py
    +++ sequence.py
    @@ -6,6 +6,7 @@
     import sys

     import torch
    +torch.compiler.config.dynamic_sources = "L['x']:0,L['k']"

     torch._dynamo.config.recompile_limit = 4

    2> symtape: 1 of 3 changes have no certain place in the program (symtape advise)

    $ symtape advise -q --apply sequence.py -o sequence.diff --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst && patch -p0 < sequence.diff && sed -n 8,10p sequence.py
    patching file sequence.py
    import torch
    torch.compiler.config.dynamic_sources = "L['x']:0,L['k']"

The patched program has the lines elsewhere, so it is not what was recorded:

    $ symtape advise --apply sequence.py --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: sequence.py:16 is not what was recorded: return x * k
    [exit 3]

    $ symtape advise --apply $ROOT/tests/models/mlp.py --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: $ROOT/tests/models/mlp.py: the tape has no lines of a program of this name, or of several
    [exit 3]

    $ symtape advise --apply nowhere.py $RECORDINGS/encoder.log.zst
    2> symtape: nowhere.py: No such file or directory
    [exit 4]

    $ symtape advise -q --apply $ROOT/tests/models/encoder.py $RECORDINGS/encoder.log.zst

For scripts:

    $ symtape advise --json --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst | python3 -c "import json, sys; d = json.load(sys.stdin); print(d['recorded']); print([(s['remedy'], s['after']['compiles'], s['after']['eager']) for s in d['together']]); r = d['remedies'][0]; print(r['verdict'], r['saves'], r['why'], r['run'])"
    {'compiles': 4, 'attempts': 4, 'breaks': 0, 'failures': 0, 'eager': 2, 'guards': 0, 'dispatches': 103, 'seconds': 2.2079419999999996}
    [(1, 4, 0), (4, 3, 0), (5, 2, 0)]
    proved {'compiles': 0, 'attempts': 0, 'breaks': 0, 'failures': 0, 'eager': 1, 'guards': 0, 'dispatches': -2, 'seconds': -0.1429054615384615} None None

Without calls only graph breaks can be judged; a break whose rest is compiled more often is not:

    $ symtape advise $RECORDINGS/encoder.log.zst
    No remedy is proved to save anything

    Suggested
     1  torch._dynamo.config.specialize_float = True before the first call
        because     Python floats were traced as symbols and then needed as constants, so the compile began again: eps of 6 modules such as norm1, at demo/encoder.py:46
        might save  1 of 3 attempts; about 3.72 s of 10.7 s
        not proved  without calls on the tape it is not known whether the floats change
     2  pad so that (x.size()[1] % 8) != 0 holds in each call
        because     the condition (x.size()[1] % 8) != 0 was true, and then false, at demo/encoder.py:25
        not proved  the tape has no calls: symtape record --calls notes them
     3  replace the branch with torch.cond() or torch.where(); else each side needs its compile
        because     the condition (x.size()[1] % 8) != 0 was true, and then false, at demo/encoder.py:25
        not proved  torch.cond() compiles both branches as one graph, which is not on the tape

    $ symtape advise $RECORDINGS/graph_break.log.zst
    No remedy is proved to save anything

    Suggested
     1  pass torch.tensor(state['step']) or keep it as a tensor, if it is used in arithmetic only
        because     the value of state['step'] was compiled as a constant and changed: 0, 1 and 2, at demo/graph_break.py:11
        not proved  whether the program can compute with a tensor there is not on the tape
     2  keep state['step'] constant; each value needs its compile
        because     the value of state['step'] was compiled as a constant and changed: 0, 1 and 2, at demo/graph_break.py:11
        not proved  the program would be another one
     3  move the print() out of the compiled function
        because     print() cannot be traced, at demo/graph_break.py:10
        might save  1 of 5 attempts, 1 of 1 graph break; about 12.0 ms of 466 ms
        not proved  no compile follows from it
     4  torch._dynamo.config.reorderable_logging_functions.add(print)
        because     print() cannot be traced, at demo/graph_break.py:10
        might save  1 of 5 attempts, 1 of 1 graph break; about 12.0 ms of 466 ms
        not proved  no compile follows from it

    $ symtape advise $RECORDINGS/mlp.log.zst
    No remedy is proved to save anything

    Suggested
     1  torch._dynamo.mark_dynamic(x, 0) before the first call
        because     L['x'].size()[0] was compiled as the constant 4, and then it was 6, at demo/mlp.py:15
        not proved  the tape has no calls: symtape record --calls notes them
     2  torch.compiler.config.dynamic_sources = "L['x']"
        because     L['x'].size()[0] was compiled as the constant 4, and then it was 6, at demo/mlp.py:15
        not proved  the tape has no calls: symtape record --calls notes them

    $ symtape advise $RECORDINGS/exported.pt2
    Nothing was found that a change would save

Mistakes:

    $ symtape advise
    2> symtape: advise: an argument is missing; usage: symtape advise [options] TAPE
    [exit 2]

    $ symtape advise $RECORDINGS/encoder.log.zst:0/1
    2> symtape: $RECORDINGS/encoder.log.zst:0/1: name a whole tape or recording here, not a part of it
    [exit 2]

    $ symtape advise --calls nowhere.jsonl $RECORDINGS/encoder.log.zst
    2> symtape: nowhere.jsonl: No such file or directory
    [exit 4]

    $ echo '{"call": 0' | symtape advise --calls - $RECORDINGS/encoder.log.zst
    2> symtape: -: line 1: offset 10: expected ',' or '}'
    [exit 3]

A compile that ended at a branch on a data-dependent size, and the torch._check() that decides it:

    $ symtape advise -q $RECORDINGS/data_dependent.log.zst | cut -c -150
    1 change saves 1 of 1 failure

    Proved, and of use together
     1  torch._check(y.shape[0] > 4) before line 13, if it always holds
        because     the branch on y.shape[0] > 4 depends on a result of slicing with a data-dependent bound and is not known when the program is compiled,
        saves       1 of 1 failure

    With the first of these changes; times are estimated
        changes  failures  compiles  attempts  compile time
              0         1         1         1        165 ms
              1         -         1         1        165 ms

    Proved, instead of those above
     2  guard_or_false(y.shape[0] > 4) of torch.fx.experimental.symbolic_shapes as the condition, if the other branch is right for every size
        because     the branch on y.shape[0] > 4 depends on a result of slicing with a data-dependent bound and is not known when the program is compiled,
        saves       1 of 1 failure

    Suggested
     3  torch.cond(y.shape[0] > 4, f, g, operands), if both branches are needed
        because     the branch on y.shape[0] > 4 depends on a result of slicing with a data-dependent bound and is not known when the program is compiled,
        not proved  torch.cond() compiles both branches as one graph, which is not on the tape

    $ symtape advise -q --apply $ROOT/tests/models/data_dependent.py $RECORDINGS/data_dependent.log.zst | grep '^[-+@]'
    --- $ROOT/tests/models/data_dependent.py
    +++ $ROOT/tests/models/data_dependent.py
    @@ -10,6 +10,7 @@
    +    torch._check(y.shape[0] > 4)
