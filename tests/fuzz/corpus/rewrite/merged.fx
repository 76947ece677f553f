class G(torch.nn.Module):
    def forward(self, x: "f32[s0, 6]cpu", m: "b8[s0]cpu", q: "f32[6, s0]cpu", z: "f32[s0, 4, 6]cpu", n: "i64[s0]cpu", c: "f32[4, 6]cpu", w: "f32[6]cpu", k: "f32[5, s0, 6]cpu"):
        v: "f32[u0, 4, 6]cpu" = z[m]
        u: "Sym(u0)" = torch.ops.aten.sym_size.int(v, 0)
        a: "Sym(4*u0)" = u * 4
        b: "f32[4*u0, 6]cpu" = torch.ops.aten.view.default(v, [a, 6])
        d: "f32[6, 4*u0]cpu" = torch.t(b)
        e: "f32[6, 6]cpu" = torch.mm(d, b)
        h: "f32[4*u0, 6]cpu" = torch.mm(b, e)
        f: "f32[u0, 4, 6]cpu" = torch.ops.aten._unsafe_view.default(h, [u, 4, 6])
        g: "f32[s0, 4, 6]cpu" = torch.zeros_like(z)
        g[m] = f;  setitem = g
        return (g,)
