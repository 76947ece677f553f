# symtape profile

Sort keys, and a misspelt one.

    $ symtape profile -n 2 --sort guards $RECORDINGS/encoder.log.zst | grep -A 3 '^User lines'
    User lines (time is estimated)
        time  share       guards  symbols  specialized  Dynamo nodes  ATen nodes  line                code
      1.40 s  14 to 35 %      52        -            -            66         100  demo/encoder.py:29  t.unflatten(-1, (HEADS, -1)).transpose(2, 3) for t in self.qkv(windows).chunk(3, -1)
      1.78 s  17 to 45 %      42        9            -            30          79  demo/encoder.py:31  weights = (q @ k.transpose(-1, -2) / self.temperature).softmax(-1)

    $ symtape profile -n 2 --sort name $RECORDINGS/encoder.log.zst | grep -A 3 -E '^(User lines|Phases by name)'
    Phases by name, wherever they run (share: of all phases)
      exclusive  share  inclusive  calls  phase
         1.43 s   13 %     1.43 s      3  aot_collect_metadata
        70.5 ms    1 %     5.04 s      3  backend_compile
    --
    User lines (time is estimated)
        time  share  guards  symbols  specialized  Dynamo nodes  ATen nodes  line                code
      442 us  <1 %        3        -            -             1           1  demo/encoder.py:25  if length % WINDOW:
      442 us  <1 %        -        -            -             1           1  demo/encoder.py:26  x = F.pad(x, (0, 0, 0, WINDOW - length % WINDOW))

    $ symtape profile -n 3 --sort inclusive $RECORDINGS/encoder.log.zst | grep -A 4 '^Phases by name'
    Phases by name, wherever they run (share: of all phases)
      exclusive  share  inclusive  calls  phase
        4.43 ms   <1 %     10.7 s      2  dynamo
        35.6 ms   <1 %     10.7 s      2  entire_frame_compile
         134 ms    1 %     6.88 s      2  compile_attempt_0

    $ symtape profile --json --sort calls $RECORDINGS/encoder.log.zst | python3 -c 'import json, sys
    > p = json.load(sys.stdin)
    > print([(x["name"], x["calls"]) for x in p["phases"][:3]])
    > print([(x["line"], x["nodes"]) for x in p["lines"][:3]])'
    [('bytecode_tracing', 3), ('create_aot_dispatcher_function', 3), ('aot_collect_metadata', 3)]
    [(29, 250), (32, 198), (31, 166)]

    $ symtape profile --sort naem $RECORDINGS/encoder.log.zst
    2> symtape: profile: --sort: "naem" is not one of time|inclusive|calls|guards|symbols|name|dispatches|exprs; did you mean "name"?
    [exit 2]

Filters that leave nothing say what there is instead.

    $ symtape profile --compile 9/9 $RECORDINGS/encoder.log.zst
    2> symtape: no compile 9/9; there are 0/0_0, 0/0_1, 0/1_0
    [exit 2]

    $ symtape profile --compile 0/0_7 --json $RECORDINGS/encoder.log.zst $RECORDINGS/mlp.log.zst
    2> symtape: no compile 0/0_7; there are 0/0_0, 0/0_1, 0/1_0
    [exit 2]

    $ symtape profile --compile forward $RECORDINGS/encoder.log.zst
    2> symtape: "forward" is not a compile id, as 0/0 or 0/0_1
    [exit 2]

    $ symtape profile --recording rank7 $RECORDINGS/two_ranks
    2> symtape: no recording rank7; there are rank0, rank1
    [exit 2]

    $ symtape profile $RECORDINGS/two_ranks@rank0 $RECORDINGS/mlp.log.zst
    2> symtape: $RECORDINGS/two_ranks@rank0: of several tapes each is read whole; name one tape, or use --recording and --compile
    [exit 2]

    $ symtape profile --file nowhere $RECORDINGS/encoder.log.zst | head -2
    10.7 s of compiling: 2 compiles, 3 attempts, 6 graphs, 0 guards; 858 records
     1  restarted, 4.42 s of 10.7 s

