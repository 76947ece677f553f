What levels, which PyTorch does not have, would have compiled over the calls of tests/models/levels.py.

By hand: first() calls second() and that calls third(), which needs a value. PyTorch compiles six graphs for the first size and
six for the others: 12. With levels that is a graph before the value and one after it, twice: 4. select() needs the
positions that nonzero() found, whose number is a symbol at once: 2 in place of 3. loss() has two forwards in both; with
levels either has a backward for contiguous gradients and one for others: 4 in place of 2.

    $ symtape cache -q --policy levels $RECORDINGS/levels.log.zst
    With levels 12 compiles instead of 19; about 2.46 s instead of 2.53 s
    a call of first runs 2 graphs instead of 6
    150 of 627 guards were asked twice: an entry that answered before in the same call has them, too
    2 backwards with a gradient that is not contiguous: PyTorch copies it unless the output has its layout
    1 compile of a backward whose time the tape does not have, so that it is not counted

    Compiles by level; the estimate is the time with levels
    level             compiles  with levels     time  estimate
    1: the function          9            5   1.86 s    1.86 s
    2: after 1 value         8            3   671 ms    606 ms
    backward                 2            4  1.58 ms   3.16 ms

    Artifacts, forwards before backwards, each with the call that compiles it
    artifact  level  call  answers  estimate  graph of
           0      1     0        1    382 ms  first + second + third
           1      2     0        1    174 ms  third at 9 + second at 14 + first at 19
           2      1     2        2    567 ms  first + second + third
           3      2     2        2    323 ms  third at 9 + second at 14 + first at 19
           4      1     5        4   95.2 ms  select
           5      2     5        4    110 ms  select at 24
           6      1    10        1    683 ms  loss
           7      1    14        2    127 ms  loss
           8      1    11        0   1.58 ms  backward: loss
           9      1    13        0   1.58 ms  backward, strided gradient: loss
          10      1    15        1         -  backward: loss
          11      1    19        0         -  backward, strided gradient: loss

    Compiles that levels do not make, and the artifact instead
    call  compile     time  artifact     function
       0  1/0      75.6 ms  part of 0    second
       0  2/0      66.3 ms  part of 0    third
       0  4/0      56.1 ms  part of 1    second at 14
       0  5/0      57.3 ms  part of 1    first at 19
       2  1/1       309 ms  part of 2    second
       2  2/1       121 ms  part of 2    third
       2  4/1       115 ms  part of 3    second at 14
       2  5/1      80.6 ms  part of 3    first at 19
       6  7/1       110 ms  in place: 5  select at 24

In 60 columns:

    $ script -qec "stty cols 60; COLUMNS= symtape cache -q -n 4 --policy levels $RECORDINGS/levels.log.zst" /dev/null < /dev/null | tr -d "\r" | sed "s,\x1b\\[[0-9;]*m,,g"
    With levels 12 compiles instead of 19; about 2.46 s instead
    of 2.53 s
    a call of first runs 2 graphs instead of 6
    150 of 627 guards were asked twice: an entry that answered
    before in the same call has them, too
    2 backwards with a gradient that is not contiguous: PyTorch
    copies it unless the output has its layout
    1 compile of a backward whose time the tape does not have,
    so that it is not counted

    Compiles by level; the estimate is the time with levels
    level             compiles  with levels     time  estimate
    1: the function          9            5   1.86 s    1.86 s
    2: after 1 value         8            3   671 ms    606 ms
    backward                 2            4  1.58 ms   3.16 ms

    Artifacts, forwards before backwards, each with the call
      that compiles it
    artifact  level  call  answers  graph of
           0      1     0        1  first + second + third
           1      2     0        1  third at 9 + second at 14...
           2      1     2        2  first + second + third
           3      2     2        2  third at 9 + second at 14...
      ... and 8 more

    Compiles that levels do not make, and the artifact instead
    call  compile     time  artifact   function
       0  1/0      75.6 ms  part of 0  second
       0  2/0      66.3 ms  part of 0  third
       0  4/0      56.1 ms  part of 1  second at 14
       0  5/0      57.3 ms  part of 1  first at 19
      ... and 5 more

    $ symtape cache -q --policy levels --json $RECORDINGS/levels.log.zst | head -c 1500
    {"schema":"symtape.cache.levels/1","totals":{"recorded":19,"compiles":12,"recorded_seconds":2.527879,"seconds":2.464838,"guards":{"asked":627,"again":150,"partial":false},"copied_gradients":2,"data_breaks":10,"other_breaks":0,"no_frames":false,"no_backwards":false,"untimed":1,"doubtful":0,"contradictions":0},"levels":[{"level":1,"recorded":9,"compiles":5,"recorded_seconds":1.8553179999999998,"seconds":1.8553180000000002},{"level":2,"recorded":8,"compiles":3,"recorded_seconds":0.670981,"seconds":0.60636}],"backward":{"recorded":2,"compiles":4,"recorded_seconds":0.00158,"seconds":0.00316},"functions":[{"code":"/home/user/demo/levels.py:17:first","call":0,"recorded":6,"graphs":2},{"code":"/home/user/demo/levels.py:22:select","call":5,"recorded":2,"graphs":2},{"code":"/home/user/demo/levels.py:28:loss","call":10,"recorded":1,"graphs":1}],"artifacts":[{"level":1,"backward":false,"strided_gradient":false,"call":0,"answers":1,"seconds":0.38233799999999996,"graphs":["/home/user/demo/levels.py:17:first","/home/user/demo/levels.py:13:second","/home/user/demo/levels.py:7:third"]},{"level":2,"backward":false,"strided_gradient":false,"call":0,"answers":1,"seconds":0.173909,"graphs":["/home/user/demo/levels.py:9:torch_dynamo_resume_in_third_at_9","/home/user/demo/levels.py:14:torch_dynamo_resume_in_second_at_14","/home/user/demo/levels.py:19:torch_dynamo_resume_in_first_at_19"]},{"level":1,"backward":false,"strided_gradient":false,"call":2,"answers":2,"seconds":0.5672600000000001,"graphs":

Calls without their frames, and without backward calls; the policy that is the default:

    $ symtape cache -q --policy levels --calls $RECORDINGS/sequence.jsonl $RECORDINGS/sequence.log.zst
    With levels 4 compiles instead of 4; about 2.21 s instead of 2.21 s

    Compiles by level; the estimate is the time with levels
    level            compiles  with levels    time  estimate
    1: the function         4            4  2.21 s    2.21 s

    Artifacts, forwards before backwards, each with the call that compiles it
    artifact  level  call  answers  estimate  graph of
           0      1     0        1    1.03 s  scale
           1      1     2        1    456 ms  scale
           2      1     4        3    408 ms  scale
           3      1     6        1    310 ms  scale

    $ symtape cache -q --policy recorded $RECORDINGS/levels.log.zst | head -4
    15 calls and 5 backwards: 17 compiles (2.53 s) and 1 of a backward (1.58 ms); from call 16 on all hit
    their own 15 look-ups: 10 hits, 5 compiles (1.28 s)
    inside them 30 look-ups: 18 hits, 12 compiles (1.24 s)
    their 5 backwards: 4 hits, 1 compile (1.58 ms)

    $ symtape cache --policy layers $RECORDINGS/levels.log.zst
    2> symtape: cache: --policy: "layers" is not one of recorded|levels
    [exit 2]
