class GraphModule(torch.nn.Module):
    def forward(self, a: "f32[s27, 4][4, 1]cpu", b: "i64[8][1]cpu", s27: "Sym(s27)"):
        c: "f32[s27, 4][4, 1]cpu" = torch.ops.aten.div.Tensor_mode(a, a, rounding_mode = "zz\r\x1c\u2028\"#")
        d: "f32[s27, 4][4, 1]cpu" = a * 1e-05 + (1+2j);  a = None
        e = getattr(c, "shape")
        g = c[(slice(None, None, None), Ellipsis, -1)]
        h = c.view(-1, 8, s27)
        i = torch.nn.functional.pad(h, [1, 2], mode = 'constant', value = inf)
        j = torch.ops.aten.full.default([s27, 3], nan, dtype = torch.float32, layout = torch.strided, device = device(type='cuda', index=0), pin_memory = False)
        c[0] = 3
        k = math_ceil(2.5)
        return (d, g, i, j, k)
