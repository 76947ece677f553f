What symtape minify picks of recordings of failures. Requires: shared

A tape whose compile was refused by the recompile limit has no graph that fails:

    $ cd $SHARED/failures; symtape minify recompile_storm.log.zst
    2> symtape: 0/8 failed in PyTorch: Unsupported: Dynamo attempted to recompile the code object too many times, exceeding the recompile_limit cache size limit (currently set to 8). Excessive recompilations can degrade performance due to the compilation overhead of each recompilation
    2> symtape: recompile_storm.log.zst: no graph fails: the function was compiled too often; symtape diagnose says what changed from call to call, and minify --guard finds the calls that add a guard
    [exit 2]

A compile that failed in Dynamo has no graph in a plain log:

    $ cd $SHARED/failures; symtape minify view_strides.log.zst
    2> symtape: 0/0 failed in PyTorch: TorchRuntimeError: view() cannot give the shape (s27*s77, 64) to a tensor of shape (s27, s77, 64) with strides (64, 64*s27, 1), because its elements are not in that order in memory, models/rec_fail.py:74
    2> symtape: view_strides.log.zst: the compile that failed has no graph: PyTorch logs a graph only after tracing succeeded; symtape minify -- python PROGRAM records the partial graph, too
    [exit 2]

Nothing failed:

    $ cd $SHARED/failures; symtape minify mod_guard.log.zst 2>&1 | sed -n 1p
    symtape: no compile of mod_guard.log.zst failed: name a graph, and the condition to keep (--guard, --specializes, --cost, --torch-oracle, --check)
