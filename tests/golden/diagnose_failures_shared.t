Failures of models. Requires: shared

A size that mark_dynamic marked and a bias of fixed length made a constant:

    $ symtape $SHARED/failures/constraint_specialized.log.zst
    4.61 s of compiling: 1 compile, 1 attempt, 4 graphs, 1 guard; 355 records
     1  constraint violated, 4.61 s of 4.61 s
        L['x'].size()[1] was marked dynamic but the program makes it the constant 24
        models/rec_fail.py:45  f = torch.compile(Net(lambda x: x + bias), backend="aot_eager")
        recorded      the line asks for Eq(s27, 24), which makes it a constant
        recorded      s27 = L['x'].size()[1], 24 at the call
        suggested     torch._dynamo.maybe_mark_dynamic(x, 1)
        or            remove torch._dynamo.mark_dynamic(x, 1)

A view of a transposed tensor:

    $ symtape $SHARED/failures/view_strides.log.zst
    1.86 s of compiling: 1 compile, 1 attempt, 0 graphs, 11 guards; 290 records
     1  failed, 1.86 s of 1.86 s
        view() cannot give the shape (s27*s77, 64) to a tensor of shape (s27, s77, 64) with strides (64, 64*s27, 1), because its elements are not in that order in memory
        models/rec_fail.py:74  def hook(x): return x.transpose(0, 1).view(-1, D).view(x.shape[1], x.shape[0], D).transpose(0, 1)
        recorded      s27 = L['x'].size()[1], 24 at the call
        recorded      s77 = L['x'].size()[0], 3 at the call
        suggested     use .reshape(...) instead of .view(...), or .contiguous() before it

An assert that fails when the chunks do not add up:

    $ symtape $SHARED/traces/jagged.eval.aot_eager.log.zst
    1.25 s of compiling: 1 compile, 2 attempts, 4 graphs, 5 guards; 189 records
     1  restarted, 941 ms of 1.25 s
        a Python float was traced as a symbol and then needed as a constant, so the compile began again: self.table.norm_type
        models/zoo.py:73  e = self.table(c)
        recorded      L['self']._modules['table'].norm_type = 2.0
        suggested     torch._dynamo.config.specialize_float = True before the first call
     2  can fail at run time
        the compiled program fails at run time if (u0 + u1) != values.shape[0]
        models/zoo.py:70  chunks = torch.split(values, sizes)
        recorded      u0 is the result of .item() at models/zoo.py:67: sizes = lengths.sum(1).tolist()
        recorded      u1 is the result of .item() at models/zoo.py:67: sizes = lengths.sum(1).tolist()

A replay of a failed compile says so, and so does a command that reads a recompile limit:

    $ symtape replay $SHARED/failures/view_strides.log.zst
    no graphs; 11 guards: 0 computed, 11 from the record; 0/0 failed in PyTorch: TorchRuntimeError, models/rec_fail.py:74
    kernel guards: 0 reproduced, 0 missing, 0 extra, 0 invisible, 1 of calls without a graph
    other guards: 10 torch function, 0 dynamo, 0 backend, 0 user
    2> symtape: 0/0 failed in PyTorch: TorchRuntimeError: view() cannot give the shape (s27*s77, 64) to a tensor of shape (s27, s77, 64) with strides (64, 64*s27, 1), because its elements are not in that order in memory, models/rec_fail.py:74

    $ symtape show --recompiles --limit 1 $SHARED/failures/recompile_storm.log.zst 2>&1 >/dev/null
    symtape: 0/8 failed in PyTorch: Unsupported: Dynamo attempted to recompile the code object too many times, exceeding the recompile_limit cache size limit (currently set to 8). Excessive recompilations can degrade performance due to the compilation overhead of each recompilation
    symtape: recompiles: 7 more not shown (--limit)
