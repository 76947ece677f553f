The first line of a run is the answer for all graphs and sizes; then a line for each graph. The CPU is the default backend.

    $ symtape run $RECORDINGS/train.log.zst
    2 graphs on cpu: all ran; peak memory 26.5 kB
    0/0_0:aot_forward_graph: 13 operator calls, peak 18484 bytes
    0/0_0:aot_backward_graph: 18 operator calls, peak 26484 bytes

    $ symtape run $RECORDINGS/train.log.zst --compare-with cpu --perturb tanh_backward=1e-2
    2 graphs on cpu, compared with cpu: differs (0/0_0:aot_backward_graph); peak memory 26.5 kB
    0/0_0:aot_backward_graph: 18 operator calls, peak 26484 bytes
      out.0: 460 of 800 elements differ; first 0: expected -0.484780192, got -0.454375148; max absolute 0.116, relative 34.8, 2026410608 ULPs; tolerance 0.000129 + 1.63e-06 |x| of 40 terms
      out.4: 768 of 768 elements differ; first 0: expected -0.804721892, got -0.956795752; max absolute 0.252, relative 69.8, 2070811436 ULPs; tolerance 1.7e-05 + 1.63e-06 |x| of 40 terms
      out.5: 16 of 16 elements differ; first 0: expected 0.0595398545, got 0.501555085; max absolute 0.536, relative 7.42, 2093476345 ULPs; tolerance 1.7e-05 + 1.63e-06 |x| of 40 terms
      out.6: 16 elements agree; max absolute 0, 0 ULPs; 40 terms
      out.7: 16 elements agree; max absolute 0, 0 ULPs; 40 terms
      out.8: 80 elements agree; max absolute 0, 0 ULPs
      out.9: 5 elements agree; max absolute 0, 0 ULPs
    2> symtape: 0/0_0:aot_forward_graph: --perturb: no node tanh_backward; symtape show --graph prints the nodes
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:backward --compare-with cpu --perturb tangents_1=1e-2 | head -n 3
    1 graph on cpu, compared with cpu: differs; peak memory 26.5 kB
    0/0_0:aot_backward_graph: 18 operator calls, peak 26484 bytes
      out.0: 454 of 800 elements differ; first 0: expected -0.484780192, got -0.476935655; max absolute 0.067, relative 34.4, 2008338016 ULPs; tolerance 0.000129 + 1.63e-06 |x| of 40 terms

    $ symtape run $RECORDINGS/train.log.zst --sizes s23=4,20 --compare-with cpu
    2 graphs at 2 sizes on cpu, compared with cpu: 2 agree, 2 refused; peak memory 26.5 kB
    0/0_0:aot_forward_graph: 2 sizes
      s23=20: refused: guard s23 < 16 does not hold: s23 = 20 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`
      s23=4: agrees
    0/0_0:aot_backward_graph: 2 sizes
      s23=20: refused: guard s23 < 16 does not hold: s23 = 20 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`
      s23=4: agrees
    [exit 1]

    $ symtape run $RECORDINGS/train.log.zst --sizes s23=20
    2 graphs on cpu: all refused, the first: guard s23 < 16 does not hold: s23 = 20 (recorded: 4)
    2> symtape: 0/0_0:aot_forward_graph: guard s23 < 16 does not hold: s23 = 20 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`
    2> symtape: 0/0_0:aot_backward_graph: guard s23 < 16 does not hold: s23 = 20 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`
    [exit 1]

