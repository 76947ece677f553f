# symtape run: ranks of one job

Several recordings are ranks, which meet in their collectives. Rank 1 leaves one out.

    $ symtape run --ranks 2 $RECORDINGS/ranks_missing
    the ranks diverge: missing, rank 1, collective 2 of process group "0"
      rank 0: all_reduce "max" of f32[] in @rank0:1/0_0:aot_inference_graph, node all_reduce at demo/ranks_missing.py:20
      rank 1: ran all its graphs
    2 ranks, 4 graphs on cpu: 3 ran, 1 refused; peak memory 192 B
    rank 0, @rank0:0/0_0:aot_inference_graph: 4 operator calls, peak 192 bytes
    rank 1, @rank1:0/0_0:aot_inference_graph: 4 operator calls, peak 192 bytes
    rank 1, @rank1:1/0_0:aot_inference_graph: 3 operator calls, peak 68 bytes
    [exit 1]

    $ symtape run $RECORDINGS/ranks_missing/* --json | grep -o '"ranks": *[0-9]*\|"kind": *"missing"\|"rank": *[0-9]*' | sort | uniq -c
          1 "kind":"missing"
          2 "rank":0
          3 "rank":1
          1 "ranks":2

Without `--ranks`, each of the two recordings runs by itself, which is said.

    $ symtape run $RECORDINGS/ranks_missing | head -1
    4 graphs on cpu: all ran; peak memory 192 B
    2> symtape: these are 2 ranks, and each runs by itself; --ranks 2 runs them as one job, which meets in its collectives

The number of the collective does not depend on how often a graph is run.

    $ symtape run $RECORDINGS/ranks_missing/* --compare-with cpu | head -1
    the ranks diverge: missing, rank 1, collective 2 of process group "0"

One recording is run as many ranks. It was made with 8.

    $ symtape run --ranks 8 $RECORDINGS/collectives/eight.log.zst --sizes s77=3,s27=5 --compare-with cpu | grep -v "agree; max" | head -4
    8 ranks, 24 graphs on cpu, compared with cpu: all agree; peak memory 2.52 kB
    rank 0, 0/0_0:aot_inference_graph: 13 operator calls, peak 1260 bytes
    rank 0, 0/0.1_0:aot_inference_graph: 13 operator calls, peak 630 bytes
    rank 0, 0/0.2_0:aot_inference_graph: 13 operator calls, peak 2520 bytes

    $ symtape run --ranks 2 $RECORDINGS/collectives/eight.log.zst:0/0
    2 ranks, 2 graphs on cpu: all refused
    2> symtape: rank 0: 0/0_0:aot_inference_graph: node all_gather_into_tensor at /home/user/venv/torch/distributed/_functional_collectives.py:209 `tensor = torch.ops._c10d_functional.all_gather_into_tensor(`: _c10d_functional.all_gather_into_tensor.default: process group "0" had 8 ranks when this was recorded, and 2 run
    [exit 1]

Graphs without collectives run one after the other.

    $ symtape run --ranks 2 $RECORDINGS/two_ranks/*rank_0* | head -1
    2 ranks, 2 graphs on cpu: all ran; peak memory 144 B

Batched messages: each rank sends what the other one receives, whichever it lists first. Tags must match.

    $ symtape run $RECORDINGS/batch_p2p/* --compare-with cpu
    2 ranks, 2 graphs on cpu, compared with cpu: all agree; peak memory 720 B
    rank 0, 0/0_0:aot_inference_graph: 5 operator calls, peak 720 bytes
      out.0: 60 elements agree; max absolute 0, 0 ULPs
    rank 1, 0/0_0:aot_inference_graph: 5 operator calls, peak 720 bytes
      out.0: 60 elements agree; max absolute 0, 0 ULPs

    $ zstd -dcq $RECORDINGS/batch_p2p/rank_1* | sed 's/\[3, 3\]/[3, 4]/' > tags.log; symtape run -q $RECORDINGS/batch_p2p/rank_0* tags.log | head -3
    the ranks diverge: missing, rank 1, message
      rank 0: irecv from rank 1, tag 3 in 0/0_0:aot_inference_graph, node batch_p2p_ops at demo/batch_p2p.py:18
      rank 1: ran all its graphs

A batch that only receives waits for its messages, and one that names another operator is refused.

    $ zstd -dcq $RECORDINGS/batch_p2p/rank_0* | sed "s/\['irecv', 'isend'\], \[1, 1\], \[3, 3\], \[zeros_like, mul\]/['irecv'], [1], [3], [zeros_like]/" > receives.log; zstd -dcq $RECORDINGS/batch_p2p/rank_1* | sed "s/\['irecv', 'isend'\], \[0, 0\], \[3, 3\], \[zeros_like, mul\]/['isend'], [0], [3], [mul]/; s/wait_tensor.default(getitem)/wait_tensor.default(arg2_1)/" > sends.log; symtape run -q receives.log sends.log | head -1; sed "s/\[0\], \[3\]/[0], [4]/" sends.log > other.log; symtape run -q receives.log other.log | head -2
    2 ranks, 2 graphs on cpu: all ran; peak memory 720 B
    the ranks diverge: missing, rank 1, message
      rank 0: irecv from rank 1, tag 3 in 0/0_0:aot_inference_graph, node batch_p2p_ops at demo/batch_p2p.py:18

    $ sed "s/\['irecv'\]/['recv']/" receives.log > recv.log; symtape run -q recv.log sends.log 2>&1 | grep -o 'message 0: .*'
    message 0: there is no operator "recv"

    $ symtape run $RECORDINGS/batch_p2p/rank_0*
    1 graph on cpu: ran; peak memory 720 B
    0/0_0:aot_inference_graph: 5 operator calls, peak 720 bytes

    $ symtape ranks $RECORDINGS/batch_p2p/* | head -2
    no rank differs: 2 ranks, 1 compile

Ranks are numbered from 0, though the job had others.

    $ zstd -dcq $RECORDINGS/ranks_missing/*rank_1* | sed 's/"rank": 1/"rank": 3/' > three.log; symtape run three.log $RECORDINGS/ranks_missing/*rank_0* | head -3
    the ranks diverge: missing, rank 1, collective 2 of process group "0"
      rank 0: all_reduce "max" of f32[] in 1/0_0:aot_inference_graph, node all_reduce at demo/ranks_missing.py:20
      rank 1: ran all its graphs
    2> symtape: ranks 0 to 1 are the recorded ranks 0, 3

Split sizes that are negative, too large or do not add up.

    $ zstd -dcq $RECORDINGS/collectives/two.log.zst | sed 's/(wait_tensor_2, \[arg0_1, arg0_1\], \[arg0_1, arg0_1\]/(wait_tensor_2, [arg0_1, arg0_1], [-1, 13]/' > negative.log; symtape run -q --ranks 2 negative.log:0/0 2>&1 | sed 's/.*all_to_all_single.default/.../'
    ...: input_split_sizes: -1 rows for rank 0, of the 12 that are left
    2 ranks, 2 graphs on cpu: all refused

    $ sed 's/\[-1, 13\]/[4611686018427387904, 4611686018427387904]/' negative.log > large.log; symtape run -q --ranks 2 large.log:0/0 2>&1 | sed 's/.*all_to_all_single.default/.../'
    ...: input_split_sizes: 4611686018427387904 rows for rank 0, of the 12 that are left
    2 ranks, 2 graphs on cpu: all refused

    $ sed 's/\[-1, 13\]/[5, 6]/' negative.log > fewer.log; symtape run -q --ranks 2 fewer.log:0/0 2>&1 | sed 's/.*all_to_all_single.default/.../'
    ...: input_split_sizes: 11 rows for 2 ranks, and there are 12
    2 ranks, 2 graphs on cpu: all refused

A result of another dtype than the input.

    $ zstd -dcq $RECORDINGS/collectives/two.log.zst | sed "/all_gather_into_tensor: \"f32.*default(/{s/_tensor.default(arg2_1, 2, '0')/_tensor_out.default(arg2_1, 2, '0', out = narrow)/; s/^\(.*\)all_gather_into_tensor: /\1narrow: \"bf16[8, 3][3, 1]cpu\" = torch.ops.aten.zeros.default([8, 3], dtype = torch.bfloat16)\n&/}" > narrow.log; symtape run -q --ranks 2 narrow.log:0/0 --sizes s77=4,s27=3 2>&1 | sed 's/.*all_gather_into_tensor_out.default/.../'
    ...: an input of f32, and a result of bf16
    2 ranks, 2 graphs on cpu: all refused

A compile that failed is told, whichever rank it is of.

    $ symtape run $RECORDINGS/mlp.log.zst $RECORDINGS/sequence.log.zst --json 2>&1 | grep -o '"failures".*'
    "failures":[{"recording":"sequence","compile":"0/4","attempt":0,"type":"Unsupported","summary":"Dynamo recompile limit exceeded","file":"","line":0}]}

What ranks exclude, and numbers that make no sense.

    $ symtape run --ranks 0 $RECORDINGS/train.log.zst
    2> symtape: --ranks: 1 to 64
    [exit 2]

    $ symtape run --ranks 65 $RECORDINGS/train.log.zst
    2> symtape: --ranks: 1 to 64
    [exit 2]

    $ symtape run --ranks 3 $RECORDINGS/ranks_missing/*
    2> symtape: --ranks 3: there are 2 recordings, each of which is a rank; name one with @RECORDING to run it several times
    [exit 2]

    $ symtape run --ranks 2 --pad auto $RECORDINGS/train.log.zst
    2> symtape: --pad: not with several ranks
    [exit 2]

    $ symtape run --ranks 2 --backend null $RECORDINGS/train.log.zst
    2> symtape: backend null computes nothing that ranks could exchange
    [exit 2]

    $ symtape run --ranks 2 --sizes s23=3..5 $RECORDINGS/train.log.zst
    2> symtape: --sizes: several ranks run at one point of the sizes, not 3
    [exit 2]

    $ symtape run --ranks 2 --compare-with nowhere.safetensors $RECORDINGS/train.log.zst
    2> symtape: --compare-with nowhere.safetensors: several ranks are compared with a backend only
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst nowhere.log
    2> symtape: nowhere.log: No such file or directory
    [exit 4]

The name of a process group is a text of the log, and stays in its line.

    $ for r in 0 1; do zstd -dcq $RECORDINGS/ranks_missing/*rank_${r}_*.zst | sed "s/'max', '0')/'max', 'x\\\\nrank 7: y')/; s/'sum', '0')/'sum', 'x\\\\nrank 7: y')/" > $r.log; done; symtape run 0.log 1.log 2>/dev/null | head -2
    the ranks diverge: missing, rank 1, collective 2 of process group "x rank 7: y"
      rank 0: all_reduce "max" of f32[] in 1/0_0:aot_inference_graph, node all_reduce at demo/ranks_missing.py:20
