# minify

A command of the user's as the oracle: a set of calls that have to be there. Only times differ from run to run.

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check 'grep -q aten.convolution' -o small.tape --fx small.fx
    calls 17 -> 1, symbols 2 -> 0, guards 0 -> 0; 11 checks (3 answers were known), {*} s
    minimal: removing any single remaining part makes the failure disappear
    not a dynamic-shape bug: it also fails when every size is a number

    # symtape candidate: forward, torch 2.13.0+cpu, seed 0
    class GraphModule(torch.nn.Module):
        def forward(self, primals_5: "f32[2, 2, 2][4, 2, 1]cpu", primals_6: "f32[2][1]cpu", transpose: "f32[2, 2, 2][4, 2, 1]cpu"):
            # File: /home/user/demo/train.py:18 in forward, code: x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
            convolution: "f32[2, 2, 3][6, 3, 1]cpu" = torch.ops.aten.convolution.default(transpose, primals_5, primals_6, [1], [1], [1], False, [0], 1)
            return (convolution,)
    2> symtape: small.tape: the result as a tape
    2> symtape: small.fx: the result as FX text

    $ grep -c torch.ops small.fx
    1

The result is a tape as any other, and FX text that is read again.

    $ symtape replay small.tape | head -1
    1 graph of 1 attempt, 1 call: all match

    $ symtape minify small.fx --check 'grep -q aten.convolution' -o again.tape --fx again.fx | head -2
    calls 1 -> 1, symbols 0 -> 0, guards 0 -> 0; 2 checks (3 answers were known), {*} s
    minimal: removing any single remaining part makes the failure disappear
    2> symtape: again.tape: the result as a tape
    2> symtape: again.fx: the result as FX text

    $ cmp small.fx again.fx

A second run asks nothing, with any number of jobs.

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check 'grep -q aten.convolution' -o small.tape -j 3 --json | grep -o '"oracle_calls":[0-9]*\|"verdict":"[a-z]*"\|"minimal":[a-z]*'
    "oracle_calls":0
    "minimal":true
    "verdict":"reduced"
    "verdict":"interesting"
    2> symtape: small.tape: the result as a tape

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check 'grep -q aten.convolution' -o j.tape --fx j.fx -j 8 >out 2>&1 && cmp j.fx small.fx && cmp j.tape small.tape

The journal belongs to its oracle.

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check 'grep -q aten.tanh' -o small.tape
    2> symtape: small.tape.journal: the journal belongs to another command, script or option; --overwrite-journal begins a new one, and --journal or -o names another file
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check 'grep -q aten.tanh' -o small.tape --overwrite-journal --json | grep -o '"calls_after":[0-9]*'
    "calls_after":1
    2> symtape: small.tape: the result as a tape

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check 'grep -q aten.tanh' -o new.tape --resume >out && cmp new.tape small.tape
    2> symtape: new.tape.journal: there is no such journal to resume from; the search starts from the beginning
    2> symtape: new.tape: the result as a tape

What PyTorch is to import and to set is checked before anything runs.

    $ symtape minify small.fx --import patch.py -o s.tape
    2> symtape: --torch-backend, --cpu, --values, --import, --env and --config need --torch-oracle
    [exit 2]

    $ symtape minify small.fx --has-ops aten.relu --python python3 -o s.tape
    2> symtape: --python needs --torch-oracle or --repro
    [exit 2]

    $ symtape minify small.fx --torch-oracle compile --import 'a b' -o s.tape
    2> symtape: --import: "a b" is neither a module nor a file whose name Python can import, as mylib or tools/patch.py
    [exit 2]

    $ symtape minify small.fx --torch-oracle compile --env A -o s.tape
    2> symtape: --env: "A" is not NAME=VALUE
    [exit 2]

    $ symtape minify small.fx --torch-oracle compile --config os.x=1 -o s.tape
    2> symtape: --config: "os.x=1" does not set an option of inductor, dynamo, functorch or fx, as inductor.max_autotune=True does
    [exit 2]

    $ symtape minify small.fx --torch-oracle compile --torch-backend 'mine:' -o s.tape
    2> symtape: --torch-backend: "mine:" is not MODULE:NAME, as mylib.compilers:fast
    [exit 2]

