# Names of inputs on the command line

A dimension may be counted from the last one:

    $ symtape cache -q --inputs "x.size(-2)=9,4,1,30,31;x.size()[-1]=8,8,8,9,10;k=2" $RECORDINGS/sequence.log.zst | head -1
    5 calls: 1 hit, 4 compiles (456 ms for 1 of them; the tape does not have the other 3)

    $ symtape cache -q --inputs "x.size(-3)=9" $RECORDINGS/sequence.log.zst
    2> symtape: --inputs: no guard on the tape is about x.size(-3)
    [exit 2]

    $ symtape cache -q --inputs "x.size(-99999999999999999999)=9" $RECORDINGS/sequence.log.zst
    2> symtape: --inputs: no guard on the tape is about x.size(-99999999999999999999)
    [exit 2]

A name alone is a local of the function in --marks, too; the error names the inputs that there are:

    $ symtape dynamic -q --marks x:0,k --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst | grep marked
    marked            4        2.25 s        4        -      -     1.96 ms  torch.compile() with the marks that were given

    $ symtape dynamic -q --marks x:2 --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: x:2 cannot be marked: no compiled function has such an input; there are L['x']:0, L['x']:1, L['k']
    [exit 2]
