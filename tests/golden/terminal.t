# Terminals

Requires: script

On a terminal, output is made to fit its width: columns that hold nothing are left out, then the less
telling ones, and long cells are cut, paths at their beginning.

    $ echo 'script -qec "stty cols $1; COLUMNS= $2" /dev/null < /dev/null | tr -d "\r"' > tty

    $ sh tty 80 "symtape profile -n 3 $RECORDINGS/encoder.log.zst" | head -36
    > sh tty 80 "symtape profile -n 3 $RECORDINGS/encoder.log.zst" | grep -A 16 '^User lines'
    10.7 s of compiling: 2 compiles, 3 attempts, 6 graphs, 192 guards; 858 records
     1  restarted, 4.42 s of 10.7 s
        Python floats were traced as symbols and then needed as constants, so the
        compile began again: eps of 6 modules such as norm1
        demo/encoder.py:46  x = x + self.attention(self.norm1(x))
        recorded      L['self']._modules['blocks']._modules['0']._modules['norm1'].e
                      ps = 1e-05
        suggested     torch._dynamo.config.specialize_float = True before the first
                      call
     2  recompiled, 2.55 s of 10.7 s
        the condition (x.size()[1] % 8) != 0 was true, and then false
        demo/encoder.py:25  if length % WINDOW:
        recorded      guard of 0/0 that failed: (x.size()[1] % 8) != 0
        suggested     pad so that (x.size()[1] % 8) != 0 holds in each call
        or            replace the branch with torch.cond() or torch.where(); else
                      each side needs its compile
      * by part of the compile time: 48 % Dynamo (tracing Python), 47 % AOTAutograd
        (tracing ATen graphs)
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

    Phases (inclusive: with what runs inside; exclusive: itself; share: of all
      phases)
      inclusive  share  exclusive  calls  phase
         10.7 s  100 %    4.43 ms      2  dynamo: one compile, from start to end
    User lines (time is estimated)
        time  share       guards  line                code
      1.78 s  17 to 45 %      42  demo/encoder.py:31  weights = (q @ k.transpose(...
      1.52 s  14 to 39 %      10  demo/encoder.py:32  y = self.out((weights @ v)....
      1.40 s  14 to 35 %      52  demo/encoder.py:29  t.unflatten(-1, (HEADS, -1)...
      ... and 8 more
      Shares are of the 6.45 s that the estimate covers; 4.24 s belong to no line.
      Nodes are those of the graphs that were kept.

    Inside PyTorch, below those lines
      guards  symbols  specialized  line                     code
          54        -            -  modules/linear.py:134    return F.linear(inpu...
          21       27           21  ...normalization.py:228  return F.layer_norm(

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
    4 symbols, 0 guards of 2 attempts (not counted: 0
      suppressed, 0 runtime asserts)

    tape             recording  rank  torch       damaged  whole
    ...gs/two_ranks  rank0         0  2.13.0+cpu        0  yes

No line of any of them is wider.

    $ for width in 80 100 132; do
    >     for log in $RECORDINGS/*.zst $RECORDINGS/two_ranks; do
    >         sh tty $width "symtape -q profile $log"
    >         sh tty $width "symtape -q info $log"
    >         sh tty $width "symtape -q show $log --guards --symbols --specializations --restarts --recompiles --breaks --caches --failures --graphs"
    >     done | grep -E "^.{$((width + 1))}" | head -3
    > done
