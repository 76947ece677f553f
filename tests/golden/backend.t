Graphs run for real, at sizes that the recording allows and at others. Those that nobody sets take their recorded values.

    $ symtape replay --backend cpu $RECORDINGS/encoder.log.zst:0/1 --set s27=32
    0/1_0:aot_inference_graph: 169 calls on cpu, peak 275352 bytes

    $ symtape replay --backend null $RECORDINGS/encoder.log.zst:0/1 --set s27=32
    0/1_0:aot_inference_graph: 169 calls on null, peak 275352 bytes

A guard that does not hold refuses the run; --force runs all the same, and says so.

    $ symtape replay --backend cpu $RECORDINGS/encoder.log.zst:0/1 --set s27=31
    2> symtape: 0/1_0:aot_inference_graph: guard Eq(Mod(s27, 8), 0) does not hold: s27 = 31 (recorded: 24), at demo/encoder.py:25 `if length % WINDOW:` (and 3 more)
    [exit 1]

    $ symtape replay --backend cpu $RECORDINGS/encoder.log.zst:0/1 --set s53=16
    2> symtape: 0/1_0:aot_inference_graph: s53 became a number, Eq(s53, 32): s53 = 16 (recorded: 32), at demo/encoder.py:46 `x = x + self.attention(self.norm1(x))` (and 1 more)
    [exit 1]

    $ symtape replay --backend null $RECORDINGS/encoder.log.zst:0/1 --set s77=1 --force
    0/1_0:aot_inference_graph: 169 calls on null, peak 183192 bytes
    2> symtape: 0/1_0:aot_inference_graph: s77 is within [2, int_oo]: s77 = 1 (recorded: 3), at demo/encoder.py:46 `x = x + self.attention(self.norm1(x))`; run all the same
    2> symtape: 0/1_0:aot_inference_graph: guard 32*((s27//8))*((s27//((s27//8)))) < 32*s77*((s27//8))*((s27//((s27//8)))) does not hold: s27 = 24, s77 = 1 (recorded: 3); run all the same

    $ symtape replay --backend cpu $RECORDINGS/encoder.log.zst:0/1 --set s77=0
    2> symtape: 0/1_0:aot_inference_graph: s77 is within [2, int_oo]: s77 = 0 (recorded: 3), at demo/encoder.py:46 `x = x + self.attention(self.norm1(x))` (and 11 more)
    [exit 1]

No sizes of anything.

    $ symtape replay --backend cpu $RECORDINGS/encoder.log.zst:0/1 --set s77=-1
    2> symtape: --set s77: a size is a whole number, not negative
    [exit 1]

    $ symtape replay --backend cpu $RECORDINGS/encoder.log.zst:0/1 --set s77=two
    2> symtape: --set s77: a size is a whole number, not negative
    [exit 1]

    $ symtape replay --backend cpu $RECORDINGS/encoder.log.zst:0/1 --set s999=2
    2> symtape: --set: no graph has a symbol s999
    [exit 2]

    $ symtape replay --backend abacus $RECORDINGS/encoder.log.zst
    2> symtape: --backend: there is no abacus; there is cpu, cuda, null
    [exit 2]

    $ symtape replay --backend null $RECORDINGS/exported.pt2 --outputs out.safetensors
    2> symtape: --backend null computes nothing to compare or write
    [exit 2]

Beyond 2^31 elements memory is counted as ever; beyond 2^63 bytes there is none.

    $ symtape replay --backend null $RECORDINGS/encoder.log.zst:0/1 --set s77=4000000000
    0/1_0:aot_inference_graph: 169 calls on null, peak 122880000152472 bytes

    $ symtape replay --backend null $RECORDINGS/encoder.log.zst:0/1 --set s77=400000000000000000
    2> symtape: 0/1_0:aot_inference_graph: node arg4_1: more than 2^63 bytes
    [exit 4]
