Graphs that are run, held against another backend. The same backend is equal in each element; a drill (`--perturb`) shows
what a wrong kernel would look like: the first bad node with its user line, and what follows from it.

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with cpu --nodes --perturb convolution=1e-3
    1 graph on cpu, compared with cpu: differs; peak memory 18.5 kB
    0/0_0:aot_forward_graph: 13 operator calls, peak 18484 bytes
      out.0: 194 of 200 elements differ; first 1: expected -0.555395782, got -0.555535614; max absolute 0.000865, relative 0.154, 1924827 ULPs; tolerance 7.95e-06 + 1.3e-06 |x|
      out.1: 40 elements agree; max absolute 0, 0 ULPs
      out.2: 768 elements agree; max absolute 0, 0 ULPs
      out.3: 16 elements agree; max absolute 0, 0 ULPs
      out.4: 16 elements agree; max absolute 0, 0 ULPs
      out.5: 80 elements agree; max absolute 0, 0 ULPs
      out.6: 640 elements agree; max absolute 0, 0 ULPs
      out.7: 640 of 640 elements differ; first 0: expected -0.0149555802, got -0.0143601894; max absolute 0.0012, relative 1.64, 12311040 ULPs; tolerance 1e-05 + 1.84e-06 |x|
      out.8: 40 of 40 elements differ; first 0: expected 0.24157922, got 0.242525533; max absolute 0.00111, relative 0.314, 3363192 ULPs; tolerance 7.39e-06 + 2.13e-06 |x| of 16 terms
      out.9: 36 of 40 elements differ; first 0: expected 0.823493421, got 0.823514998; max absolute 0.000213, relative 0.000191, 2298 ULPs; tolerance 9.36e-06 + 2.13e-06 |x| of 16 terms
      out.10: 619 of 640 elements differ; first 0: expected -0.150584623, got -0.150898293; max absolute 0.000883, relative 0.234, 3077188 ULPs; tolerance 1e-05 + 1.88e-06 |x|
      out.11: 640 of 640 elements differ; first 0: expected -0.861000657, got -0.860405266; max absolute 0.0012, relative 5.05, 21851761 ULPs; tolerance 6.98e-06 + 1.81e-06 |x|
      nodes: 11 equal, 1 differ, 11 differ because of these
      first bad node: convolution (torch.ops.aten.convolution.default) at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`, whose inputs are equal: 640 of 640 elements differ; first 0: expected -1.2972002, got -1.29490304; max absolute 0.00454, relative 5.05, 21851766 ULPs; tolerance 9.92e-06 + 1.77e-06 |x| of 48 terms
    [exit 1]

Integers are exact, and an output alone tells no node.

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with cpu --perturb primals_4=1 | grep -v agree
    1 graph on cpu, compared with cpu: differs; peak memory 18.5 kB
    0/0_0:aot_forward_graph: 13 operator calls, peak 18484 bytes
      out.0: 200 of 200 elements differ; first 0: expected 0.68799156, got 0.428267688; max absolute 3.47, relative 945, 2142521407 ULPs; tolerance 7.95e-06 + 1.3e-06 |x|
      out.1: 40 of 40 elements differ; first 0: expected 32, got 33; max absolute 1, relative 0.5, 0 ULPs; tolerance 0 + 0 |x|
      out.6: 640 of 640 elements differ; first 0: expected 0.846045077, got 0.0303933471; max absolute 3.94, relative 148, 2145198964 ULPs; tolerance 9.96e-06 + 1.3e-06 |x|
      out.7: 640 of 640 elements differ; first 0: expected -0.0149555802, got -0.446548104; max absolute 5.12, relative 2.03e+03, 2152187529 ULPs; tolerance 1e-05 + 1.84e-06 |x|
      out.8: 40 of 40 elements differ; first 0: expected 0.24157922, got -0.171688914; max absolute 1.18, relative 39.3, 2115691614 ULPs; tolerance 7.4e-06 + 2.13e-06 |x| of 16 terms
      out.9: 40 of 40 elements differ; first 0: expected 0.823493421, got 0.79203707; max absolute 0.504, relative 0.544, 6133889 ULPs; tolerance 9.36e-06 + 2.13e-06 |x| of 16 terms
      out.10: 640 of 640 elements differ; first 0: expected -0.150584623, got -0.157447323; max absolute 3.9, relative 517, 2146103531 ULPs; tolerance 1e-05 + 1.88e-06 |x|
      out.11: 640 of 640 elements differ; first 0: expected -0.861000657, got -0.476941466; max absolute 1.94, relative 2.51e+03, 2129684054 ULPs; tolerance 6.98e-06 + 1.81e-06 |x|

A tolerance that was widened lets it pass.

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with cpu --nodes --perturb convolution=1e-3 --tolerance 1e4 | tail -n 1
      nodes: 11 equal, 12 within the tolerance

The reference on disk: every node, of larger ones samples and a hash; compared later, here with other inputs, and by itself.

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --outputs ref.safetensors --save-nodes all --samples 100
    1 graph on cpu: ran; peak memory 18.5 kB
    0/0_0:aot_forward_graph: 13 operator calls, peak 18484 bytes

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with ref.safetensors --nodes | tail -n 1
      nodes: 23 equal

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with ref.safetensors --nodes --perturb tanh=1e-9 | tail -n 2
      out.11: 640 elements agree; max absolute 1.86e-09, 69 ULPs
      nodes: 19 equal, 4 within the tolerance

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with ref.safetensors --nodes --seed 3 | tail -n 1
      other inputs: primals_10: 5 of 5 elements differ; first 0: expected 0.160064578, got -0.123338848; max absolute 0.31, relative 57.2, 2082504972 ULPs; tolerance 1.22e-06 + 1.3e-06 |x|

    $ head -c 300 ref.safetensors > cut.safetensors

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with cut.safetensors --nodes
    2> symtape: cut.safetensors: not a safetensors file: its header has 4488 bytes
    [exit 3]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --outputs one.safetensors --save-nodes tanh,add_24
    1 graph on cpu: ran; peak memory 18.5 kB
    0/0_0:aot_forward_graph: 13 operator calls, peak 18484 bytes

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with one.safetensors --nodes | tail -n 1
      nodes: 2 equal, 21 not in the reference

Many sizes: what came of them, as regions.

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=1..20,s27=2,4,8..16:x2 --compare-with cpu
    1 graph at 80 sizes on cpu, compared with cpu: 56 agree, 24 refused; peak memory 76.9 kB
    0/0_0:aot_forward_graph: 80 sizes
      s23=1: refused: s23 must be within [2, int_oo], is 1 (recorded: 4), at demo/train.py:17 `x = self.embedding(ids)` (4 sizes)
      s23 in 16..20: refused: guard s23 < 16 does not hold: s23 = 16 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))` (20 sizes)
      s23 in 2..15: agrees (56 sizes)
    [exit 1]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=2..3 --compare-with cpu --perturb tanh=1
    1 graph at 2 sizes on cpu, compared with cpu: all differ; peak memory 15.6 kB
    0/0_0:aot_forward_graph: 2 sizes
      all sizes: differs: out.0 (2 sizes)
    [exit 1]

    $ printf 's23=2 s27=4\n# batch, length\ns23=19\n' > sizes.txt

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes sizes.txt
    1 graph at 2 sizes on cpu: 1 ran, 1 refused; peak memory 9.14 kB
    0/0_0:aot_forward_graph: 2 sizes
      s23=19: refused: guard s23 < 16 does not hold: s23 = 19 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`
      s23=2, s27=4: runs
    [exit 1]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=3..5 --json
    {"schema":"symtape.run/1","backend":"cpu","against":null,"tf32":false,"graphs":[],"sweeps":[{"graph":"0/0_0:aot_forward_graph","recording":"train","compile":"0/0","attempt":0,"kind":"aot_forward_graph","index":0,"runs":3,"n_regions":1,"regions":[{"sizes":[{"symbol":"s23","min":3,"max":5}],"runs":3,"outcome":"agrees","text":""}]}],"differs":false,"failures":[]}

What cannot be.

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=3..1
    2> symtape: --sizes: 3..1 is an empty range
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=1..9223372036854775807
    2> symtape: --sizes: more than 1048576 sizes; a step makes them fewer, as in 1..100000:64 or 1..100000:x2
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=1,s23=2
    2> symtape: --sizes: s23 is given twice
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=2..3 --outputs x.safetensors
    2> symtape: --outputs: one file, and 2 sizes; name one
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --save-nodes tanh
    2> symtape: --save-nodes goes with --outputs FILE, where it is written
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --perturb nobody=1 --sizes s23=2..3
    2> symtape: --perturb: no node nobody; symtape show --graph prints the nodes
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --save-nodes nobody --outputs x.safetensors
    2> symtape: 0/0_0:aot_forward_graph: --save-nodes: no node nobody; symtape show --graph prints the nodes
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with cpu --perturb tanh
    2> symtape: --perturb: NODE=EPS, as in mul_7=1e-3
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --nodes
    2> symtape: --nodes: only with --compare-with, which names what to compare them with
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with null
    2> symtape: backend null computes no values that could be compared
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with nowhere.safetensors
    2> symtape: --compare-with nowhere.safetensors: there is no such file or backend; the backends are cpu, cuda and null
    [exit 4]

    $ printf 's23=2 s23=4\n' > twice.txt

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes twice.txt
    2> symtape: twice.txt: line 1: a symbol is given twice
    [exit 3]
