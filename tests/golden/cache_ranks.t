# symtape cache --ranks

Two ranks that compile the same function:

    $ symtape cache --ranks $RECORDINGS/two_ranks
    rank1 was the last in 1 of 1 compile; the others were ready 33.9 ms earlier in all

    Compiles by begin; ahead: ready before the last one was
      begin    took  rank   compile    ahead  last   collective  graphs  function
       0 ns  470 ms  rank0  0/0      33.9 ms  rank1           -          average demo/two_ranks.py:12
    27.0 ms  477 ms  rank1  0/0            -                  -          average demo/two_ranks.py:12

    $ echo 'script -qec "stty cols $1; COLUMNS= $2" /dev/null < /dev/null | tr -d "\r"' > tty

    $ sh tty 60 "symtape cache --ranks $RECORDINGS/two_ranks"
    rank1 was the last in 1 of 1 compile; the others were ready
      33.9 ms earlier in all

    Compiles by begin; ahead: ready before the last one was
      begin    took  rank   compile    ahead  last   graphs
       0 ns  470 ms  rank0  0/0      33.9 ms  rank1
    27.0 ms  477 ms  rank1  0/0            -

Requires: script

Two starts, one after another; the second one takes what the first one compiled:

    $ symtape cache --ranks -n 4 $RECORDINGS/starts/warm.log.zst $RECORDINGS/starts/cold.log.zst
    2 recordings, made one after another
    7 graphs compiled, 3 from the cache (3 that another one had compiled)

    Compiles by begin
     begin    took  rank  compile  ahead  last  collective  graphs      function
      0 ns  22.7 s  cold  0/0          -                 -  1 compiled  project demo/starts.py:41
    22.7 s  1.29 s  cold  0/1          -                 -  1 compiled  project demo/starts.py:41
    24.0 s  1.65 s  cold  1/0          -                 -  1 compiled  forward demo/starts.py:32
    25.7 s  1.25 s  cold  2/0          -                 -  1 compiled  forward demo/starts.py:37
      ... and 6 more

    $ symtape cache --ranks -n 6 $RECORDINGS/starts | tail -3
    27.0 s  1.00 s  cold  2/0 backward      -                 -  1 compiled  forward demo/starts.py:37
    35.0 s  3.69 s  warm  0/0               -                 -  1 compiled  project demo/starts.py:41
      ... and 4 more

A recording alone:

    $ symtape cache --ranks $RECORDINGS/mlp.log.zst
    1 recording: no compile is on more than one

    Compiles by begin; ahead: ready before the last one was
     begin    took  rank  compile  ahead  last  collective  graphs  function
      0 ns  401 ms  mlp   0/0          -                 -          forward demo/mlp.py:14
    449 ms  378 ms  mlp   0/1          -                 -          forward demo/mlp.py:14

A recording that is alone on its tape is named by the tape's file:

    $ symtape import -q -o first.tape $RECORDINGS/mlp.log.zst && cp first.tape second.tape

    $ symtape cache --ranks first.tape second.tape | grep 0/0
      0 ns  401 ms  first   0/0          -                  -          forward demo/mlp.py:14
      0 ns  401 ms  second  0/0          -  first           -          forward demo/mlp.py:14

Recordings of one name are told apart by their files:

    $ symtape cache --ranks -n 2 $RECORDINGS/two_ranks $RECORDINGS/two_ranks
    two_ranks@rank1 was the last in 1 of 1 compile

    Compiles by begin; ahead: ready before the last one was
    begin    took  rank             compile    ahead  last             collective  graphs  function
     0 ns  470 ms  two_ranks@rank0  0/0      33.9 ms  two_ranks@rank1           -          average demo/two_ranks.py:12
     0 ns  470 ms  two_ranks@rank0  0/0      33.9 ms  two_ranks@rank1           -          average demo/two_ranks.py:12
      ... and 2 more

JSON:

    $ symtape cache --ranks --json $RECORDINGS/two_ranks | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["schema"], d["totals"]); print(d["recordings"]); print(d["compiles"][0])'
    symtape.cache.ranks/1 {'in_turn': False, 'shared': 1, 'compiled': 0, 'taken': 0, 'taken_from_others': 0, 'repeated': 0, 'repeated_seconds': 0, 'apart': 0, 'apart_seconds': 0}
    [{'recording': 'rank0', 'last': 0, 'unfinished': 0, 'late_seconds': 0, 'collective_seconds': 0}, {'recording': 'rank1', 'last': 1, 'unfinished': 0, 'late_seconds': 0.0338823, 'collective_seconds': 0}]
    {'recording': 'rank0', 'compile': '0/0', 'backward': False, 'function': 'average', 'file': '/home/user/demo/two_ranks.py', 'line': 12, 'begin_ns': 1795168230350079800, 'end_ns': 1795168230820406200, 'compiled': 0, 'taken': 0, 'from': None, 'had': None, 'last': 'rank1', 'ahead_seconds': 0.0338823, 'waited_for': None, 'waited_seconds': 0, 'waiting': False}

Options of calls, parts of tapes, and bad input:

    $ symtape cache --ranks --inputs x=1 $RECORDINGS/two_ranks
    2> symtape: --calls, --inputs, --all, --policy and the limits are for one tape
    [exit 2]

    $ symtape cache --ranks $RECORDINGS/two_ranks@rank0
    2> symtape: $RECORDINGS/two_ranks@rank0: --ranks takes whole tapes
    [exit 2]

    $ symtape cache --ranks nowhere.tape $RECORDINGS/two_ranks
    2> symtape: nowhere.tape: No such file or directory
    [exit 4]

    $ symtape cache --ranks $RECORDINGS/exported.pt2
    1 recording: no compile is on more than one
