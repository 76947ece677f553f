# symtape opcheck

The calls of a recording, each by itself, against the operators' rules.

    $ symtape opcheck $RECORDINGS/train.log.zst -n 4
    16 operators, 61 recorded calls, 24 cases: 16 pass

    verdict  operator                           cases  rule
    pass     aten.add.Tensor                        1     1
    pass     aten.addmm.default                     1     1
    pass     aten.convolution.default               1     1
    pass     aten.convolution_backward.default      1     1
    ... and 12 more

    $ symtape opcheck $RECORDINGS/train.log.zst --op aten::addmm,aten.gelu
    1 operator, 2 recorded calls, 1 case: 1 passes

    verdict  operator            cases  rule
    pass     aten.addmm.default      1     1

    $ symtape opcheck $RECORDINGS/encoder.log.zst $RECORDINGS/data_dependent.log.zst $RECORDINGS/exported.pt2 | head -1
    24 operators, 536 recorded calls, 125 cases: 23 pass, 1 was not checked
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

A case is a line: the call, its symbols and guards, the recorded result, the place.

    $ symtape opcheck $RECORDINGS/train.log.zst --op aten.embedding --generate - | cut -c 1-1000
    {"op":"aten.embedding.default","torch":"2.13","args":[{"t":"float32","device":"cpu","size":[50,16],"stride":[16,1],"offset":0,"storage":0},{"t":"int64","device":"cpu","size":["s23","s27"],"stride":["s27",1],"offset":0,"storage":1}],"kwargs":{},"out":{"t":"float32","device":"cpu","size":["s23","s27",16],"stride":["16*s27",16,1]},"hints":{"s23":4,"s27":10},"ranges":{"s23":"VR[2, 15]","s27":"VR[2, int_oo]"},"given":["s23 < 16"],"asserts":[],"place":{"tape":"train.log.zst","graph":"0/0_0:aot_joint_graph","node":"embedding","file":"/home/user/demo/train.py","line":17,"code":"x = self.embedding(ids)"}}

    $ symtape opcheck $RECORDINGS/train.log.zst $RECORDINGS/encoder.log.zst --generate cases.jsonl
    2> symtape: cases.jsonl: 138 cases of 29 operators

    $ symtape opcheck $RECORDINGS/train.log.zst --generate cases.jsonl
    2> symtape: cases.jsonl exists already; --overwrite replaces it
    [exit 2]

    $ symtape opcheck --cases cases.jsonl -n 2
    29 operators, 138 cases: 29 pass

    verdict  operator                          cases  rule
    pass     aten._local_scalar_dense.default      3     3
    pass     aten._softmax.default                 2     2
    ... and 27 more

What a file of cases does not check is told when tapes are named as well.

    $ grep -v addmm cases.jsonl > some.jsonl

    $ symtape opcheck --cases some.jsonl $RECORDINGS/train.log.zst --coverage -n 3
    29 operators, 61 recorded calls, 129 cases: 28 pass, 1 was not checked

    Coverage: 15 of 16 recorded operators were checked, 15 by rules, 0 by PyTorch
    verdict      operator                          calls  cases  dtypes  ranks  not checked because
    not checked  aten.addmm.default                    2      -                 no case of the file calls it
    pass         aten._local_scalar_dense.default      -      3  f64     0      -
    pass         aten._softmax.default                 -      2  f32     5      -
    ... and 26 more

    $ symtape opcheck $RECORDINGS/train.log.zst --coverage | tail -n 4
    pass     aten.tanh.default                            2      1  f32      3
    pass     aten.tanh_backward.default                   2      1  f32      3
    pass     aten.transpose.int                           8      2  f32      3
    pass     aten.view.default                           10      5  f32      2 3

Cases with wrong results, and some that make no sense.

    $ symtape opcheck --cases $ROOT/tests/replay/cases/wrong.jsonl
    6 operators, 7 cases: 3 fail, 1 passes, 1 has no rule, 1 was not checked

    FAIL aten.cat.default: the rule and the recorded result differ (1 of 2)
      call       aten.cat.default([f32[s0, 3][3, 1]cpu, f32[s0, 3][3, 1]cpu], 1)
      why        out: size ["s0",5], got [s0, 6]; out: stride [5,1], got [6, 1]
      line       demo/run.py:7 y = torch.cat([x, x], 1)
      node       cat of run.tape:0/0_0:aot_inference_graph

    FAIL aten.relu.default: the rule and the recorded result differ (1 of 1)
      call       aten.relu.default(None)
      why        argument 0 cannot be read

    FAIL aten.topk.default: the rule and the recorded result differ (1 of 1)
      call       aten.topk.default(f32[4, 6][6, 1]cpu, 2)
      why        out[1]: dtype i32, got i64; out[2]: no such item

    verdict      operator            cases    rule
    fail         aten.cat.default        2  1 of 2
    fail         aten.relu.default       1  0 of 1
    fail         aten.topk.default       1  0 of 1
    missing      mylib.blur.default      1       -
    not checked  aten.item.default       1       -
    pass         aten.clone.default      1       1
    [exit 1]

    $ symtape opcheck --cases $ROOT/tests/replay/cases/wrong.jsonl --op mylib --strict
    1 operator, 1 case: 1 has no rule

    verdict  operator            cases
    missing  mylib.blur.default      1
    [exit 1]

    $ symtape opcheck --cases $ROOT/tests/replay/cases/wrong.jsonl --op aten.clone --json
    {"schema":"symtape.opcheck/1","calls":0,"cases":1,"stale":0,"updated":false,"torch":null,"operators":[{"op":"aten.clone.default","verdict":"pass","recorded":false,"calls":0,"cases":1,"dtypes":["bf16"],"ranks":[2],"unchecked":"","checks":[{"check":"rule","verdict":"pass","passed":1,"failed":0,"skipped":0,"missing":0,"reason":null,"failure":null}]}]}

