# A graph as a program

    $ symtape export --python --sizes s23=7 $RECORDINGS/train.log.zst:0/0:forward > forward.py; sed -n '8,23p;$p' forward.py
    torch.manual_seed(0)
    primals_1 = torch.randn(50, 16)
    primals_4 = torch.randint(2, (7, 10))
    primals_5 = torch.randn(16, 16, 3)
    primals_6 = torch.randn(16)
    primals_7 = torch.randn(16)
    primals_8 = torch.randn(16)
    primals_9 = torch.randn(5, 16)
    primals_10 = torch.randn(5)
    torch._dynamo.mark_dynamic(primals_4, [0, 1])
    inputs = (primals_1, primals_4, primals_5, primals_6, primals_7, primals_8, primals_9, primals_10)


    def f(primals_1, primals_4, primals_5, primals_6, primals_7, primals_8, primals_9, primals_10):
        s23, s27 = primals_4.shape[0], primals_4.shape[1]
        embedding = torch.ops.aten.embedding.default(primals_1, primals_4)
            getitem_1, getitem_2, view, detach_1, s23, s27, mul_34)

All on the CPU, into a file:

    $ symtape export --python --cpu $RECORDINGS/mlp.log.zst:0/1_0:inference -o mlp.py; tail -9 mlp.py

    def f(arg0_1, arg1_1, arg3_1, arg4_1, arg5_1):
        t = torch.ops.aten.t.default(arg0_1)
        addmm = torch.ops.aten.addmm.default(arg1_1, arg3_1, t)
        relu = torch.ops.aten.relu.default(addmm)
        t_1 = torch.ops.aten.t.default(arg4_1)
        addmm_1 = torch.ops.aten.addmm.default(arg5_1, relu, t_1)
        add_9 = torch.ops.aten.add.Tensor(arg3_1, addmm_1)
        return (add_9,)

    $ symtape export --python $RECORDINGS/mlp.log.zst:0/1_0:inference -o mlp.py
    2> symtape: mlp.py exists already; --overwrite replaces it
    [exit 2]

    $ symtape export --python --overwrite $RECORDINGS/mlp.log.zst:0/1_0:inference -o mlp.py; rm mlp.py forward.py

One graph, and sizes that it has:

    $ symtape export --python $RECORDINGS/mlp.log.zst
    2> symtape: several graphs match; there are 0/0_0:dynamo_output_graph, 0/0_0:aot_inference_graph, 0/1_0:dynamo_output_graph, 0/1_0:aot_inference_graph
    [exit 2]

    $ symtape export --python --sizes s1=3 $RECORDINGS/mlp.log.zst:0/1_0:inference
    2> symtape: --sizes: the graph has no symbol s1
    [exit 2]

    $ symtape export --python --sizes s77=7,8 $RECORDINGS/mlp.log.zst:0/1_0:inference
    2> symtape: --sizes: 2 sizes are given, and one can be used
    [exit 2]

    $ echo 's77=7 # the batch' > sizes.txt; symtape export --python --sizes sizes.txt $RECORDINGS/mlp.log.zst:0/1_0:inference | grep torch.randn; rm sizes.txt
    arg0_1 = torch.randn(32, 16)
    arg1_1 = torch.randn(32)
    arg3_1 = torch.randn(7, 16)
    arg4_1 = torch.randn(16, 32)
    arg5_1 = torch.randn(16)

    $ symtape export --python --sizes s1 $RECORDINGS/mlp.log.zst:0/1_0:inference
    2> symtape: --sizes: "s1" is neither SYMBOL=NUMBER, as in s77=31, nor a file
    [exit 2]

    $ symtape export --sizes s1=3 $RECORDINGS/mlp.log.zst
    2> symtape: export: --sizes needs --python
    [exit 2]

    $ symtape export --cpu $RECORDINGS/mlp.log.zst
    2> symtape: export: --cpu needs --python
    [exit 2]

    $ symtape export --log --python $RECORDINGS/mlp.log.zst
    2> symtape: export: --log and --python exclude each other
    [exit 2]

# What a program may call

An operator of a library is written where the user names its namespace; a target that is none is not written at all.

    $ cat > library.fx <<'END'
    > class GraphModule(torch.nn.Module):
    >     def forward(self, a: "f32[4][1]cpu"):
    >         x: "f32[4][1]cpu" = torch.ops.mylib.twice.default(a, mode = "a\r\u2028# b")
    >         return (x,)
    > END

    $ symtape minify --check true --max-calls 1 --repro library.py library.fx > /dev/null; cat library.py
    # cannot run: calls torch.ops.mylib.twice.default: namespace mylib is not PyTorch's own; --allow mylib permits it, and minify --import FILE registers it
    import sys

    sys.exit(125)
    2> symtape: library.py: PyTorch alone cannot run it: calls torch.ops.mylib.twice.default: namespace mylib is not PyTorch's own; --allow mylib permits it, and minify --import FILE registers it
    2> symtape: minified.tape: the result as a tape
    2> symtape: library.py: the result as a program

    $ symtape minify --check true --max-calls 1 --overwrite --overwrite-journal --allow mylib --repro library.py library.fx > /dev/null; grep twice library.py
        x = torch.ops.mylib.twice.default(a, mode="a\r\u2028# b")
    2> symtape: minified.tape: the result as a tape
    2> symtape: library.py: the result as a program

    $ symtape minify --check true --allow 'a b' library.fx
    2> symtape: --allow: "a b" is not a namespace of operators, as torchvision is in torch.ops.torchvision.nms
    [exit 2]

    $ symtape export --allow mylib $RECORDINGS/train.log.zst
    2> symtape: export: --allow needs --python
    [exit 2]
