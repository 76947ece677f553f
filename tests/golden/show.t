# symtape show

Without an option, the graphs, spelt as selectors.

    $ symtape show $RECORDINGS/mlp.log.zst
    graph                      kind       inputs  nodes  calls  outputs  subgraphs  opaque
    0/0_0:dynamo_output_graph  dynamo          5     10      4        1          0       0
    0/0_0:aot_inference_graph  inference       5     12      6        1          0       0
    0/1_0:dynamo_output_graph  dynamo          6     11      4        1          0       0
    0/1_0:aot_inference_graph  inference       6     13      6        1          0       0

One of them; the last attempt that has one where none is named.

    $ symtape show $RECORDINGS/mlp.log.zst:0/1:dynamo
    class GraphModule(torch.nn.Module):
        def forward(self, L_self_modules_inner_parameters_weight_: "f32[32, 16][16, 1]cpu", L_self_modules_inner_parameters_bias_: "f32[32][1]cpu", s77: "Sym(s77)", L_x_: "f32[s77, 16][16, 1]cpu", L_self_modules_outer_parameters_weight_: "f32[16, 32][32, 1]cpu", L_self_modules_outer_parameters_bias_: "f32[16][1]cpu"):
            l_self_modules_inner_parameters_weight_ = L_self_modules_inner_parameters_weight_
            l_self_modules_inner_parameters_bias_ = L_self_modules_inner_parameters_bias_
            l_x_ = L_x_
            l_self_modules_outer_parameters_weight_ = L_self_modules_outer_parameters_weight_
            l_self_modules_outer_parameters_bias_ = L_self_modules_outer_parameters_bias_

            # File: /home/user/demo/mlp.py:15 in forward, code: return x + self.outer(torch.relu(self.inner(x)))
            linear: "f32[s77, 32][32, 1]cpu" = torch._C._nn.linear(l_x_, l_self_modules_inner_parameters_weight_, l_self_modules_inner_parameters_bias_);  l_self_modules_inner_parameters_weight_ = l_self_modules_inner_parameters_bias_ = None
            relu: "f32[s77, 32][32, 1]cpu" = torch.relu(linear);  linear = None
            linear_1: "f32[s77, 16][16, 1]cpu" = torch._C._nn.linear(relu, l_self_modules_outer_parameters_weight_, l_self_modules_outer_parameters_bias_);  relu = l_self_modules_outer_parameters_weight_ = l_self_modules_outer_parameters_bias_ = None
            add: "f32[s77, 16][16, 1]cpu" = l_x_ + linear_1;  l_x_ = linear_1 = None
            return (add,)

    $ symtape show $RECORDINGS/mlp.log.zst --graph 0/0:inference | tail -3
            return (
                add,  # PlainAOTOutput(idx=0)
            )

Ambiguous and missing ones list candidates.

    $ symtape show $RECORDINGS/mlp.log.zst:0/0 --graph
    2> symtape: several graphs match; there are 0/0_0:dynamo_output_graph, 0/0_0:aot_inference_graph
    [exit 2]

    $ symtape show $RECORDINGS/mlp.log.zst:0/0:backward
    2> symtape: no such graph; there are 0/0_0:dynamo_output_graph, 0/0_0:aot_inference_graph, 0/1_0:dynamo_output_graph, 0/1_0:aot_inference_graph
    [exit 2]

    $ symtape show $RECORDINGS/mlp.log.zst:7/0 --guards
    2> symtape: $RECORDINGS/mlp.log.zst: no compile 7/0; there are 0/0_0, 0/1_0
    [exit 2]

    $ symtape show $RECORDINGS/two_ranks@rank7
    2> symtape: $RECORDINGS/two_ranks: no recording rank7; there are rank0, rank1
    [exit 2]

Graphs within graphs.

    $ symtape show $RECORDINGS/cond.log.zst --graphs
    graph                      kind       inputs  nodes  calls  outputs  subgraphs  opaque
    0/0_0:dynamo_output_graph  dynamo          4     27     10        1          2       0
    0/0_0:aot_inference_graph  inference       4     27     10        1          2       0

    $ symtape show $RECORDINGS/cond.log.zst:0/0:dynamo --json | python3 -c 'import json, sys
    > for g in json.load(sys.stdin)["graph"]["graphs"]:
    >     print(g["name"], g["parent"], [n["target"] for n in g["nodes"] if n["op"].startswith("call")])'
    GraphModule None ['sum', 'operator.gt', 'torch.ops.higher_order.cond', 'operator.getitem', 'operator.add']
    cond_true_0 0 ['operator.matmul', 'sin']
    cond_false_0 0 ['cos', 't', 'operator.matmul']

