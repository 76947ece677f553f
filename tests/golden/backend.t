Graphs run for real, at sizes that the recording allows and at others. Those that nobody sets take their recorded values.

    $ symtape run $RECORDINGS/encoder.log.zst:0/1 --sizes s27=32
    1 graph on cpu: ran; peak memory 275 kB
    0/1_0:aot_inference_graph: 169 operator calls, peak 275352 bytes

    $ symtape run --backend null $RECORDINGS/encoder.log.zst:0/1 --sizes s27=32
    1 graph on null: counted; peak memory 275 kB
    0/1_0:aot_inference_graph: 169 operator calls, peak 275352 bytes
      memory at its peak 275 kB, when gelu is run; held by
        bytes  share  node     operator            user line           code
      49.2 kB   18 %  addmm_2  aten.addmm.default  demo/encoder.py:47  return x + self.mlp(self.norm2(x))
      49.2 kB   18 %  gelu     aten.gelu.default   demo/encoder.py:47  return x + self.mlp(self.norm2(x))
      16.4 kB    6 %  arg12_1  input               -                   -
      16.4 kB    6 %  arg14_1  input               -                   -
      16.4 kB    6 %  arg25_1  input               -                   -
      16.4 kB    6 %  arg27_1  input               -                   -
      16.4 kB    6 %  arg38_1  input               -                   -
      16.4 kB    6 %  arg40_1  input               -                   -
      12.3 kB    4 %  arg4_1   input               -                   -
      12.3 kB    4 %  arg5_1   input               -                   -
      ... and 33 more

