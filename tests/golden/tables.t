# A tape as tables

Nothing is printed; tests/tables.py compares the tables with what other commands print.

    $ symtape export --sqlite run.sqlite --jsonl run $RECORDINGS/encoder.log.zst; ls; ls run
    run
    run.sqlite
    attempts.jsonl.zst
    caches.jsonl.zst
    call_forms.jsonl.zst
    calls.jsonl.zst
    compiles.jsonl.zst
    counters.jsonl.zst
    dispatches.jsonl.zst
    graphs.jsonl.zst
    guards.jsonl.zst
    incidents.jsonl.zst
    lines.jsonl.zst
    nodes.jsonl.zst
    operators.jsonl.zst
    phases.jsonl.zst
    recordings.jsonl.zst
    stacks.jsonl.zst
    symbols.jsonl.zst

    $ sqlite3 run.sqlite "SELECT c.name, a.number, a.status, count(*) FROM guards g JOIN attempts a ON a.id = g.attempt_id JOIN compiles c ON c.id = g.compile_id WHERE g.kind = 'guard' GROUP BY a.id"
    0/0|0|restarted|77
    0/0|1|ok|77
    0/1|0|ok|38

    $ zstd -dc run/attempts.jsonl.zst
    {"id":0,"recording_id":0,"compile_id":0,"number":0,"status":"restarted","kept":false,"start_us":0,"end_us":4421000,"records":278,"log_line":1}
    {"id":1,"recording_id":0,"compile_id":0,"number":1,"status":"ok","kept":true,"start_us":4422000,"end_us":8139000,"records":284,"log_line":1731}
    {"id":2,"recording_id":0,"compile_id":1,"number":0,"status":"ok","kept":true,"start_us":8157000,"end_us":10706000,"records":238,"log_line":4106}

Files that exist stay, unless --overwrite says otherwise.

    $ symtape export --sqlite run.sqlite $RECORDINGS/encoder.log.zst
    2> symtape: run.sqlite exists already; --overwrite replaces it
    [exit 2]

    $ symtape export --jsonl run $RECORDINGS/encoder.log.zst
    2> symtape: run/recordings.jsonl.zst exists already; --overwrite replaces it
    [exit 2]

    $ symtape export --overwrite --sqlite run.sqlite --jsonl run $RECORDINGS/encoder.log.zst:0/1; zstd -dc run/attempts.jsonl.zst; sqlite3 run.sqlite 'SELECT name FROM compiles'
    {"id":2,"recording_id":0,"compile_id":0,"number":0,"status":"ok","kept":true,"start_us":8157000,"end_us":10706000,"records":238,"log_line":4106}
    0/1

    $ symtape export --jsonl nowhere/run $RECORDINGS/encoder.log.zst
    2> symtape: nowhere/run: No such file or directory
    [exit 4]

    $ symtape export --sqlite nowhere/run.sqlite $RECORDINGS/encoder.log.zst
    2> symtape: nowhere/run.sqlite: No such file or directory
    [exit 4]

A database can go to standard output; nothing is left in the folder for temporary files.

    $ symtape export --sqlite - $RECORDINGS/mlp.log.zst | head -c 15; echo; ls
    SQLite format 3
    run
    run.sqlite

    $ TMPDIR=/nowhere symtape export --sqlite new.sqlite $RECORDINGS/mlp.log.zst; ls
    run
    run.sqlite
    2> symtape: /nowhere: this folder cannot be used for a database (TMPDIR): No such file or directory

# What makes no sense

    $ symtape export --sqlite a.sqlite --python $RECORDINGS/mlp.log.zst
    2> symtape: export: --sqlite and --jsonl exclude --log and --python
    [exit 2]

    $ symtape export --jsonl a -o b $RECORDINGS/mlp.log.zst
    2> symtape: export: --sqlite and --jsonl name their output themselves, and exclude --output
    [exit 2]

    $ symtape export --jsonl a $RECORDINGS/mlp.log.zst:0/1:inference
    2> symtape: export: $RECORDINGS/mlp.log.zst:0/1:inference: name a tape, a recording or a compile here, not a graph
    [exit 2]

    $ symtape export --jsonl a $RECORDINGS/mlp.log.zst:7/7
    2> symtape: $RECORDINGS/mlp.log.zst: no compile 7/7; there are 0/0_0, 0/1_0
    [exit 2]