Symbols, and what became of them.

    $ symtape show $RECORDINGS/mlp.log.zst --symbols --specializations
    symbols
    compile  symbol  value  range        specialized  source            user line       code
    0/1_0    s77         6  [2, int_oo]  -            L['x'].size()[0]  demo/mlp.py:15  return x + self.outer(torch.relu(self.inner(x)))

    specializations
    no specializations

Guards of all kinds.

    $ symtape show $RECORDINGS/data_dependent.log.zst --guards
    compile  kind    asked by  guard      values      user line                  code
    0/0_0    assert  kernel    u1 >= 0    u1=?        demo/data_dependent.py:12  y = x[:kept]
    0/0_0    assert  kernel    u1 <= s77  u1=? s77=9  demo/data_dependent.py:12  y = x[:kept]
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

    $ symtape show $RECORDINGS/encoder.log.zst --guards --compile 0/1 --file encoder --limit 2
    compile  kind   asked by        guard             values       user line           code
    0/1_0    guard  torch function  Eq(zf14, 1.0e-5)  zf14=1e-05!  demo/encoder.py:46  x = x + self.attention(self.norm1(x))
    0/1_0    guard  kernel          Eq(s53, 32)       s53=32!      demo/encoder.py:46  x = x + self.attention(self.norm1(x))
    2> symtape: guards: 41 more not shown (--limit)

    $ symtape show $RECORDINGS/encoder.log.zst --guards --limit 1 --stack | sed -n 1,12p
    compile    0/0_0
    kind       guard
    asked by   torch function
    guard      Eq(zf14, 1.0e-5)
    values     zf14=1e-05!
    user line  demo/encoder.py:46
    code       x = x + self.attention(self.norm1(x))
      user stack:
        File "/home/user/demo/encoder.py", line 57, in forward
          x = block(x)
        File "/home/user/demo/encoder.py", line 46, in forward
          x = x + self.attention(self.norm1(x))
    2> symtape: guards: 252 more not shown (--limit)

Incidents.

    $ symtape show $RECORDINGS/encoder.log.zst --restarts --recompiles
    restarts
    compile    time  reason                          records  graphs  symbols  guards  meaning
    0/0_0    4.42 s  TensorifyScalarRestartAnalysis      278       2       12      77  a float was specialized

    recompiles
    compile    time  reasons  guard of  guard that failed       used at
    0/1_0    2.55 s        1  0/0       (x.size()[1] % 8) != 0  demo/encoder.py:25

    $ symtape show $RECORDINGS/data_dependent.log.zst --failures
    compile  type       user line                  code                message                                                                                                                                                 cause
    0/0_0    UserError  demo/data_dependent.py:13  if y.shape[0] > 4:  Consider annotating your code using torch._check*(). Could not guard on data-dependent expression u1 > 4 (unhinted: u1 > 4). (Size-like symbols: none)  GuardOnDataDependentSymNode: Could not guard on data-dependent expression u1 > 4 (unhinted: u1 > 4). (Size-like symbols: none)

    $ symtape show $RECORDINGS/inductor.log.zst --caches
    compile  cache        result    time  name  key                                                   why
    0/0_0    AOTAutograd  miss         -  -     afwed4leexlgv3k6k7wpcgd5o33et5xvcvni5eac2hmbz42k3ksg  full_miss
    0/0_0    FX graph     miss    10.1 s  -     f3llzb6un3rem6wspgpskalnlzbw4doj2jmhyxuxjhwlgte4iumn  full_miss

