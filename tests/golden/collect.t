# symtape collect, query, each, merge

A corpus has the tables of many tapes. What is there already is not read again.

    $ cp -r $RECORDINGS/train.log.zst $RECORDINGS/mlp.log.zst $RECORDINGS/two_ranks .; symtape collect train.log.zst two_ranks --revision r1 -o all.sqlite
    all.sqlite: 3 tapes, 3 of them new

    $ symtape collect train.log.zst mlp.log.zst --revision r2 -o all.sqlite
    all.sqlite: 4 tapes, 1 of them new

    $ symtape query all.sqlite tapes
    id  name                                                         model             revision  recordings  torch       compile_ms  damaged
     3  mlp.log.zst                                                  mlp               r2                 1  2.13.0+cpu     778.885        0
     2  train.log.zst                                                train             r1                 1  2.13.0+cpu    1317.298        0
     4  two_ranks/dedicated_log_torch_trace_rank_0_0a4jbz6o.log.zst  two_ranks/rank_0  r1                 1  2.13.0+cpu     470.326        0
     1  two_ranks/dedicated_log_torch_trace_rank_1_gpsqnfsx.log.zst  two_ranks/rank_1  r1                 1  2.13.0+cpu      477.21        0

    $ symtape query all.sqlite models --format csv
    model,revision,tapes,compiles,compile_ms_per_tape,guards,graphs
    mlp,r2,1,2,778.885,0,4
    train,r1,1,1,1317.298,1,4
    two_ranks/rank_0,r1,1,1,470.326,0,2
    two_ranks/rank_1,r1,1,1,477.21,0,2

    $ symtape query all.sqlite --sql 'SELECT count(*) AS guards FROM guards g JOIN tapes t ON t.id = g.tape_id WHERE t.model = :model' model=mlp --json
    {"schema":"symtape.query/1","query":null,"columns":["guards"],"rows":[[0]],"more":false}

    $ symtape query all.sqlite slower before=r1 after=r2
    2> symtape: no rows

    $ symtape query --list
    query            parameters     what it answers
    tapes            -              the tapes, with what their compiles took
    models           -              models by revision: tapes, compiles, compile time, guards
    slower           before, after  models whose compiles got slower from one revision to another
    results          revision       a revision's failures and compile times, for symtape dash (CSV)
    lines            -              user lines by the compile time that they cause
    guards           -              user lines by the guards that they add, with one of them
    operators        -              operators by dispatch time (deep recordings), then by calls
    recompiles       -              guards that cause most recompiles
    breaks           -              user lines that break graphs
    failures         -              exceptions that ended compiles
    restarts         -              reasons for which compiles restarted, and the time thrown away
    specializations  -              user lines at which symbols became numbers
    phases           -              phases of the compiler by their time without the phases inside them
    caches           -              look-ups of PyTorch's caches by their results
    ranks            -              compiles that have not the same graphs and guards in all recordings of a tape

    $ symtape query --show caches
    SELECT cache, result, count(*) AS times, count(DISTINCT tape_id) AS tapes,
           round(sum(ns) / 1e6, 3) AS ms
    FROM caches GROUP BY cache, result ORDER BY cache, result

A file that is none does not stop the rest.

    $ echo nothing > nothing.log; symtape collect nothing.log $RECORDINGS/cond.log.zst -o bad.sqlite
    bad.sqlite: 1 tape, 1 of them new; 1 could not be read
    2> symtape: nothing.log: it contains no record of TORCH_TRACE; symtape record makes recordings
    [exit 3]

    $ symtape collect --json nothing.log nowhere.tape -o bad.sqlite
    {"schema":"symtape.collect/1","output":"bad.sqlite","tapes":1,"added":0,"given":2,"passed_over":0,"failed":[{"name":"nowhere.tape","error":"nowhere.tape: No such file or directory"},{"name":"nothing.log","error":"nothing.log: it contains no record of TORCH_TRACE; symtape record makes recordings"}]}
    2> symtape: nowhere.tape: No such file or directory
    2> symtape: nothing.log: it contains no record of TORCH_TRACE; symtape record makes recordings
    [exit 4]

In a folder, logs of other programs are passed over.

    $ mkdir logs; cp nothing.log $RECORDINGS/cond.log.zst logs; symtape collect logs -o folder.sqlite
    folder.sqlite: 1 tape, 1 of them new; 1 log has no record of TORCH_TRACE

