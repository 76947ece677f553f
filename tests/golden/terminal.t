# Terminals

Requires: script

On a terminal, output is made to fit its width: columns that hold nothing are left out, then the less
telling ones, and long cells are cut, paths at their beginning.

    $ echo 'script -qec "stty cols $1; COLUMNS= $2" /dev/null < /dev/null | tr -d "\r"' > tty

    $ sh tty 80 "symtape profile -n 3 $RECORDINGS/encoder.log.zst" | head -36
    > sh tty 80 "symtape profile -n 3 $RECORDINGS/encoder.log.zst" | grep -A 16 '^User lines'
    10.7 s of compiling: 2 compiles, 3 attempts, 6 graphs, 192 guards; 858 records
      * 4.42 s of 10.7 s went into attempt 0 of 0/0 (forward, demo/encoder.py:55),
        which was thrown away because a float was specialized
        (TensorifyScalarRestartAnalysis)
      * an estimated 1.57 s (15 %) went into one user line, demo/encoder.py:31
        `weights = (q @ k.transpose(-1, -2) / self.temperature).softmax(-1)`
      * 1 recompile took 2.55 s of 10.7 s; this guard of 0/0 failed: (x.size()[1] %
        8) != 0, used at demo/encoder.py:25
      * by part: 48 % Dynamo (tracing Python), 47 % AOTAutograd (tracing ATen
        graphs)
      * 192 guards, 115 of them in attempts that were kept; 27 % come from
        demo/encoder.py:29 `t.unflatten(-1, (HEADS, -1)).transpose(2, 3) for t in
        self.qkv(wind...`
      * 187 calls that Dynamo captured became 423 ATen calls (2.3 times as many)

    Compiles, slowest first
        time  thrown away  attempts  guards  status  compile  function
      8.14 s       4.42 s         2     154  ok      0/0      forward demo/encode...
      2.55 s            -         1      38  ok      0/1      forward demo/encode...

    Restarts (attempts that were thrown away)
      thrown away  compile  attempt  graphs  symbols  guards  reason
           4.42 s  0/0            0       2       12      77  a float was special...

    Phases (inclusive: with what runs inside; exclusive: itself)
      inclusive  share  exclusive  calls  phase
         10.7 s  100 %    4.43 ms      2  dynamo: one compile, from start to end
         10.7 s  100 %    35.6 ms      2  | entire_frame_compile: one compile of ...
         6.88 s   64 %     134 ms      2  | | compile_attempt_0: one attempt; a r...
         3.50 s   33 %     3.50 s      2  | | | bytecode_tracing: Dynamo runs the...
         3.23 s   30 %    63.2 ms      2  | | | backend_compile: the graph goes t...
         3.16 s   30 %     2.21 s      2  | | | | create_aot_dispatcher_function:...
         951 ms    9 %     951 ms      2  | | | | | aot_collect_metadata: a first...
         3.30 s   31 %     108 ms      1  | | compile_attempt_1: one attempt; a r...
         1.82 s   17 %    7.34 ms      1  | | | backend_compile: the graph goes t...
         1.81 s   17 %     1.33 s      1  | | | | create_aot_dispatcher_function:...
    User lines (time is estimated from gaps between records)
      est. time  guards  ATen nodes  line                code
         1.57 s      42          79  demo/encoder.py:31  weights = (q @ k.transpo...
         736 ms      10         105  demo/encoder.py:32  y = self.out((weights @ ...
         581 ms      52         100  demo/encoder.py:29  t.unflatten(-1, (HEADS, ...
      ... and 8 more
      The estimate covers 4.79 s; 5.89 s belong to no line. Nodes are those of the
      graphs that were kept.

    Inside PyTorch, below those lines
      est. time  guards  symbols  line                      code
         1.05 s      21       27  .../normalization.py:228  return F.layer_norm(
         703 ms      54        -  modules/linear.py:134     return F.linear(input...

    Guards (asked by: whose code needed to know)
      192 guards: 158 asked by kernel, 20 asked by torch function, 14 asked by
      dynamo; 19 repeat one that their attempt had before. Besides, 61 were

    $ for what in --guards --symbols --specializations --restarts; do
    >     sh tty 80 "symtape show $RECORDINGS/encoder.log.zst $what" | head -4
    > done
    compile  kind        asked by        guard                    user line
    0/0_0    guard       torch function  Eq(zf14, 1.0e-5)         demo/encoder.py:46
    0/0_0    guard       kernel          Eq(s53, 32)              demo/encoder.py:46
    0/0_0    guard       dynamo          Ne(Mod(s27, 8), 0)       demo/encoder.py:25
    compile  symbol  value  specialized                        user line
    0/0_0    s77         3  -                                  demo/encoder.py:46
    0/0_0    s27        21  -                                  demo/encoder.py:46
    0/0_0    s53        32  32 (range_refined_to_singleton)    demo/encoder.py:46
    compile  symbol                value  source                  user line
    0/0_0    zf14    1.00000000000000e-5  ...odules['norm1'].eps  demo/encoder.py:46
    0/0_0    s53                      32  L['x'].size()[2]        demo/encoder.py:46
    0/0_0    zf62    1.00000000000000e-5  ...odules['norm2'].eps  demo/encoder.py:47
    compile    time  reason                  graphs  guards  meaning
    0/0_0    4.42 s  TensorifyScalarRest...       2      77  a float was specialized

    $ sh tty 60 "symtape info $RECORDINGS/two_ranks" | head -6
    106 records, 54 payloads, 195 kB of log
    4 symbols, 0 guards (not counted: 0 suppressed, 0 runtime asserts)

    tape          recording  rank  torch       records  damaged  whole
    ...two_ranks  rank0         0  2.13.0+cpu       53        0  yes
    ...two_ranks  rank1         1  2.13.0+cpu       53        0  yes

No line of any of them is wider.

    $ for width in 80 100 132; do
    >     for log in $RECORDINGS/*.zst $RECORDINGS/two_ranks; do
    >         sh tty $width "symtape profile $log"
    >         sh tty $width "symtape info $log"
    >         sh tty $width "symtape show $log --guards --symbols --specializations --restarts --recompiles --breaks --caches --failures --graphs"
    >     done | grep -E "^.{$((width + 1))}" | head -3
    > done