Two ranks, and two tapes, side by side.

    $ symtape profile $RECORDINGS/two_ranks | head -17
    948 ms of compiling: 2 compiles, 2 attempts, 4 graphs, 0 guards; 106 records
    No failure, recompile, restart, graph break or costly line was found.
      * 2 recordings; the slowest is rank1 with 477 ms; their compiles do not differ
      * by part of the compile time: 57 % AOTAutograd (tracing ATen graphs), 38 % Dynamo (tracing Python), 5 % building guards
      * 8 calls that Dynamo captured became 8 ATen calls (1.0 times as many)

    Recordings
        time  thrown away  compiles  attempts  graphs  guards  breaks  recompiles  failures  recording
      470 ms            -         1         1       2       -       -           -         -  rank0
      477 ms            -         1         1       2       -       -           -         -  rank1 (slowest)

    Compiles, slowest first
        time  thrown away  attempts  graphs  guards  symbols  status  compile    function
      477 ms            -         1       2       -        2  ok      0/0 rank1  average demo/two_ranks.py:12
      470 ms            -         1       2       -        2  ok      0/0 rank0  average demo/two_ranks.py:12

    Phases (inclusive: with what runs inside; exclusive: itself; share: of all phases)

    $ symtape profile -n 4 $RECORDINGS/graph_break.log.zst $RECORDINGS/mlp.log.zst | grep -A 17 '^Recordings'
    Recordings
        time  thrown away  compiles  attempts  graphs  guards  breaks  recompiles  failures  recording
      466 ms       112 ms         4         5       8       -       1           2         -  $RECORDINGS/graph_break.log.zst
      779 ms            -         2         2       4       -       -           1         -  $RECORDINGS/mlp.log.zst (slowest)

    Where the recordings differ
      compile  differs in  recordings
      0/0      attempts    graph_break.log.zst 2, mlp.log.zst 1
      0/0      symbols     graph_break.log.zst 4, mlp.log.zst 0
      0/0      time        graph_break.log.zst 236 ms, mlp.log.zst 401 ms
      1/0      present     graph_break.log.zst yes, mlp.log.zst no
      ... and 3 more

    Compiles, slowest first
         time  thrown away  attempts  graphs  guards  symbols  status  compile                  function
       401 ms            -         1       2       -        -  ok      0/0 mlp.log.zst          forward demo/mlp.py:14
       378 ms            -         1       2       -        1  ok      0/1 mlp.log.zst          forward demo/mlp.py:14
       236 ms       112 ms         2       2       -        4  ok      0/0 graph_break.log.zst  normalise demo/graph_break.py:8

What goes wrong has a headline.

    $ symtape profile $RECORDINGS/data_dependent.log.zst | head -3
    165 ms of compiling: 1 compile, 1 attempt, 0 graphs, 0 guards; 45 records
     1  failed, 165 ms of 165 ms
        the branch on y.shape[0] > 4 depends on a result of slicing with a data-dependent bound and is not known when the program is compiled

    $ symtape profile $RECORDINGS/graph_break.log.zst | grep -A 3 '^Graph breaks'
    Graph breaks (depth: calls below the compiled function)
      compile  depth  more compiles  graphs  their time  function  user line               why
      0/0          0              -       1           -  split     demo/graph_break.py:10  Failed to trace builtin operator: print("rows", x.shape[0])