A guard that does not hold refuses the run; --ignore-guards runs anyway, and says so.

    $ symtape run $RECORDINGS/encoder.log.zst:0/1 --sizes s27=31
    1 graph on cpu: refused: guard Eq(Mod(s27, 8), 0) does not hold: s27 = 31 (recorded: 24)
    2> symtape: 0/1_0:aot_inference_graph: guard Eq(Mod(s27, 8), 0) does not hold: s27 = 31 (recorded: 24), at demo/encoder.py:25 `if length % WINDOW:` (and 3 more)
    [exit 1]

    $ symtape run $RECORDINGS/encoder.log.zst:0/1 --sizes s53=16
    1 graph on cpu: refused: s53 became a number, Eq(s53, 32): s53 = 16 (recorded: 32)
    2> symtape: 0/1_0:aot_inference_graph: s53 became a number, Eq(s53, 32): s53 = 16 (recorded: 32), at demo/encoder.py:46 `x = x + self.attention(self.norm1(x))` (and 1 more)
    [exit 1]

    $ symtape run --backend null $RECORDINGS/encoder.log.zst:0/1 --sizes s77=1 --ignore-guards
    1 graph on null: counted; peak memory 183 kB
    0/1_0:aot_inference_graph: 169 operator calls, peak 183192 bytes
      memory at its peak 183 kB, when gelu is run; held by
        bytes  share  node     operator            user line           code
      16.4 kB    9 %  arg12_1  input               -                   -
      16.4 kB    9 %  arg14_1  input               -                   -
      16.4 kB    9 %  arg25_1  input               -                   -
      16.4 kB    9 %  arg27_1  input               -                   -
      16.4 kB    9 %  arg38_1  input               -                   -
      16.4 kB    9 %  arg40_1  input               -                   -
      12.3 kB    7 %  arg5_1   input               -                   -
      12.3 kB    7 %  arg18_1  input               -                   -
      12.3 kB    7 %  arg31_1  input               -                   -
      12.3 kB    7 %  addmm_2  aten.addmm.default  demo/encoder.py:47  return x + self.mlp(self.norm2(x))
      ... and 33 more
    2> symtape: 0/1_0:aot_inference_graph: s77 must be within [2, int_oo], is 1 (recorded: 3), at demo/encoder.py:46 `x = x + self.attention(self.norm1(x))`; running anyway (--ignore-guards)
    2> symtape: 0/1_0:aot_inference_graph: guard 32*((s27//8))*((s27//((s27//8)))) < 32*s77*((s27//8))*((s27//((s27//8)))) does not hold: s27 = 24, s77 = 1 (recorded: 3); running anyway (--ignore-guards)

    $ symtape run $RECORDINGS/encoder.log.zst:0/1 --sizes s77=0
    1 graph on cpu: refused: s77 must be within [2, int_oo], is 0 (recorded: 3)
    2> symtape: 0/1_0:aot_inference_graph: s77 must be within [2, int_oo], is 0 (recorded: 3), at demo/encoder.py:46 `x = x + self.attention(self.norm1(x))` (and 11 more)
    [exit 1]

No sizes of anything.

    $ symtape run $RECORDINGS/encoder.log.zst:0/1 --sizes s77=-1
    2> symtape: --sizes: "-1" is no size: a whole number, MIN..MAX, MIN..MAX:STEP or MIN..MAX:xFACTOR
    [exit 2]

    $ symtape run $RECORDINGS/encoder.log.zst:0/1 --sizes s77=two
    2> symtape: --sizes: "two" is no size: a whole number, MIN..MAX, MIN..MAX:STEP or MIN..MAX:xFACTOR
    [exit 2]

    $ symtape run $RECORDINGS/encoder.log.zst:0/1 --sizes s999=2
    2> symtape: --sizes: no graph has a symbol s999; symtape show --symbols lists them
    [exit 2]

    $ symtape run --backend abacus $RECORDINGS/encoder.log.zst
    2> symtape: run: --backend: "abacus" is not one of cpu|cuda|null
    [exit 2]

    $ symtape run --backend null $RECORDINGS/exported.pt2 --outputs out.safetensors
    2> symtape: --backend null computes nothing to compare or write
    [exit 2]

Beyond 2^31 elements memory is counted as ever; beyond 2^63 bytes there is none.

    $ symtape run --backend null $RECORDINGS/encoder.log.zst:0/1 --sizes s77=4000000000
    1 graph on null: counted; peak memory 123 TB
    0/1_0:aot_inference_graph: 169 operator calls, peak 122880000152472 bytes
      memory at its peak 123 TB, when gelu is run; held by
        bytes  share  node     operator            user line           code
      49.2 TB   40 %  addmm_2  aten.addmm.default  demo/encoder.py:47  return x + self.mlp(self.norm2(x))
      49.2 TB   40 %  gelu     aten.gelu.default   demo/encoder.py:47  return x + self.mlp(self.norm2(x))
      12.3 TB   10 %  arg4_1   input               -                   -
      12.3 TB   10 %  add_211  aten.add.Tensor     demo/encoder.py:46  x = x + self.attention(self.norm1(x))
      16.4 kB   <1 %  arg12_1  input               -                   -
      16.4 kB   <1 %  arg14_1  input               -                   -
      16.4 kB   <1 %  arg25_1  input               -                   -
      16.4 kB   <1 %  arg27_1  input               -                   -
      16.4 kB   <1 %  arg38_1  input               -                   -
      16.4 kB   <1 %  arg40_1  input               -                   -
      ... and 33 more

    $ symtape run --backend null $RECORDINGS/encoder.log.zst:0/1 --sizes s77=400000000000000000
    1 graph on null: failed
    2> symtape: 0/1_0:aot_inference_graph: node arg4_1: it needs more than 2^63 bytes
    [exit 4]

Where time goes, of which only what does not depend on the machine can be shown here; the fields of --json are told in the page.

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --profile --runs 2 -n 3 | sed -n '2p;/memory at/,$p'
    0/0_0:aot_forward_graph: 13 operator calls, 6 launches on cpu at s23 = 4, s27 = 10
      memory at its peak 18.5 kB, when addmm is run; held by
        bytes  share  node               operator                        user line         code
      3.20 kB   17 %  primals_1          input                           -                 -
      3.07 kB   17 %  primals_5          input                           -                 -
      2.88 kB   16 %  native_layer_norm  aten.native_layer_norm.default  demo/train.py:18  x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2)))...
      ... and 10 more

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --profile --json | tr ',' '\n' | grep -c isolated_us
    6

    $ symtape run --backend null $RECORDINGS/train.log.zst:0/0:forward --profile
    2> symtape: --profile: backend null takes no time
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --profile --outputs x
    2> symtape: --profile only measures times: not with --compare-with, --outputs, --save-nodes or --perturb
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --runs 3
    2> symtape: --runs: only with --profile or --pad
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --profile --runs 1 --sizes s23=2..4 --json | grep -o '"sizes":{[^}]*},"runs":1'
    "sizes":{"s23":2,"s27":10},"runs":1
    "sizes":{"s23":3,"s27":10},"runs":1
    "sizes":{"s23":4,"s27":10},"runs":1

