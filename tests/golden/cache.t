# symtape cache

Calls with other lengths, another scale and another mode, until the limit of 4 is reached:

    $ symtape cache --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    12 calls: 6 hits, 4 compiles (2.21 s), 2 run without compiled code
    recompile_limit was reached at call 7, with 4 entries: from then on demo/sequence.py:13 in scale runs eagerly where no entry answers

    call  function  outcome       compile time  turned away by
       0  scale     compiled 0/0        1.03 s
       1  scale     hit 0/0                  -
       2  scale     compiled 0/1        456 ms  0/0: tensor 'x' size mismatch at index 0. expected 4, actual 6
       3  scale     hit 0/1                  -
       4  scale     compiled 0/2        408 ms  0/1: k == 2; and 1 more
       5  scale     hit 0/2                  -
       6  scale     compiled 0/3        310 ms  0/2: options['mode'] == 'sum'; and 2 more
       7  scale     eager 0/4                -  limit reached; 0/3: 2 <= x.size()[0]; and 3 more
       8  scale     eager                    -  limit reached before; 0/3: options['mode'] == 'keep'; and 3 more
       9  scale     hit 0/2                  -  0/3: options['mode'] == 'keep'
      10  scale     hit 0/3                  -  0/2: options['mode'] == 'sum'
      11  scale     hit 0/2                  -  0/3: options['mode'] == 'keep'

    Entries; a hit saves the time of its compile
    entry  hits  guards  compile time   saved  code
    0/0       1      13        1.03 s  1.03 s  demo/sequence.py:13 in scale
    0/1       1      14        456 ms  456 ms  demo/sequence.py:13 in scale
    0/2       3      14        408 ms  1.22 s  demo/sequence.py:13 in scale
    0/3       1      14        310 ms  310 ms  demo/sequence.py:13 in scale

A higher limit: the tape does not have the compiles that would have followed.

    $ symtape cache -q --calls $RECORDINGS/sequence.jsonl --recompile-limit 8 $RECORDINGS/sequence.log.zst | head -14
    12 calls: 6 hits, 6 compiles (2.21 s for 4 of them; the tape does not have the other 2)
    2 compiles not on the tape: the guards are those of another entry with other sizes

    call  function  outcome        compile time  turned away by
       0  scale     compiled 0/0         1.03 s
       1  scale     hit 0/0                   -
       2  scale     compiled 0/1         456 ms  0/0: tensor 'x' size mismatch at index 0. expected 4, actual 6
       3  scale     hit 0/1                   -
       4  scale     compiled 0/2         408 ms  0/1: k == 2; and 1 more
       5  scale     hit 0/2                   -
       6  scale     compiled 0/3         310 ms  0/2: options['mode'] == 'sum'; and 2 more
       7  scale     compiled 0/4?             -  0/3: 2 <= x.size()[0]; and 3 more
       8  scale     compiled 0/5?             -  0/4?: options['mode'] == 'keep'; and 4 more
       9  scale     hit 0/2                   -  0/5?: tensor 'x' size mismatch at index 0. expected 1, actual 9; and 2 more

A lower one:

    $ symtape cache -q --calls $RECORDINGS/sequence.jsonl --recompile-limit 2 -n 4 $RECORDINGS/sequence.log.zst
    12 calls: 2 hits, 2 compiles (1.49 s), 8 run without compiled code
    recompile_limit was reached at call 4, with 2 entries: from then on demo/sequence.py:13 in scale runs eagerly where no entry answers
    2 compiles of the tape not asked for by these calls

    call  function  outcome       compile time  turned away by
       0  scale     compiled 0/0        1.03 s
       1  scale     hit 0/0                  -
       2  scale     compiled 0/1        456 ms  0/0: tensor 'x' size mismatch at index 0. expected 4, actual 6
       3  scale     hit 0/1                  -
      ... and 8 more

    Entries; a hit saves the time of its compile
    entry  hits  guards  compile time   saved  code
    0/0       1      13        1.03 s  1.03 s  demo/sequence.py:13 in scale
    0/1       1      14        456 ms  456 ms  demo/sequence.py:13 in scale

