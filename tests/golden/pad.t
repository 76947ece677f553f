Sizes that are rounded up: symtape run --pad. Times are left out.

    $ symtape run --pad s23:8 --sizes s23=2..20:3 --runs 1 $RECORDINGS/train.log.zst:0/0:forward | tr -s ' ' | sed -E 's/ [0-9.]+ [num]?s\b/ TIME/g'
    1 graph at 7 sizes on cpu: ran; peak memory 47.7 kB
    0/0_0:aot_forward_graph: padding s23 to multiples of 8: outputs agree
     not padded: guard s23 < 16 does not hold: s23 = 16 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`
     size padded first time padded memory padded
     s23=2 s23=8 TIME TIME TIME 12.6 kB 30.2 kB
     s23=5 s23=8 TIME TIME TIME 21.4 kB 30.2 kB
     s23=8 s23=8 TIME TIME TIME 30.2 kB 30.2 kB
     s23=11 s23=11 TIME TIME TIME 38.9 kB 38.9 kB
     s23=14 s23=14 TIME TIME TIME 47.7 kB 47.7 kB
     first runs: TIME at 5 sizes; padded: TIME at 3
     later runs: TIME; padded: TIME
     peak memory: 47.7 kB; padded: 47.7 kB
    2> symtape: 0/0_0:aot_forward_graph: guard s23 < 16 does not hold: s23 = 17 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`
    2> symtape: 0/0_0:aot_forward_graph: guard s23 < 16 does not hold: s23 = 20 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`

A padded dimension over which the graph sums cannot be padded; nor can one that a convolution slides over.

    $ symtape run --pad s23:8 $RECORDINGS/train.log.zst:0/0:backward
    1 graph on cpu: refused
    0/0_0:aot_backward_graph: cannot be padded: mm_1 (torch.ops.aten.mm.default) at demo/train.py:19 `return self.head(x)`: it combines elements along dimension 1, padded from 40 to 80
    [exit 1]

    $ symtape run --pad auto --sizes s27=2 $RECORDINGS/train.log.zst:0/0:forward
    1 graph on cpu: refused
    0/0_0:aot_forward_graph: cannot be padded: convolution (torch.ops.aten.convolution.default) at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`: it keeps rows of the first dimension apart, and another is padded
    [exit 1]

With auto, a symbol whose padding mixes rows keeps its sizes.

    $ symtape run --pad auto --runs 1 $RECORDINGS/layers.log.zst | tr -s ' ' | sed -E 's/ [0-9.]+ [num]?s\b/ TIME/g'
    1 graph on cpu: ran; peak memory 422 kB
    0/0_0:aot_inference_graph: padding s77: outputs agree
     not padded: view (torch.ops.aten.view.default) at demo/layers.py:26 `t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)`: it merges or splits a padded dimension that is not the outermost
     size padded first time padded memory padded
     s77=3 s77=8 TIME TIME TIME 284 kB 422 kB
     first runs: TIME at 1 size; padded: TIME at 1
     later runs: TIME; padded: TIME
     peak memory: 284 kB; padded: 422 kB

    $ symtape run --pad auto --sizes s77=8,16 --runs 1 $RECORDINGS/layers.log.zst
    1 graph at 2 sizes on cpu: ran; peak memory 642 kB
    0/0_0:aot_inference_graph: no size is padded

    $ symtape run --pad s77:4 --runs 1 --json $RECORDINGS/mlp.log.zst:0/1:inference | sed -E 's/("(first_us|us)":)[0-9.e+-]+/\1TIME/g'
    {"schema":"symtape.run/1","backend":"cpu","against":null,"tf32":false,"graphs":[{"graph":"0/1_0:aot_inference_graph","recording":"mlp","compile":"0/1","attempt":0,"kind":"aot_inference_graph","index":0,"error":null,"padding":{"allowed":true,"reason":"","kept":0,"symbols":["s77"],"outputs":1,"differing":0,"max_absolute":0,"points":[{"plain":{"sizes":[{"symbol":"s77","value":6}],"first_us":TIME,"us":TIME,"peak_bytes":6208},"padded":{"sizes":[{"symbol":"s77","value":8}],"first_us":TIME,"us":TIME,"peak_bytes":6848}}]}}],"sweeps":[],"differs":false,"failures":[]}

    $ symtape run --pad s23:8 --json $RECORDINGS/train.log.zst:0/0:backward | grep -oE '"padding":.*"code"'
    "padding":{"allowed":false,"reason":"it combines elements along dimension 1, padded from 40 to 80","node":"mm_1","op":"torch.ops.aten.mm.default","file":"/home/user/demo/train.py","line":19,"code"

    $ symtape run --pad s23 $RECORDINGS/train.log.zst
    2> symtape: --pad: auto, or SYMBOL:MULTIPLE[,SYMBOL:MULTIPLE...], as in s0:64
    [exit 2]

    $ symtape run --pad s23:0 $RECORDINGS/train.log.zst
    2> symtape: --pad: auto, or SYMBOL:MULTIPLE[,SYMBOL:MULTIPLE...], as in s0:64
    [exit 2]

    $ symtape run --pad s23:8,s23:4 $RECORDINGS/train.log.zst
    2> symtape: --pad: s23 is named twice
    [exit 2]

    $ symtape run --pad s99:8 $RECORDINGS/train.log.zst
    2> symtape: --pad: no graph has a symbol s99; symtape show --symbols lists them
    [exit 2]

    $ symtape run --pad s23:8 --profile $RECORDINGS/train.log.zst
    2> symtape: --pad compares sizes: not with --profile, --compare-with, --inputs, --outputs or --perturb
    [exit 2]

    $ symtape run --pad s23:8 --backend null $RECORDINGS/train.log.zst
    2> symtape: --pad: backend null takes no time
    [exit 2]

More symbols than are padded:

    $ { printf 'class f(torch.nn.Module):\n    def forward(self, '; for i in $(seq 0 32); do printf 's%d: "Sym(s%d)", ' $i $i; done; printf 'x: "f32[s32][1]cpu"):\n        c = torch.ops.aten.sin.default(x)\n        return (c,)'; } >graph
    > line='V1120 09:41:07.123000 42 a.py:1] {'; at='"frame_id": 0, "frame_compile_id": 0, "attempt": 0'
    > for i in $(seq 0 32); do printf '%s"create_symbol": {"symbol": "s%d", "val": "5", "vr": "[2, int_oo]", "source": "L[%d]"}, %s}\n' "$line" $i $i "$at"; done >many.log
    > { printf '%s"aot_inference_graph": {}, %s, "has_payload": "%s"}\n' "$line" "$at" $(md5sum <graph | cut -c1-32); sed 's/^/\t/' graph; echo; } >>many.log

    $ symtape run --pad auto --runs 1 many.log | head -1
    1 graph on cpu: ran; peak memory 40 B
    2> symtape: 0/0_0:aot_inference_graph: --pad pads at most 32 symbols, and leaves out 1

    $ symtape run --pad s32:8 --sizes $(seq -f 's%g=3' -s , 0 31) many.log
    1 graph on cpu: refused
    2> symtape: 0/0_0:aot_inference_graph: --pad: at most 32 symbols with those of --sizes
    [exit 1]

    $ symtape run --pad s32:8 --runs 1 many.log | head -2
    1 graph on cpu: ran; peak memory 64 B
    0/0_0:aot_inference_graph: padding s32 to multiples of 8: outputs agree
