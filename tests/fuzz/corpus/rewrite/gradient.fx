class G(torch.nn.Module):
    def forward(self, x: "f32[s0, 6]cpu", m: "b8[s0]cpu", q: "f32[6, s0]cpu", z: "f32[s0, 4, 6]cpu", n: "i64[s0]cpu", c: "f32[4, 6]cpu", w: "f32[6]cpu", k: "f32[5, s0, 6]cpu"):
        r: "f32[u0, 6]cpu" = x[m]
        o = torch.ops.aten.native_layer_norm.default(r, [6], w, w, 1e-05)
        a: "f32[u0, 1]cpu" = o[1]
        d: "f32[u0, 1]cpu" = o[2]
        h = torch.ops.aten.native_layer_norm_backward.default(r, r, [6], a, d, w, w, [True, True, True])
        f: "f32[u0, 6]cpu" = h[0]
        p: "f32[6]cpu" = h[1]
        s: "f32[6]cpu" = h[2]
        o_: "f32[s0, 6]cpu" = torch.zeros_like(x)
        o_[m] = f;  setitem = o_
        return (o_, p, s)