All entries are checked, also behind the one that answers:

    $ symtape cache -q --all --json --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst | head -c 1200
    {"schema":"symtape.cache/1","totals":{"calls":12,"hits":6,"compiles":4,"eager":2,"unknown":0,"compile_seconds":2.2079419999999996,"inside":{"lookups":0,"hits":0,"compiles":0,"eager":0,"unknown":0,"compile_seconds":0},"backward":{"calls":0,"hits":0,"compiles":0,"eager":0,"unknown":0,"compile_seconds":0},"contradictions":0,"assumed":0,"unused":0,"saved_seconds":3.0243479999999994},"unlisted":[],"guessed":[],"limits":{"recompile_limit":4,"accumulated_recompile_limit":256},"calls":[{"call":0,"parent":null,"function":"scale","lookups":[{"code":"/home/user/demo/sequence.py:13:scale","outcome":"compiled","answered":"0/0","compile":"0/0","why":null,"limit":null,"checks":[]}],"saved_seconds":null},{"call":1,"parent":null,"function":"scale","lookups":[{"code":"/home/user/demo/sequence.py:13:scale","outcome":"hit","answered":"0/0","compile":null,"why":null,"limit":null,"checks":[{"entry":"0/0","pass":true,"guard":null,"source":null}]}],"saved_seconds":1.034341},{"call":2,"parent":null,"function":"scale","lookups":[{"code":"/home/user/demo/sequence.py:13:scale","outcome":"compiled","answered":"0/1","compile":"0/1","why":null,"limit":null,"checks":[{"entry":"0/0","pass":false,"guard":"tensor 'x

Calls by hand; what a call does not list is as it was:

    $ cat > calls.jsonl <<'END'
    > {"call": 0, "function": "scale", "args": [{"source": "L[\"x\"]", "size": [4, 8], "stride": [8, 1], "dtype": "torch.float32"},
    >  {"source": "L['k']", "type": "int", "value": 2}]}
    > END

    $ tr '\n' ' ' < calls.jsonl > one.jsonl

    $ symtape cache -q --calls one.jsonl $RECORDINGS/sequence.log.zst
    1 call: 0 hits, 1 compile (1.03 s)
    4 compiles of the tape not asked for by these calls

    call  function  outcome       compile time  turned away by
       0  scale     compiled 0/0        1.03 s

    Entries; a hit saves the time of its compile
    entry  hits  guards  compile time  saved  code
    0/0       0      13        1.03 s      -  demo/sequence.py:13 in scale

    $ echo '{"call": 0, "function": "scale"}' | symtape cache -q --calls - $RECORDINGS/sequence.log.zst
    1 call: 0 hits, 1 compile (1.03 s)
    4 compiles of the tape not asked for by these calls

    call  function  outcome       compile time  turned away by
       0  scale     compiled 0/0        1.03 s

    Entries; a hit saves the time of its compile
    entry  hits  guards  compile time  saved  code
    0/0       0      13        1.03 s      -  demo/sequence.py:13 in scale

Calls on the tape, some of which cannot be read:

    $ printf 'no row\n{"call": 0, "function": "scale"}\n{"call": 7, "as": 5}' > rows

    $ zstd -dcq $RECORDINGS/sequence.log.zst > with.log

    $ printf 'V1120 12:00:00.000000 880 torch/a.py:1] {"symtape_calls": {"calls": 3}, "has_payload": "%s"}\n' $(md5sum < rows | cut -d' ' -f1) >> with.log

    $ sed 's/^/\t/' rows >> with.log; echo >> with.log

    $ symtape cache with.log | head -1
    1 call: 0 hits, 1 compile (1.03 s)
    2> symtape: 2 calls on the tape could not be read

Errors name the line:

    $ symtape cache --calls calls.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: calls.jsonl: line 1: offset 125: expected a value
    [exit 3]

    $ printf '{"program": 1}\n{"call": 0}\n' > bad.jsonl; symtape cache --calls bad.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: bad.jsonl: line 2: a call has no "function"
    [exit 3]

    $ echo '{"call": 0, "function": "f", "args": [{"size": [1]}]}' > bad.jsonl; symtape cache --calls bad.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: bad.jsonl: line 1: a value has no "source"
    [exit 3]

    $ echo '{"call": 0, "function": "f", "args": [{"source": "x", "size": [1], "stride": []}]}' > bad.jsonl; symtape cache --calls bad.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: bad.jsonl: line 1: a tensor needs as many strides as sizes, at most 64
    [exit 3]

    $ echo '{"call": 0, "function": "f", "args": [{"source": "x", "size": ["a"], "stride": [1]}]}' > bad.jsonl; symtape cache --calls bad.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: bad.jsonl: line 1: sizes and strides are lists of integers
    [exit 3]

    $ echo '{"call": 0, "function": "f", "args": [{"source": "x", "len": -1}]}' > bad.jsonl; symtape cache --calls bad.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: bad.jsonl: line 1: "len" is not a length
    [exit 3]

    $ echo '[1]' > bad.jsonl; symtape cache --calls bad.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: bad.jsonl: line 1: not an object
    [exit 3]

    $ : > bad.jsonl; symtape cache --calls bad.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: bad.jsonl: no calls; each line is an object with "call"
    [exit 3]

    $ symtape cache --calls nowhere.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: nowhere.jsonl: No such file or directory
    [exit 4]

    $ symtape cache $RECORDINGS/sequence.log.zst
    2> symtape: $RECORDINGS/sequence.log.zst has no calls: record them with symtape record --calls, or name a file with --calls FILE
    [exit 2]

    $ symtape cache --calls $RECORDINGS/sequence.jsonl $RECORDINGS/exported.pt2
    2> symtape: $RECORDINGS/exported.pt2 has no compiles of Dynamo
    [exit 2]

    $ symtape cache --recompile-limit 0 --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: --recompile-limit must be at least 1
    [exit 2]

    $ symtape cache --accumulated-recompile-limit 0 --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: --accumulated-recompile-limit must be at least 1
    [exit 2]

Calls that are written down:

    $ symtape cache -q --inputs "L['x'].size()[0]=4,4,6,6;L['k']=2,2,2" $RECORDINGS/sequence.log.zst
    4 calls: 2 hits, 2 compiles (1.49 s)
    3 compiles of the tape not asked for by these calls

    call  function  outcome       compile time  turned away by
       0  scale     compiled 0/0        1.03 s
       1  scale     hit 0/0                  -
       2  scale     compiled 0/1        456 ms  0/0: tensor 'x' size mismatch at index 0. expected 4, actual 6
       3  scale     hit 0/1                  -

    Entries; a hit saves the time of its compile
    entry  hits  guards  compile time   saved  code
    0/0       1      13        1.03 s  1.03 s  demo/sequence.py:13 in scale
    0/1       1      14        456 ms  456 ms  demo/sequence.py:13 in scale

In another order, and sizes that the tape does not have:

    $ symtape cache -q --inputs "L['x'].size()[0]=9,4,1,30,31;L['x'].size()[1]=8,8,8,9,10" $RECORDINGS/sequence.log.zst
    5 calls: 1 hit, 4 compiles (456 ms for 1 of them; the tape does not have the other 3)
    3 compiles not on the tape: the guards are those of another entry with other sizes
    1 compile of the tape not asked for by these calls

    call  function  outcome        compile time  turned away by
       0  scale     compiled 0/0?             -
       1  scale     compiled 0/1         456 ms  0/0?: tensor 'x' size mismatch at index 0. expected 9, actual 4
       2  scale     compiled 0/2?             -  0/1: 2 <= x.size()[0]; and 1 more
       3  scale     compiled 0/3?             -  0/2?: tensor 'x' size mismatch at index 0. expected 1, actual 30; and 2 more
       4  scale     hit 0/3?                  -

    Entries; a hit saves the time of its compile
    entry  hits  guards  compile time  saved  code
    0/0?      0      13             -      -  demo/sequence.py:13 in scale
    0/1       0      14        456 ms      -  demo/sequence.py:13 in scale
    0/2?      0      14             -      -  demo/sequence.py:13 in scale
    0/3?      1      14             -      -  demo/sequence.py:13 in scale

Names as the reports print them stand for locals:

    $ for name in "x.size()[0]" "x.size(0)" "x.shape[0]"; do
    >   symtape cache -q --inputs "$name=9,4,1,30,31;x.size(1)=8,8,8,9,10;k=2" $RECORDINGS/sequence.log.zst | head -1
    > done
    5 calls: 1 hit, 4 compiles (456 ms for 1 of them; the tape does not have the other 3)
    5 calls: 1 hit, 4 compiles (456 ms for 1 of them; the tape does not have the other 3)
    5 calls: 1 hit, 4 compiles (456 ms for 1 of them; the tape does not have the other 3)

    $ symtape cache --inputs 's0' $RECORDINGS/sequence.log.zst
    2> symtape: --inputs: give values of s0: s0=4,8
    [exit 2]

    $ symtape cache --inputs 's0=4' $RECORDINGS/sequence.log.zst
    2> symtape: --inputs: the tape has no symbol s0, and no guard about L['s0']
    [exit 2]

    $ symtape cache --inputs "L['q']=3" $RECORDINGS/sequence.log.zst
    2> symtape: --inputs: no guard on the tape is about L['q']
    [exit 2]

    $ symtape cache --inputs "L['k']=x" $RECORDINGS/sequence.log.zst
    2> symtape: --inputs: L['k']: "x" is no value of it
    [exit 2]

    $ symtape cache --inputs "L['x'].shape[0]=-1" $RECORDINGS/sequence.log.zst
    2> symtape: --inputs: L['x'].shape[0]: "-1" is no value of it
    [exit 2]

    $ symtape cache --inputs "L['k']=3" --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    2> symtape: --inputs and --calls exclude each other
    [exit 2]

Look-ups in Inductor's caches follow the entries; "full_miss" says no more than "miss":

    $ echo '{"call": 0, "function": "forward"}' | symtape cache -q --calls - $RECORDINGS/inductor.log.zst | tail -3
    compile  cache        outcome    time  key           differs from the compile before
    0/0      AOTAutograd  miss          -  afwed4leexlg
    0/0      FX graph     miss     10.1 s  f3llzb6un3re

With backwards, or frames inside the calls, the first line is of all of them. The backward of a call belongs to the entry that answered it; a call that the list does not have leaves that open. A call that was made inside another one says so:

    $ cat > backward.jsonl <<'END'
    > {"call": 0, "function": "forward", "args": []}
    > {"call": 1, "function": "backward", "backward_of": 0}
    > {"call": 2, "parent": 0, "function": "forward", "args": []}
    > {"call": 3, "backward_of": 2, "parent": 2, "function": "backward"}
    > {"call": 4, "function": "backward", "backward_of": 9, "parent": 3}
    > END

    $ symtape cache --calls backward.jsonl $RECORDINGS/train.log.zst
    2 calls and 3 backwards: 1 compile (1.32 s)
    their own 2 look-ups: 1 hit, 1 compile (1.32 s)
    their 3 backwards: 2 hits, 0 compiles, 1 of an entry that is not known

    call  function                       outcome       compile time  turned away by
       0  forward                        compiled 0/0        1.32 s
       1  backward of 0                  hit 0/0                  -
       2  forward (inside call 0)        hit 0/0                  -
       3  backward of 2 (inside call 2)  hit 0/0                  -
       4  backward of 9 (inside call 3)  unknown                  -

    Entries; a hit saves the time of its compile
    entry  hits  guards  compile time   saved  code
    0/0       1     110        1.32 s  1.32 s  demo/train.py:16 in forward

    $ symtape cache --json --calls backward.jsonl $RECORDINGS/train.log.zst | grep -o '"backwards":.*"entries"'
    "backwards":[{"call":1,"parent":null,"backward_of":0,"outcome":"hit","entry":"0/0","seconds":0},{"call":3,"parent":2,"backward_of":2,"outcome":"hit","entry":"0/0","seconds":0},{"call":4,"parent":3,"backward_of":9,"outcome":"unknown","entry":null,"seconds":0}],"entries":[{"compile":"0/0","code":"/home/user/demo/train.py:16:forward","region":null,"assumed_from":null,"hits":1,"seconds":1.317298,"guards":110,"undecidable":1}],"artifacts":[],"order":[{"code":"/home/user/demo/train.py:16:forward","entries"
