# symtape cudagraphs

A function of tensors, an int and a dict, whose calls are those of cache.t. It was recorded on the CPU, where PyTorch records no CUDA graphs:

    $ symtape cudagraphs --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    reduce-overhead would record 0 CUDA graphs for 12 calls (0 compiled graphs, 0 sizes)
    0/0 inference is skipped: none of its tensors is on a GPU
    0/1 inference is skipped: none of its tensors is on a GPU
    0/2 inference is skipped: none of its tensors is on a GPU
    0/3 inference is skipped: none of its tensors is on a GPU
    --on-gpu takes tensors on the CPU to be on a GPU

    Graphs; parts are what a run at one size records
    graph          parts  sizes  runs  warm-up  record  replay  eager
    0/0 inference      -      1     2        -       -       -      -
    0/1 inference      -      2     2        -       -       -      -
    0/2 inference      -      3     4        -       -       -      -
    0/3 inference      -      1     2        -       -       -      -

On a GPU each size would be warmed up and recorded:

    $ symtape cudagraphs --on-gpu --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    reduce-overhead would record 3 CUDA graphs for 12 calls (4 compiled graphs, 7 sizes)
    10 runs: 7 warm up, 3 record

    Graphs; parts are what a run at one size records
    graph          parts  sizes  runs  warm-up  record  replay  eager
    0/0 inference      1      1     2        1       1       -      -
    0/1 inference      1      2     2        2       -       -      -
    0/2 inference      1      3     4        3       1       -      -
    0/3 inference      1      1     2        1       1       -      -

    Sizes; each is recorded by itself
    graph          size         runs  warm-up  record  replay  eager
    0/1 inference  s77=6           1        1       -       -      -
    0/1 inference  s77=9           1        1       -       -      -
    0/2 inference  s16=3 s77=9     1        1       -       -      -
    0/2 inference  s16=5 s77=9     2        1       1       -      -
    0/3 inference  s16=5 s77=9     2        1       1       -      -
    0/2 inference  s16=7 s77=3     1        1       -       -      -

    Sizes padded; padding is a share of the bytes of the padded inputs
    if the program allows it, which symtape run --pad tells
    graph          padded to        sizes  in place of  padding
    0/2 inference  multiples of 8       2            3   46.4 %
    0/1 inference  multiples of 64      1            2   88.3 %
    0/2 inference  multiples of 64      1            3   88.3 %

    Runs
    call  graph          size         what runs
       0  0/0 inference               warm-up
       1  0/0 inference               record
       2  0/1 inference  s77=6        warm-up
       3  0/1 inference  s77=9        warm-up
       4  0/2 inference  s16=3 s77=9  warm-up
       5  0/2 inference  s16=5 s77=9  warm-up
       6  0/3 inference  s16=5 s77=9  warm-up
       9  0/2 inference  s16=5 s77=9  record
      10  0/3 inference  s16=5 s77=9  record
      11  0/2 inference  s16=7 s77=3  warm-up

With the setting that leaves out graphs with symbols, one graph is left:

    $ symtape cudagraphs --on-gpu --skip-dynamic -n 1 --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    reduce-overhead would record 1 CUDA graph for 12 calls (1 compiled graph, 1 size)
    2 runs: 1 warms up, 1 records
    0/1 inference is skipped: it has symbolic sizes, which the settings leave out
    2 more skipped

    Graphs; parts are what a run at one size records
    graph          parts  sizes  runs  warm-up  record  replay  eager
    0/0 inference      1      1     2        1       1       -      -
      ... and 3 more

    Runs
    call  graph          size  what runs
       0  0/0 inference        warm-up
      ... and 1 more

Sizes as they would be served. From the second call on the compile is one with a symbol:

    $ for n in 4 6 6 9 9 6 9; do echo "{\"call\": $((i++)), \"function\": \"forward\", \"module\": 0, \"args\": [{\"source\": \"L['x']\", \"size\": [$n, 16], \"stride\": [16, 1], \"dtype\": \"torch.float32\"}]}"; done >calls.jsonl

    $ symtape cudagraphs --on-gpu --calls calls.jsonl $RECORDINGS/mlp.log.zst | sed '/^Sizes padded/,$d'
    reduce-overhead would record 2 CUDA graphs for 7 calls (2 compiled graphs, 3 sizes)
    7 runs: 3 warm up, 2 record, 2 replay

    Graphs; parts are what a run at one size records
    graph          parts  sizes  runs  warm-up  record  replay  eager
    0/0 inference      1      1     1        1       -       -      -
    0/1 inference      1      2     6        2       2       2      -

    Sizes; each is recorded by itself
    graph          size   runs  warm-up  record  replay  eager
    0/1 inference  s77=6     3        1       1       1      -
    0/1 inference  s77=9     3        1       1       1      -

    $ symtape cudagraphs --on-gpu --json --calls calls.jsonl $RECORDINGS/mlp.log.zst
    {"schema":"symtape.cudagraphs/1","n_calls":7,"n_graphs":2,"n_sizes":3,"n_skipped":0,"warm_ups":3,"recordings":2,"replays":2,"eager":0,"eager_in_warm_up":0,"pool_bytes":null,"recordings_on_tape":0,"unknown_lookups":0,"unknown_sizes":0,"graph_partition":true,"skip_dynamic":false,"on_gpu":true,"graphs":[{"compile":"0/0","mode":"inference","partitions":1,"skipped":null,"node":null,"file":null,"line":null,"source":null},{"compile":"0/1","mode":"inference","partitions":1,"skipped":null,"node":null,"file":null,"line":null,"source":null}],"sizes":[{"graph":0,"symbols":[],"ints":[],"input_bytes":256,"runs":1,"warm_ups":1,"recordings":0,"replays":0,"eager":0},{"graph":1,"symbols":[{"symbol":"s77","value":6}],"ints":[6],"input_bytes":384,"runs":3,"warm_ups":1,"recordings":1,"replays":1,"eager":0},{"graph":1,"symbols":[{"symbol":"s77","value":9}],"ints":[9],"input_bytes":576,"runs":3,"warm_ups":1,"recordings":1,"replays":1,"eager":0}],"paddings":[{"graph":1,"padded_to":"multiples of 64","sizes":1,"sizes_before":2,"bytes":24576,"bytes_before":2880}],"calls":[{"call":0,"runs":[{"size":0,"partition":0,"action":"warm-up"}]},{"call":1,"runs":[{"size":1,"partition":0,"action":"warm-up"}]},{"call":2,"runs":[{"size":1,"partition":0,"action":"record"}]},{"call":3,"runs":[{"size":2,"partition":0,"action":"warm-up"}]},{"call":4,"runs":[{"size":2,"partition":0,"action":"record"}]},{"call":5,"runs":[{"size":1,"partition":0,"action":"replay"}]},{"call":6,"runs":[{"size":2,"partition":0,"action":"replay"}]}]}

