# Deep recordings

What `symtape record --deep` adds to a recording are records like others.

    $ symtape info $RECORDINGS/deep.log.zst | grep symtape_
        2  symtape_totals
        1  symtape_costs
        1  symtape_deep
        1  symtape_dispatches
        1  symtape_memory
        1  symtape_partial_dynamo_graph
        1  symtape_shape_env
        1  symtape_size_uses
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

A compile that failed has the graph that Dynamo had traced until then.

    $ symtape show $RECORDINGS/deep.log.zst --graphs
    graph                               kind            inputs  nodes  calls  outputs  subgraphs  opaque
    0/0_0:symtape_partial_dynamo_graph  partial_dynamo       3     13      9        0          0       0
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

    $ symtape show $RECORDINGS/deep.log.zst:0/0:partial_dynamo
    class GraphModule(torch.nn.Module):
        def forward(self, L_x_: "f32[s77, s27][s27, 1]cpu", s77: "Sym(s77)", s27: "Sym(s27)"):
            l_x_ = L_x_

            # File: /home/user/demo/data_dependent.py:11 in keep_large, code: kept = (x.abs().mean(-1) > 0.5).sum().item()
            abs_1: "f32[s77, s27][s27, 1]cpu" = l_x_.abs()
            mean: "f32[s77][1]cpu" = abs_1.mean(-1)
            gt: "b8[s77][1]cpu" = mean > 0.5
            sum_1: "i64[][]cpu" = gt.sum()
            item: "Sym(u0)" = sum_1.item()

            # File: /home/user/demo/data_dependent.py:12 in keep_large, code: y = x[:kept]
            y: "f32[u1, s27][s27, 1]cpu" = l_x_[slice(None, item, None)]

            # File: /home/user/demo/data_dependent.py:13 in keep_large, code: if y.shape[0] > 4:
            size = y.size()
            getitem_1: "Sym(u1)" = size[0]
            gt_1: "Sym(u1 > 4)" = getitem_1 > 4
            return ()
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

    $ symtape replay $RECORDINGS/deep.log.zst
    1 graph of 1 attempt, 9 calls: all match; 0/0 failed in PyTorch: UserError, demo/data_dependent.py:13

    graph                               calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:symtape_partial_dynamo_graph      9      9         -        -            -        -  -
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

    $ symtape show $RECORDINGS/deep.log.zst:0/0 --artifact symtape_dispatches | head -3
    {"stack":0,"frames":[["/home/user/demo/data_dependent.py",11,"keep_large","kept = (x.abs().mean(-1) > 0.5).sum().item()"]]}
    {"mode":"FakeTensorMode","op":"aten.abs.default","depth":0,"stack":0,"fast":null,"slow":null,"cache":"miss","bypass":null,"raised":null,"count":1,"ns":38554504,"self_ns":9351186}
    {"mode":"FakeTensorMode","op":"prims.abs.default","depth":1,"stack":0,"fast":null,"slow":null,"cache":"miss","bypass":null,"raised":null,"count":1,"ns":29203318,"self_ns":22317766}
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

    $ symtape show $RECORDINGS/deep.log.zst:0/0 --artifact symtape_shape_env | sed -n '1,3p;$p' | sed 's/"ns":[0-9]*/"ns":N/'
    {"env": 0, "call": "settings", "allow_scalar_outputs": true, "allow_dynamic_output_shape_ops": true, "assume_static_by_default": false, "specialize_zero_one": true, "duck_shape": true, "prefer_deferred_runtime_asserts_over_guards": false, "trace_asserts": false}
    {"env":0,"depth":0,"call":"create_symbol","val":9,"source":"L['x'].size()[0]","dynamic_dim":"DimDynamic.DUCK","constraint_dim":null,"do_not_specialize_zero_one":false,"out":"s77","ns":N}
    {"env":0,"depth":0,"call":"create_symbol","val":6,"source":"L['x'].size()[1]","dynamic_dim":"DimDynamic.DUCK","constraint_dim":null,"do_not_specialize_zero_one":false,"out":"s27","ns":N}
    {"env": 0, "call": "final", "ranges": {"s77": "VR[2, int_oo]", "s27": "VR[2, int_oo]", "u0": "VR[-int_oo, int_oo]", "u1": "VR[0, int_oo]"}, "replacements": {}, "guards": [], "asserts": {"u1": ["0 <= u1", "u1 <= s77"]}, "hints": {"s77": "9", "s27": "6"}, "divisible": []}
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

    $ symtape record --deep=some -o x.tape -- true
    2> symtape: record: --deep: "some" is not one of counts, graphs, all
    [exit 2]