The other formats; the suffix of a file names one.

    $ symtape profile -o x.folded $RECORDINGS/mlp.log.zst && sort -t' ' -k2nr x.folded | head -2
    dynamo;entire_frame_compile;compile_attempt_0;bytecode_tracing 380889
    dynamo;entire_frame_compile;build_guards 149306

    $ symtape profile -o x.trace $RECORDINGS/mlp.log.zst && python3 -c 'import json
    > events = json.load(open("x.trace"))["traceEvents"]
    > print(sorted({e["ph"] for e in events}), [e["name"] for e in events if e["ph"] == "X"][0])'
    ['C', 'M', 'X'] dynamo

    $ symtape profile -o x.speedscope.json $RECORDINGS/inductor.log.zst && python3 -c 'import json
    > for p in json.load(open("x.speedscope.json"))["profiles"]: print(p["name"], p["unit"], len(p["samples"]))'
    phases, by measured time nanoseconds 56
    user lines, by estimated time nanoseconds 1
    operators, by calls on each level none 30
    operators, by replayed dispatches none 15
    guards, by the code that asked for them none 2
    kernels, by the nodes that they compute none 2

    $ symtape profile -o x.pb.gz $RECORDINGS/inductor.log.zst && gzip -dc x.pb.gz | strings -n 10 | grep -m 2 cpp_fused
    cpp_fused__softmax_gelu_sum_0

    $ symtape profile -f folded --view guards $RECORDINGS/inductor.log.zst
    backend;s17 <= 4096 1
    backend;s77 <= 4096 1

    $ symtape profile -f folded --view kernel-nodes $RECORDINGS/inductor.log.zst
    0/0;forward;cpp_fused__softmax_gelu_sum_0;demo/inductor.py;score;18: return torch.nn.functional.gelu(x @ y.t()).sum(-1).softmax(0) 11
    0/0;forward;extern_kernels.mm;demo/inductor.py;score;18: return torch.nn.functional.gelu(x @ y.t()).sum(-1).softmax(0) 2

    $ symtape profile -f chrome --view guards $RECORDINGS/inductor.log.zst | python3 -c 'import json, sys
    > for e in json.load(sys.stdin)["traceEvents"]:
    >     if e["pid"] == 1: print(e["ph"], e["name"], *(e[k] for k in ("ts", "dur") if k in e), e["args"])'
    M process_name {'name': 'sums, each from 0'}
    M thread_name {'name': 'guards, by the code that asked for them (1 us each)'}
    X backend 0.0 2.0 {'count': 2}
    X s17 <= 4096 0.0 1.0 {'count': 1}
    X s77 <= 4096 1.0 1.0 {'count': 1}

    $ symtape profile -f json --view guards $RECORDINGS/inductor.log.zst
    2> symtape: profile: --view needs --format folded, speedscope, pprof or chrome
    [exit 2]

    $ symtape profile -f folded --view guards --by op $RECORDINGS/inductor.log.zst
    2> symtape: profile: --view and --by exclude each other
    [exit 2]

    $ symtape profile -f pprof --view guard $RECORDINGS/inductor.log.zst
    2> symtape: profile: --view: "guard" is not one of phases, lines, stacks, stack-guards, modules, operators, dispatches, replayed, guards, kernels, kernel-nodes; did you mean "guards"?
    [exit 2]

    $ symtape profile -o x.trace $RECORDINGS/mlp.log.zst
    2> symtape: x.trace exists already; --overwrite replaces it
    [exit 2]

Costs of operators, in one replay of the graphs since this was not recorded with --deep.

    $ symtape profile -n 3 --sort exprs $RECORDINGS/encoder.log.zst | sed -n '/^Levels/,/^Expansion/p; /^Costs of/,/^Tensors/p'
    Levels: from Dynamo's calls to dispatches
      level                                                  count  of Dynamo's  compile time each
      calls that Dynamo captured, kept attempts                187         1.00            57.1 ms
      ATen calls, kept attempts                                423         2.26            25.3 ms
      dispatches of FakeTensorMode, all attempts, estimated  3,742        12.95            2.85 ms
      dispatches of the proxy mode, all attempts, estimated    822         2.84            13.0 ms
      dispatches in one walk of each graph, all attempts     1,911         6.61            5.59 ms
      25.3 ms for each ATen call; the rule of thumb of 2023 was 20 ms.

    Expansion: calls by level in each compile's last attempt (x: of Dynamo's)
    Costs of operators in one replay of the graphs (record --deep has the real ones)
      dispatches  deepest  calls  guards  exprs  evaluations  symbolic tensors  operator
               -        -     18      47  1,734        1,248                45  aten.matmul.default
               -        -     36      54  1,375          809                66  aten.linear.default
               -        -     36      25  1,112          380                14  aten.unflatten.int
      ... and 33 more

    Tensors with symbolic sizes made by line, in one replay

    $ symtape profile --no-replay $RECORDINGS/encoder.log.zst | grep -c -E '^(Costs of|PyTorch.s counters)'
    0
    [exit 1]

