class G(torch.nn.Module):
    def forward(self, x: "f32[s0, s1, 4][4*s1, 4, 1]cpu", m: "b8[s0, s1][s1, 1]cpu"):
        where = torch.where(m)
        b: "i64[u0][1]cpu" = where[0]
        t: "i64[u0][1]cpu" = where[1]
        r: "f32[u0, 4][4, 1]cpu" = x[(b, t)]
        c: "f32[u0, 2][4, 1]cpu" = r[(slice(None, None, None), slice(0, 2, None))]
        y: "f32[2][1]cpu" = c.sum(0)
        z: "f32[u1][1]cpu" = x.masked_select(x > 0)
        return (y,)
