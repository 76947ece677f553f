The first event of a compile after which something holds.

A guard that a call asked for: the call, and the user's line.

    $ symtape bisect $RECORDINGS/train.log.zst:0/0 --guard 's23 < 16'
    0/0_0:dynamo_output_graph
    first bad: event 5 of 11, guard s23 < 16, asked for by conv1d = torch.conv1d, /home/user/demo/train.py:18 in forward: x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
    last good: event 4 of 11, node transpose = Tensor.transpose, /home/user/demo/train.py:18 in forward: x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
    6 checks in 6 rounds; the last good and the first bad place were both checked again
    first-bad=5 id=e1c81bad162d1681 kind=guard expr="s23 < 16" good=4 probes=6
    [exit 1]

A guard that no call can ask for is there at its place in time, with the user's own line.

    $ symtape bisect $RECORDINGS/encoder.log.zst:0/1 --guard 'Eq(Mod(s27, 8), 0)'
    0/1_0:dynamo_output_graph
    first bad: event 11 of 131, guard Eq(Mod(s27, 8), 0), recorded as made by dynamo, /home/user/demo/encoder.py:25 in forward: if length % WINDOW:
    last good: event 10 of 131, node layer_norm = torch.nn.functional.layer_norm, /home/user/demo/encoder.py:46 in forward: x = x + self.attention(self.norm1(x))
    9 checks in 9 rounds; the last good and the first bad place were both checked again
    first-bad=11 id=f376591cc1633174 kind=guard expr="Eq(Mod(s27, 8), 0)" good=10 probes=9
    [exit 1]

A symbol that becomes a number, by its source; more questions at once find the same.

    $ symtape bisect $RECORDINGS/encoder.log.zst:0/1_0 --specializes "L['x'].size()[2]" --jobs 7 | head -2
    0/1_0:dynamo_output_graph
    first bad: event 8 of 131, specialization s53 = 32, asked for by layer_norm = torch.nn.functional.layer_norm, /home/user/demo/encoder.py:46 in forward: x = x + self.attention(self.norm1(x))

Nothing breaks: every graph of the attempt was searched.

    $ symtape bisect $RECORDINGS/train.log.zst:0/0 --guard 'Eq(s23, 16)'
    0/0_0:aot_backward_graph
    good after all 27 events, and in the 3 graphs before
    6 checks in 6 rounds
    first-bad=none end=never events=27 probes=6

A fault in the engine is found where it hits first.

    $ symtape bisect $RECORDINGS/train.log.zst:0/0:forward --inject-fault aten.tanh=size
    0/0_0:aot_forward_graph
    first bad: event 7 of 20, node tanh = aten.tanh.default, /home/user/demo/train.py:18 in forward: x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
      mismatch: recorded f32[s23, 16, s27][16*s27, s27, 1]cpu, replayed f32[s23, 16, s27 + 1][16*s27, s27, 1]cpu
    last good: event 6 of 20, node convolution = aten.convolution.default, /home/user/demo/train.py:18 in forward: x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
    6 checks in 6 rounds; the last good and the first bad place were both checked again
    first-bad=7 id=8296de664cf404a2 kind=node expr="tanh = aten.tanh.default" good=6 probes=6
    [exit 1]

A command judges the graph cut behind a call; here it looks for an operator.

    $ symtape bisect $RECORDINGS/train.log.zst:0/0:forward --check 'grep -q aten.tanh' --jobs 3
    0/0_0:aot_forward_graph
    first bad: event 4 of 17, node tanh = aten.tanh.default, /home/user/demo/train.py:18 in forward: x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
    last good: event 3 of 17, node convolution = aten.convolution.default, /home/user/demo/train.py:18 in forward: x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
    8 checks in 3 rounds, and 2 extra checks; the last good and the first bad place were both checked again
    first-bad=4 id=8296de664cf404a2 kind=node expr="tanh = aten.tanh.default" good=3 probes=8
    [exit 1]

The event's id makes sure that it is this one: another is 125.

    $ symtape bisect $RECORDINGS/train.log.zst:0/0 --guard 's23 < 16' --first-bad 0000000000000000 | tail -1
    first-bad=5 id=e1c81bad162d1681 kind=guard expr="s23 < 16" good=4 probes=6

FX text as the graph.

    $ printf 'class M(torch.nn.Module):\n    def forward(self, a0: "Sym(s0)", a1: "f32[s0, 8][8, 1]cpu"):\n        s: "f32[s0, 8][8, 1]cpu" = torch.ops.aten.sin.default(a1)\n        t: "f32[s0, 8][8, 1]cpu" = torch.ops.aten.tanh.default(s)\n        return (t,)\n' >f.fx

    $ symtape bisect f.fx --check 'grep -q aten.tanh'
    f.fx
    first bad: event 2 of 2, node t = aten.tanh.default
    last good: event 1 of 2, node s = aten.sin.default
    3 checks in 3 rounds, and 1 extra check; the last good and the first bad place were both checked again
    first-bad=2 id=1b53e9f611d0ba85 kind=node expr="t = aten.tanh.default" good=1 probes=3
    [exit 1]

