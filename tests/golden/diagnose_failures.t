A failed compile: the cause in one sentence, the symbol's origin, what to write instead.

    $ symtape $RECORDINGS/data_dependent.log.zst
    165 ms of compiling: 1 compile, 1 attempt, 0 graphs, 0 guards; 45 records
     1  failed, 165 ms of 165 ms
        the branch on y.shape[0] > 4 depends on a result of slicing with a data-dependent bound and is not known when the program is compiled
        demo/data_dependent.py:13  if y.shape[0] > 4:
        recorded      u1 is the result of slicing with a data-dependent bound at demo/data_dependent.py:12: y = x[:kept]
        suggested     torch._check(y.shape[0] > 4) before line 13, if it always holds
        or            guard_or_false(y.shape[0] > 4) of torch.fx.experimental.symbolic_shapes as the condition, if the other branch is right for every size

The whole message is in the JSON.

    $ symtape diagnose --json $RECORDINGS/data_dependent.log.zst | python3 -c "
    > import json, sys
    > finding = json.load(sys.stdin)['findings'][0]
    > print(finding['kind'], finding['ended_program'], finding['compile'], finding['line']['line'])
    > print(finding['message'].split('.')[0])
    > for remedy in finding['remedies']: print(remedy['kind'])"
    failure True 0/0 13
    UserError: Consider annotating your code using torch
    torch_check
    guard_or_false
    change_code

Each command that reads the recording has a line about it.

    $ symtape replay $RECORDINGS/data_dependent.log.zst
    no graphs; 0/0 failed in PyTorch: UserError, demo/data_dependent.py:13
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

    $ symtape info -q $RECORDINGS/data_dependent.log.zst | head -n 1
    45 records, 12 payloads, 96.2 kB of log

    $ symtape diff $RECORDINGS/data_dependent.log.zst $RECORDINGS/data_dependent.log.zst
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
    2> symtape: no difference

    $ symtape show --guards $RECORDINGS/data_dependent.log.zst:0/0
    compile  kind    asked by  guard      values      user line                  code
    0/0_0    assert  kernel    u1 >= 0    u1=?        demo/data_dependent.py:12  y = x[:kept]
    0/0_0    assert  kernel    u1 <= s77  u1=? s77=9  demo/data_dependent.py:12  y = x[:kept]
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13
