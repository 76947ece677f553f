dynamic=True is an alternative where it compiles less than the marks do:

    $ symtape dynamic -q $RECORDINGS/levels.log.zst | sed -n '1,2p; /dynamic=True/p'
    45 look-ups: 17 compiles (2.53 s)
    with dynamic=True: at most 9 compiles (about 1.99 s)
    with dynamic=True: at most 9 compiles (about 1.99 s)
    dynamic           9        1.99 s        9        -      -     3.56 ms  torch.compile(dynamic=True)
        torch.compile(model, dynamic=True)

    $ symtape dynamic -q --json $RECORDINGS/levels.log.zst | tr '{' '\n' | grep -A 1 '"kind":"dynamic"'
    "kind":"dynamic","code":null,"numbers":false,"compiles":9,"eager":0,"compile_seconds":1.9944250846153846,"paste":[
    "code":null,"text":"torch.compile(model, dynamic=True)"}]}]}}

It is the only one where no statement can name the inputs, here names with a blank and a comma, and none beside marks that were given:

    $ odd() { sed "s/L\['\([xk]\)'\]/L['\1, ']/g"; }; zstd -dcq $RECORDINGS/sequence.log.zst | odd > odd.log; odd < $RECORDINGS/sequence.jsonl > odd.jsonl; symtape dynamic -q --calls odd.jsonl odd.log | sed -n '1,2p; /^To paste/,$p'
    12 calls: 4 compiles (2.21 s), 2 calls run eagerly
    3 compiles: PyTorch logged other reasons, so the calls are others, or a value changed that they do not list
    To paste
        # 4 compiles (about 2.25 s), 0 calls run eagerly instead of 2
        # without marks, for all functions; all sizes are symbols from the first call on, so kernels can be slower
        torch.compile(model, dynamic=True)

    $ symtape dynamic -q --marks "L['x']:0" $RECORDINGS/levels.log.zst | sed -n '/^To paste/,$p' | grep dynamic=True || echo none
    none
