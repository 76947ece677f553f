Runs that cannot be: what is wrong, where, and what to do. Sizes first.

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=-1
    2> symtape: --sizes: "-1" is no size: a whole number, MIN..MAX, MIN..MAX:STEP or MIN..MAX:xFACTOR
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=abc
    2> symtape: --sizes: "abc" is no size: a whole number, MIN..MAX, MIN..MAX:STEP or MIN..MAX:xFACTOR
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=99999999999999999999
    2> symtape: --sizes: "99999999999999999999" is no size: a whole number, MIN..MAX, MIN..MAX:STEP or MIN..MAX:xFACTOR
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=
    2> symtape: --sizes: "" is no size: a whole number, MIN..MAX, MIN..MAX:STEP or MIN..MAX:xFACTOR
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s99=4
    2> symtape: --sizes: no graph has a symbol s99; symtape show --symbols lists them
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes u9=4
    2> symtape: --sizes: no graph has a symbol u9; symtape show --symbols lists them
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=0
    1 graph on cpu: refused: s23 must be within [2, int_oo], is 0 (recorded: 4)
    2> symtape: 0/0_0:aot_forward_graph: s23 must be within [2, int_oo], is 0 (recorded: 4), at demo/train.py:17 `x = self.embedding(ids)`
    [exit 1]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes s23=0 --ignore-guards
    1 graph on cpu: ran; peak memory 6.80 kB
    0/0_0:aot_forward_graph: 13 operator calls, peak 6804 bytes
    2> symtape: 0/0_0:aot_forward_graph: s23 must be within [2, int_oo], is 0 (recorded: 4), at demo/train.py:17 `x = self.embedding(ids)`; running anyway (--ignore-guards)

More elements than 32 bits count, and more bytes than 63 do.

    $ symtape run --backend null $RECORDINGS/train.log.zst:0/0:forward --sizes s27=2200000000 | head -n 2
    1 graph on null: counted; peak memory 2.57 TB
    0/0_0:aot_forward_graph: 13 operator calls, peak 2569600006804 bytes

    $ symtape run --backend null $RECORDINGS/train.log.zst:0/0:forward --sizes s27=9223372036854775807
    1 graph on null: failed
    2> symtape: 0/0_0:aot_forward_graph: node primals_4: it needs more than 2^63 bytes
    [exit 4]

The shape replay's hints are held to the same.

    $ symtape replay $RECORDINGS/train.log.zst --sizes s23=abc
    2> symtape: s23=abc: a hint has the form SYMBOL=NUMBER
    [exit 2]

    $ symtape replay $RECORDINGS/train.log.zst --sizes s23=-1
    2> symtape: size 0 of L['ids'] would be -1: a size cannot be negative
    [exit 2]

Files of sizes.

    $ printf 's23=2\n\ns23=x\n' > sizes; symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes sizes
    2> symtape: sizes: line 3: a size is SYMBOL=NUMBER
    [exit 3]

    $ printf 's23=2\ns99=3\n' > sizes; symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes sizes
    2> symtape: sizes: no graph has a symbol s99; symtape show --symbols lists them
    [exit 2]

    $ printf '# none\n' > sizes; symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes sizes
    2> symtape: sizes: no sizes in it
    [exit 3]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes nowhere
    2> symtape: --sizes: "nowhere" is neither SYMBOL=NUMBER, as in s77=31, nor a file
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --sizes .
    2> symtape: . is a folder
    [exit 2]

Graphs that are not there.

    $ mkdir empty; symtape run empty
    2> symtape: empty: a folder without logs (*.log, *.log.zst, *.log.gz) or .pt2 files
    [exit 3]

    $ : > empty.log; symtape run empty.log
    2> symtape: empty.log: it contains no record of TORCH_TRACE; symtape record makes recordings
    [exit 3]

    $ symtape run $RECORDINGS/train.log.zst:0/0:nonsense
    2> symtape: $RECORDINGS/train.log.zst:0/0:nonsense: no graph to run (forward, backward, inference, exported, or one that is named); symtape show --graphs lists what there is
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:9/9
    2> symtape: $RECORDINGS/train.log.zst: no compile 9/9; there is 0/0_0
    [exit 2]

    $ symtape run $RECORDINGS/data_dependent.log.zst
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
    2> symtape: $RECORDINGS/data_dependent.log.zst: no graph to run (forward, backward, inference, exported, or one that is named); symtape show --graphs lists what there is
    [exit 2]

Outputs that cannot be written: nothing half-written stays.

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --outputs empty
    2> symtape: --outputs: empty is a folder
    [exit 2]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --outputs nowhere/x
    1 graph on cpu: failed; peak memory 18.5 kB
    2> symtape: 0/0_0:aot_forward_graph: nowhere/x: No such file or directory
    [exit 4]

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --outputs /dev/full
    1 graph on cpu: failed; peak memory 18.5 kB
    2> symtape: 0/0_0:aot_forward_graph: /dev/full: No space left on device
    [exit 4]

    $ (ulimit -f 1; symtape run $RECORDINGS/train.log.zst:0/0:forward --outputs small --save-nodes all); ls
    1 graph on cpu: failed; peak memory 18.5 kB
    empty
    empty.log
    sizes
    2> symtape: 0/0_0:aot_forward_graph: small: File too large

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward >/dev/full
    2> symtape: standard output: No space left on device; what was printed is incomplete
    [exit 4]

References that do not fit.

    $ printf '\072\0\0\0\0\0\0\0{"out.0":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}\0\0\0\0' > ref.safetensors

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with ref.safetensors | head -n 4
    1 graph on cpu, compared with ref.safetensors: differs; peak memory 18.5 kB
    0/0_0:aot_forward_graph: 13 operator calls, peak 18484 bytes
      out.0: another dtype or shape: f32[4, 10, 5], expected f32[1]
      out.1: not in the reference

    $ printf '\072\0\0\0\0\0\0\0{"out.0":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}}\0\0\0\0' > ref.safetensors

    $ symtape run $RECORDINGS/train.log.zst:0/0:forward --compare-with ref.safetensors | head -n 3
    1 graph on cpu, compared with ref.safetensors: differs; peak memory 18.5 kB
    0/0_0:aot_forward_graph: 13 operator calls, peak 18484 bytes
      out.0: another dtype or shape: f32[4, 10, 5], expected i32[1]