From a pipe, in parts, and as JSON lines.

    $ symtape collect - --name run/train.log.zst -o pipe.sqlite < $RECORDINGS/train.log.zst
    pipe.sqlite: 1 tape, 1 of them new

    $ cp -r $RECORDINGS/starts .; for k in 1 2 3; do symtape collect --shard $k/3 two_ranks starts -o part$k.sqlite; done
    part1.sqlite: 1 tape, 1 of them new
    part2.sqlite: 0 tapes, 0 of them new
    part3.sqlite: 3 tapes, 3 of them new

    $ symtape merge part3.sqlite part1.sqlite part2.sqlite -o merged.sqlite; symtape collect two_ranks starts -o once.sqlite; cmp merged.sqlite once.sqlite
    merged.sqlite: 4 tapes, 4 of them new
    once.sqlite: 4 tapes, 4 of them new

    $ symtape collect --jsonl lines $RECORDINGS/train.log.zst; ls lines | cut -c 1-13; cat lines/*/tapes.jsonl
    lines: 1 tape, 1 of them new
    tape=8a006b5b
    {"name":"$RECORDINGS/train.log.zst","model":"train","revision":null,"bytes":21604}

A command for each tape.

    $ symtape each check --max guards:1 $RECORDINGS/train.log.zst $RECORDINGS/mlp.log.zst nowhere.log | cut -d , -f 1-6
    {"schema":"symtape.each/1","command":"check","tape":"$RECORDINGS/mlp.log.zst","exit":0,"result":{"schema":"symtape.check/1","verdict":"holds"
    {"schema":"symtape.each/1","command":"check","tape":"$RECORDINGS/train.log.zst","exit":0,"result":{"schema":"symtape.check/1","verdict":"holds"
    {"schema":"symtape.each/1","command":"check","tape":"nowhere.log","exit":4,"result":null}
    2> symtape: nowhere.log: No such file or directory

    $ for k in 1 2; do symtape each -o part$k.jsonl --shard $k/2 info starts; done; symtape merge part2.jsonl part1.jsonl | wc -l
    2

What makes no sense.

    $ symtape collect logs
    2> symtape: collect: use -o CORPUS or --jsonl DIR
    [exit 2]

    $ symtape collect -o - logs
    2> symtape: collect: -o -: a corpus is a file that is added to
    [exit 2]

    $ symtape collect -o nothing.log logs
    2> symtape: nothing.log: file is not a database
    [exit 3]

    $ symtape collect --shard 3/2 -o x.sqlite logs
    2> symtape: --shard 3/2: not K/N with 1 <= K <= N, such as 3/8
    [exit 2]

    $ symtape collect - - -o x.sqlite < /dev/null
    x.sqlite: 0 tapes, 0 of them new; 1 could not be read
    2> symtape: standard input is empty
    [exit 3]

    $ symtape query all.sqlite
    2> symtape: query: name a CORPUS and a query, or --sql; symtape query --list lists the queries
    [exit 2]

    $ symtape query all.sqlite taps
    2> symtape: query: there is no query "taps"; did you mean "tapes"?; symtape query --list has them
    [exit 2]

    $ symtape query all.sqlite slower before=r1
    2> symtape: the query needs after=VALUE
    [exit 2]

    $ symtape query all.sqlite slower before=r1 after=r2 also=r3
    2> symtape: the query has no parameter "also"
    [exit 2]

    $ symtape query all.sqlite tapes nothing
    2> symtape: nothing: a parameter is NAME=VALUE
    [exit 2]

    $ symtape query nothing.log tapes
    2> symtape: nothing.log: file is not a database
    [exit 3]

    $ symtape query all.sqlite --sql 'PRAGMA table_info(tapes)'
    2> symtape: all.sqlite: not authorized: a query is a SELECT, and only reads
    [exit 2]

    $ symtape each record logs
    2> symtape: each: not with record: it does not take a TAPE
    [exit 2]

    $ symtape each collect logs
    2> symtape: each: not with collect: it does not take a TAPE
    [exit 2]

    $ symtape each check --json --output x logs
    2> symtape: each: --output of check: the results are JSON lines
    [exit 2]

    $ symtape each nothing logs
    2> symtape: unknown command "nothing"; symtape help lists them
    [exit 2]

    $ symtape merge all.sqlite part1.jsonl
    2> symtape: merge: corpora and JSON lines cannot be joined
    [exit 2]

    $ symtape merge all.sqlite
    2> symtape: merge: corpora need -o CORPUS
    [exit 2]

    $ symtape merge nothing.log
    2> symtape: nothing.log: line at byte 0: offset 0: expected a value
    [exit 3]
