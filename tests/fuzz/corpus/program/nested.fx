# symbol s1 = 3 in [2, 9]
class f(torch.nn.Module):
    def forward(self, x: "f32[s1][1]", p: "b8[][]"):
        t = self.true_graph_0
        g = self.false_graph_0
        cond = torch.ops.higher_order.cond(p, t, g, (x,))
        a: "f32[s1][1]" = cond[0]
        b: "f32[s1][1]" = torch.ops.aten.cos.default(a)
        return (b,)

    class true_graph_0(torch.nn.Module):
        def forward(self, q: "f32[s1][1]"):
            y: "f32[s1][1]" = torch.ops.aten.mul.Tensor(q, q)
            return (y,)

    class false_graph_0(torch.nn.Module):
        def forward(self, q: "f32[s1][1]"):
            y: "f32[s1][1]" = torch.ops.aten.neg.default(q)
            return (y,)