A tape alone: the compile that failed is picked. Its graph has to be there, and what will run is printed first.

    $ symtape minify $RECORDINGS/data_dependent.log.zst -o s.tape
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
    2> symtape: $RECORDINGS/data_dependent.log.zst: the compile that failed has no graph: PyTorch logs a graph only after tracing succeeded; symtape minify -- python PROGRAM records the partial graph, too
    [exit 2]

    $ SYMTAPE_PYTHON=false symtape minify $RECORDINGS/deep.log.zst -o picked.tape | sed 's/, [0-9.e-]* s$//'
    calls 9 -> 1, symbols 4 -> 2, guards 1 -> 1; 13 checks (6 answers were known)
    minimal: removing any single remaining part makes the failure disappear
    failure: GuardOnDataDependentSymNode: Could not guard on data-dependent expression u1 > 4 (unhinted: u1 > 4).  (Size-like symbols: none)

    # symtape candidate: partial_dynamo, torch 2.13.0+cpu, seed 0
    # symbol u0 in [-int_oo, int_oo] unbacked
    # symbol u2 in [-int_oo, int_oo] unbacked
    # guard u2 > 4 before return
    class GraphModule(torch.nn.Module):
        def forward(self, L_x_: "f32[9][1]cpu", item: "Sym(u0)"):
            # File: /home/user/demo/data_dependent.py:12 in keep_large, code: y = x[:kept]
            y: "f32[u2][1]cpu" = L_x_[slice(None, item, None)]
            return (y,)

    why each part is needed
      y = operator.getitem, replaced by an input: it does not fail any more
      guard u2 > 4, removed: it does not fail any more
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
    2> symtape: $RECORDINGS/deep.log.zst:0/0_0:symtape_partial_dynamo_graph: asks symtape's own shape engine; no program is run for it
    2> symtape: picked.tape: the result as a tape
    2> symtape: picked.repro.py: the result as a program, not verified: there is no Python with PyTorch here; --python or $SYMTAPE_PYTHON can name one
    2> symtape: picked.good.py: the nearest graph that does not fail
    2> symtape: picked.issue.md: a bug report

    $ symtape export -q $RECORDINGS/deep.log.zst -o said.log; sed -i "s/Could not guard on/Could not answer/" said.log

    $ SYMTAPE_PYTHON=false symtape minify said.log -o s.tape
    2> symtape: 0/0 failed in PyTorch: UserError: Consider annotating your code using torch._check*(). Could not answer data-dependent expression u1 > 4 (unhinted: u1 > 4). (Size-like symbols: none), demo/data_dependent.py:13
    2> symtape: said.log:0/0_0:symtape_partial_dynamo_graph: runs false ($SYMTAPE_PYTHON, no PyTorch), which compiles programs made from this graph (--torch-oracle compile --torch-backend aot_eager)
    2> symtape: false does not start; --python or $SYMTAPE_PYTHON names another Python
    [exit 4]

A guard about a number that a call makes stays with that call: about an input it would say another thing.

    $ cat > number.fx <<'END'
    > # symtape candidate: partial_dynamo, torch 2.13.0, seed 0
    > # symbol s77 = 6 in [2, int_oo] from L['x'].size()[0]
    > # symbol zuf0 in [-int_oo, int_oo] unbacked
    > # guard zuf0 > 3.0 before return
    > class GraphModule(torch.nn.Module):
    >     def forward(self, L_x_: "f32[s77][1]cpu"):
    >         sum_1: "f32[][]cpu" = L_x_.sum()
    >         item: "Sym(zuf0)" = sum_1.item()
    >         return (item,)
    > END

    $ symtape minify number.fx -o number.tape 2> /dev/null | sed 's/, [0-9.e-]* s$//'
    calls 2 -> 1, symbols 2 -> 1, guards 1 -> 1; 5 checks (1 answer was known)
    minimal: removing any single remaining part makes the failure disappear
    failure: GuardOnDataDependentSymNode: Could not guard on data-dependent expression zuf0 > 3.0 (unhinted: zuf0 > 3.0).  (Size-like symbols: none)

    # symtape candidate: partial_dynamo, torch 2.13.0, seed 0
    # symbol zuf0 in [-int_oo, int_oo] unbacked
    # guard zuf0 > 3.0 before return
    class GraphModule(torch.nn.Module):
        def forward(self, sum_1: "f32[][]cpu"):
            item: "Sym(zuf0)" = sum_1.item()
            return (item,)

    why each part is needed
      item = Tensor.item, replaced by an input: it does not fail any more
      guard zuf0 > 3.0, removed: it does not fail any more

