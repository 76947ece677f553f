Boolean masks become where().

A write of a number, rows that a function computes one by one, a reduction, and rows that are an output.

    $ cat > masks.fx <<'END'
    > class G(torch.nn.Module):
    >     def forward(self, h: "f32[s0, s1, 8][8*s1, 8, 1]cpu", m: "b8[s0, s1][s1, 1]cpu", w: "f32[8][1]cpu"):
    >         # File: model.py:3 in forward, code: h[m] = 0
    >         h[m] = 0;  setitem = h
    >         # File: model.py:4 in forward, code: out[m] = norm(h[m])
    >         a: "f32[u0, 8][8, 1]cpu" = h[m]
    >         b: "f32[u0, 8][8, 1]cpu" = torch.nn.functional.layer_norm(a, (8,), w, None, 1e-05)
    >         out: "f32[s0, s1, 8][8*s1, 8, 1]cpu" = torch.zeros_like(h)
    >         out[m] = b;  setitem_1 = out
    >         # File: model.py:5 in forward, code: h[m].mean(0)
    >         c: "f32[u0, 8][8, 1]cpu" = h[m]
    >         d: "f32[8][1]cpu" = c.mean(0)
    >         # File: model.py:6 in forward, code: h[h > 0]
    >         g: "b8[s0, s1, 8][8*s1, 8, 1]cpu" = h > 0
    >         e: "f32[u1][1]cpu" = h[g]
    >         return (out, d, e)
    > END

    $ symtape rewrite --masks -o new.tape masks.fx
    4 of 5 calls with boolean masks rewritten in 1 of 1 graphs
    symbols whose values depend on data: 2 before, 1 after
    results on the CPU: equal in 1 graph, with masks all true, all false and mixed

    graph     call       operator          mask  status     how or why                     size reaches                    user line
    masks.fx  setitem    operator.setitem  m     rewritten  where() and copy_()            -                               model.py:3
    masks.fx  a          operator.getitem  m     rewritten  where(mask, x, 1) of all rows  -                               model.py:4
    masks.fx  setitem_1  operator.setitem  m     rewritten  where() and copy_()            -                               model.py:4
    masks.fx  c          operator.getitem  m     rewritten  where(mask, x, 1) of all rows  -                               model.py:5
    masks.fx  e          operator.getitem  g     kept       e is an output of the graph    u1: 1 call, 1 output, 0 guards  model.py:6
    2> symtape: new.tape: 1 graph

    $ symtape show --graph new.tape:0/0:dynamo
    class G(torch.nn.Module):
        def forward(self, h: "f32[s0, s1, 8][8*s1, 8, 1]cpu", m: "b8[s0, s1][s1, 1]cpu", w: "f32[8][1]cpu"):
            # File: model.py:3 in forward, code: h[m] = 0
            unsqueeze_mask_0: "b8[s0, s1, 1][s1, 1, 1]cpu" = torch.ops.aten.unsqueeze.default(m, -1)
            where_mask_1: "f32[s0, s1, 8][8*s1, 8, 1]cpu" = torch.ops.aten.where.ScalarSelf(unsqueeze_mask_0, 0, h)
            setitem: "f32[s0, s1, 8][8*s1, 8, 1]cpu" = torch.ops.aten.copy_.default(h, where_mask_1)

            # File: model.py:4 in forward, code: out[m] = norm(h[m])
            flatten_mask_3: "f32[s0*s1, 8][8, 1]cpu" = torch.ops.aten.flatten.using_ints(h, 0, 1)
            reshape_mask_4: "b8[s0*s1, 1][1, 1]cpu" = torch.ops.aten.reshape.default(m, [-1, 1])
            a: "f32[s0*s1, 8][8, 1]cpu" = torch.ops.aten.where.ScalarOther(reshape_mask_4, flatten_mask_3, 1.0)
            b: "f32[s0*s1, 8][8, 1]cpu" = torch.nn.functional.layer_norm(a, (8,), w, None, 1e-05)
            out: "f32[s0, s1, 8][8*s1, 8, 1]cpu" = torch.zeros_like(h)
            flatten_mask_6: "f32[s0*s1, 8][8, 1]cpu" = torch.ops.aten.flatten.using_ints(out, 0, 1)
            where_mask_7: "f32[s0*s1, 8][8, 1]cpu" = torch.ops.aten.where.self(reshape_mask_4, b, flatten_mask_6)
            view_as_mask_8: "f32[s0, s1, 8][8*s1, 8, 1]cpu" = torch.ops.aten.view_as.default(where_mask_7, out)
            setitem_1: "f32[s0, s1, 8][8*s1, 8, 1]cpu" = torch.ops.aten.copy_.default(out, view_as_mask_8)

            # File: model.py:5 in forward, code: h[m].mean(0)
            flatten_mask_10: "f32[s0*s1, 8][8, 1]cpu" = torch.ops.aten.flatten.using_ints(h, 0, 1)
            c: "f32[s0*s1, 8][8, 1]cpu" = torch.ops.aten.where.ScalarOther(reshape_mask_4, flatten_mask_10, 1.0)
            where_mask_12: "f32[s0*s1, 8][8, 1]cpu" = torch.ops.aten.where.ScalarOther(reshape_mask_4, c, 0.0)
            sum_mask_13: "f32[8][1]cpu" = where_mask_12.sum(0)
            count_mask_14: "i64[][]cpu" = torch.ops.aten.sum.default(m)
            d: "f32[8][1]cpu" = torch.ops.aten.div.Tensor(sum_mask_13, count_mask_14)

            # File: model.py:6 in forward, code: h[h > 0]
            g: "b8[s0, s1, 8][8*s1, 8, 1]cpu" = h > 0
            e: "f32[u1][1]cpu" = h[g]
            return (out, d, e)

