# symtape validate

Requires: zstd

The guards of a program with windows imply everything that was answered while it was traced. Some of them imply others:

    $ symtape validate --redundant --limit 4 $RECORDINGS/encoder.log.zst
    3 attempts, 411 claims: the guards imply all of them

    compile  verdict  guards  questions  decided  known  replacements  ranges  specializations  redundant
    0/0_0    proved       77         70    100 %     63             7       1                7         64
    0/0_1    proved       77         70    100 %     63             7       1                7         64
    0/1_0    proved       38         36    100 %     64             7       1                7         26

    Guards that others imply
      * 0/0_0: what they cost is not known: the recording has no leaves of it
      * 0/0_1: 47 of 478 leaves that a call evaluates are theirs: about 18.4 us of the 266 us that leaves and accessors take ("Guard latency"); of 12 of 64 guards it is not known
      * 0/1_0: 7 of 429 leaves that a call evaluates are theirs: about 2.17 us of the 190 us that leaves and accessors take ("Guard latency"); of 18 of 26 guards it is not known
    compile  implied by    leaves  a call  guard                                                                    user line
    0/0_0    earlier ones       -       -  Eq(s27 - (Mod(s27, 8)) + 8, 8) | Eq(Mod(s27 - (Mod(s27, 8)) + 8, 8), 0)  demo/encoder.py:27
    0/0_0    earlier ones       -       -  Ne(32*s77*(s27 - (Mod(s27, 8)) + 8), 0)                                  demo/encoder.py:27
    0/0_0    earlier ones       -       -  32*s77*(s27 - (Mod(s27, 8)) + 8) >= 2                                    demo/encoder.py:27
    0/0_0    earlier ones       -       -  Ne((((s27 - (Mod(s27, 8)))//8)) + 1, s27 - (Mod(s27, 8)) + 8)            demo/encoder.py:27
      ... and 150 more

Questions about unbacked symbols, and the runtime asserts that hold them:

    $ symtape validate $RECORDINGS/data_dependent.log.zst
    1 attempt, 0 claims: no question about sizes was answered, so that there is nothing to prove

    compile  verdict    guards  questions
    0/0_0    no claims       0          0

    Runtime asserts
    0/0_0: u1 >= 0 can fail: u1 = -1; asked at demo/data_dependent.py:12 `y = x[:kept]`
    0/0_0: u1 <= s77 can fail: s77 = 2 (L['x'].size()[0]), u1 = 3; asked at demo/data_dependent.py:12 `y = x[:kept]`
    0/0_0: u0 may be negative; torch._check(kept >= 0) says that it is not, after demo/data_dependent.py:11 `kept = (x.abs().mean(-1) > 0.5).sum().item()`
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
    [exit 125]

A size that item() reads from an input has a symbol with a hint in Dynamo's graph, and an unbacked one in that of AOTAutograd, which asks
nothing about it:

    $ symtape validate $RECORDINGS/item_size.log.zst
    2 attempts, 19 claims: the guards imply all of them

    compile  verdict  guards  questions  decided  known  ranges
    0/0_0    proved        2          2    100 %      2       3
    1/0_0    proved        0          0        -     10       2

    Runtime asserts
    0/0_0: u1 >= 0 can fail: u1 = -1
    0/0_0: u3 >= 0 can fail: u3 = -1
    0/0_0: u0 may be negative; torch._check(positive >= 0) says that it is not, after demo/item_size.py:11 `positive = (x > 0).sum().item()`
    1/0_0: u0 >= 2 can fail: u0 = 0; asked at demo/item_size.py:23 `torch._check(found.shape[0] >= 2)`

Asserts are decided beside guards on floats, whose sizes cannot be searched, because the guards hold for the sizes that were traced:

    $ symtape export $RECORDINGS/data_dependent.log.zst > asserts.log
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

    $ awk '/"u1 >= 0"/ { a = $0; sub(/"u1 >= 0"/, "\"Eq(zf0, 0.5)\"", a); sub(/"runtime_assert/, "\"eval", a); print a } { print }' asserts.log > float.log

    $ symtape validate float.log
    1 attempt, 0 claims: no question about sizes was answered, so that there is nothing to prove

    compile  verdict    guards  questions
    0/0_0    no claims       1          0

    Runtime asserts
    0/0_0: u1 >= 0 can fail: u1 = -1; asked at demo/data_dependent.py:12 `y = x[:kept]`
    0/0_0: u1 <= s77 can fail: s77 = 2 (L['x'].size()[0]), u1 = 3; asked at demo/data_dependent.py:12 `y = x[:kept]`
    0/0_0: u0 may be negative; torch._check(kept >= 0) says that it is not, after demo/data_dependent.py:11 `kept = (x.abs().mean(-1) > 0.5).sum().item()`
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
    [exit 125]

A guard that is missing in the log is found at the question that it answered, with the smallest size that gets another answer. What was
derived from it is refuted, too:

    $ symtape export $RECORDINGS/encoder.log.zst > encoder.log

    $ awk '!(/"guard_added_fast"/ && /Eq.s53, 32/)' encoder.log > one_less.log

    $ symtape validate --limit 3 one_less.log
    3 attempts, 411 claims: 0 of 3 attempts proved, 3 refuted, 0 undecided

    compile  verdict  guards  questions  decided  known  replacements  ranges  specializations
    0/0_0    refuted      76         70    100 %     63             7       1                7
    0/0_1    refuted      76         70    100 %     63             7       1                7
    0/1_0    refuted      37         36    100 %     64             7       1                7

    Not proved, in the order in which it was claimed
    0/0_0: refuted: guarded Eq(s53, 32)
      is false, although all guards hold, for s53 = 2 (L['x'].size()[2]); no smaller sizes do
      a replay with these sizes answers False instead of True
      asked by layer_norm, torch.nn.functional.layer_norm
      demo/encoder.py:46 in forward: x = x + self.attention(self.norm1(x))
    0/0_0: refuted: range (s53 >= 32) & (s53 <= 32)
      is false, although all guards hold, for s53 = 2 (L['x'].size()[2]); no smaller sizes do
      asked by layer_norm, torch.nn.functional.layer_norm
      demo/encoder.py:46 in forward: x = x + self.attention(self.norm1(x))
    0/0_0: refuted: replacement Eq(s53, 32)
      is false, although all guards hold, for s53 = 2 (L['x'].size()[2]); no smaller sizes do
      asked by layer_norm, torch.nn.functional.layer_norm
      demo/encoder.py:46 in forward: x = x + self.attention(self.norm1(x))
    9 more not shown (--limit)
    [exit 1]

A name in the file starts no line of the report:

    $ sed 's/"name": "forward"/"name": "for\\nward"/g' one_less.log > name.log; symtape validate name.log:0/1 | tail -1
      modules/normalization.py:228 in for ward: return F.layer_norm(

The question is asked again in a replay with the sizes of the counterexample:

    $ symtape export $RECORDINGS/reset.log.zst > reset.log

    $ awk '!(/"guard_added_fast"/ && /"Ne..s77..2., 1."/)' reset.log > other_answer.log

    $ symtape validate --limit 1 other_answer.log
    5 attempts, 16 claims: 3 of 5 attempts proved, 1 refuted, 0 undecided; 1 of 5 attempts has no claims

    compile  verdict  guards  questions  known
    0/0_0    proved        0          0      2
      ... and 4 more

    Not proved, in the order in which it was claimed
    0/0.1_0: refuted: guarded Ne((s77//2), 1)
      is false, although all guards hold, for s77 = 2 (L['x'].size()[0]); no smaller sizes do
      a replay with these sizes answers True instead of False
      asked by slice_1, aten.slice.Tensor
      demo/reset.py:13 in halves: return x[: x.shape[0] // 2].sum()
    [exit 1]

A guard that others imply is not missed:

    $ awk '!(/"guard_added_fast"/ && /"Ne.Mod.s27, 8., 0."/)' encoder.log > redundant.log

    $ symtape validate redundant.log
    3 attempts, 409 claims: the guards imply all of them

    compile  verdict  guards  questions  decided  known  replacements  ranges  specializations
    0/0_0    proved       76         69    100 %     63             7       1                7
    0/0_1    proved       76         69    100 %     63             7       1                7
    0/1_0    proved       38         36    100 %     64             7       1                7

As JSON:

    $ symtape validate --json $RECORDINGS/mlp.log.zst:0/1
    {"schema":"symtape.validate/1","verdict":"proved","attempts":[{"recording":"mlp","compile":"0/1","attempt":0,"verdict":"proved","guards":0,"asserted":0,"unread":0,"contradictory":false,"partial":false,"ms":{*},"claims":[{"kind":"guarded","n":0,"proved":0,"refuted":0},{"kind":"known","n":1,"proved":1,"refuted":0},{"kind":"replacement","n":0,"proved":0,"refuted":0},{"kind":"range","n":0,"proved":0,"refuted":0},{"kind":"specialization","n":0,"proved":0,"refuted":0}],"methods":[{"method":"fact","proved":0},{"method":"intervals","proved":1},{"method":"linear","proved":0},{"method":"search","proved":0},{"method":"z3","proved":0}],"z3":{"asked":0,"decided":0},"findings":[],"redundant":[],"redundant_cost":null,"asserts":[],"unbounded":[]}]}

Nothing to validate, and wrong uses:

    $ symtape validate nowhere.tape
    2> symtape: nowhere.tape: No such file or directory
    [exit 4]

    $ symtape validate $RECORDINGS/exported.pt2
    2> symtape: validate: $RECORDINGS/exported.pt2 has no attempt of a compile with guards; of an exported program, symtape inputs lists what its range constraints and asserts allow, and --cover asks whether they hold in a range
    [exit 2]

    $ symtape validate $RECORDINGS/mlp.log.zst:7/7
    2> symtape: $RECORDINGS/mlp.log.zst: no compile 7/7; there are 0/0_0, 0/1_0
    [exit 2]

    $ symtape validate --time 0 $RECORDINGS/mlp.log.zst
    2> symtape: validate: --time is from 1 to 3600000
    [exit 2]

    $ symtape validate
    2> symtape: validate: an argument is missing; usage: symtape validate [options] TAPE[@RECORDING][:COMPILE[_ATTEMPT]]
    [exit 2]

A compile without a question about sizes proves nothing:

    $ symtape validate $RECORDINGS/mlp.log.zst:0/0
    1 attempt, 0 claims: no question about sizes was answered, so that there is nothing to prove

    compile  verdict    guards  questions
    0/0_0    no claims       0          0
    [exit 125]

    $ symtape validate $RECORDINGS/mlp.log.zst -n 3
    2 attempts, 1 claim: the guards imply all of them; 1 of 2 attempts has no claims

    compile  verdict    guards  questions  known
    0/0_0    no claims       0          0      -
    0/1_0    proved          0          0      1

A guard that those on one side of it do not imply, and both sides together do:

    $ python3 $ROOT/tests/golden/make_hostile.py together > together.log; symtape validate --redundant together.log
    1 attempt, 6 claims: the guards imply all of them

    compile  verdict  guards  questions  decided  ranges  redundant
    0/0_0    proved        3          3    100 %       3          1

    Guards that others imply
      * 0/0_0: what they cost is not known: the recording has no leaves of it
    compile  implied by     leaves  a call  guard    user line
    0/0_0    both together       -       -  s0 <= 5  -

What guards that others imply cost: the leaves of the entry that are theirs, and their share of "Guard latency"; an attempt that was restarted made no entry:

    $ symtape validate --redundant -n 3 $RECORDINGS/releases.log.zst | sed -n '/others imply/,$p'
    Guards that others imply
      * 1/0_0: 17 of 54 leaves that a call evaluates are theirs: about 48.3 us of the 179 us that leaves and accessors take ("Guard latency")
      * 2/0_0: what they cost is not known: the recording has no leaves of it
    compile  implied by    leaves   a call  guard                    user line
    1/0_0    earlier ones       1  2.84 us  Ne((s27//4), 0)          demo/releases.py:11
    1/0_0    earlier ones       0        -  Ne((s27//4), 0)          demo/releases.py:11
    1/0_0    earlier ones       1  2.84 us  4*s0*s53*((s27//4)) > 1  demo/releases.py:11
      ... and 24 more

    $ symtape validate --json $RECORDINGS/reset.log.zst:0/0.1 | grep -oE '"(implied_by|guard)":"[^"]*"|"leaves":[^,]*,"us":[^,}]*|"redundant_cost":[^}]*.'
    "implied_by":"earlier"
    "guard":"((s77//2)) <= s77"
    "leaves":1,"us":2.352777777777778
    "redundant_cost":{"leaves":1,"unknown":0,"all_leaves":17,"us":2.352777777777778,"latency_us":42.35}

A recording without the latency:

    $ zstd -dcq $RECORDINGS/reset.log.zst | sed '/Guard latency = /d' > without.log; symtape validate --redundant without.log:0/0.1 2>/dev/null | sed -n '/others imply/,$p'
    Guards that others imply
      * 0/0.1_0: 1 of 17 leaves that a call evaluates are theirs; the recording has no "Guard latency"
    compile  implied by    leaves  a call  guard              user line
    0/0.1_0  earlier ones       1       -  ((s77//2)) <= s77  demo/reset.py:13

    $ symtape validate --json without.log:0/0.1 2>/dev/null | grep -oE '"leaves":[^,]*,"us":[^,}]*|"redundant_cost":[^}]*.'
    "leaves":1,"us":null
    "redundant_cost":{"leaves":1,"unknown":0,"all_leaves":17,"us":null,"latency_us":null}

Nor one with a latency that no measurement gives:

    $ zstd -dcq $RECORDINGS/reset.log.zst | sed 's/Guard latency = .*/Guard latency = 999999999999999999999999 us/' > beyond.log; symtape validate --json beyond.log:0/0.1 2>/dev/null | grep -oE '"redundant_cost":[^}]*.'
    "redundant_cost":{"leaves":1,"unknown":0,"all_leaves":17,"us":null,"latency_us":null}

On a tape of several recordings, each attempt has the name of its own:

    $ symtape import -o two.tape $RECORDINGS/mlp.log.zst $RECORDINGS/reset.log.zst 2>/dev/null; symtape validate two.tape
    7 attempts, 17 claims: the guards imply all of them; 2 of 7 attempts have no claims

    compile         verdict    guards  questions  decided  known
    @mlp:0/0_0      no claims       0          0        -      -
    @mlp:0/1_0      proved          0          0        -      1
    @reset:0/0_0    proved          0          0        -      2
    @reset:0/1_0    no claims       0          0        -      -
    @reset:0/0.1_0  proved          3          3    100 %      5
    @reset:0/1.1_0  proved          1          1    100 %      3
    @reset:0/2.1_0  proved          0          0        -      2

    $ symtape validate two.tape@mlp:0/1 --json | tr ',' '\n' | grep '"recording"'
    "attempts":[{"recording":"mlp"
