# symtape inputs --cover: the entries of a function together

Some entry serves each size of the range; the answers for each compile follow:

    $ symtape inputs $RECORDINGS/mlp.log.zst --cover "x.size(0)=2..64" -n 6
    forward (demo/mlp.py:14): proved: 2 entries together serve all sizes of the range
      * sizes that are not named are those of 0/1_0

      entry  adds  kind  violated there  user line  code
      0/0_0  some  -                     -          -
      0/1_0  some  -                     -          -

    0/0_0: refuted: 0 of 1 conditions on these sizes always hold
      * the smallest sizes that violate one: L['x'].size()[0]=2; L['x'].size()[0] == 4 is false

      Violated by some sizes of the range
      verdict  sizes               kind    condition              user line  code
      refuted  L['x'].size()[0]=2  static  L['x'].size()[0] == 4  -          -

    0/1_0: proved: 1 of 1 conditions on these sizes always hold

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind   condition  user line       code
      proved          range  s77 >= 2   demo/mlp.py:15  return x + self.outer(torch.relu(self.inner(x)))

The smallest sizes that none serves, with what each entry asks there:

    $ symtape inputs $RECORDINGS/reset.log.zst --cover "x.size(0)=1..64,x.size(1)=1..64" -n 1
    scale (demo/reset.py:5): undecided: 2 entries, and it is not known whether they serve all sizes of the range
      * not a size of this function: x.size(1)
      * sizes that are not named are those of 0/1_0

      entry  adds  kind  violated there  user line  code
      0/0_0  some  -                     -          -
      ... and 1 more

    halves (demo/reset.py:10): refuted: 3 entries, and there are sizes in the range that none serves
      * the smallest such sizes: L['x'].size()[0]=1, s27=1
      * sizes that are not named are those of 0/2.1_0

      entry    adds  kind   violated there  user line         code
      0/0.1_0  some  range  s77 >= 2        demo/reset.py:12  if x.shape[0] % 2 == 0:
      ... and 2 more

    0/0_0: refuted: 0 of 1 conditions on these sizes always hold
      * the smallest sizes that violate one: s77=1; s77 >= 2 is false, at demo/reset.py:7 `return torch.relu(x) * x.shape[0]`
      * x.size(1) is no symbol of this compile

      Violated by some sizes of the range
      verdict  sizes  kind   condition  user line        code
      refuted  s77=1  range  s77 >= 2   demo/reset.py:7  return torch.relu(x) * x.shape[0]

    0/1_0: refuted: 0 of 1 conditions on these sizes always hold
      * the smallest sizes that violate one: L['x'].size()[0]=2; L['x'].size()[0] == 1 is false
      * x.size(1) is no symbol of this compile

      Violated by some sizes of the range
      verdict  sizes               kind    condition              user line  code
      refuted  L['x'].size()[0]=2  static  L['x'].size()[0] == 1  -          -

    0/0.1_0: refuted: 1 of 5 conditions on these sizes always hold
      * the smallest sizes that violate one: s27=1; s27 >= 2 is false, at demo/reset.py:12 `if x.shape[0] % 2 == 0:`

      Violated by some sizes of the range
      verdict  sizes  kind   condition  user line         code
      refuted  s77=1  range  s77 >= 2   demo/reset.py:12  if x.shape[0] % 2 == 0:
      ... and 3 more

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind   condition          user line         code
      proved          guard  ((s77//2)) <= s77  demo/reset.py:13  return x[: x.shape[0] // 2].sum()

    0/1.1_0: refuted: 0 of 3 conditions on these sizes always hold
      * the smallest sizes that violate one: s27=1; s27 >= 2 is false, at demo/reset.py:12 `if x.shape[0] % 2 == 0:`

      Violated by some sizes of the range
      verdict  sizes  kind   condition  user line         code
      refuted  s77=1  range  s77 >= 2   demo/reset.py:12  if x.shape[0] % 2 == 0:
      ... and 2 more

    0/2.1_0: refuted: 0 of 2 conditions on these sizes always hold
      * the smallest sizes that violate one: s27=1; s27 >= 2 is false, at demo/reset.py:12 `if x.shape[0] % 2 == 0:`

      Violated by some sizes of the range
      verdict  sizes  kind   condition  user line         code
      refuted  s27=1  range  s27 >= 2   demo/reset.py:12  if x.shape[0] % 2 == 0:
      ... and 1 more
    [exit 1]

A symbol that an entry lacks is the size that it is in other entries, and static sizes can be named:

    $ symtape inputs $RECORDINGS/mlp.log.zst:0/0 --cover s77=4,5
    0/0_0: refuted: 0 of 1 conditions on these sizes always hold
      * the smallest sizes that violate one: L['x'].size()[0]=5; L['x'].size()[0] == 4 is false

      Violated by some sizes of the range
      verdict  sizes               kind    condition              user line  code
      refuted  L['x'].size()[0]=5  static  L['x'].size()[0] == 4  -          -
    [exit 1]

    $ symtape inputs $RECORDINGS/mlp.log.zst:0/1 --cover "x.size(0)=2..9,x.size(1)=16,32" --assume "x.size(1) != 32"
    0/1_0: proved: 2 of 2 conditions on these sizes always hold

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind    condition               user line       code
      proved          range   s77 >= 2                demo/mlp.py:15  return x + self.outer(torch.relu(self.inner(x)))
      proved          static  L['x'].size()[1] == 16  -               -

Sizes that share a symbol can be named each:

    $ symtape inputs $RECORDINGS/shared_sizes.log.zst:0/0 --cover "first.size(2)=2..9,shared.size(0)=2..9"
    0/0_0: refuted: 2 of 4 conditions on these sizes always hold
      * the smallest sizes that violate one: s79=2; Eq(s26, s79) is false, at demo/shared_sizes.py:9 `return both.view(heads, both.size(1)) + heads`
      * not examined, because no size of them varies: 6

      Violated by some sizes of the range
      verdict  sizes         kind   condition                                     user line               code
      refuted  s52=2, s79=2  guard  Eq(s79*(s35 + s52*s72), s26*(s35 + s52*s72))  demo/shared_sizes.py:9  return both.view(heads, both.size(1)) + heads
      refuted  s79=2         guard  Eq(s26, s79)                                  demo/shared_sizes.py:9  return both.view(heads, both.size(1)) + heads

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind   condition  user line               code
      proved          range  s79 >= 2   demo/shared_sizes.py:7  rows = first.reshape(first.size(0), -1) * marked.sum()
      proved          range  s52 >= 2   demo/shared_sizes.py:7  rows = first.reshape(first.size(0), -1) * marked.sum()
    [exit 1]

    $ symtape inputs $RECORDINGS/shared_sizes.log.zst:0/0 --cover "first.size(2)=2..9,shared.size(0)=2..9" --assume "first.size(2) == shared.size(0)" -n 1
    0/0_0: refuted: 2 of 4 conditions on these sizes always hold
      * the smallest sizes that violate one: s52=2, s79=2; Eq(s79*(s35 + s52*s72), s26*(s35 + s52*s72)) is false, at demo/shared_sizes.py:9 `return both.view(heads, both.size(1)) + heads`
      * not examined, because no size of them varies: 6

      Violated by some sizes of the range
      verdict  sizes         kind   condition                                     user line               code
      refuted  s52=2, s79=2  guard  Eq(s79*(s35 + s52*s72), s26*(s35 + s52*s72))  demo/shared_sizes.py:9  return both.view(heads, both.size(1)) + heads
      ... and 1 more

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind   condition  user line               code
      proved          range  s79 >= 2   demo/shared_sizes.py:7  rows = first.reshape(first.size(0), -1) * marked.sum()
      ... and 1 more
    [exit 1]

A number that is no symbol in some entry:

    $ symtape inputs $RECORDINGS/sequence.log.zst --cover "x.size(0)=1..9,k=3..5" -n 4
    scale (demo/sequence.py:13): refuted: 4 entries, and there are sizes in the range that none serves
      * the smallest such sizes: s77=1, s16=3
      * sizes that are not named are those of 0/3_0

      entry  adds  kind    violated there         user line            code
      0/0_0  none  static  L['x'].size()[0] == 4  -                    -
      0/1_0  none  static  L['k'] == 2            -                    -
      0/2_0  some  range   s77 >= 2               demo/sequence.py:15  x = x.sum(0)
      0/3_0  none  range   s77 >= 2               demo/sequence.py:16  return x * k

    0/0_0: refuted: 0 of 2 conditions on these sizes always hold
      * the smallest sizes that violate one: L['x'].size()[0]=1; L['x'].size()[0] == 4 is false

      Violated by some sizes of the range
      verdict  sizes               kind    condition              user line  code
      refuted  L['x'].size()[0]=1  static  L['x'].size()[0] == 4  -          -
      refuted  L['k']=3            static  L['k'] == 2            -          -

    0/1_0: refuted: 0 of 2 conditions on these sizes always hold
      * the smallest sizes that violate one: s77=1; s77 >= 2 is false, at demo/sequence.py:15 `x = x.sum(0)`

      Violated by some sizes of the range
      verdict  sizes     kind    condition    user line            code
      refuted  s77=1     range   s77 >= 2     demo/sequence.py:15  x = x.sum(0)
      refuted  L['k']=3  static  L['k'] == 2  -                    -

    0/2_0: refuted: 0 of 1 conditions on these sizes always hold
      * the smallest sizes that violate one: s77=1; s77 >= 2 is false, at demo/sequence.py:15 `x = x.sum(0)`

      Violated by some sizes of the range
      verdict  sizes  kind   condition  user line            code
      refuted  s77=1  range  s77 >= 2   demo/sequence.py:15  x = x.sum(0)

    0/3_0: refuted: 0 of 1 conditions on these sizes always hold
      * the smallest sizes that violate one: s77=1; s77 >= 2 is false, at demo/sequence.py:16 `return x * k`

      Violated by some sizes of the range
      verdict  sizes  kind   condition  user line            code
      refuted  s77=1  range  s77 >= 2   demo/sequence.py:16  return x * k
    2> symtape: 0/4 failed in PyTorch: Unsupported: Dynamo attempted to recompile the code object too many times, exceeding the recompile_limit cache size limit (currently set to 4). Excessive recompilations can degrade performance due to the compilation overhead of each recompilation
    [exit 1]

A compile that failed is no entry; it counts by itself if its function has none:

    $ symtape inputs $RECORDINGS/data_dependent.log.zst --cover "x.size(0)=1..9" -n 1
    0/0_0: refuted: 0 of 1 conditions on these sizes always hold
      * the smallest sizes that violate one: s77=1; s77 >= 2 is false, at demo/data_dependent.py:11 `kept = (x.abs().mean(-1) > 0.5).sum().item()`
      * the compile failed, so that nothing serves these sizes
      * not examined, because they depend on data: 1
      * not examined, because no size of them varies: 2

      Violated by some sizes of the range
      verdict  sizes  kind   condition  user line                  code
      refuted  s77=1  range  s77 >= 2   demo/data_dependent.py:11  kept = (x.abs().mean(-1) > 0.5).sum().item()
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
    [exit 1]

    $ symtape inputs $RECORDINGS/data_dependent.log.zst --cover "x.size(0)=2..9" -n 1
    0/0_0: undecided: 1 of 1 conditions on these sizes always hold
      * the compile failed, so that nothing serves these sizes
      * not examined, because they depend on data: 1
      * not examined, because no size of them varies: 2

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind   condition  user line                  code
      proved          range  s77 >= 2   demo/data_dependent.py:11  kept = (x.abs().mean(-1) > 0.5).sum().item()
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
    [exit 125]

As JSON:

    $ symtape inputs $RECORDINGS/reset.log.zst --cover "x.size(0)=1..64,x.size(1)=7" --json
    {"schema":"symtape.inputs.cover/1","cover":"x.size(0)=1..64,x.size(1)=7","assume":null,"functions":[{"recording":"reset","function":"scale","file":"/home/user/demo/reset.py","line":5,"verdict":"undecided","empty":false,"missing":["x.size(1)"],"others_as_in":"0/1","counterexample":null,"smallest":false,"not_examined":0,"entries":[{"compile":"0/0","attempt":0,"adds":true,"not_known":null,"kind":null,"violated":null,"line":null},{"compile":"0/1","attempt":0,"adds":true,"not_known":null,"kind":null,"violated":null,"line":null}]},{"recording":"reset","function":"halves","file":"/home/user/demo/reset.py","line":10,"verdict":"refuted","empty":false,"missing":[],"others_as_in":"0/2.1","counterexample":[{"symbol":null,"source":"L['x'].size()[0]","value":2},{"symbol":"s27","source":"L['x'].size()[1]","value":7}],"smallest":true,"not_examined":0,"entries":[{"compile":"0/0.1","attempt":0,"adds":true,"not_known":null,"kind":"guard","violated":"Ne((s77//2), 1)","line":null},{"compile":"0/1.1","attempt":0,"adds":true,"not_known":null,"kind":"guard","violated":"Ne(Mod(s77, 2), 0)","line":{"file":"/home/user/demo/reset.py","line":12,"function":"halves","code":"if x.shape[0] % 2 == 0:"}},{"compile":"0/2.1","attempt":0,"adds":true,"not_known":null,"kind":"static","violated":"L['x'].size()[0] == 1","line":null}]}],"compiles":[{"recording":"reset","compile":"0/0","attempt":0,"status":"ok","verdict":"refuted","empty":false,"missing":["x.size(1)"],"unrelated":0,"of_data":0,"counterexample":[{"symbol":"s77","source":"L['x'].size()[0]","value":1}],"conditions":[{"kind":"range","expr":"s77 >= 2","verdict":"refuted","method":"search","can_be_dropped":false,"counterexample":[{"symbol":"s77","source":"L['x'].size()[0]","value":1}],"smallest":true,"raises":false,"not_exact":false,"points":1,"log_line":77,"line":{"file":"/home/user/demo/reset.py","line":7,"function":"scale","code":"return torch.relu(x) * x.shape[0]"}}]},{"recording":"reset","compile":"0/1","attempt":0,"status":"ok","verdict":"refuted","empty":false,"missing":["x.size(1)"],"unrelated":0,"of_data":0,"counterexample":[{"symbol":null,"source":"L['x'].size()[0]","value":2}],"conditions":[{"kind":"static","expr":"L['x'].size()[0] == 1","verdict":"refuted","method":"search","can_be_dropped":false,"counterexample":[{"symbol":null,"source":"L['x'].size()[0]","value":2}],"smallest":true,"raises":false,"not_exact":false,"points":2,"log_line":494,"line":null}]},{"recording":"reset","compile":"0/0.1","attempt":0,"status":"ok","verdict":"refuted","empty":false,"missing":[],"unrelated":0,"of_data":0,"counterexample":[{"symbol":"s77","source":"L['x'].size()[0]","value":1}],"conditions":[{"kind":"range","expr":"s77 >= 2","verdict":"refuted","method":"search","can_be_dropped":false,"counterexample":[{"symbol":"s77","source":"L['x'].size()[0]","value":1}],"smallest":true,"raises":false,"not_exact":false,"points":1,"log_line":1048,"line":{"file":"/home/user/demo/reset.py","line":12,"function":"halves","code":"if x.shape[0] % 2 == 0:"}},{"kind":"range","expr":"s27 >= 2","verdict":"proved","method":"intervals","can_be_dropped":true,"counterexample":null,"smallest":false,"raises":false,"not_exact":false,"points":0,"log_line":1049,"line":{"file":"/home/user/demo/reset.py","line":12,"function":"halves","code":"if x.shape[0] % 2 == 0:"}},{"kind":"guard","expr":"Eq(Mod(s77, 2), 0)","verdict":"refuted","method":"search","can_be_dropped":false,"counterexample":[{"symbol":"s77","source":"L['x'].size()[0]","value":1}],"smallest":true,"raises":false,"not_exact":false,"points":2,"log_line":1052,"line":{"file":"/home/user/demo/reset.py","line":12,"function":"halves","code":"if x.shape[0] % 2 == 0:"}},{"kind":"guard","expr":"((s77//2)) <= s77","verdict":"proved","method":"intervals","can_be_dropped":true,"counterexample":null,"smallest":false,"raises":false,"not_exact":false,"points":0,"log_line":1056,"line":{"file":"/home/user/demo/reset.py","line":13,"function":"halves","code":"return x[: x.shape[0] // 2].sum()"}},{"kind":"guard","expr":"Ne((s77//2), 1)","verdict":"refuted","method":"search","can_be_dropped":false,"counterexample":[{"symbol":"s77","source":"L['x'].size()[0]","value":2}],"smallest":true,"raises":false,"not_exact":false,"points":2,"log_line":1177,"line":null}]},{"recording":"reset","compile":"0/1.1","attempt":0,"status":"ok","verdict":"refuted","empty":false,"missing":[],"unrelated":0,"of_data":0,"counterexample":[{"symbol":"s77","source":"L['x'].size()[0]","value":1}],"conditions":[{"kind":"range","expr":"s77 >= 2","verdict":"refuted","method":"search","can_be_dropped":false,"counterexample":[{"symbol":"s77","source":"L['x'].size()[0]","value":1}],"smallest":true,"raises":false,"not_exact":false,"points":1,"log_line":1580,"line":{"file":"/home/user/demo/reset.py","line":12,"function":"halves","code":"if x.shape[0] % 2 == 0:"}},{"kind":"range","expr":"s27 >= 2","verdict":"proved","method":"intervals","can_be_dropped":true,"counterexample":null,"smallest":false,"raises":false,"not_exact":false,"points":0,"log_line":1581,"line":{"file":"/home/user/demo/reset.py","line":12,"function":"halves","code":"if x.shape[0] % 2 == 0:"}},{"kind":"guard","expr":"Ne(Mod(s77, 2), 0)","verdict":"refuted","method":"search","can_be_dropped":false,"counterexample":[{"symbol":"s77","source":"L['x'].size()[0]","value":2}],"smallest":true,"raises":false,"not_exact":false,"points":2,"log_line":1582,"line":{"file":"/home/user/demo/reset.py","line":12,"function":"halves","code":"if x.shape[0] % 2 == 0:"}}]},{"recording":"reset","compile":"0/2.1","attempt":0,"status":"ok","verdict":"refuted","empty":false,"missing":[],"unrelated":0,"of_data":0,"counterexample":[{"symbol":null,"source":"L['x'].size()[0]","value":2}],"conditions":[{"kind":"range","expr":"s27 >= 2","verdict":"proved","method":"intervals","can_be_dropped":true,"counterexample":null,"smallest":false,"raises":false,"not_exact":false,"points":0,"log_line":2090,"line":{"file":"/home/user/demo/reset.py","line":12,"function":"halves","code":"if x.shape[0] % 2 == 0:"}},{"kind":"static","expr":"L['x'].size()[0] == 1","verdict":"refuted","method":"search","can_be_dropped":false,"counterexample":[{"symbol":null,"source":"L['x'].size()[0]","value":2}],"smallest":true,"raises":false,"not_exact":false,"points":2,"log_line":2032,"line":null}]}],"verdict":"refuted"}
    [exit 1]

After torch._dynamo.reset() the frame ids begin again: 0/0 and 0/0.1 are no compiles of one function.

    $ { zstd -dcq $RECORDINGS/mlp.log.zst; zstd -dcq $RECORDINGS/mlp.log.zst; } > twice.log; symtape inputs twice.log --limit 1 | cut -c -60 | grep recorded
      symbol  source            recorded  sizes  because of
           1  recorded  0/0, 0/1  s77=2           s77 >= 2
      symbol  source            recorded  sizes  because of
           1  recorded  0/0.1, 0/1.1  s77=2           s77 >= 2
