What is to be shown to strangers: tapes that are redacted, results of minify without names.

A graph whose names, path, code line and string are secrets. None is in any file that is written, nor in what is printed: not in
the error's text, the journal, or the pattern that a program looks for. A pattern of the user's that names one of them is
looked for by what takes its place.

    $ cat > in.fx <<'END'
    > class GraphModule(torch.nn.Module):
    >     def forward(self, secretproj_x: "f32[4, 8][8, 1]cpu"):
    >         # File: /home/alice/SECRETMODEL.py:3 in forward, code: SECRETCODE = 1
    >         secret_div: "f32[4, 8][8, 1]cpu" = torch.ops.aten.div.Tensor_mode(secretproj_x, secretproj_x, rounding_mode = 'SECRETSTRING')
    >         return (secret_div,)
    > END

    $ unset SYMTAPE_PYTHON; for how in '' '--error SECRETSTRING' '--has-ops aten.div' "--check 'sh -c \"echo /home/alice/said; grep -q Tensor_mode \\\"\$SYMTAPE_FX\\\"\"'"; do rm -rf out; mkdir out; eval symtape minify in.fx --anonymize -o out/t.tape --fx out/a.fx --repro out/r.py --good out/g.fx --issue out/i.md $how >out/out 2>&1; echo $?; ls out | wc -l; zstd -dcq out/t.tape > out/tape; grep -lraiE 'SECRET|alice' out; done
    0
    7
    0
    7
    0
    7
    0
    7
    [exit 1]

    $ symtape minify in.fx --anonymize -o t.tape 2>&1 | grep '^failure'
    failure: RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'string0'

What is known already stays known, in a tape that exists: the same is replaced as if the log had been read.

    $ symtape import -q -o plain.tape $RECORDINGS/train.log.zst; symtape import -o shown.tape plain.tape
    2> symtape: plain.tape is a tape already
    [exit 2]

    $ symtape import -q --redact -o shown.tape plain.tape; symtape import -q --redact -o log.tape $RECORDINGS/train.log.zst

    $ for tape in shown log; do symtape export $tape.tape | sed -E 's#redacted/[0-9a-f]{10}#HASH#g; s/"has_payload": "[0-9a-f]*"//' > $tape.log; done; cmp shown.log log.log; grep -c /home/user shown.log
    0
    [exit 1]

    $ symtape replay shown.tape | head -2; symtape replay plain.tape | head -2
    4 graphs of 1 attempt, 89 calls (8 Dynamo, 40 joint, 41 ATen): all match; 1 guard: 1 computed, 0 from the record
    kernel guards: 1 reproduced, 0 missing, 0 extra, 0 invisible
    4 graphs of 1 attempt, 89 calls (8 Dynamo, 40 joint, 41 ATen): all match; 1 guard: 1 computed, 0 from the record
    kernel guards: 1 reproduced, 0 missing, 0 extra, 0 invisible

A folder's hash is another one in each tape.

    $ symtape export shown.tape | grep -oE -m 1 '/redacted/[0-9a-f]{10}/train' > a; symtape export log.tape | grep -oE -m 1 '/redacted/[0-9a-f]{10}/train' > b; cmp -s a b || echo differs; wc -l < a
    differs
    1

Several recordings keep their names. A tape is read twice, so it cannot come on standard input.

    $ symtape import -q -o two.tape $RECORDINGS/two_ranks; symtape import -q --redact -o three.tape two.tape; symtape info three.tape | grep -c rank
    5

    $ symtape import --redact -o four.tape - < two.tape
    2> symtape: standard input: redacting reads a tape twice; name a file instead of standard input
    [exit 2]