The same as JSON, without the check.

    $ symtape rewrite --masks --check never --json masks.fx
    {"schema":"symtape.rewrite/1","graphs":[{"graph":"masks.fx","kind":"other","new_compile":null,"rewritten":4,"kept":1,"calls_before":9,"calls_after":20,"unbacked_before":2,"unbacked_after":1,"check":{"verdict":"unchecked","runs":0,"tensors":0,"text":null},"masks":[{"node":"setitem","op":"operator.setitem","mask":"m","status":"rewritten","why":"where() and copy_()","symbol":null,"reaches":{"calls":0,"outputs":0,"guards":0},"file":"model.py","line":3,"function":"forward","code":"h[m] = 0"},{"node":"a","op":"operator.getitem","mask":"m","status":"rewritten","why":"where(mask, x, 1) of all rows","symbol":null,"reaches":{"calls":0,"outputs":0,"guards":0},"file":"model.py","line":4,"function":"forward","code":"out[m] = norm(h[m])"},{"node":"setitem_1","op":"operator.setitem","mask":"m","status":"rewritten","why":"where() and copy_()","symbol":null,"reaches":{"calls":0,"outputs":0,"guards":0},"file":"model.py","line":4,"function":"forward","code":"out[m] = norm(h[m])"},{"node":"c","op":"operator.getitem","mask":"m","status":"rewritten","why":"where(mask, x, 1) of all rows","symbol":null,"reaches":{"calls":0,"outputs":0,"guards":0},"file":"model.py","line":5,"function":"forward","code":"h[m].mean(0)"},{"node":"e","op":"operator.getitem","mask":"g","status":"kept","why":"e is an output of the graph","symbol":"u1","reaches":{"calls":1,"outputs":1,"guards":0},"file":"model.py","line":6,"function":"forward","code":"h[h > 0]"}]}],"breaks":[],"rewritten":4,"kept":1,"unbacked_before":2,"unbacked_after":1,"checked":0,"differing":0,"output":null}

The tape is there already; and it is a tape like any other.

    $ symtape rewrite --masks -o new.tape masks.fx
    2> symtape: rewrite: new.tape exists already; --overwrite replaces it
    [exit 2]

    $ symtape rewrite --masks -o new.tape --overwrite -q --limit 1 masks.fx
    4 of 5 calls with boolean masks rewritten in 1 of 1 graphs
    symbols whose values depend on data: 2 before, 1 after
    results on the CPU: equal in 1 graph, with masks all true, all false and mixed

    graph     call     operator          mask  status     how or why           size reaches  user line
    masks.fx  setitem  operator.setitem  m     rewritten  where() and copy_()  -             model.py:3
    ... 4 more rows; --limit 0 prints all

    $ symtape info new.tape
    6 records, 1 payload, 3.16 kB of log in 1.70 kB of tape (1/2)
    3 symbols, 0 guards of 1 attempt (not counted: 0 suppressed, 0 runtime asserts)

    tape      recording  rank  pid  torch  records  payloads  damaged  whole
    new.tape  rewritten     -    1  -            6         1        0  yes

    recording  compile  attempt  status      records  symbols  guards  graphs  calls
    rewritten  0/0            0  unfinished        4        3       0       1     20

    count  event
        2  create_symbol
        2  str
        1  create_unbacked_symbol
        1  dynamo_output_graph

