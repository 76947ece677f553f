What can be pasted where frames go on after a graph break, with the calls of tests/models/levels.py: shapes_spec names no input of
those frames, so it is proposed for loss(), which has no break, and not for first(). Its count is that of all functions. dynamic=True
compiles less than the marks do, and is listed last.

    $ symtape dynamic -q $RECORDINGS/levels.log.zst | sed -n '1,2p; /^To paste/,$p'
    45 look-ups: 17 compiles (2.53 s)
    with dynamic=True: at most 9 compiles (about 1.99 s)
    To paste; no fewer marks spare as much
        # at most 15 compiles (about 2.35 s)
        # where first (demo/levels.py:17) is called, before the call; x is its argument
        torch._dynamo.mark_dynamic(x, 0)
        # where loss (demo/levels.py:28) is called, before the call; x is its argument
        torch._dynamo.mark_dynamic(x, 0)
        # or at most 10 compiles (about 2.12 s)
        # before the first call; for all functions
        # it makes dynamic, too: x.size()[0] of torch_dynamo_resume_in_third_at_9 (demo/levels.py:9), x.size()[0] of select (demo/levels.py:22), x.size()[0] of torch_dynamo_resume_in_select_at_24 (demo/levels.py:24)
        torch.compiler.config.dynamic_sources = "L['x']:0,L['___stack0']:0"
        # or, for loss (demo/levels.py:28) alone, at most 16 compiles (about 2.40 s)
        # its sizes are unbacked: calls with size 1, or that broadcast, can fail
        from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec
        shapes_spec = ShapesSpec({"x": TensorSpec([ShapeVar("x0"), None])})
        # torch.compile(loss, shapes_spec=shapes_spec)
        # or at most 9 compiles (about 1.99 s)
        # without marks, for all functions; all sizes are symbols from the first call on, so kernels can be slower
        torch.compile(model, dynamic=True)