As JSON, and as a list.

    $ symtape bisect $RECORDINGS/train.log.zst:0/0 --guard 's23 < 16' --json
    {"schema":"symtape.bisect/1","verdict":"found","graph":"0/0_0:dynamo_output_graph","events":11,"first_bad":{"number":5,"id":"e1c81bad162d1681","kind":"guard","expr":"s23 < 16","node":"conv1d","op":"torch.conv1d","recorded_as":null,"file":"/home/user/demo/train.py","line":18,"function":"forward","code":"x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))","failure":""},"last_good":{"number":4,"id":"61c74dc1e81ea3e4","kind":"node","expr":"transpose = Tensor.transpose","node":"transpose","op":"Tensor.transpose","recorded_as":null,"file":"/home/user/demo/train.py","line":18,"function":"forward","code":"x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))","failure":""},"good":4,"bad":5,"certified":true,"monotone":true,"probes":6,"rounds":6,"looked":0}
    [exit 1]

    $ symtape bisect $RECORDINGS/train.log.zst:0/0:dynamo --guard 's23 < 16' --list | head -8
    0/0_0:dynamo_output_graph
        1 bdc1cc010dd3fa25 symbol         s23
        2 bdc1cc010dd3fa25 symbol         s27
        3 2858dacadfb56c53 node           x = torch.nn.functional.embedding, /home/user/demo/train.py:17 in forward: x = self.embedding(ids)
        4 61c74dc1e81ea3e4 node           transpose = Tensor.transpose, /home/user/demo/train.py:18 in forward: x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
        5 e1c81bad162d1681 guard          s23 < 16  <-, /home/user/demo/train.py:18 in forward: x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
        6 25c77c28e58bac9e node           conv1d = torch.conv1d, /home/user/demo/train.py:18 in forward: x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
        7 aabc43ef4ceef23d node           tanh = torch.tanh, /home/user/demo/train.py:18 in forward: x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))

Between two tapes, and of a tape with itself.

    $ symtape bisect --first-difference $RECORDINGS/layers.log.zst $RECORDINGS/layers_window.log.zst
    compile 0/0: symbol s27 = L['x'].size()[1]: hint 21, range [2, int_oo] is now hint 24, range [2, int_oo], /home/user/demo/layers.py:26 in attention: t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
    94 of 410 events and nodes differ
    first-difference=changed kind=symbol expr="s27 = L['x'].size()[1]"
    [exit 1]

    $ symtape bisect --first-difference $RECORDINGS/train.log.zst $RECORDINGS/train.log.zst
    no difference in 3 events and 139 nodes
    first-difference=none

What makes no sense is said; with --bisect-codes a mistake stops git bisect and bad input is skipped.

    $ symtape bisect $RECORDINGS/train.log.zst --guard 's23 < 16' --specializes s23
    2> symtape: bisect: --error, --guard, --specializes and --check exclude each other
    [exit 2]

    $ symtape bisect $RECORDINGS/train.log.zst --guard 's23 <' --bisect-codes
    2> symtape: bisect: 0/0_0:dynamo_output_graph: --guard: "s23 <" is not an expression: offset 5: expected an operand
    [exit 129]

    $ symtape bisect nowhere.tape --guard 's23 < 16' --bisect-codes
    2> symtape: nowhere.tape: No such file or directory
    [exit 125]

    $ symtape bisect $RECORDINGS/train.log.zst:0/0 --specializes s99
    2> symtape: bisect: 0/0_0:dynamo_output_graph: --specializes: the graph has no symbol s99
    [exit 2]

    $ symtape bisect --first-difference $RECORDINGS/train.log.zst
    2> symtape: bisect: --first-difference needs two TAPEs
    [exit 2]

A command that can never tell is not asked about every place.

    $ symtape bisect $RECORDINGS/train.log.zst:0/0:forward --check "sh -c 'echo no device; exit 125'"
    0/0_0:aot_forward_graph
    cannot tell: the check could not decide about the whole graph: --check printed: exit 125: no device
    2 checks in 2 rounds
    first-bad=none end=cannot events=17 probes=2
    [exit 125]

    $ symtape bisect f.fx --list --json
    {"schema":"symtape.bisect/1","graph":"f.fx","list":[{"number":1,"id":"bdc1cc010dd3fa25","kind":"symbol","expr":"s0","node":"","op":"","recorded_as":null,"file":"","line":0,"function":"","code":"","failure":""},{"number":2,"id":"edb52ea1946124cb","kind":"node","expr":"s = aten.sin.default","node":"s","op":"aten.sin.default","recorded_as":null,"file":"","line":0,"function":"","code":"","failure":""},{"number":3,"id":"1b53e9f611d0ba85","kind":"node","expr":"t = aten.tanh.default","node":"t","op":"aten.tanh.default","recorded_as":null,"file":"","line":0,"function":"","code":"","failure":""}]}

    $ symtape bisect f.fx --first-bad 12
    2> symtape: bisect: --first-bad: "12" is not an event's id, as in e1c81bad162d1681; the last line of an earlier run prints it
    [exit 2]

    $ symtape bisect f.fx --timeout 3
    2> symtape: bisect: --invert, --timeout, --extra-checks and --allow need --check
    [exit 2]

    $ symtape bisect f.fx --check true --timeout soon
    2> symtape: bisect: f.fx: --timeout: "soon" is not a time, as in 90, 90s, 15m or 2h
    [exit 2]