Rows of an exported program; its new graph belongs to a compile.

    $ symtape rewrite --masks -o exported.tape $RECORDINGS/exported.pt2
    1 of 1 calls with boolean masks rewritten in 1 of 1 graphs
    symbols whose values depend on data: 1 before, 0 after
    results on the CPU: equal in 1 graph, with masks all true, all false and mixed

    graph                         call   operator           mask  status     how or why                     size reaches  user line
    ::exported/models/model.json  index  aten.index.Tensor  gt    rewritten  where(mask, x, 1) of all rows  -             demo/exported.py:18
    2> symtape: exported.tape: 1 graph

    $ symtape replay exported.tape
    1 graph of 1 attempt, 11 calls: all match
    kernel guards: 0 reproduced, 0 missing, 2 extra, 0 invisible
    other guards: 0 torch function, 0 dynamo, 0 backend, 0 user

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph     11     11         -        -            -        -  -

    $ symtape run exported.tape:0/0:dynamo
    1 graph on cpu: ran; peak memory 505 B
    0/0_0:dynamo_output_graph: 11 operator calls, peak 505 bytes

A tape without masks, and compiles after a reset, which get frames of their own.

    $ symtape rewrite --masks $RECORDINGS/train.log.zst
    no call has a boolean mask in 4 graphs

    $ symtape rewrite --masks -o reset.tape $RECORDINGS/reset.log.zst
    no call has a boolean mask in 10 graphs
    2> symtape: reset.tape: 10 graphs

    $ symtape show --graphs reset.tape
    graph                      kind       inputs  nodes  calls  outputs  subgraphs  opaque
    0/0_0:dynamo_output_graph  dynamo          2      5      2        1          0       0
    0/0_0:aot_inference_graph  inference       2      5      2        1          0       0
    0/1_0:dynamo_output_graph  dynamo          1      4      2        1          0       0
    0/1_0:aot_inference_graph  inference       1      4      2        1          0       0
    1/0_0:dynamo_output_graph  dynamo          3      7      3        1          0       0
    1/0_0:aot_inference_graph  inference       3      7      3        1          0       0
    2/0_0:dynamo_output_graph  dynamo          3      5      1        1          0       0
    2/0_0:aot_inference_graph  inference       3      5      1        1          0       0
    3/0_0:dynamo_output_graph  dynamo          2      4      1        1          0       0
    3/0_0:aot_inference_graph  inference       2      4      1        1          0       0

Graph breaks: those that a setting of Dynamo avoids, and those that remain.

    $ symtape rewrite --masks --json $RECORDINGS/levels.log.zst | grep -o '"remains":[a-z]*,"config":[a-z_"]*' | sort | uniq -c
          1 "remains":false,"config":"capture_dynamic_output_shape_ops"
          6 "remains":false,"config":"capture_scalar_outputs"

    $ symtape rewrite --masks $RECORDINGS/graph_break.log.zst
    no call has a boolean mask in 8 graphs

    graph breaks: 1, of which 1 remains
      graph break                       what becomes of it                               user line
      Failed to trace builtin operator  remains: no size that depends on data causes it  demo/graph_break.py:10

Mistakes.

    $ symtape rewrite masks.fx
    2> symtape: rewrite: name what to rewrite: --masks
    [exit 2]

    $ symtape rewrite --masks -o - masks.fx
    2> symtape: rewrite: -o takes the name of a file
    [exit 2]

    $ symtape rewrite --masks $RECORDINGS/train.log.zst:0/0:forwrad
    2> symtape: $RECORDINGS/train.log.zst: no graph is of kind "forwrad"; did you mean "forward"?
    [exit 2]

    $ symtape rewrite --masks nowhere.tape
    2> symtape: nowhere.tape: No such file or directory
    [exit 4]

    $ symtape rewrite --masks -o nowhere/new.tape masks.fx
    2> symtape: rewrite: nowhere/new.tape: No such file or directory
    [exit 4]

    $ symtape rewrite --masks --check maybe masks.fx
    2> symtape: rewrite: --check: "maybe" is not one of auto|always|never
    [exit 2]

A graph whose input has a size that is no number of items:

    $ printf 'class G(torch.nn.Module):\n    def forward(self, x: "f32[nan, 8]"):\n        y = torch.relu(x)\n        return (y,)\n' > nan.fx; symtape rewrite --masks -o nan.tape nan.fx
    2> symtape: nan.fx: input x: its size nan is no integer
    [exit 3]
