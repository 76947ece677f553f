# symtape run: a compile that was cut

Requires: shared

DDPOptimizer cut the model's graph at the buckets. A part takes the outputs of earlier parts, and its backward graph the
gradients that later ones compute.

    $ symtape run $SHARED/ranks/ddp_buckets.rank0.log.zst
    10 graphs on cpu: all ran; peak memory 2.21 MB
    4/0_1:aot_forward_graph#0: 1 operator calls, peak 28720 bytes
    4/0_1:aot_backward_graph#0: 1 operator calls, peak 32816 bytes
      7 of 7 inputs are values of 4/0_1:aot_forward_graph#0, 4/0_1:aot_backward_graph#1
    4/0_1:aot_forward_graph#1: 5 operator calls, peak 1116208 bytes
      2 of 7 inputs are values of 4/0_1:aot_forward_graph#0
    4/0_1:aot_backward_graph#1: 12 operator calls, peak 2193456 bytes
      11 of 11 inputs are values of 4/0_1:aot_forward_graph#1, 4/0_1:aot_backward_graph#2
    4/0_1:aot_forward_graph#2: 5 operator calls, peak 1116208 bytes
      2 of 7 inputs are values of 4/0_1:aot_forward_graph#1
    4/0_1:aot_backward_graph#2: 12 operator calls, peak 2205744 bytes
      11 of 11 inputs are values of 4/0_1:aot_forward_graph#2, 4/0_1:aot_backward_graph#3
    4/0_1:aot_forward_graph#3: 5 operator calls, peak 1116208 bytes
      2 of 7 inputs are values of 4/0_1:aot_forward_graph#2
    4/0_1:aot_backward_graph#3: 12 operator calls, peak 2205744 bytes
      11 of 11 inputs are values of 4/0_1:aot_forward_graph#3, 4/0_1:aot_backward_graph#4
    4/0_1:aot_forward_graph#4: 9 operator calls, peak 1132584 bytes
      2 of 7 inputs are values of 4/0_1:aot_forward_graph#3
    4/0_1:aot_backward_graph#4: 20 operator calls, peak 2214408 bytes
      7 of 8 inputs are values of 4/0_1:aot_forward_graph#4

    $ symtape run $SHARED/ranks/ddp_buckets.rank0.log.zst:4/0:backward#0 --sizes s77=3 --json | grep -o '"passed_inputs[^]]*\]'
    "passed_inputs":7,"sources":["4/0_1:aot_forward_graph#0","4/0_1:aot_backward_graph#1"]

    $ symtape run $SHARED/ranks/ddp_buckets.rank0.log.zst:4/0:backward#0 --sizes s77=3 --profile --runs 1 | tail -1
      7 of 7 inputs are values of 4/0_1:aot_forward_graph#0, 4/0_1:aot_backward_graph#1

    $ symtape run $SHARED/ranks/ddp_buckets.rank0.log.zst:4/0:backward#0 --sizes s77=3 --profile --runs 1 --json | grep -o '"passed_inputs[^]]*\]'
    "passed_inputs":7,"sources":["4/0_1:aot_forward_graph#0","4/0_1:aot_backward_graph#1"]

    $ symtape run $SHARED/ranks/ddp_buckets.rank0.log.zst --sizes s77=1..64:x2 --compare-with cpu | head -3
    10 graphs at 7 sizes on cpu, compared with cpu: 60 agree, 10 refused; peak memory 3.16 MB
    4/0_1:aot_forward_graph#0: 7 sizes
      s77=1: refused: s77 must be within [2, int_oo], is 1 (recorded: 6), at ranks/ddp_buckets.py:18 `x = x + b(x)`

On the null backend there are no values.

    $ symtape run $SHARED/ranks/ddp_buckets.rank0.log.zst:4/0:forward#1 --backend null | grep -c values
    0
    [exit 1]