A program that ran with reduce-overhead on an H200. What PyTorch did in its calls is in tests/device/results/cudagraphs.md: the same, and a
pool of 251,658,240 bytes. Two kernels were tuned, each with a buffer of 60 MiB:

    $ symtape cudagraphs $RECORDINGS/gpu/sizes.log.zst
    reduce-overhead would record 3 CUDA graphs for 9 calls (1 compiled graph, 3 sizes)
    their pool takes about 252 MB of the GPU's memory
    9 runs: 3 warm up, 3 record, 3 replay
    while this was recorded, PyTorch recorded 3 CUDA graphs

    Graphs; parts are what a run at one size records
    graph          parts  sizes  runs  warm-up  record  replay  eager
    0/0 inference      1      3     9        3       3       3      -

    Sizes; each is recorded by itself
    graph          size      runs  warm-up  record  replay  eager
    0/0 inference  s77=4096     4        1       1       2      -
    0/0 inference  s77=3000     3        1       1       1      -
    0/0 inference  s77=8192     2        1       1       -      -

    Sizes padded; padding is a share of the bytes of the padded inputs
    if the program allows it, which symtape run --pad tells
    graph          padded to    sizes  in place of  padding
    0/0 inference  powers of 2      2            3    7.3 %

    Runs
    call  graph          size      what runs
       0  0/0 inference  s77=4096  warm-up
       1  0/0 inference  s77=4096  record
       2  0/0 inference  s77=4096  replay
       3  0/0 inference  s77=3000  warm-up
       4  0/0 inference  s77=3000  record
       5  0/0 inference  s77=8192  warm-up
       6  0/0 inference  s77=8192  record
       7  0/0 inference  s77=4096  replay
       8  0/0 inference  s77=3000  replay

    $ symtape cudagraphs --json $RECORDINGS/gpu/sizes.log.zst | grep -o '"pool_bytes":[0-9]*'
    "pool_bytes":251658240

A compile that broke its graph before the first operator has nothing to record; as if that of the first function had:

    $ zstd -dcq $RECORDINGS/levels.log.zst | awk '/^V/ {skip = /"frame_id": 0, "frame_compile_id": 0, "attempt": 1/ && /_graph"/} !skip' >empty.log

    $ symtape cudagraphs -q --on-gpu empty.log | head -9
    reduce-overhead would record 8 CUDA graphs for 15 calls (18 compiled graphs, 37 sizes)
    51 runs: 40 warm up, 8 record, 3 replay
    0/0 has no operators before its graph break: demo/levels.py:9: total = x.sum().item()

    Graphs; parts are what a run at one size records
    A graph has several parts where operators stay outside of
    CUDA graphs, such as those on the CPU
    graph          parts  sizes  runs  warm-up  record  replay  eager
    1/0 inference      1      1     2        1       1       -      -

    $ symtape cudagraphs -q --json empty.log | grep -o '"skipped":"no operators","node":null,"file":"[^"]*","line":[0-9]*'
    "skipped":"no operators","node":null,"file":"/home/user/demo/levels.py","line":9

Calls are needed, and one tape:

    $ symtape cudagraphs $RECORDINGS/mlp.log.zst
    2> symtape: $RECORDINGS/mlp.log.zst has no calls: record them with symtape record --calls, or name a file with --calls FILE
    [exit 2]

    $ symtape cudagraphs
    2> symtape: cudagraphs: an argument is missing; usage: symtape cudagraphs [options] TAPE
    [exit 2]

    $ echo '{"call": 0, "function": "forward"' | symtape cudagraphs --calls - $RECORDINGS/mlp.log.zst
    2> symtape: -: line 1: offset 33: expected ',' or '}'
    [exit 3]
