# symtape check

A baseline of a tape holds for the tape itself; budgets need none.

    $ symtape check --save base.json $RECORDINGS/encoder.log.zst
    2> symtape: base.json: the baseline of 1 tape

    $ grep -E 'schema|torch|"guards"|ms_per_op' base.json
      "schema": "symtape.baseline/1",
      "torch": ["2.13.0+cpu"],
        "guards": {"value": 192},
        "guards_torch_function": {"value": 20},
        "ms_per_op": {"value": 25.255940898345155},

    $ symtape check -b base.json $RECORDINGS/encoder.log.zst
    8 limits hold
      verdict  limit               baseline  here  change  allowed  meaning
      holds    guards:+0                192   192       0      192  guards on sizes, those of restarted attempts included
      holds    calls:+0                 423   423       0      423  calls in the forward, backward and inference graphs of last attempts: ATen calls
      holds    symbols:+0                36    36       0       36  symbols that were created
      holds    specializations:+0        21    21       0       21  symbols that became a number
      holds    restarts:+0                1     1       0        1  attempts that were thrown away
      holds    recompiles:+0              1     1       0        1  compiles since a guard of an earlier one failed
      holds    breaks:+0                  0     0       0        0  graph breaks
      holds    failures:+0                0     0       0        0  errors that ended a compile

    $ symtape check --max guards:100,dispatches:5000,breaks:0 $RECORDINGS/encoder.log.zst
    1 of 3 limits is exceeded
      verdict    limit                baseline   here  change  allowed  meaning
      regressed  max guards:100              -    192       -      100  guards on sizes, those of restarted attempts included
      holds      max dispatches:5000         -  1,911       -    5,000  dispatches of FakeTensorMode in one replay
      holds      max breaks:0                -      0       -        0  graph breaks
    [exit 1]

Another program: what changed without a limit is listed, and what it does not measure cannot be told.

    $ symtape check -b base.json --fail-on recompiles:+0,breaks:+0,calls:+5% $RECORDINGS/graph_break.log.zst | head -9
    2 of 3 limits are exceeded
      verdict    limit          baseline  here          change  allowed  meaning
      regressed  recompiles:+0         1     2   +1 (+100.0 %)        1  compiles since a guard of an earlier one failed
      regressed  breaks:+0             0     1              +1        0  graph breaks
      holds      calls:+5%           423    11  -412 (-97.4 %)    444.1  calls in the forward, backward and inference graphs of last attempts: ATen calls

    Changed without a limit
      measure                baseline  here            change  meaning
      compiles                      2     4     +2 (+100.0 %)  compile ids, compiles and recompiles

    $ symtape check -b base.json --fail-on breaks:+0,guards:-50% -f markdown $RECORDINGS/graph_break.log.zst | head -6
    ### symtape check: **regressed**

    |  | limit | baseline | here | change |  |
    | --- | --- | ---: | ---: | ---: | --- |
    | **regressed** | breaks:+0 | 0 | 1 | +1 | graph breaks |
    | **regressed** | guards:-50% | 192 | 0 | -192 (-100.0 %) | guards on sizes, those of restarted attempts included |

    $ symtape check -b base.json --fail-on calls_exported:+0 $RECORDINGS/encoder.log.zst
    1 of 1 limit cannot be judged
      verdict      limit              baseline  here  change  allowed  meaning
      cannot tell  calls_exported:+0         -     -       -        -  the tapes do not record it
    [exit 125]

One attempt, one compile. The compile that the restart made has its own measures.

    $ symtape check --list $RECORDINGS/encoder.log.zst:0/0_1 | grep -E '^(guards|attempts|calls) '
    attempts                     1  recorded   attempts of all compiles
    calls                      226  recorded   calls in the forward, backward and inference graphs of last attempts: ATen calls
    guards                      77  recorded   guards on sizes, those of restarted attempts included

    $ symtape check --max guards:38 $RECORDINGS/encoder.log.zst:0/1 | head -1
    1 limit holds

JSON.

    $ symtape check --json -b base.json --max guards:100 $RECORDINGS/encoder.log.zst | python3 -c 'import json, sys
    > c = json.load(sys.stdin)
    > print(c["schema"], c["verdict"], c["notes"], len(c["limits"]))
    > print(c["limits"][-1])'
    symtape.check/1 regressed [] 9
    {'limit': 'guards:100', 'kind': 'max', 'measure': 'guards', 'unit': '', 'source': 'recorded', 'verdict': 'regressed', 'baseline': {'value': 192, 'least': 192, 'greatest': 192, 'n': 1}, 'here': {'value': 192, 'least': 192, 'greatest': 192, 'n': 1}, 'change': 0, 'allowed': 100, 'why': None}

Exit codes that git bisect run understands.

    $ symtape check --bisect-codes -b base.json $RECORDINGS/encoder.log.zst | head -1
    8 limits hold

    $ symtape check --bisect-codes --max guards:1 $RECORDINGS/encoder.log.zst > /dev/null
    [exit 1]

    $ symtape check --bisect-codes --max guards:1 nowhere.tape
    2> symtape: nowhere.tape: No such file or directory
    [exit 125]

    $ symtape check --bisect-codes --max calls_exported:1 $RECORDINGS/encoder.log.zst > /dev/null
    [exit 125]

    $ symtape check --bisect-codes --max guard:1 $RECORDINGS/encoder.log.zst
    2> symtape: check: --max: "guard" is not a measure; did you mean "guards"?
    [exit 129]

Mistakes.

    $ symtape check $RECORDINGS/encoder.log.zst
    2> symtape: check: there is nothing to check; use --baseline FILE, --max LIMITS or --save FILE
    [exit 2]

    $ symtape check --max guards:1
    2> symtape: check: name a TAPE
    [exit 2]

    $ symtape check --fail-on guards:+0 $RECORDINGS/encoder.log.zst
    2> symtape: check: --fail-on needs --baseline FILE
    [exit 2]

    $ symtape check --max guards:few $RECORDINGS/encoder.log.zst
    2> symtape: check: --max: guards: "few" is not a limit; it must be a number, as in 500 or 20.5
    [exit 2]

    $ symtape check --save base.json $RECORDINGS/encoder.log.zst
    2> symtape: base.json exists already; --overwrite replaces it
    [exit 2]

    $ symtape check -b $RECORDINGS/encoder.log.zst $RECORDINGS/encoder.log.zst
    2> symtape: $RECORDINGS/encoder.log.zst: offset 0: expected a value
    [exit 3]

    $ echo '{"schema": "symtape.baseline/9"}' > later.json; symtape check -b later.json $RECORDINGS/encoder.log.zst
    2> symtape: later.json: symtape.baseline/9: it was written by a later symtape; this one knows symtape.baseline/1
    [exit 3]

    $ symtape check --max guards:1 $RECORDINGS/encoder.log.zst:0/0:inference
    2> symtape: check: $RECORDINGS/encoder.log.zst:0/0:inference: name a tape or a compile; a single graph has no measures
    [exit 2]

Limits that hold do not hide that the program failed.

    $ symtape check -q --max guards:9 $RECORDINGS/data_dependent.log.zst
    1 limit holds; 1 compile failed in PyTorch
      verdict  limit         baseline  here  change  allowed  meaning
      holds    max guards:9         -     0       -        9  guards on sizes, those of restarted attempts included

    $ symtape check -q --max guards:9 --format markdown $RECORDINGS/data_dependent.log.zst | head -1
    ### symtape check: holds; 1 compile failed in PyTorch

    $ symtape check -q --max guards:9 --json $RECORDINGS/data_dependent.log.zst | grep -o '"failed":1'
    "failed":1