What went in beside what came out:

    $ symtape run $RECORDINGS/mlp.log.zst:0/1_0:inference --outputs mlp.safetensors --save-nodes inputs
    1 graph on cpu: ran; peak memory 6.21 kB
    0/1_0:aot_inference_graph: 6 operator calls, peak 6208 bytes

    $ grep -ao '"[a-z0-9_.]*":{"dtype":"[A-Z0-9]*","shape":[^"]*' mlp.safetensors; rm mlp.safetensors
    "arg0_1":{"dtype":"F32","shape":[32,16],
    "arg1_1":{"dtype":"F32","shape":[32],
    "arg3_1":{"dtype":"F32","shape":[6,16],
    "arg4_1":{"dtype":"F32","shape":[16,32],
    "arg5_1":{"dtype":"F32","shape":[16],
    "out.0":{"dtype":"F32","shape":[6,16],

More memory than there is: told before it is tried.

    $ symtape run $RECORDINGS/encoder.log.zst:0/1 --sizes s77=4000000000
    1 graph on cpu: failed
    2> symtape: 0/1_0:aot_inference_graph: 122880000152472 bytes of memory are needed, and {*} are available on cpu; node arg4_1 is the first that needs more
    [exit 4]

Inputs that are not what the graph takes.

    $ symtape run $RECORDINGS/exported.pt2 --inputs nowhere.safetensors
    2> symtape: nowhere.safetensors: No such file or directory
    [exit 4]

    $ printf '\071\0\0\0\0\0\0\0{"in.0":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}\0\0\0\0\0\0\0\0' > i64.safetensors

    $ symtape run $RECORDINGS/exported.pt2 --inputs i64.safetensors
    1 graph on cpu: failed
    2> symtape: ::exported/models/model.json: i64.safetensors: in.0 is i64, and input L['x'] is f32
    [exit 3]

    $ printf '\071\0\0\0\0\0\0\0{"in.0":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}\0\0\0\0\0\0\0\0' > flat.safetensors

    $ symtape run $RECORDINGS/exported.pt2 --inputs flat.safetensors
    1 graph on cpu: failed
    2> symtape: ::exported/models/model.json: flat.safetensors: in.0 has 1 dimensions, and input L['x'] has 2
    [exit 3]

    $ printf '\073\0\0\0\0\0\0\0{"in.0":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}\0\0\0\0\0\0\0\0' > narrow.safetensors

    $ symtape run $RECORDINGS/exported.pt2 --inputs narrow.safetensors
    1 graph on cpu: refused
    2> symtape: ::exported/models/model.json: input x: dimension 1 is 2, and it was recorded as the constant 4
    [exit 1]

    $ printf '\071\0\0\0\0\0\0\0{"in.9":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}\0\0\0\0\0\0\0\0' > extra.safetensors

    $ symtape run $RECORDINGS/exported.pt2 --inputs extra.safetensors
    1 graph on cpu: failed
    2> symtape: ::exported/models/model.json: extra.safetensors: in.9: the graph takes 3 inputs
    [exit 3]

    $ symtape run $RECORDINGS/exported.pt2 --inputs flat.safetensors --input-prefix other.
    1 graph on cpu: failed
    2> symtape: ::exported/models/model.json: flat.safetensors: no other.0, for input L['x']
    [exit 3]

Weights that are not at hand any more.

    $ cp $RECORDINGS/exported.pt2 e.pt2; symtape import -q -o e.tape e.pt2; rm e.pt2; symtape run e.tape
    1 graph on cpu: ran; peak memory 484 B
    ::exported/models/model.json: 11 operator calls, peak 484 bytes
    2> symtape: ::exported/models/model.json: 4 weights are not at hand: random numbers stand for them
