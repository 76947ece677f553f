# Tapes: import, info, export

    $ symtape import -o ranks.tape $RECORDINGS/two_ranks
    2> symtape: ranks.tape: 106 records of 2 recordings, 195 kB of log in {*} of tape

An existing one is kept unless --overwrite says otherwise.

    $ symtape import -o ranks.tape $RECORDINGS/mlp.log.zst
    2> symtape: ranks.tape exists already; --overwrite replaces it
    [exit 2]

    $ symtape import --overwrite --json -o ranks.tape $RECORDINGS/two_ranks
    {"schema":"symtape.import/1","tape":"ranks.tape","recordings":2,"records":106,"payloads":54,"damaged":0,"bytes":195257,"input_bytes":32608,"tape_bytes":{*},"damage":[],"interrupted":false}

    $ symtape info ranks.tape
    106 records, 54 payloads, 195 kB of log in {*} of tape ({*})
    4 symbols, 0 guards of 2 attempts (not counted: 0 suppressed, 0 runtime asserts)

    tape        recording  rank    pid  torch       records  payloads  damaged  whole
    ranks.tape  rank0         0  19263  2.13.0+cpu       53        27        0  yes
    ranks.tape  rank1         1  19264  2.13.0+cpu       53        27        0  yes

    recording  compile  attempt  status  records  symbols  guards  graphs  calls
    rank0      0/0            0  ok           33        2       0       2      8
    rank1      0/0            0  ok           33        2       0       2      8

    count  event
       40  chromium_event
       38  str
        8  artifact
        4  create_symbol
        2  aot_inference_graph
        2  compilation_metrics
        2  describe_source
        2  describe_storage
        2  describe_tensor
        2  dynamo_cpp_guards_str
        2  dynamo_output_graph
        2  dynamo_start

    $ symtape info --json ranks.tape@rank1 | python3 -c 'import json, sys
    > info = json.load(sys.stdin)
    > print(info["records"], info["events"]["create_symbol"], [r["name"] for r in info["recordings"]])'
    53 2 ['rank1']

Logs come back byte for byte: one by its name, several into a folder, a single one without either.

    $ symtape export ranks.tape
    2> symtape: export: ranks.tape has 2 recordings; name one (@rank0 @rank1 ...) or -o FOLDER
    [exit 2]

    $ symtape export ranks.tape@rank1 -o rank1.log

    $ symtape export --log ranks.tape -o logs && ls logs && cmp logs/rank1.log rank1.log
    rank0.log
    rank1.log

    $ zstd -dc $RECORDINGS/two_ranks/*rank_1_* | cmp - rank1.log

    $ symtape export ranks.tape -o logs
    2> symtape: logs/rank0.log exists already; --overwrite replaces it
    [exit 2]

    $ zstd -dc $RECORDINGS/mlp.log.zst | symtape export - | symtape import -o - - | symtape export - |
    > cmp - <(zstd -dc $RECORDINGS/mlp.log.zst)
    2> symtape: -: 113 records of 1 recording, 194 kB of log in {*} of tape

Damage is placed; --strict refuses it.

    $ zstd -dc $RECORDINGS/mlp.log.zst | head -c 20000 > cut.log

    $ symtape import -o cut.tape cut.log
    2> symtape: 1 damaged place; kept as raw bytes, the rest was read
    2> symtape: cut.log:269: offset 19813: offset 61: expected ':'
    2> symtape: cut.tape: 34 records of 1 recording, 20.0 kB of log in {*} of tape

    $ symtape info cut.tape | head -4
    34 records, 14 payloads, 20.0 kB of log in {*} of tape ({*})
    0 symbols, 0 guards of 1 attempt (not counted: 0 suppressed, 0 runtime asserts)
    1 damaged place

    2> symtape: cut.tape: 1 place is damaged; the rest was read
    2> symtape: cut.log:269: offset 19813: not a record

    $ symtape info --strict cut.tape
    2> symtape: cut.tape: cut.log:269: offset 19813: not a record
    [exit 3]

    $ symtape import --strict -o strict.tape cut.log; ls strict.tape
    2> symtape: cut.log:269: offset 19813: offset 61: expected ':'
    2> ls: cannot access 'strict.tape': No such file or directory
    [exit 2]