Kernels: a C++ kernel has nothing but its name, so its nodes are matched by that.

    $ symtape show $RECORDINGS/inductor.log.zst --kernels
    kernels
    compile  program      kernel                         kind    calls  compiled  tuned  configs  nodes  nodes from  user line            code                                                           other lines  operators        names of nodes
    0/0_0    0_inference  extern_kernels.mm              extern      1         -      -        -      2  comments    demo/inductor.py:18  return torch.nn.functional.gelu(x @ y.t()).sum(-1).softmax(0)               aten.t, aten.mm  t, matmul
    0/0_0    0_inference  cpp_fused__softmax_gelu_sum_0  C++         1         -      -        -     11  name        demo/inductor.py:18  return torch.nn.functional.gelu(x @ y.t()).sum(-1).softmax(0)               -                mul_4, mul_5, erf, add_6, mul_6, sum_1, amax, sub_7, exp, sum_2, div

    programs
    compile  program      kernels  code generation  loading and compiling  max-autotune
    0/0_0    0_inference        2           8.73 s                 1.26 s             -

    failed_fusions
    none on this tape; PyTorch prints them with TORCH_LOGS=fusion

    $ symtape show $RECORDINGS/inductor.log.zst --kernels --json --limit 1 | python3 -c 'import json, sys
    > d = json.load(sys.stdin); print(d["omitted"]); print(d["kernels"][0]["nodes"][1]); print(d["programs"])'
    {'kernels': 1}
    {'name': 'matmul', 'op': 'operator.matmul', 'graph': 'dynamo', 'line': {'file': '/home/user/demo/inductor.py', 'line': 18, 'function': 'score', 'code': 'return torch.nn.functional.gelu(x @ y.t()).sum(-1).softmax(0)'}}
    [{'recording': 'inductor', 'compile': '0/0', 'attempt': 0, 'log_line': 1658, 'program': '0_inference', 'backward': False, 'kernels': 2, 'codegen_ns': 8729977000, 'load_ns': 1255456000, 'choices_ns': None}]

    $ symtape show $RECORDINGS/mlp.log.zst --kernels
    kernels
    no kernels: the tape has no program of Inductor (inductor_output_code)

    programs
    no programs

    failed_fusions
    none on this tape; PyTorch prints them with TORCH_LOGS=fusion

Events and payloads.

    $ symtape show $RECORDINGS/mlp.log.zst --events create_symbol --limit 2
    log line  time             compile  event          payload  metadata
         694  09:49:33.258000  0/1_0    create_symbol        -  {"symbol": "s77", "val": "6", "vr": "[2, int_oo]", "source": "L['x'].size()[0]", "user_stack": "modules/linear.py:134", "stack": "_logging/_internal.py:1497"}

    $ symtape show $RECORDINGS/mlp.log.zst --events create_smybol
    2> symtape: no event "create_smybol"; did you mean "create_symbol"?
    [exit 2]

    $ symtape show $RECORDINGS/mlp.log.zst --events=str --json --limit 1
    {"schema":"symtape.show/1","tape":"$RECORDINGS/mlp.log.zst","events":[{"recording":"mlp","compile":null,"attempt":null,"log_line":32,"offset":1124,"event":"str","time":"09:49:32.678000","month":11,"day":20,"pid":17778,"logged_by":{"file":"/home/user/venv/lib/python3.11/site-packages/torch/_logging/structured.py","line":28},"flags":[],"meta":["/home/user/venv/lib/python3.11/site-packages/torch/_dynamo/convert_frame.py", 0]}],"omitted":{"events": 20}}

    $ symtape show $RECORDINGS/mlp.log.zst --artifact recompile_reasons
    0/0: tensor 'x' size mismatch at index 0. expected 4, actual 6

    $ symtape show $RECORDINGS/mlp.log.zst --artifact recompile_reason
    2> symtape: no artifact "recompile_reason"; did you mean "recompile_reasons"?
    [exit 2]

torch._dynamo.reset() starts the compile ids anew: what came after it has the number of resets behind its ids.

    $ symtape show $RECORDINGS/reset.log.zst --recompiles
    compile     time  reasons  guard of  guard that failed       used at
    0/1_0    40.4 ms        1  0/0       2 <= x.size()[0]        demo/reset.py:7
    0/1.1_0  46.5 ms        1  0/0.1     (x.size()[0] % 2) == 0  demo/reset.py:12
    0/2.1_0  47.0 ms        2  0/1.1     2 <= x.size()[0]        demo/reset.py:12

    $ symtape show $RECORDINGS/reset.log.zst:0/0.1:dynamo | grep in.halves
            # File: /home/user/demo/reset.py:13 in halves, code: return x[: x.shape[0] // 2].sum()

    $ symtape info $RECORDINGS/reset.log.zst | grep ok
    reset      0/0            0  ok           32        1       0       2      4
    reset      0/1            0  ok           35        0       0       2      4
    reset      0/0.1          0  ok           38        2       3       2      6
    reset      0/1.1          0  ok           38        2       1       2      2
    reset      0/2.1          0  ok           35        1       0       2      2

    $ symtape show $RECORDINGS/reset.log.zst:0/0.2:dynamo
    2> symtape: $RECORDINGS/reset.log.zst: no compile 0/0.2; there are 0/0_0, 0/1_0, 0/0.1_0, 0/1.1_0, 0/2.1_0
    [exit 2]
