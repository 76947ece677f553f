# symtape candidate: inference, torch 2.11.0, seed 7
# symbol s77 = 8 in [2, int_oo] marked from L['x'].size()[0]
# symbol u0 in [0, 100] unbacked
# guard Ne(Mod(s77, 7), 0) before relu
# assert u0 <= 50 before return
class f(torch.nn.Module):
    def forward(self, x: "f32[s77, 4][4, 1]cpu", n: "Sym(u0)", w: "f16[4*s77][1]cpu"):
        sin: "f32[s77, 4][4, 1]cpu" = torch.ops.aten.sin.default(x)
        add_: "f32[s77, 4][4, 1]cpu" = torch.ops.aten.add_.Tensor(sin, 2, alpha = 3)
        relu: "f32[s77, 4][4, 1]cpu" = torch.ops.aten.relu.default(sin)
        split = torch.ops.aten.split.Tensor(relu, 2, 1)
        a: "f32[s77, 2][4, 1]cpu" = split[0]
        v: "f32[4*s77][1]cpu" = torch.ops.aten.view.default(relu, [-1])
        return (a, v, w)
