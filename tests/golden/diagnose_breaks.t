Graph breaks in functions of which one calls the other, with the calls of tests/models/levels.py: a break counts the restarts of all
functions that it breaks, and names them. What is compiled after a break has inputs that the program cannot mark: x of the rest of
first(), or what has no name in the program (___stack0).

    $ symtape diagnose -q --all $RECORDINGS/levels.log.zst | sed -n '2,7p; /comes from/,/^ [0-9]/p'
     1  graph break 6 times, 712 ms of 2.53 s
        .item() makes a Python number of a tensor's value, which is not known yet
        demo/levels.py:9  total = x.sum().item()
        recorded      Dynamo does not support tracing `Tensor.item()` with config.capture_scalar_outputs=False.
        recorded      it breaks the compiled functions `first`, `second` and `third`
        recorded      the rest of the function is compiled by itself, in 10 more compiles
        recorded      x comes from `first`, through the graph break at demo/levels.py:9
        recorded      3/1 made it a symbol: other values need no compile
        suggested     torch.compiler.config.dynamic_sources = "L['x']"
        or            mark the argument of `first` that this size comes from with torch._dynamo.mark_dynamic() before the first call of `first`
     3  recompiled, 127 ms of 2.53 s
        recorded      ___stack0 comes from `first`, through the graph break at demo/levels.py:14
        suggested     torch.compiler.config.dynamic_sources = "L['___stack0']"
        or            mark the argument of `first` that this size comes from with torch._dynamo.mark_dynamic() before the first call of `first`
     5  recompiled, 110 ms of 2.53 s
        recorded      ___stack0 comes from `select`, through the graph break at demo/levels.py:24
        suggested     torch.compiler.config.dynamic_sources = "L['___stack0']"
        or            mark the argument of `select` that this size comes from with torch._dynamo.mark_dynamic() before the first call of `select`
     6  recompiled, 104 ms of 2.53 s
        recorded      x comes from `first`, through the graph break at demo/levels.py:19
        recorded      2/1 made it a symbol: other values need no compile
        suggested     torch.compiler.config.dynamic_sources = "L['x']"
        or            mark the argument of `first` that this size comes from with torch._dynamo.mark_dynamic() before the first call of `first`
     7  graph break, 96.1 ms of 2.53 s
        recorded      ___stack0 comes from `first`, through the graph break at demo/levels.py:19
        suggested     torch.compiler.config.dynamic_sources = "L['___stack0']"
        or            mark the argument of `first` that this size comes from with torch._dynamo.mark_dynamic() before the first call of `first`
     9  recompiled, 74.5 ms of 2.53 s