A tape does not choose what is imported: MODULE:NAME is no name of a backend.

    $ symtape export -q $RECORDINGS/deep.log.zst -o backend.log; sed -i "/compilation_metrics/s/\"fail_reason\": \"/&backend='this:c' raised: /" backend.log

    $ SYMTAPE_PYTHON=false symtape minify backend.log -o s.tape
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
    2> symtape: backend.log:0/0_0:symtape_partial_dynamo_graph: its backend "this:c" is no name of a backend; --torch-oracle compile --torch-backend names one
    [exit 2]

A program that compiles nothing, and two tapes. A program may be a single word, and options are checked before it runs.

    $ symtape minify -- sh -c 'echo from the program'
    from the program
    2> symtape: runs sh -c echo from the program (symtape record --deep -o minified.recording.tape)
    2> symtape: sh compiled nothing: PyTorch wrote no log
    [exit 2]

    $ printf '#!/bin/sh\necho from a single word\n' > program.sh; chmod +x program.sh; symtape minify -- ./program.sh
    from a single word
    2> symtape: runs ./program.sh (symtape record --deep -o minified.recording.tape)
    2> symtape: ./program.sh compiled nothing: PyTorch wrote no log
    [exit 2]

    $ symtape minify --jobs 0 -- ./program.sh
    2> symtape: --jobs must be from 1 to 1024
    [exit 2]

    $ symtape minify --torch-oracle compile --env A -- ./program.sh
    2> symtape: --env: "A" is not NAME=VALUE
    [exit 2]

    $ symtape minify -o mine.fx --repro small.fx -- ./program.sh
    2> symtape: small.fx exists already; --overwrite replaces it
    [exit 2]

    $ symtape minify small.tape small.tape
    2> symtape: minify takes one tape, or the command of a program
    [exit 2]

    $ touch minified.recording.tape; symtape minify -- sh -c 'echo never'
    2> symtape: minified.recording.tape exists already; --overwrite replaces it, and symtape minify minified.recording.tape reduces what it has
    [exit 2]

Limits keep the best so far, and --resume goes on.

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check 'grep -q aten.tanh' -o limit.tape --max-calls 5 --json | grep -o '"end":"[a-z_]*"\|"oracle_calls":[0-9]*\|"verdict":"[a-z]*"'
    "oracle_calls":5
    "verdict":"interrupted"
    "end":"max_calls"
    "verdict":"interesting"
    2> symtape: limit.tape: the result as a tape

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check 'grep -q aten.tanh' -o limit.tape --resume >out 2>&1 && cmp limit.tape small.tape

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check 'grep -q aten.tanh' -o late.tape --deadline 0.000001 --json | grep -o '"end":"[a-z_]*"\|"oracle_calls":[0-9]*'
    "oracle_calls":0
    "end":"deadline"
    2> symtape: late.tape: not written, since the whole graph was not checked yet

