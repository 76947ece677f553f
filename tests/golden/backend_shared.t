# runs of the large recordings

Requires: shared

An operator that nothing computes is named; to git bisect it tells nothing.

    $ symtape run $SHARED/variety/triton_kernel.log.zst --bisect-codes
    1 graph on cpu: refused
    2> symtape: 0/0_0:aot_inference_graph: node triton_kernel_wrapper_functional_proxy at /home/user/models/rec_misc.py:85 `_tk.add[(triton.cdiv(x.numel(), 256),)](x, y, o, x.numel(), BLOCK=256)`: unsupported: no kernel computes torch.ops.higher_order.triton_kernel_wrapper_functional
    [exit 125]

Jagged lengths that nobody gives are what the asserts say of them: u0 is asked for, u1 follows from Eq(u0 + u1, s59).

    $ symtape run $SHARED/traces/jagged.eval.aot_eager.log.zst:0/0_1 --sizes u0=20
    1 graph on cpu: ran; peak memory 683 kB
    0/0_1:aot_inference_graph: 30 operator calls, peak 682772 bytes

    $ symtape run --backend null $SHARED/traces/moe.eval.aot_eager.log.zst:0/1 --sizes u0=99 -n 1
    1 graph on null: refused: runtime assert u0 <= s77 does not hold: u0 = 99, s77 = 73
    2> symtape: 0/1_0:aot_inference_graph: runtime assert u0 <= s77 does not hold: u0 = 99, s77 = 73, at models/zoo.py:53 `torch._check(rows.shape[0] <= x.shape[0])`
    [exit 1]

A backward graph takes what its forward graph saves, unless its data lead to other sizes than those that are asked for.

    $ symtape run $SHARED/traces/moe.train.aot_eager.log.zst:0/1:backward --json | grep -o '"sizes":.*}' | head -c 44
    "sizes":{"u0":20,"u1":18,"u2":15,"u3":20,"s7

    $ symtape run $SHARED/traces/moe.train.aot_eager.log.zst:0/1:backward --sizes u0=4
    1 graph on cpu: ran; peak memory 90.5 kB
    0/1_0:aot_backward_graph: 32 operator calls, peak 90496 bytes
    2> symtape: 0/1_0:aot_backward_graph: 0/1_0:aot_forward_graph cannot be used (its data make u0 20, and 4 was asked for): random numbers stand for its values

    $ symtape run $SHARED/traces/jagged.train.aot_eager.log.zst:0/0 --sizes s59=90 --compare-with cpu | grep -v agree
    0/0_1:aot_forward_graph: 30 operator calls, peak 683172 bytes
    0/0_1:aot_backward_graph: 31 operator calls, peak 1981732 bytes
