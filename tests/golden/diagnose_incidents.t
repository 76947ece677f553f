Recompiles, restarts and graph breaks by cause, in `symtape TAPE`.

Floats of layers that were specialized; a branch on a size that needs two versions.

    $ symtape $RECORDINGS/encoder.log.zst
    10.7 s of compiling: 2 compiles, 3 attempts, 6 graphs, 192 guards; 858 records
     1  restarted, 4.42 s of 10.7 s
        Python floats were traced as symbols and then needed as constants, so the compile began again: eps of 6 modules such as norm1
        demo/encoder.py:46  x = x + self.attention(self.norm1(x))
        recorded      L['self']._modules['blocks']._modules['0']._modules['norm1'].eps = 1e-05
        suggested     torch._dynamo.config.specialize_float = True before the first call
     2  recompiled, 2.55 s of 10.7 s
        the condition (x.size()[1] % 8) != 0 was true, and then false
        demo/encoder.py:25  if length % WINDOW:
        recorded      guard of 0/0 that failed: (x.size()[1] % 8) != 0
        suggested     pad so that (x.size()[1] % 8) != 0 holds in each call
        or            replace the branch with torch.cond() or torch.where(); else each side needs its compile

A print breaks the graph, and a number in a dict is compiled as a constant each time.

    $ symtape $RECORDINGS/graph_break.log.zst
    466 ms of compiling: 4 compiles, 5 attempts, 8 graphs, 0 guards; 175 records
     1  recompiled 2 times, 149 ms of 466 ms
        the value of state['step'] was compiled as a constant and changed: 0, 1 and 2
        demo/graph_break.py:11  state["step"] += 1
        recorded      guard of 1/0 that failed: G['state']['step'] == 0
        suggested     pass torch.tensor(state['step']) or keep it as a tensor, if it is used in arithmetic only
        or            keep state['step'] constant; each value needs its compile
     2  graph break, 112 ms of 466 ms
        print() cannot be traced
        demo/graph_break.py:10  print("rows", x.shape[0])
        recorded      Dynamo does not know how to trace builtin operator `print` with argument types ['str', 'int'] (has_kwargs False)
        suggested     move the print() out of the compiled function
        or            torch._dynamo.config.reorderable_logging_functions.add(print)

