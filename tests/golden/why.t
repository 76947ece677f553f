# symtape why

A size that is a symbol, with what limits it:

    $ symtape why $RECORDINGS/encoder.log.zst:0/1 "L['x'].size()[1]" -n 4
    L['x'].size()[1] is the symbol s27 in 0/1, 24 when it was compiled: torch.compile(dynamic=True) makes inputs dynamic; 31 guards depend on it, first Eq(Mod(s27, 8), 0) at demo/encoder.py:25 `if length % WINDOW:`
      * at the end: s27 in [2, int_oo]
      * attempt 0/1_0 was kept

    History
      log line  what     asked by  expression                          user line           code
          4186  created  -         s27 = 24 in [2, int_oo]             demo/encoder.py:46  x = x + self.attention(self.norm1(x))
          4196  guard    dynamo    Eq(Mod(s27, 8), 0)                  demo/encoder.py:25  if length % WINDOW:
          4197  guard    kernel    Eq(32*s27*s77, 256*s77*((s27//8)))  demo/encoder.py:27  windows = x.unflatten(1, (-1, WINDOW))
          4198  guard    kernel    Ne((s27//8), s27)                   demo/encoder.py:27  windows = x.unflatten(1, (-1, WINDOW))
      ... and 28 more

    Checked at each call
      condition                                                                                 user line           code
      L['x'].stride()[0] == 32*L['x'].size()[1]                                                 -                   -
      (L['x'].size()[1] % 8) == 0                                                               demo/encoder.py:25  if length % WINDOW:
      (32*L['x'].size()[1]*L['x'].size()[0]) == (256*L['x'].size()[0]*(L['x'].size()[1] // 8))  demo/encoder.py:27  windows = x.unflatten(1, (-1, WINDOW))
      (L['x'].size()[1] // 8) != L['x'].size()[1]                                               demo/encoder.py:27  windows = x.unflatten(1, (-1, WINDOW))
      ... and 26 more

Sources in the spelling of users, and a size of the whole tensor:

    $ symtape why $RECORDINGS/encoder.log.zst "x.shape[-1]" -n 3
    L['x'].size()[2] became the constant 32 in 0/1, though it began as the symbol s53: the guard Eq(s53, 32) at demo/encoder.py:46 `x = x + self.attention(self.norm1(x))`, asked by a kernel
      * it began as a symbol: torch.compile(dynamic=True) makes inputs dynamic
      * sizes of inputs that are the constant 32: L['self']._modules['blocks']._modules['0']._modules['norm1']._parameters['weight'].size()[0], L['self']._modules['blocks']._modules['0']._modules['norm1']._parameters['bias'].size()[0], L['self']._modules['blocks']._modules['0']._modules['attention']._modules['qkv']._parameters['weight'].size()[1]
      * attempt 0/1_0 was kept

    History
      log line  what             asked by  expression               user line           code
          4187  created          -         s53 = 32 in [2, int_oo]  demo/encoder.py:46  x = x + self.attention(self.norm1(x))
          4194  guard            kernel    Eq(s53, 32)              demo/encoder.py:46  x = x + self.attention(self.norm1(x))
          4195  became constant  -         32                       demo/encoder.py:46  x = x + self.attention(self.norm1(x))

    Checked at each call
      condition
      L['x'].size()[2] == 32

    In each compile
      compile  attempt    size              value  is               at the end  guards  since
      0/1_0    ok         L['x'].size()[2]     32  became constant  32               1  torch.compile(dynamic=True) makes inputs dynamic
      0/0_0    restarted  L['x'].size()[2]     32  became constant  32               1  torch.compile(dynamic=True) makes inputs dynamic
      0/0_1    ok         L['x'].size()[2]     32  became constant  32               1  torch.compile(dynamic=True) makes inputs dynamic

    $ symtape why $RECORDINGS/encoder.log.zst x -n 3
    x has the sizes [s77, s27, 32] in 0/1

    Sizes
      compile  attempt  size              value  is               at the end          guards  since
      0/1_0    ok       L['x'].size()[0]      3  symbol           s77 in [2, int_oo]      19  torch.compile(dynamic=True) makes inputs dynamic
      0/1_0    ok       L['x'].size()[1]     24  symbol           s27 in [2, int_oo]      31  torch.compile(dynamic=True) makes inputs dynamic
      0/1_0    ok       L['x'].size()[2]     32  became constant  32                       1  torch.compile(dynamic=True) makes inputs dynamic
      ... and 6 more

Automatic dynamic shapes, after the recompile that made the size a symbol:

    $ symtape why $RECORDINGS/reset.log.zst:0/1.1 "x.size(0)"
    L['x'].size()[0] is the symbol s77 in 0/1.1, 7 when it was compiled: torch.compile(dynamic=True) makes inputs dynamic; one guard depends on it, Ne(Mod(s77, 2), 0) at demo/reset.py:12 `if x.shape[0] % 2 == 0:`
      * at the end: s77 in [2, int_oo]
      * attempt 0/1.1_0 was kept

    History
      log line  what     asked by  expression              user line         code
          1580  created  -         s77 = 7 in [2, int_oo]  demo/reset.py:12  if x.shape[0] % 2 == 0:
          1582  guard    dynamo    Ne(Mod(s77, 2), 0)      demo/reset.py:12  if x.shape[0] % 2 == 0:

    Checked at each call
      condition                    since               user line         code
      (L['x'].size()[0] % 2) != 0  -                   demo/reset.py:12  if x.shape[0] % 2 == 0:
      2 <= L['x'].size()[0]        0/1 specialization  demo/reset.py:12  if x.shape[0] % 2 == 0:

    $ symtape why $RECORDINGS/reset.log.zst "x.size(1)" -n 2
    L['x'].size()[1] is the symbol s27 in 0/2.1, 2 when it was compiled: torch.compile(dynamic=True) makes inputs dynamic
      * at the end: s27 in [2, int_oo]
      * attempt 0/2.1_0 was kept

    History
      log line  what     expression              user line         code
          2090  created  s27 = 2 in [2, int_oo]  demo/reset.py:12  if x.shape[0] % 2 == 0:

    Checked at each call
      condition                               since               user line         code
      L['x'].stride()[0] == L['x'].size()[1]  -                   -                 -
      2 <= L['x'].size()[1]                   0/1 specialization  demo/reset.py:12  if x.shape[0] % 2 == 0:

    In each compile
      compile  attempt  size              value  is      at the end          since
      0/2.1_0  ok       L['x'].size()[1]      2  symbol  s27 in [2, int_oo]  torch.compile(dynamic=True) makes inputs dynamic
      0/0.1_0  ok       L['x'].size()[1]      2  symbol  s27 in [2, int_oo]  torch.compile(dynamic=True) makes inputs dynamic
      ... and 1 more

Numbers and parameters of modules:

    $ symtape why $RECORDINGS/encoder.log.zst:0/1 "self.blocks[0].norm1.eps"
    L['self']._modules['blocks']._modules['0']._modules['norm1'].eps became the constant 1e-05 in 0/1, though it began as the symbol zf14: the guard Eq(zf14, 1.0e-5) at demo/encoder.py:46 `x = x + self.attention(self.norm1(x))`, asked by a torch function
      * it began as a symbol: torch.compile(dynamic=True) makes inputs dynamic
      * attempt 0/1_0 was kept

    History
      log line  what             asked by        expression                 user line           code
          4191  created          -               zf14 = 1e-05 in [-oo, oo]  demo/encoder.py:46  x = x + self.attention(self.norm1(x))
          4192  guard            torch function  Eq(zf14, 1.0e-5)           demo/encoder.py:46  x = x + self.attention(self.norm1(x))
          4193  became constant  -               1.00000000000000e-5        demo/encoder.py:46  x = x + self.attention(self.norm1(x))

    Checked at each call
      condition                                                                  user line                     code
      L['self']._modules['blocks']._modules['0']._modules['norm1'].eps == 1e-05  modules/normalization.py:228  return F.layer_norm(

    $ symtape why $RECORDINGS/encoder.log.zst:0/1 "self.blocks[0].norm1.weight.size(0)"
    L['self']._modules['blocks']._modules['0']._modules['norm1']._parameters['weight'].size()[0] is the constant 32 in 0/1: parameters have static sizes (force_parameter_static_shapes)
      * attempt 0/1_0 was kept

    Checked at each call
      condition
      L['self']._modules['blocks']._modules['0']._modules['norm1']._parameters['weight'].size()[0] == 32

    $ symtape why $RECORDINGS/graph_break.log.zst "state['step']"
    G['state']['step'] is the constant 2 in 1/2: integers of global variables are constants
      * attempt 1/2_0 was kept

    Checked at each call
      condition                user line               code
      G['state']['step'] == 2  demo/graph_break.py:11  state["step"] += 1

    In each compile
      compile  attempt  size                value  is        at the end  since
      1/2_0    ok       G['state']['step']      2  constant  2           integers of global variables are constants
      1/0_0    ok       G['state']['step']      0  constant  0           integers of global variables are constants
      1/1_0    ok       G['state']['step']      1  constant  1           integers of global variables are constants

Symbols whose value depends on data:

    $ symtape why $RECORDINGS/data_dependent.log.zst u1
    u1 is an unbacked symbol in 0/0, made at demo/data_dependent.py:12 `y = x[:kept]`: its value depends on data: made in slice_forward() of fake_impls.py:1412; 2 guards depend on it, first u1 >= 0 at demo/data_dependent.py:12 `y = x[:kept]`
      * at the end: u1 in [0, int_oo]
      * attempt 0/0_0 failed

    History
      log line  what     asked by  expression                                                                                                                                                         user line                  code
            82  created  -         u1 in [-int_oo, int_oo]                                                                                                                                            demo/data_dependent.py:12  y = x[:kept]
            86  assert   kernel    u1 >= 0                                                                                                                                                            demo/data_dependent.py:12  y = x[:kept]
             -  range    -         [0, int_oo]                                                                                                                                                        -                          -
            87  assert   kernel    u1 <= s77                                                                                                                                                          demo/data_dependent.py:12  y = x[:kept]
           268  failed   -         UserError: Consider annotating your code using torch._check*(). Could not guard on data-dependent expression u1 > 4 (unhinted: u1 > 4). (Size-like symbols: none)  demo/data_dependent.py:13  -
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

A program of torch.export:

    $ symtape why $RECORDINGS/exported.pt2 "x.size(0)" --between 3,70
    L['x'].size()[0] is the symbol s77 in the exported program, 6 when it was exported: torch.export was told that it is dynamic
      * at the end: s77 in [2, 64]

    What tells 3 and 70 apart
      what   condition       true for
      range  s77 in [2, 64]         3

Guards in several spellings:

    $ symtape why $RECORDINGS/encoder.log.zst "Eq( Mod(s27,8),0 )"
    Eq(Mod(s27, 8), 0) was asked by Dynamo at demo/encoder.py:25 `if length % WINDOW:` in 0/1

    History
      log line  what   asked by  expression          user line           code
          4196  guard  dynamo    Eq(Mod(s27, 8), 0)  demo/encoder.py:25  if length % WINDOW:

    Sizes
      compile  attempt  size              value  is      at the end          guards  since
      0/1_0    ok       L['x'].size()[1]     24  symbol  s27 in [2, int_oo]      31  torch.compile(dynamic=True) makes inputs dynamic

    $ symtape why $RECORDINGS/encoder.log.zst "(x.size()[1] % 8) == 0" | head -1
    Eq(Mod(s27, 8), 0) was asked by Dynamo at demo/encoder.py:25 `if length % WINDOW:` in 0/1

    $ symtape why $RECORDINGS/encoder.log.zst "Eq(s53, 32)"
    Eq(s53, 32) was asked by a kernel at demo/encoder.py:46 `x = x + self.attention(self.norm1(x))` in 0/1; it made L['x'].size()[2] the constant 32

    History
      log line  what             asked by  expression   user line           code
          4194  guard            kernel    Eq(s53, 32)  demo/encoder.py:46  x = x + self.attention(self.norm1(x))
          4195  became constant  -         32           demo/encoder.py:46  x = x + self.attention(self.norm1(x))

    Sizes
      compile  attempt  size              value  is               at the end  guards  since
      0/1_0    ok       L['x'].size()[2]     32  became constant  32               1  torch.compile(dynamic=True) makes inputs dynamic

Numbers in graphs:

    $ symtape why $RECORDINGS/train.log.zst:0/0:forward "embedding.size(1)"
    embedding.size(1) is s27 in 0/0_0:aot_forward_graph: it is that of L['ids'].size()[1], which is the symbol s27 in 0/0, 10 when it was compiled: mark_dynamic() marked it

    The way back
      node       operator                size       number  ends here  user line         code
      embedding  aten.embedding.default  size()[1]  s27     -          demo/train.py:17  x = self.embedding(ids)
      primals_4  input                   size()[1]  s27     input      -                 -

    Sizes
      compile  attempt  size                value  is      at the end          since
      0/0_0    ok       L['ids'].size()[1]     10  symbol  s27 in [2, int_oo]  mark_dynamic() marked it

    $ symtape why $RECORDINGS/train.log.zst:0/0:forward "embedding.size(-1)"
    embedding.size(-1) is 16 in 0/0_0:aot_forward_graph: it is that of L['self']._modules['embedding']._parameters['weight'].size()[1], which is the constant 16 in 0/0: parameters have static sizes (force_parameter_static_shapes)

    The way back
      node       operator                size       number  ends here  user line         code
      embedding  aten.embedding.default  size()[2]  16      -          demo/train.py:17  x = self.embedding(ids)
      primals_1  input                   size()[1]  16      input      -                 -

    Sizes
      compile  attempt  size                                                             value  is        at the end  since
      0/0_0    ok       L['self']._modules['embedding']._parameters['weight'].size()[1]     16  constant  16          parameters have static sizes (force_parameter_static_shapes)

    $ symtape why $RECORDINGS/encoder.log.zst:0/1:dynamo "windows.size(2)"
    windows.size(2) is s27//(s27//8) in 0/1_0:dynamo_output_graph: it is computed by windows (Tensor.unflatten) at demo/encoder.py:27 `windows = x.unflatten(1, (-1, WINDOW))`

    The way back
      node     operator          size       number         ends here  user line           code
      windows  Tensor.unflatten  size()[2]  s27//(s27//8)  computed   demo/encoder.py:27  windows = x.unflatten(1, (-1, WINDOW))

    Sizes
      compile  attempt  size              value  is      at the end          guards  since
      0/1_0    ok       L['x'].size()[1]     24  symbol  s27 in [2, int_oo]      31  torch.compile(dynamic=True) makes inputs dynamic

What tells two sizes apart:

    $ symtape why $RECORDINGS/encoder.log.zst "x.size(1)" --between 31 24
    L['x'].size()[1] is the symbol s27 in 0/1, 24 when it was compiled: torch.compile(dynamic=True) makes inputs dynamic; 31 guards depend on it, first Eq(Mod(s27, 8), 0) at demo/encoder.py:25 `if length % WINDOW:`
      * at the end: s27 in [2, int_oo]
      * attempt 0/1_0 was kept

    What tells 31 and 24 apart
      compile  what   asked by  condition                                      true for  user line           code
      0/1_0    guard  dynamo    Eq(Mod(s27, 8), 0)                                   24  demo/encoder.py:25  if length % WINDOW:
      0/1_0    guard  kernel    Eq(32*s27*s77, 256*s77*((s27//8)))                   24  demo/encoder.py:27  windows = x.unflatten(1, (-1, WINDOW))
      0/1_0    guard  kernel    Eq(Mod(s27, (s27//8)), 0)                            24  demo/encoder.py:27  windows = x.unflatten(1, (-1, WINDOW))
      0/1_0    guard  dynamo    Eq(32*s27, 32*((s27//8))*((s27//((s27//8)))))        24  demo/encoder.py:29  t.unflatten(-1, (HEADS, -1)).transpose(2, 3) for t in self.qkv(windows).chunk(3, -1)
      0/0_1    guard  dynamo    Ne(Mod(s27, 8), 0)                                   31  demo/encoder.py:25  if length % WINDOW:

    In each compile
      compile  attempt    size              value  is      at the end          guards  since
      0/1_0    ok         L['x'].size()[1]     24  symbol  s27 in [2, int_oo]      31  torch.compile(dynamic=True) makes inputs dynamic
      0/0_0    restarted  L['x'].size()[1]     21  symbol  s27 in [2, int_oo]      70  torch.compile(dynamic=True) makes inputs dynamic
      0/0_1    ok         L['x'].size()[1]     21  symbol  s27 in [2, int_oo]      70  torch.compile(dynamic=True) makes inputs dynamic

    $ symtape why $RECORDINGS/encoder.log.zst:0/1 s77 --between 1,3 --sizes s27=16
    L['x'].size()[0] is the symbol s77 in 0/1, 3 when it was compiled: torch.compile(dynamic=True) makes inputs dynamic; 19 guards depend on it, first Eq(32*s27*s77, 256*s77*((s27//8))) at demo/encoder.py:27 `windows = x.unflatten(1, (-1, WINDOW))`
      * at the end: s77 in [2, int_oo]
      * attempt 0/1_0 was kept

    What tells 1 and 3 apart
      compile  what   asked by  condition                                                                  true for  user line           code
      0/1_0    range  -         s77 in [2, int_oo]                                                                3  demo/encoder.py:46  x = x + self.attention(self.norm1(x))
      0/1_0    guard  kernel    32*((s27//8))*((s27//((s27//8)))) < 32*s77*((s27//8))*((s27//((s27//8))))         3  -                   -
      * compiled with 1, it would be a constant: 0 and 1 are specialized

    $ symtape why $RECORDINGS/encoder.log.zst:0/1 s27 --between 16,24
    L['x'].size()[1] is the symbol s27 in 0/1, 24 when it was compiled: torch.compile(dynamic=True) makes inputs dynamic; 31 guards depend on it, first Eq(Mod(s27, 8), 0) at demo/encoder.py:25 `if length % WINDOW:`
      * at the end: s27 in [2, int_oo]
      * attempt 0/1_0 was kept

    What tells 16 and 24 apart
      no recorded guard does

JSON:

    $ symtape why --json $RECORDINGS/train.log.zst s23 | head -c 300
    {"schema":"symtape.why/1","target":"s23","kind":"symbol","answer":"L['ids'].size()[0] is the symbol s23 in 0/0, 4 when it was compiled: mark_dynamic() marked it; one guard depends on it, s23 < 16 at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2)))...`","graph":null,"main":

Mistakes:

    $ symtape why $RECORDINGS/encoder.log.zst s28
    2> symtape: why: $RECORDINGS/encoder.log.zst: no size, symbol, guard or node is called s28; did you mean s27?
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst "L['z'].size()[1]"
    2> symtape: why: $RECORDINGS/encoder.log.zst: no size, symbol, guard or node is called L['z'].size()[1]; did you mean L['x'].size()[1]?
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst "x.size(7)"
    2> symtape: why: x has 3 sizes, so there is no size 7
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst "Eq(s27, 99)"
    2> symtape: why: $RECORDINGS/encoder.log.zst: no size, symbol, guard or node is called Eq(s27, 99); there are s27, s53, s77, zf10, zf14, zf25 ... (70 in all)
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst "s27 >"
    2> symtape: why: $RECORDINGS/encoder.log.zst: no size, symbol, guard or node is called s27 >; did you mean s27?
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst ""
    2> symtape: why: TARGET is empty; name a size, symbol, guard or node
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst x --between 3,4
    2> symtape: why: --between needs one size or number, such as x.size()[0]
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst s27 --between 31
    2> symtape: why: --between takes two values, as in --between 31,24
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst s27 --between a,b
    2> symtape: why: --between: a is not a number
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst s27 --sizes s77=3
    2> symtape: why: --sizes needs --between
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst s27 --between 3,4 --sizes s99=3
    2> symtape: why: --sizes: the tape has no symbol s99
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst s27 --between 3,4 --sizes s77
    2> symtape: why: --sizes: s77 is not of the form s77=4
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst x y
    2> symtape: why: one TAPE and one TARGET, but y is there, too
    [exit 2]

    $ symtape why $RECORDINGS/encoder.log.zst "s27 % 8 == 0" --between 3,4
    2> symtape: why: --between needs a size, a number or a symbol, and s27 % 8 == 0 is a guard
    [exit 2]
