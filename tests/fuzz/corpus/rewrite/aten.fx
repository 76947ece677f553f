class G(torch.nn.Module):
    def forward(self, x: "f32[s0, 4][4, 1]cpu", m: "b8[s0][1]cpu", v: "f32[][]cpu"):
        i: "f32[u0, 4][4, 1]cpu" = torch.ops.aten.index.Tensor(x, [m])
        k: "Sym(u0)" = torch.ops.aten.sym_size.int(i, 0)
        ge: "Sym(u0 >= 0)" = k >= 0
        a = torch.ops.aten._assert_scalar.default(ge, "u0 >= 0")
        w: "f32[u0, 2, 2][4, 2, 1]cpu" = torch.ops.aten.view.default(i, [k, 2, 2])
        s: "f32[u0, 2, 2][4, 2, 1]cpu" = torch.ops.aten._softmax.default(w, -1, False)
        f: "f32[u0, 4][4, 1]cpu" = torch.ops.aten.view.default(s, [k, 4])
        p: "f32[s0, 4][4, 1]cpu" = torch.ops.aten.index_put.default(x, [m], f, True)
        q: "f32[s0, 4][4, 1]cpu" = torch.ops.aten.index_put_.default(p, [m], v)
        t: "f32[][]cpu" = torch.ops.aten.mean.default(i)
        return (q, t)