Failures that are expected: the file makes itself, keeps its reasons, and changes no other line.

    $ symtape opcheck -q --cases $ROOT/tests/replay/cases/wrong.jsonl --xfail x.json --update | head -1
    6 operators, 7 cases: 3 fail as expected, 1 passes, 1 has no rule, 1 was not checked

    $ cat x.json
    {
     "schema": "symtape.opcheck.xfail/1",
     "expected": [
      {"op": "aten.cat.default", "check": "rule", "reason": ""},
      {"op": "aten.relu.default", "check": "rule", "reason": ""},
      {"op": "aten.topk.default", "check": "rule", "reason": ""}
     ]
    }

    $ sed -i '/aten.cat/s/"reason": ""/"reason": "issue 12"/' x.json

    $ symtape opcheck --cases $ROOT/tests/replay/cases/wrong.jsonl --xfail x.json | head -1
    6 operators, 7 cases: 3 fail as expected, 1 passes, 1 has no rule, 1 was not checked

    $ grep -v '"aten.relu' $ROOT/tests/replay/cases/wrong.jsonl | sed '1d; 3s/int32/int64/' > better.jsonl

    $ symtape opcheck --cases better.jsonl --xfail x.json
    5 operators, 5 cases: 1 passes unexpectedly, 1 fails as expected, 1 passes, 1 has no rule, 1 was not checked

    aten.cat.default: check rule passes, and a failure is expected; --update removes it

    verdict      operator            cases    rule
    xpass        aten.cat.default        1       1
    xfail        aten.topk.default       1  0 of 1
    missing      mylib.blur.default      1       -
    not checked  aten.item.default       1       -
    pass         aten.clone.default      1       1

    1 expected failure is of checks that this run did not make
    [exit 1]

    $ symtape opcheck --cases better.jsonl --xfail x.json --update | head -1
    5 operators, 5 cases: 1 fails as expected, 2 pass, 1 has no rule, 1 was not checked
    2> symtape: x.json: 2 expected failures

    $ cat x.json
    {
     "schema": "symtape.opcheck.xfail/1",
     "expected": [
      {"op": "aten.relu.default", "check": "rule", "reason": ""},
      {"op": "aten.topk.default", "check": "rule", "reason": ""}
     ]
    }

Nothing to change leaves the file alone.

    $ cp -p x.json y.json; symtape opcheck --cases better.jsonl --xfail x.json --update > /dev/null; cmp x.json y.json

Mistakes.

    $ symtape opcheck
    2> symtape: opcheck: name a TAPE, or a file with --cases
    [exit 2]

    $ symtape opcheck --cases nowhere.jsonl
    2> symtape: nowhere.jsonl: No such file or directory
    [exit 4]

    $ symtape opcheck --update $RECORDINGS/train.log.zst
    2> symtape: opcheck: --update needs --xfail FILE
    [exit 2]

    $ symtape opcheck --op aten.nothing $RECORDINGS/train.log.zst
    2> symtape: opcheck: --op aten.nothing: no call of it was recorded
    [exit 2]

    $ symtape opcheck --xfail nowhere.json $RECORDINGS/train.log.zst
    2> symtape: nowhere.json: No such file or directory
    [exit 4]

    $ echo '{"schema": "symtape.opcheck.xfail/1", "expected": [{"op": "aten.cat"}]}' > bad.json; symtape opcheck --xfail bad.json $RECORDINGS/train.log.zst
    2> symtape: bad.json: item 1 of "expected" names no "op" or "check"
    [exit 3]

    $ echo '[]' > bad.json; symtape opcheck --xfail bad.json $RECORDINGS/train.log.zst
    2> symtape: bad.json: no "schema": "symtape.opcheck.xfail/1"
    [exit 3]

    $ echo '{"op": ' > bad.jsonl; symtape opcheck --cases bad.jsonl
    2> symtape: bad.jsonl:1: offset 7: expected a value
    [exit 3]

    $ printf '\n[1]\n' > bad.jsonl; symtape opcheck --cases bad.jsonl
    2> symtape: bad.jsonl:2: no case: it has no "op"
    [exit 3]

    $ symtape opcheck --generate x.jsonl --coverage $RECORDINGS/train.log.zst
    2> symtape: opcheck: --generate checks nothing; check the cases with --cases
    [exit 2]

    $ symtape opcheck --import mylib --python nowhere/python --allow mylib --cases $ROOT/tests/replay/cases/wrong.jsonl
    2> symtape: nowhere/python: No such file or directory
    [exit 4]
