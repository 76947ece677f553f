# symtape TAPE

A file that is there is diagnosed without a command; options may stand before it and behind it.

    $ symtape import -q $RECORDINGS/graph_break.log.zst -o broken.tape

    $ symtape import -q $RECORDINGS/mlp.log.zst -o info

    $ symtape import -q $RECORDINGS/two_ranks -o ranks.tape

    $ symtape broken.tape | head -1
    466 ms of compiling: 4 compiles, 5 attempts, 8 graphs, 0 guards; 175 records

    $ symtape diagnose broken.tape | cmp - <(symtape broken.tape) && echo same
    same

    $ symtape --json broken.tape | cmp - <(symtape broken.tape --json) && echo same
    same

    $ symtape broken.tape --json | head -c 30; echo
    {"schema":"symtape.diagnosis/1

    $ symtape --all broken.tape | cmp - <(symtape broken.tape --all) && echo same
    same

A command's name wins over a file's; a path names the file.

    $ symtape info
    2> symtape: info: an argument is missing; usage: symtape info [options] TAPE[@RECORDING]...
    [exit 2]

    $ symtape ./info | head -1
    779 ms of compiling: 2 compiles, 2 attempts, 4 graphs, 0 guards; 113 records

A mistyped command gets its suggestion unless there is such a file, and a path that is not there is not a command.

    $ symtape infos
    2> symtape: unknown command "infos"; did you mean "info"?
    [exit 2]

    $ symtape brocken.tape
    2> symtape: brocken.tape: there is no such file or command
    [exit 2]

    $ symtape ./nowhere
    2> symtape: ./nowhere: there is no such file or command
    [exit 2]

    $ symtape nowhere.tape@rank0
    2> symtape: nowhere.tape@rank0: there is no such file or command
    [exit 2]

Standard input, a selector, several tapes.

    $ symtape - < broken.tape | head -1
    466 ms of compiling: 4 compiles, 5 attempts, 8 graphs, 0 guards; 175 records

    $ symtape broken.tape:0/0 | head -1
    236 ms of compiling: 1 compile, 2 attempts, 2 graphs, 0 guards; 175 records

    $ symtape ranks.tape@rank1 | head -1
    477 ms of compiling: 1 compile, 1 attempt, 2 graphs, 0 guards; 53 records

    $ symtape ranks.tape@rank7
    2> symtape: ranks.tape: no recording rank7; there are rank0, rank1
    [exit 2]

    $ symtape broken.tape:9/9
    2> symtape: broken.tape: no compile 9/9; there are 0/0_0, 0/0_1, 1/0_0, 1/1_0, 1/2_0
    [exit 2]

    $ symtape broken.tape ranks.tape | head -1
    1.41 s of compiling: 6 compiles, 7 attempts, 12 graphs, 0 guards; 281 records

    $ symtape broken.tape nowhere.tape
    2> symtape: nowhere.tape: No such file or directory
    [exit 4]

    $ symtape ranks.tape@rank0 broken.tape
    2> symtape: ranks.tape@rank0: of several tapes each is read whole; name one tape, or use --recording and --compile
    [exit 2]

What is no log, and a folder without logs.

    $ printf 'hello\n' > text.log && symtape text.log
    2> symtape: text.log: it contains no record of TORCH_TRACE; symtape record makes recordings
    [exit 3]

    $ mkdir empty && symtape ./empty
    2> symtape: ./empty: a folder without logs (*.log, *.log.zst, *.log.gz) or .pt2 files
    [exit 3]

Output goes to a file only once unless --overwrite says otherwise.

    $ symtape broken.tape -o out.txt && head -1 out.txt
    466 ms of compiling: 4 compiles, 5 attempts, 8 graphs, 0 guards; 175 records

    $ symtape broken.tape -o out.txt
    2> symtape: out.txt exists already; --overwrite replaces it
    [exit 2]

    $ symtape broken.tape --json -o out.txt --overwrite && head -c 30 out.txt; echo
    {"schema":"symtape.diagnosis/1

    $ symtape broken.tape -o - | cmp - <(symtape broken.tape) && echo same
    same

    $ symtape broken.tape --al
    2> symtape: diagnose: unknown option --al; did you mean --all?
    [exit 2]
