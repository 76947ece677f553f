# symtape diff of the large recordings

Requires: shared

No recording differs from itself, restarted, failed and unfinished ones included, nor from what --save writes of it.

    $ for log in $SHARED/traces/*.zst $SHARED/failures/*.zst $SHARED/variety/*.zst; do
    >   symtape diff -q $log $log > out && [ ! -s out ] || echo $log
    > done

    $ for log in $SHARED/traces/unet.train.inductor.log.zst $SHARED/failures/recompile_storm.log.zst $SHARED/variety/nested_jagged.log.zst; do
    >   symtape diff -q --save saved.json --overwrite $log && symtape diff -q saved.json $log > out && [ ! -s out ] || echo $log
    > done

Training against evaluation: the dropout of each attention is traced as a symbol and specialized.

    $ symtape diff -q $SHARED/traces/t5.eval.aot_eager.log.zst $SHARED/traces/t5.train.aot_eager.log.zst --labels eval,train --only guards,specializations -n 3
    before: eval
    after: train
      * 36 specializations new, 36 guards new

    User lines (+ new, - gone, ~ changed)
      guards  symbols  user line                           code
         +36      +36  integrations/sdpa_attention.py:158  attn_output = torch.nn.functional.scaled_dot_product_attention(

    Specializations
      change  times  compile   symbol                                                                                                                                                   more               user line                           code
      new         2  0/0_0 +1  zf107 = L['self']._modules['decoder']._modules['block']._modules['4']._modules['layer']._modules['1']._modules['EncDecAttention'].dropout (trivial_lhs)  0.100000000000000  integrations/sdpa_attention.py:158  attn_output = torch.nn.functional.scaled_dot_product_attention(
      new         2  0/0_0 +1  zf11 = L['self']._modules['decoder']._modules['block']._modules['2']._modules['layer']._modules['0']._modules['SelfAttention'].dropout (trivial_lhs)     0.100000000000000  integrations/sdpa_attention.py:158  attn_output = torch.nn.functional.scaled_dot_product_attention(
      new         2  0/0_0 +1  zf117 = L['self']._modules['decoder']._modules['block']._modules['5']._modules['layer']._modules['1']._modules['EncDecAttention'].dropout (trivial_lhs)  0.100000000000000  integrations/sdpa_attention.py:158  attn_output = torch.nn.functional.scaled_dot_product_attention(
      ... and 15 more

    Guards
      change  times  compile   asked by  guard           user line                           code
      new         2  0/0_0 +1  dynamo    Eq(zf107, 0.1)  integrations/sdpa_attention.py:158  attn_output = torch.nn.functional.scaled_dot_product_attention(
      new         2  0/0_0 +1  dynamo    Eq(zf11, 0.1)   integrations/sdpa_attention.py:158  attn_output = torch.nn.functional.scaled_dot_product_attention(
      new         2  0/0_0 +1  dynamo    Eq(zf117, 0.1)  integrations/sdpa_attention.py:158  attn_output = torch.nn.functional.scaled_dot_product_attention(
      ... and 15 more
    [exit 1]

    $ symtape diff -q $SHARED/traces/t5.eval.aot_eager.log.zst $SHARED/traces/t5.train.aot_eager.log.zst --labels eval,train --only graphs
    before: eval
    after: train
      * 3 graphs new, 1 graph gone, 2 graphs changed

    Shape of graphs
      change   before  after  compile  graph                   more
      new           -  3,555  0/0_0    joint                   254 inputs, 3300 calls, 254 outputs
      new           -  3,471  0/0_1    joint                   170 inputs, 3300 calls, 170 outputs
      new           -  2,422  0/0_1    backward                395 inputs, 2026 calls, 168 outputs
      changed   1,424  1,535  0/0_1    inference, now forward  calls 1255, now 1366; outputs 2, now 395
      changed   1,040  1,076  0/0_0    dynamo                  inputs 234, now 252; calls 805, now 823
      gone      1,490      -  0/0_0    inference               234 inputs, 1255 calls, 2 outputs
    [exit 1]

Without its attempt 0, as if no float had been specialized: what was thrown away, and why.

    $ zstd -dc --long=27 $SHARED/traces/hrnet_w18.eval.aot_eager.log.zst > whole.log; python3 -c '
    > import re
    > first = "\"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0"
    > keep = True
    > for line in open("whole.log", errors="surrogateescape"):
    >     if not line.startswith("\t"):
    >         keep = first not in line or "{\"str\": " in line or "{\"chromium_event\": " in line
    >         line = line.replace(first[:-1] + "1", first)
    >     if keep: print(line, end="")' > once.log
    > symtape diff -q whole.log once.log --ignore times,phases,line_times,measures
    before: whole.log
    after: once.log
      * 1 restart gone

    Restarts (attempts that were thrown away)
      change    time  compile  reason                                                   more
      gone    31.0 s  0/0_0    a float was specialized: TensorifyScalarRestartAnalysis  2 graphs, 685 symbols, 1073 guards
    [exit 1]

Other names of symbols, other places of files.

    $ python3 -c '
    > import re
    > names = {"s77": "s5", "s27": "s93", "s53": "s11"}
    > for line in open("whole.log", errors="surrogateescape"):
    >     line = re.sub(r"\bs(77|27|53)\b", lambda m: names[m[0]], line)
    >     print(re.sub(r"\bzf(\d+)\b", r"zf1\1", line).replace("/home/user/env/", "/opt/python/"), end="")' > renamed.log
    > symtape diff -q whole.log renamed.log && grep -c 'zf198' renamed.log
    8