The object has one shape: what was not asked for is empty or absent.

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --json
    {"schema":"symtape.run/1","backend":"cpu","against":null,"tf32":false,"graphs":[{"graph":"0/0_0:aot_forward_graph","recording":"train","compile":"0/0","attempt":0,"kind":"aot_forward_graph","index":0,"calls":13,"peak_bytes":18484,"error":null,"sizes":{"s23":4,"s27":10}}],"sweeps":[],"differs":false,"failures":[]}

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=20 --compare-with cpu --json
    {"schema":"symtape.run/1","backend":"cpu","against":"cpu","tf32":false,"graphs":[{"graph":"0/0_0:aot_forward_graph","recording":"train","compile":"0/0","attempt":0,"kind":"aot_forward_graph","index":0,"calls":0,"peak_bytes":0,"error":"0/0_0:aot_forward_graph: guard s23 < 16 does not hold: s23 = 20 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`","sizes":{},"differs":false,"outputs":[],"nodes":{"equal":0,"close":0,"differs":0,"follows":0,"random":0,"unwritten":0,"tied":0,"missing":0,"voids":0,"list":[]}}],"sweeps":[],"differs":false,"failures":[]}
    2> symtape: 0/0_0:aot_forward_graph: guard s23 < 16 does not hold: s23 = 20 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`
    [exit 1]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --profile --sizes s23=20 --json
    {"schema":"symtape.run/1","backend":"cpu","against":null,"tf32":false,"graphs":[{"graph":"0/0_0:aot_forward_graph","recording":"train","compile":"0/0","attempt":0,"kind":"aot_forward_graph","index":0,"calls":0,"peak_bytes":0,"error":"0/0_0:aot_forward_graph: guard s23 < 16 does not hold: s23 = 20 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`","sizes":{}}],"sweeps":[],"differs":false,"failures":[]}
    2> symtape: 0/0_0:aot_forward_graph: guard s23 < 16 does not hold: s23 = 20 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`
    [exit 1]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --backend null --json --sizes s23=3 | cut -c 1-330
    {"schema":"symtape.run/1","backend":"null","against":null,"tf32":false,"graphs":[{"graph":"0/0_0:aot_forward_graph","recording":"train","compile":"0/0","attempt":0,"kind":"aot_forward_graph","index":0,"calls":13,"peak_bytes":15564,"error":null,"sizes":{"s23":3,"s27":10},"peak":{"bytes":15564,"node":"addmm","holders":[{"node":"pr

`replay --backend` is another form of it, with all of its options, and older names of options go on working.

    $ symtape replay --backend cpu $RECORDINGS/train.log.zst
    2 graphs on cpu: all ran; peak memory 26.5 kB
    0/0_0:aot_forward_graph: 13 operator calls, peak 18484 bytes
    0/0_0:aot_backward_graph: 18 operator calls, peak 26484 bytes

    $ symtape replay --backend cpu --json $RECORDINGS/train.log.zst >a; symtape run --json $RECORDINGS/train.log.zst | cmp - a

    $ symtape replay --backend cpu $RECORDINGS/train.log.zst:0/0:forward --set s23=3,s27=11 --against cpu --nodes --perturb tanh=1 --tolerance 2 >a
    [exit 1]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=3,s27=11 --compare-with cpu --nodes --perturb tanh=1 --tolerance 2 | cmp - a

    $ symtape replay --backend null $RECORDINGS/train.log.zst:0/0:forward --set s23=20 --force -n 1
    1 graph on null: counted; peak memory 65.2 kB
    0/0_0:aot_forward_graph: 13 operator calls, peak 65204 bytes
      memory at its peak 65.2 kB, when addmm is run; held by
        bytes  share  node               operator                        user line         code
      14.4 kB   22 %  native_layer_norm  aten.native_layer_norm.default  demo/train.py:18  x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2)))...
      ... and 12 more
    2> symtape: 0/0_0:aot_forward_graph: guard s23 < 16 does not hold: s23 = 20 (recorded: 4), at demo/train.py:18 `x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))`; running anyway (--ignore-guards)

    $ symtape replay --backend cpu $RECORDINGS/train.log.zst:0/0:forward --outputs ref.safetensors --against-prefix y. -q; symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with ref.safetensors --compare-prefix y. | head -n 1
    1 graph on cpu: ran; peak memory 18.5 kB
    0/0_0:aot_forward_graph: 13 operator calls, peak 18484 bytes
    1 graph on cpu, compared with ref.safetensors: agrees; peak memory 18.5 kB

    $ symtape replay $RECORDINGS/train.log.zst --policy recorded,static | head -n 2 | tr -s ' '
    Sums over the graphs, each replayed with symbols and guards of its own
     recorded static

    $ symtape replay $RECORDINGS/layers.log.zst:0/0 --mark "L['x']:2=Dim(width)" | tail -n 2
    Suggested fixes:
      width = 32

    $ symtape replay $RECORDINGS/encoder.log.zst:0/1 --hints s27=31
    0/1_0: the program branches at demo/encoder.py:25, because Eq(Mod(s27, 8), 0) does not hold; what comes after is another program
    guards
      - 0/1_0  Eq(Mod(s27, 8), 0)
      + 0/1_0  Ne(Mod(s27, 8), 0)

    $ symtape replay $RECORDINGS/encoder.log.zst:0/1 --sizes s27=31 --guards
    1 graph of 1 attempt, 1 call: all match; 3 guards: 2 computed, 1 from the record
    kernel guards: 1 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 1 torch function, 1 dynamo, 0 backend, 0 user
    0/1_0: the program branches at demo/encoder.py:25, because Eq(Mod(s27, 8), 0) does not hold; what comes after is another program

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/1_0:dynamo_output_graph      1      1         -        -            -        -  -

    compile  asked by        outcome     guard               node        operator                        graph                      recorded in                         user line
    0/1_0    torch function  reproduced  Eq(zf14, 1.0e-5)    layer_norm  torch.nn.functional.layer_norm  0/1_0:dynamo_output_graph  functional.py:2987 layer_norm       demo/encoder.py:46
    0/1_0    kernel          reproduced  Eq(s53, 32)         layer_norm  torch.nn.functional.layer_norm  0/1_0:dynamo_output_graph  __init__.py:3469 native_layer_norm  demo/encoder.py:46
    0/1_0    dynamo          applied     Eq(Mod(s27, 8), 0)  -           -                               -                          symbolic_convert.py:962 inner       demo/encoder.py:25

    $ symtape replay $RECORDINGS/train.log.zst --set s23=5 | head -n 1
    4 graphs of 1 attempt, 89 calls (8 Dynamo, 40 joint, 41 ATen): all match; 1 guard: 1 computed, 0 from the record

Each of the two commands has options that make no sense for the other.

    $ symtape replay $RECORDINGS/train.log.zst --nodes
    2> symtape: --nodes: only with --backend
    [exit 2]

    $ symtape replay $RECORDINGS/train.log.zst --force
    2> symtape: --ignore-guards: only with --backend
    [exit 2]

    $ symtape replay $RECORDINGS/train.log.zst --sizes sizes.txt
    2> symtape: --sizes sizes.txt: a size is SYMBOL=NUMBER; files only with --backend
    [exit 2]

    $ symtape replay --backend cpu $RECORDINGS/train.log.zst --guards
    2> symtape: --guards: not with --backend
    [exit 2]

    $ symtape replay --backend cpu $RECORDINGS/train.log.zst --mark "L['ids']:0=dynamic"
    2> symtape: --dynamic-shapes: not with --backend
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst --guards
    2> symtape: run: unknown option --guards; --help lists the options
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst --compare cpu
    2> symtape: run: unknown option --compare; did you mean --compare-with?
    [exit 2]

A file of sizes and sizes together: each line with all of them.

    $ printf 's23=3\ns23=5 # and so on\n' >sizes.txt; symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes sizes.txt --sizes s27=4,8
    1 graph at 4 sizes on cpu: all ran; peak memory 18.5 kB
    0/0_0:aot_forward_graph: 4 sizes
      all sizes: runs (4 sizes)

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes ./sizes.txt --sizes s23=4
    2> symtape: ./sizes.txt: line 1: a symbol is given twice
    [exit 3]

To git bisect, a tape without a graph to run is wrong usage.

    $ symtape run $RECORDINGS/data_dependent.log.zst --bisect-codes
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
    2> symtape: $RECORDINGS/data_dependent.log.zst: no graph to run (forward, backward, inference, exported, or one that is named); symtape show --graphs lists what there is
    [exit 129]

Sources in the places of symbols:

    $ symtape run $RECORDINGS/mlp.log.zst:0/1 --sizes "x.shape[0]=5,7"
    1 graph at 2 sizes on cpu: all ran; peak memory 6.53 kB
    0/1_0:aot_inference_graph: 2 sizes
      all sizes: runs (2 sizes)

    $ symtape run $RECORDINGS/mlp.log.zst:0/1 --sizes "L['x'].size()[0]=5,s77=7"
    2> symtape: --sizes: s77 is given twice
    [exit 2]

    $ symtape run $RECORDINGS/mlp.log.zst:0/1 --sizes "y.size(0)=5"
    2> symtape: --sizes: no graph has a symbol y.size(0); symtape show --symbols lists them
    [exit 2]

A kind without an attempt means that of the last attempt; the outputs of one graph fit into a file.

    $ symtape run $RECORDINGS/encoder.log.zst:0/0:inference --backend null -q | grep -c operator.calls; symtape run $RECORDINGS/encoder.log.zst:0/0 --outputs o.safetensors
    1
    2> symtape: --outputs: 2 graphs are meant; name one of 0/0_0:aot_inference_graph, 0/0_1:aot_inference_graph
    [exit 2]
