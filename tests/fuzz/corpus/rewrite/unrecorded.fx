class G(torch.nn.Module):
    def forward(self, h: "f32[s0, s1, 8][8*s1, 8, 1]cpu", m: "b8[s0, s1][s1, 1]cpu", w: "f32[8][1]cpu"):
        # File: model.py:3 in forward, code: h[m] = 0
        h[m] = 0;  setitem = h
        # File: model.py:4 in forward, code: out[m] = norm(h[m])
        a: "f32[u0, 8][8, 1]cpu" = h[m]
        b: "f32[u0, 8][8, 1]cpu" = torch.nn.functional.layer_norm(a, (8,), w, None, 1e-05)
        out: "f32[s0, s1, 8][8*s1, 8, 1]cpu" = torch.zeros_like(h)
        out[m] = b;  setitem_1 = out
        # File: model.py:5 in forward, code: h[m].mean(0)
        c: 2f32[u0, 8][8, 1]cpu" = h[m]
        d: "f32[8][1]cpu" = c.mean(0)
        # File: model.py:6 in forward, co(out, d, e)