All of the evidence and remedies as data: a recompile names its input, its line and what to paste.

    $ symtape $RECORDINGS/graph_break.log.zst --json | head -c 1500
    {"schema":"symtape.diagnosis/1","seconds":0.465724,"findings":[{"kind":"recompile","detail":"recompile","ended_program":false,"count":2,"seconds":0.148999,"share":0.3199298296845342,"basis":"measured","cause":"the value of state['step'] was compiled as a constant and changed: 0, 1 and 2","source":"G['state']['step']","message":null,"line":{"file":"/home/user/demo/graph_break.py","line":11,"code":"state[\"step\"] += 1"},"compile":"1/1","recording":"graph_break","evidence":["guard of 1/0 that failed: G['state']['step'] == 0"],"remedies":[{"kind":"int_tensor","text":"pass torch.tensor(state['step']) or keep it as a tensor, if it is used in arithmetic only","proved":false,"saves":null},{"kind":"change_code","text":"keep state['step'] constant; each value needs its compile","proved":false,"saves":null}]},{"kind":"break","detail":"break","ended_program":false,"count":1,"seconds":0.1124987,"share":0.24155658716321254,"basis":"measured","cause":"print() cannot be traced","source":null,"message":null,"line":{"file":"/home/user/demo/graph_break.py","line":10,"code":"print(\"rows\", x.shape[0])"},"compile":"0/0","recording":"graph_break","evidence":["Dynamo does not know how to trace builtin operator `print` with argument types ['str', 'int'] (has_kwargs False)"],"remedies":[{"kind":"move_call","text":"move the print() out of the compiled function","proved":false,"saves":null},{"kind":"change_setting","text":"torch._dynamo.config.reorderable_logging_functions.add(print)","proved":false,

The recompile limit: what changed comes first, then the limit.

Requires: shared

    $ symtape $SHARED/failures/recompile_storm.log.zst
    18.8 s of compiling: 9 compiles, 9 attempts, 32 graphs, 0 guards; 2,616 records
     1  recompile limit reached, 14.9 s of 18.8 s
        `forward` reached the recompile limit of 8: the value of state['n'] (captured by s.hook) was compiled as a constant and changed: 0, 1, 2, 3, 4 and 3 more
        models/rec_fail.py:86  state["n"] += 1
        recorded      guard of 0/0 that failed: s.hook.__closure__[0].cell_contents['n'] == 0
        recorded      calls that no compiled version fits now run without being compiled
        suggested     torch._dynamo.config.allow_unspec_int_on_nn_module = True
        or            capture a tensor in place of the number state['n'] (captured by s.hook), and change it with .fill_() or .add_()

    $ symtape $SHARED/failures/automatic_dynamic.log.zst
    25.7 s of compiling: 4 compiles, 4 attempts, 16 graphs, 0 guards; 1,334 records
     1  recompiled, 7.53 s of 25.7 s
        L['x'].size()[0] was compiled as the constant 3, and then it was 4
        models/rec_fail.py:20  q, k, v = (t.unflatten(-1, (s.h, -1)).transpose(1, 2) for t in s.qkv(s.n1(x)).chunk(3, -1))
        recorded      guard of 0/1 that failed: tensor 'x' size mismatch at index 0. expected 3, actual 4
        recorded      0/2 made it a symbol: other values need no compile
        suggested     torch._dynamo.mark_dynamic(x, 0); torch._dynamo.mark_dynamic(x, 1) before the first call
        or            torch.compiler.config.dynamic_sources = "L['x']"
     2  recompiled, 7.18 s of 25.7 s
        the strides of L['x'] changed: stride 0 was 64, and then 1920
        models/rec_fail.py:20  q, k, v = (t.unflatten(-1, (s.h, -1)).transpose(1, 2) for t in s.qkv(s.n1(x)).chunk(3, -1))
        recorded      guard of 0/2 that failed: tensor 'x' stride mismatch at index 0. expected 64, actual 1920
        recorded      0/3 made it a symbol: other values need no compile
        suggested     x = x.contiguous() before the call
     3  recompiled, 7.05 s of 25.7 s
        L['x'].size()[1] was compiled as the constant 24, and then it was 30
        models/rec_fail.py:20  q, k, v = (t.unflatten(-1, (s.h, -1)).transpose(1, 2) for t in s.qkv(s.n1(x)).chunk(3, -1))
        recorded      guard of 0/0 that failed: tensor 'x' size mismatch at index 1. expected 24, actual 30
        recorded      0/1 made it a symbol: other values need no compile
        suggested     torch._dynamo.mark_dynamic(x, 0); torch._dynamo.mark_dynamic(x, 1) before the first call
        or            torch.compiler.config.dynamic_sources = "L['x']"

    $ symtape $SHARED/sequences/attr_changes.log.zst
    1.06 s of compiling: 10 compiles, 10 attempts, 20 graphs, 0 guards; 448 records
     1  recompiled, 265 ms of 1.06 s
        the value of self.cfg['act'] was compiled as the constant 'relu', and then it was 'tanh'
        sequences/attr_changes.py:24  y = torch.relu(y) if self.cfg["act"] == "relu" else torch.tanh(y)
        recorded      guard of 0/3 that failed: self.cfg['act'] == 'relu'
        suggested     pass what the function derives from self.cfg['act'] instead; each value needs its compile
        or            keep self.cfg['act'] constant; each value needs its compile
     2  recompiled 3 times, 210 ms of 1.06 s
        the value of self.k was compiled as a constant and changed: 2, 3 and 9
        sequences/attr_changes.py:18  y = self.lin(x) * self.k
        recorded      guard of 0/0 that failed: self.k == 2
        suggested     torch._dynamo.config.allow_unspec_int_on_nn_module = True
        or            pass torch.tensor(self.k) or keep it as a tensor, if it is used in arithmetic only
     3  recompiled, 86.3 ms of 1.06 s
        the value of self.scale was compiled as the constant 0.5, and then it was 0.25
        sequences/attr_changes.py:19  y = y * self.scale
        recorded      guard of 0/0 that failed: self.scale == 0.5
        recorded      0/3 made it a symbol: other values need no compile
        suggested     pass torch.tensor(self.scale) instead of the float self.scale
        ... and 4 more (--all)