The shape engine as the oracle: which calls add this guard, and what is each there for?

    $ symtape minify $RECORDINGS/encoder.log.zst:0/1:dynamo --guard 'Eq(32*s27*s77, 256*s77*((s27//8)))' -o guard.tape
    calls 91 -> 1, symbols 6 -> 2, guards 1 -> 0; 14 checks (6 answers were known), {*} s
    minimal: removing any single remaining part makes the failure disappear
    failure: the guard Eq(32*s27*s77, 256*s77*((s27//8))) is added

    # symtape candidate: dynamo, torch 2.13.0+cpu, seed 0
    # symbol s77 = 3 in [2, int_oo] from L['x'].size()[0]
    # symbol s27 = 8 in [2, int_oo] from L['x'].size()[1]
    class GraphModule(torch.nn.Module):
        def forward(self, layer_norm: "f32[s77, s27][s27, 1]cpu"):
            # File: /home/user/demo/encoder.py:27 in forward, code: windows = x.unflatten(1, (-1, WINDOW))
            windows: "f32[s77, (s27//8), (s27//((s27//8)))][s27, (s27//((s27//8))), 1]cpu" = layer_norm.unflatten(1, (-1, 8))
            return (windows,)

    why each part is needed
      windows = Tensor.unflatten, replaced by an input: it does not fail any more
      symbol s77 of L['x'].size()[0], made a number: it does not fail any more
      symbol s27 of L['x'].size()[1], made a number: it does not fail any more
    2> symtape: guard.tape: the result as a tape

    $ symtape minify $RECORDINGS/encoder.log.zst:0/1:inference --specializes s53 -o special.tape | sed -n '2,20p'
    minimal: removing any single remaining part makes the failure disappear
    failure: s53 becomes a number

    # symtape candidate: inference, torch 2.13.0+cpu, seed 0
    # symbol s53 = 32 in [2, int_oo] from L['x'].size()[2]
    class <lambda>(torch.nn.Module):
        def forward(self, arg0_1: "f32[32][1]cpu", arg1_1: "f32[32][1]cpu", arg4_1: "f32[s53][1]cpu"):
            # File: /home/user/demo/encoder.py:46 in forward, code: x = x + self.attention(self.norm1(x))
            native_layer_norm = torch.ops.aten.native_layer_norm.default(arg4_1, [32], arg0_1, arg1_1, 0.0)
            getitem: "f32[s53][1]cpu" = native_layer_norm[0]
            return (getitem,)

    why each part is needed
      native_layer_norm = aten.native_layer_norm.default, replaced by an input: it does not fail any more
      getitem = operator.getitem, replaced by an input: it does not fail any more
      symbol s53 of L['x'].size()[2], made a number: it does not fail any more
    2> symtape: special.tape: the result as a tape

The nearest graph that does not fail, for a comparison.

    $ symtape minify $RECORDINGS/encoder.log.zst:0/1:dynamo --guard 'Eq(32*s27*s77, 256*s77*((s27//8)))' -o guard.tape --good good.fx --fx bad.fx >out; diff bad.fx good.fx
    0a1
    > # does not fail: symbol s77 of L['x'].size()[0], made a number
    2d2
    < # symbol s77 = 3 in [2, int_oo] from L['x'].size()[0]
    5c5
    <     def forward(self, layer_norm: "f32[s77, s27][s27, 1]cpu"):
    ---
    >     def forward(self, layer_norm: "f32[3, s27][s27, 1]cpu"):
    7c7
    <         windows: "f32[s77, (s27//8), (s27//((s27//8)))][s27, (s27//((s27//8))), 1]cpu" = layer_norm.unflatten(1, (-1, 8))
    ---
    >         windows: "f32[3, (s27//8), (s27//((s27//8)))][s27, (s27//((s27//8))), 1]cpu" = layer_norm.unflatten(1, (-1, 8))
    2> symtape: guard.tape: the result as a tape
    2> symtape: bad.fx: the result as FX text
    2> symtape: good.fx: the nearest graph that does not fail
    [exit 1]

    $ symtape minify $RECORDINGS/encoder.log.zst:0/1:dynamo --guard 'Eq(32*s27*s77, 256*s77*((s27//8)))' -o guard.tape --good good.py >out; head -3 good.py; python3 -m py_compile good.py
    # does not fail: symbol s77 of L['x'].size()[0], made a number
    # Eq(32*s27*s77, 256*s77*((s27//8)))
    import re
    2> symtape: guard.tape: the result as a tape
    2> symtape: good.py: the nearest graph that does not fail

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check 'grep -q torch' -o any.tape --good any.fx >out
    2> symtape: any.tape: the result as a tape
    2> symtape: any.fx: not written: all graphs with one part less still fail, or the oracle could not decide

A guard that no operator asks for is the work of a branch: its line is told.

    $ symtape minify $RECORDINGS/encoder.log.zst:0/1:dynamo --guard 'Eq(Mod(s27, 8), 0)' -o branch.tape
    calls 91 -> 0, symbols 6 -> 1, guards 1 -> 1; {*} s
    minimal: removing any single remaining part makes the failure disappear
    failure: the guard Eq(Mod(s27, 8), 0) is added
    no operator adds it: the user's code, or a library's, branches on it, at /home/user/demo/encoder.py:25 in forward: if length % WINDOW:

    # symtape candidate: dynamo, torch 2.13.0+cpu, seed 0
    # symbol s27 = 8 in [2, int_oo] from L['x'].size()[1]
    # guard Eq(Mod(s27, 8), 0) before return
    class GraphModule(torch.nn.Module):
        def forward(self, s27: "Sym(s27)"):
            return ()

    why each part is needed
      symbol s27 of L['x'].size()[1], made a number: it does not fail any more
      guard Eq(Mod(s27, 8), 0), removed: it does not fail any more
    2> symtape: branch.tape: the result as a tape

A cost without a number prints what the graph costs, and writes nothing.

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost expr-size; test -e minified.tape
    $RECORDINGS/train.log.zst:0/0:forward: cost of the compile: expr-size 3; --cost 'expr-size>=2' keeps what makes half of it

      guards           1: guards that the calls add
      dispatches       74: dispatches, those of decompositions included
      evaluations      173: evaluations of symbolic conditions
      symbolic-tensors 25: tensors with a symbolic size that calls make
      expr-size        3: nodes of the largest size of a result, as sympy counts them
      exprs            192: distinct expressions, those of the recording included
      calls            17: calls of the graph
      seconds          498 ms: estimated time of compiling

    Estimated: Dynamo, AOTAutograd without gradients and guards, as counts of the replay by what a unit of work took with PyTorch 2.13 on another machine.
    With these units, symtape profile --cost-model, which knows what was dispatched, was 9 % off in the median of 17 recordings; --torch-oracle seconds, with a limit, measures what PyTorch takes.

      operator                        guards  dispatches  evaluations  symbolic-tensors  expr-size  calls  seconds
      aten.addmm.default                   -          13           14                 3          3      1  49.0 ms
      aten.view.default                    -           6           14                 2          3      2  79.0 ms
      aten.add.Tensor                      -           3           33                 1          1      1  18.0 ms
      aten.convolution.default             1          15           10                 3          1      1  65.0 ms
      aten.detach.default                  -           2            2                 1          1      2  25.0 ms
      aten.embedding.default               -           3            -                 1          1      1  28.0 ms
      aten.native_layer_norm.default       -          20           91                11          1      1  74.0 ms
      aten.t.default                       -           1            -                 -          1      1  6.00 ms
      aten.tanh.default                    -           3            2                 1          1      1  17.0 ms
      aten.transpose.int                   -           8            7                 2          1      2  49.0 ms
      operator.getitem                     -           -            -                 -          1      3  31.0 ms
      operator.mul                         -           -            -                 -          -      1  4.00 ms
    [exit 1]

Without a kind it is Dynamo's graph that costs.

    $ symtape minify $RECORDINGS/train.log.zst --cost guards | sed -n 1p
    $RECORDINGS/train.log.zst: cost of the compile: guards 1; --cost 'guards>=1' keeps what makes half of it

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost guards --json | python3 -c 'import json, sys; cost = json.load(sys.stdin); print(cost["cost"], cost["proposed"], cost["total"]["guards"], cost["operators"][0])'
    guards 1 1 {'operator': 'aten.convolution.default', 'guards': 1, 'dispatches': 15, 'evaluations': 10, 'symbolic-tensors': 3, 'expr-size': 1, 'calls': 1, 'seconds': 0.065}

Seconds are estimated by the cost model of profile; a limit of them is a number with a point.

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost seconds --json | python3 -c 'import json, sys; cost = json.load(sys.stdin); parts = sum(row["seconds"] for row in cost["operators"]); print(cost["cost"], cost["release"], cost["release_error"], 0 < cost["proposed"] < cost["total"]["seconds"], 0 < parts < cost["total"]["seconds"])'
    seconds 213 0.093 True True

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost 'seconds>=0.05' -o seconds.tape | sed -n '1s/;.*//p'
    calls 17 -> 1, symbols 2 -> 1, guards 0 -> 0
    2> symtape: seconds.tape: the result as a tape

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost 'seconds>=7.5' -o none.tape
    2> symtape: $RECORDINGS/train.log.zst:0/0:forward: does not fail: its cost is not seconds>=7.5, but seconds 0.498
    [exit 1]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost 'seconds>=1s' -o none.tape
    2> symtape: --cost: "seconds>=1s" is not NAME>=N or NAME, where NAME is one of guards, dispatches, evaluations, symbolic-tensors, expr-size, exprs, calls, seconds
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost 'expr-size>=3' -o cost.tape | sed -n '1s/;.*//p'
    calls 17 -> 1, symbols 2 -> 1, guards 0 -> 0
    2> symtape: cost.tape: the result as a tape

Why each part is needed is asked within --max-calls, too.

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost 'calls>=3' --passes location --max-calls 3 -o asked.tape | sed -n '/^why/,$p'
    why each of the first parts is needed
      embedding = aten.embedding.default, replaced by an input: it still fails
      transpose = aten.transpose.int, replaced by an input: it still fails
    2> symtape: asked.tape: the result as a tape

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost 'calls>=3' --passes location --max-calls 1 -o once.tape | sed -n '/^why/,$p'
    2> symtape: once.tape: the result as a tape

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost 'sizes>=3'
    2> symtape: --cost: "sizes>=3" is not NAME>=N or NAME, where NAME is one of guards, dispatches, evaluations, symbolic-tensors, expr-size, exprs, calls, seconds
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost 'exprs>=x'
    2> symtape: --cost: "exprs>=x" is not NAME>=N or NAME, where NAME is one of guards, dispatches, evaluations, symbolic-tensors, expr-size, exprs, calls, seconds
    [exit 2]

Names, user lines and paths can be left out.

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --has-ops aten.convolution --anonymize -o anonymous.tape --fx anonymous.fx >out 2>&1; grep -c 'demo\|primals' anonymous.fx
    0
    [exit 1]

What does not fail is said so, with what was seen.

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward -o none.tape
    2> symtape: $RECORDINGS/train.log.zst:0/0:forward: does not fail: symtape replay agrees with the recording; --check, --torch-oracle, --guard, --specializes and --cost define other failures
    [exit 1]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost 'expr-size>=100' -o none.tape
    2> symtape: $RECORDINGS/train.log.zst:0/0:forward: does not fail: its cost is not expr-size>=100, but expr-size 3
    [exit 1]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --guard 'Eq(s23, 7)' -o none.tape
    2> symtape: $RECORDINGS/train.log.zst:0/0:forward: does not fail: the guard Eq(s23, 7) is not added
    [exit 1]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check "sh -c 'echo all is well; exit 3'" -o none.tape
    2> symtape: $RECORDINGS/train.log.zst:0/0:forward: does not fail: --check printed: exit 3: all is well
    2> symtape: if it fails only sometimes, --repeat 20 runs it 20 times
    [exit 1]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check "sh -c 'exit 125'" -o none.tape
    2> symtape: $RECORDINGS/train.log.zst:0/0:forward: cannot tell whether it fails: exit 125
    [exit 125]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check "sh -c 'kill -9 \$\$'" -o none.tape
    2> symtape: $RECORDINGS/train.log.zst:0/0:forward: cannot tell whether it fails: killed by signal 9
    2> symtape: if being killed is the failure, use --crash-is interesting
    [exit 125]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check "sh -c 'sleep 100'" --timeout 0.2 -o none.tape
    2> symtape: $RECORDINGS/train.log.zst:0/0:forward: cannot tell whether it fails: no end within 0.2 s
    2> symtape: --timeout gives it more time
    [exit 125]

A cos that uses what comes from a sin. The values between them have other sizes: sizes are computed anew, and of all calls
between them none is left. The mm accepts only a matrix, so that the reshape before it stays.

    $ cat > views.fx <<'END'
    > class f(torch.nn.Module):
    >     def forward(self, s1: "Sym(s1)", x: "f32[s1, 6, 1][6, 1, 1]", w: "f32[6, 2][2, 1]"):
    >         a: "f32[s1, 6, 1][6, 1, 1]" = torch.ops.aten.sin.default(x)
    >         b: "f32[6*s1][1]" = torch.ops.aten.view.default(a, [-1])
    >         c: "f32[s1, 6][6, 1]" = torch.ops.aten.view.default(b, [s1, 6])
    >         d: "f32[s1, 2][2, 1]" = torch.ops.aten.mm.default(c, w)
    >         e: "f32[2, s1][1, 2]" = torch.ops.aten.t.default(d)
    >         g: "f32[2, s1][1, 2]" = torch.ops.aten.cos.default(e)
    >         return (g,)
    > END

    $ symtape minify views.fx --has-ops 'aten.sin -> aten.cos' -o views.tape --json | grep -o '"calls_after":[0-9]*\|"minimal":[a-z]*'
    "calls_after":2
    "minimal":true
    2> symtape: views.tape: the result as a tape

    $ symtape minify views.fx --has-ops 'aten.sin -> aten.mm' --passes substitute --overwrite --overwrite-journal -o views.tape -q | grep '='
    # symbol s1 = 2 in [2, int_oo]
            a: "f32[s1, 6, 1][6, 1, 1]" = torch.ops.aten.sin.default(x)
            c: "f32[s1, 6][6, 1]" = torch.ops.aten.view.default(a, [s1, 6])
            d: "f32[s1, 2][2, 1]" = torch.ops.aten.mm.default(c, w)
      a = aten.sin.default, replaced by an input: it does not fail any more
      c = aten.view.default, replaced by an input: it does not fail any more
      d = aten.mm.default, replaced by an input: it does not fail any more

Questions that have no answer in time are counted, so that a limit that is too short is seen:

    $ symtape minify views.fx --check "sh -c 'grep -q aten.cos \$0 || sleep 100'" --timeout 3 --max-calls 2 -o slow.tape | sed -n 2,3p
    ended early by --max-calls; --resume continues
    1 check did not end within 3 s; --timeout gives more time
    2> symtape: slow.tape: the result as a tape

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check true --repro nowhere/repro.py -o none.tape
    2> symtape: nowhere/repro.py: No such file or directory
    [exit 4]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check ./none.sh -o none.tape
    2> symtape: --check: ./none.sh: No such file or directory
    [exit 4]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check "sh -c 'exit 127'" -o none.tape
    2> symtape: --check: the command cannot be run: exit 127
    [exit 4]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check "sh -c 'kill -9 \$\$'" --crash-is abort -o none.tape
    2> symtape: --check: killed by signal 9
    [exit 4]

    $ ls none.* 2>&1
    ls: cannot access 'none.*': No such file or directory
    [exit 2]

Candidates that fail otherwise are kept aside.

    $ printf '#!/bin/sh\ngrep -q aten.tanh "$1" && exit 0\ngrep -q aten.convolution "$1" && exit 101\nexit 1\n' > two.sh; chmod +x two.sh

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check ./two.sh --also-interesting 101 -o two.tape --json 2>/dev/null | grep -o '"calls_after":[0-9]*\|"other":[0-9]*'
    "calls_after":1
    "other":1

    $ ls two.tape.also-interesting | wc -l; head -qn 1 two.tape.also-interesting/* | sort -u
    1
    # fails differently: exit 101

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check ./two.sh --invert -o not.tape
    2> symtape: $RECORDINGS/train.log.zst:0/0:forward: does not fail: --check printed: exit 0
    2> symtape: if it fails only sometimes, --repeat 20 runs it 20 times
    [exit 1]

A limit that ends the questions about parts is named as the reason.

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --overwrite -o w.tape --cost 'calls>=3' --passes location --max-calls 1 --good g.py | tail -1 | cut -c1-60; test -e g.py
            return (primals_2, primals_3, primals_4, primals_5,
    2> symtape: w.tape: the result as a tape
    2> symtape: g.py: not written: a limit was reached before the oracle was asked about each part
    [exit 1]

A PyTorch that cannot be imported is no failure of the graph.

    $ mkdir -p broken/torch; echo 'raise ImportError("libc10.so is missing")' > broken/torch/__init__.py; PYTHONPATH=broken SYMTAPE_PYTHON=python3 symtape minify $RECORDINGS/train.log.zst:0/0:forward -q --overwrite -o w.tape --torch-oracle run
    2> symtape: python3 has no PyTorch; --python or $SYMTAPE_PYTHON names a Python that has it: ImportError: libc10.so is missing
    [exit 4]

Mistakes.

    $ symtape minify
    2> symtape: minify: an argument is missing: name a graph, as in bert.tape:0/0:forward
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst
    2> symtape: no compile of $RECORDINGS/train.log.zst failed: name a graph, and the condition to keep (--guard, --specializes, --cost, --torch-oracle, --check)
    2> symtape: several graphs match; there are 0/0_0:dynamo_output_graph, 0/0_0:aot_joint_graph, 0/0_0:aot_forward_graph, 0/0_0:aot_backward_graph
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst --check true
    2> symtape: several graphs match; there are 0/0_0:dynamo_output_graph, 0/0_0:aot_joint_graph, 0/0_0:aot_forward_graph, 0/0_0:aot_backward_graph
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check 'a | b'
    2> symtape: --check: "|" outside quotes: only one simple command can be run; use sh -c '...' for more
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check true --guard 'Eq(s0, 1)'
    2> symtape: --check, --torch-oracle, --error, --guard, --specializes, --cost, --backend-mismatch and --has-ops exclude each other, except for --cost with --torch-oracle seconds
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost 'guards>=1' --torch-oracle run -o none.tape
    2> symtape: --check, --torch-oracle, --error, --guard, --specializes, --cost, --backend-mismatch and --has-ops exclude each other, except for --cost with --torch-oracle seconds
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --cost 'guards>=1' --torch-oracle seconds --launcher 'ssh a' -o none.tape
    2> symtape: --launcher: with --cost, this machine alone is asked how long compiling takes
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --invert
    2> symtape: --invert, --crash-is and --also-interesting need --check
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check true --deadline soon
    2> symtape: --deadline: "soon" is not a time, as in 90, 90s, 15m or 2h
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check true --passes cut,paste
    2> symtape: --passes: there is no pass "paste"; --list-passes lists them
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check true --sizes s99=3
    2> symtape: --sizes: the graph has no symbol s99
    [exit 2]

    $ printf 'mine' > mine.journal; symtape minify $RECORDINGS/train.log.zst:0/0:forward --check true --journal mine.journal -o none.tape
    2> symtape: mine.journal: not a journal of symtape minify; --overwrite-journal replaces it, and --journal names another file
    [exit 3]

    $ printf 's27=3 s23=4\ns27=5\n' > sizes.txt; symtape minify $RECORDINGS/train.log.zst:0/0:forward --check true --sizes sizes.txt
    2> symtape: --sizes: 2 sizes are given, and one can be used
    [exit 2]

    $ echo 's27=3 s99=4' > sizes.txt; symtape minify $RECORDINGS/train.log.zst:0/0:forward --check true --sizes sizes.txt; rm sizes.txt
    2> symtape: --sizes: the graph has no symbol s99

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --check true --sizes s27
    2> symtape: --sizes: "s27" is neither SYMBOL=NUMBER, as in s77=31, nor a file
    [exit 2]

    $ echo mine > mine.tape; symtape minify $RECORDINGS/train.log.zst:0/0:forward --check true -o mine.tape
    2> symtape: mine.tape exists already; --overwrite replaces it
    [exit 2]

    $ printf 'hello\n' > x.fx; symtape minify x.fx --check true
    2> symtape: x.fx: it contains no record of TORCH_TRACE; symtape record makes recordings
    [exit 3]

    $ symtape minify nowhere.tape:0/0:forward --check true
    2> symtape: nowhere.tape: No such file or directory
    [exit 4]

    $ symtape minify --list-passes | head -3
    location       keep only the call that the error names, alone or with the calls that it depends on
    prefix         remove the calls after the last one that matters
    suffix         remove the calls before the first one that matters

The numeric oracle: two backends that differ, here the CPU and the CPU with a fault. What differs because of it is not asked
about, and two backends that agree are told.

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --backend-mismatch cpu,cpu --inject-fault aten.native_layer_norm=1e-2 -o numeric.tape | sed -n '3,/^$/p'
    failure: aten.native_layer_norm.default differs on cpu and cpu: 640 of 640 elements, max absolute 0.04, relative 4.32; tolerance 1e-05 + 1.3e-06 |x|
    not a dynamic-shape bug: it also fails when every size is a number

    2> symtape: numeric.tape: the result as a tape

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --backend-mismatch cpu -o agrees.tape
    2> symtape: $RECORDINGS/train.log.zst:0/0:forward: does not fail: the two backends agree within the tolerance
    [exit 1]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --backend-mismatch gpu
    2> symtape: --backend-mismatch: there is no backend gpu
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --backend-mismatch null
    2> symtape: backend null computes no values that could be compared
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:forward --backend-mismatch cpu --inject-fault aten.tanh
    2> symtape: --inject-fault with --backend-mismatch takes OPERATOR=EPS, as in aten.tanh=1e-2
    [exit 2]

    $ symtape minify $RECORDINGS/train.log.zst:0/0:dynamo --backend-mismatch cpu
    2> symtape: $RECORDINGS/train.log.zst:0/0:dynamo: does not fail: the two backends agree within the tolerance
    [exit 1]