In another order: by operator, user line, user stack, module.

    $ symtape profile -n 3 --by op,line,stack,module $RECORDINGS/encoder.log.zst
    By operator
      dispatches  symbolic tensors  ATen calls  op
             418                16          96  aten.view.default
             264                12          24  aten.addmm.default
             216                 -          24  aten._unsafe_view.default
      ... and 52 more

    By user line
      est. time  dispatches  guards  exprs  symbolic tensors  Dynamo calls  ATen calls  line                code
         1.78 s         333      42  1,486                54            30          79  demo/encoder.py:31  weights = (q @ k.transpose(-1, -2) / self.temperature).softmax(-1)
         1.52 s         474      10    493                66            24         105  demo/encoder.py:32  y = self.out((weights @ v).transpose(2, 3).flatten(3))
         1.40 s         356      52  1,240                48            66         100  demo/encoder.py:29  t.unflatten(-1, (HEADS, -1)).transpose(2, 3) for t in self.qkv(windows).chunk(3, -1)
      ... and 8 more

    By user stack (outermost frame first)
      guards  stack
          52  demo/encoder.py:57 > demo/encoder.py:46 > demo/encoder.py:29
          42  demo/encoder.py:57 > demo/encoder.py:46 > demo/encoder.py:31
          25  demo/encoder.py:57 > demo/encoder.py:46 > demo/encoder.py:27
      ... and 5 more

    By module
      guards  with below  Dynamo calls  with below  ATen calls  with below  module
           -         112             -         187           -         423  (the model)
           -         112             4         187           8         423  blocks
          65         104            47          61         115         141  blocks.0
      ... and 26 more

    $ symtape profile --by stack -f folded $RECORDINGS/encoder.log.zst | tail -2
    forward (demo/encoder.py:57);forward (demo/encoder.py:46);forward (demo/encoder.py:33) 11
    forward (demo/encoder.py:57);forward (demo/encoder.py:47) 9

    $ symtape profile --by model $RECORDINGS/encoder.log.zst
    2> symtape: profile: --by: "model" is not one of op, line, stack, module; did you mean "module"?
    [exit 2]

What the graphs' tensors take.

    $ symtape profile -n 3 $RECORDINGS/encoder.log.zst | sed -n '/^Memory of graphs/,/^Caches/p'
    Memory of graphs (estimated at the hints, as if each call ran by itself)
         peak  in blocks  with inputs  inputs  outputs  saved  saved inputs  unknown  compile  graph      peak at  line
      82.9 kB    82.9 kB       245 kB  162 kB    384 B      -             -        -  0/1      inference  gelu     demo/encoder.py:47
      72.6 kB    72.7 kB       233 kB  161 kB    384 B      -             -        -  0/0      inference  gelu     demo/encoder.py:47

    Alive at the highest of these peaks
        bytes  share  node     operator            line                code
      36.9 kB   44 %  addmm_2  aten.addmm.default  demo/encoder.py:47  return x + self.mlp(self.norm2(x))
      36.9 kB   44 %  gelu     aten.gelu.default   demo/encoder.py:47  return x + self.mlp(self.norm2(x))
      9.22 kB   11 %  add_211  aten.add.Tensor     demo/encoder.py:46  x = x + self.attention(self.norm1(x))

The memory of graphs: the peak and its line, and what is alive at it, as a share.
    $ symtape profile --no-replay $RECORDINGS/train.log.zst 2>/dev/null | sed -n '/^Memory of graphs/,/^Saved/p' | sed '$d'
    Memory of graphs (estimated at the hints, as if each call ran by itself)
         peak  in blocks  with inputs   inputs  outputs    saved  saved inputs  unknown  compile  graph     peak at               line
      11.4 kB    12.3 kB      18.5 kB  7.12 kB  11.4 kB  10.6 kB       3.84 kB        -  0/0      forward   addmm                 demo/train.py:19
      11.3 kB    13.3 kB      19.3 kB  15.2 kB  6.80 kB        -             -        -  0/0      backward  convolution_backward  demo/train.py:18

    Alive at the highest of these peaks
        bytes  share  node       operator                line              code
      2.56 kB   23 %  add_24     aten.add.Tensor         demo/train.py:18  x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
      2.56 kB   23 %  embedding  aten.embedding.default  demo/train.py:17  x = self.embedding(ids)
      2.56 kB   23 %  getitem    operator.getitem        demo/train.py:18  x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
      2.56 kB   23 %  tanh       aten.tanh.default       demo/train.py:18  x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
        800 B    7 %  addmm      aten.addmm.default      demo/train.py:19  return self.head(x)
        160 B    1 %  getitem_1  operator.getitem        demo/train.py:18  x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
        160 B    1 %  getitem_2  operator.getitem        demo/train.py:18  x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))

    $ symtape profile --json --no-replay $RECORDINGS/train.log.zst | python3 -c 'import json, sys
    > for m in json.load(sys.stdin)["graph_memory"]: print(m["level"], m["peak_bytes"], m["block_peak_bytes"], m["total_peak_bytes"], m["peak_line"]["line"], round(sum(n["share"] for n in m["live"]), 2))'
    forward 11360 12288 18484 19 1.0
    backward 11284 13312 19284 18 1.0
