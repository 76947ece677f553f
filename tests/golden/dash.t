# symtape dash

Two points of two runs each. The speed-up of alexnet differs by less than its runs do, so it is not
listed as regressed; dcgan and hf_T5 change no mean; yolov3 did not run before.

    $ cp -r $ROOT/tests/dash/* .

    $ symtape dash monday tuesday
    Points
      point    files  tapes  models  what is known of it
      monday       3      -       5  commit 3f9c2d1, torch 2.12.0, gpu H100
      tuesday      4      -       5  commit b70e4aa, torch 2.13.0, gpu H100

    Results
      suite       compiler  dtype  mode      device  point    models     passed  speed-up  compile time  memory ratio
      torchbench  inductor  amp    training  cuda    monday        5  80 %, 4/5     1.33x        18.2 s         0.98x
      torchbench  inductor  amp    training  cuda    tuesday       5  80 %, 4/5     1.33x        36.0 s         0.96x
      speed-up and memory ratio: geometric means over the models that passed; compile time and MFU: arithmetic means

    Before and after, over the models in common
      configuration                          measure          before      after   change  models
      torchbench inductor amp training cuda  passed        75 %, 3/4  75 %, 3/4        -       4
      torchbench inductor amp training cuda  speed-up          1.31x      1.20x   -7.9 %       2
      torchbench inductor amp training cuda  compile time     19.7 s     26.8 s  +35.8 %       2
      torchbench inductor amp training cuda  memory ratio      0.99x      0.99x        -       2

    Models that came, went or ended otherwise
      model     change      before       after          configuration
      dcgan     removed     pass         -              torchbench inductor amp training cuda
      hf_T5     added       -            pass           torchbench inductor amp training cuda
      resnet50  flaky       pass         fail_accuracy  torchbench inductor amp training cuda
      yolov3    passes now  fail_to_run  pass           torchbench inductor amp training cuda

    Most regressed
      model         measure       before   after       worse  configuration
      BERT_pytorch  compile time  31.0 s  45.1 s  1.45 times  torchbench inductor amp training cuda
      BERT_pytorch  speed-up       1.53x   1.30x  1.17 times  torchbench inductor amp training cuda

    Slowest
      model         measure   before  after       worse  configuration
      alexnet       speed-up   1.12x  1.11x       noise  torchbench inductor amp training cuda
      yolov3        speed-up       -  1.24x           -  torchbench inductor amp training cuda
      BERT_pytorch  speed-up   1.53x  1.30x  1.17 times  torchbench inductor amp training cuda
      hf_T5         speed-up       -  1.76x           -  torchbench inductor amp training cuda
      noise: no larger than the spread of repeated runs; ?: not repeated on both sides, so it may be noise

Expectations as PyTorch keeps them, with three blank lines between rows, which an update keeps.

    $ cp expected/*.csv before.csv

    $ symtape dash tuesday --expect expected | sed -n '1p;/Other/,/^$/p'
    1 as expected, 1 FAIL, 1 IMPROVED, 1 FLAKY, 2 MISSING
    Other than expected
      verdict   model         expected     is             graph breaks  why                configuration
      FAIL      BERT_pytorch  pass         pass                 0 -> 3  more graph breaks  torchbench inductor amp training cuda
      MISSING   hf_T5         -            pass                      -  no expectation     torchbench inductor amp training cuda
      FLAKY     resnet50      pass         fail_accuracy             -  repeats differ     torchbench inductor amp training cuda
      IMPROVED  yolov3        fail_to_run  pass                      -  it passes now      torchbench inductor amp training cuda
      MISSING   dcgan         pass         -                         -  not run            torchbench inductor amp training cuda

    $ symtape dash tuesday --expect expected --partial --flaky BERT_pytorch | head -1
    1 as expected, 1 IMPROVED, 2 FLAKY, 1 MISSING

    $ symtape dash tuesday --expect expected --update | head -1
    1 as expected, 1 FAIL, 1 IMPROVED, 1 FLAKY, 2 MISSING
    2> symtape: expected/inductor_torchbench_training.csv: updated

    $ diff before.csv expected/inductor_torchbench_training.csv
    5c5
    < BERT_pytorch,pass,0
    ---
    > BERT_pytorch,pass,3
    13c13
    < dcgan,pass,0
    ---
    > hf_T5,pass,0
    21c21
    < yolov3,fail_to_run,2
    ---
    > yolov3,pass,2
    [exit 1]

    $ symtape dash tuesday --expect expected | head -1
    4 as expected, 1 FLAKY

A file that does not exist is made.

    $ symtape dash tuesday/run2 --expect new.csv --update | head -1
    0 as expected, 5 MISSING
    2> symtape: new.csv: updated

    $ cat new.csv
    name,accuracy,graph_breaks
    BERT_pytorch,pass,3
    alexnet,pass,0
    hf_T5,pass,0
    resnet50,pass,0
    yolov3,pass,2

Tapes: the compile time is theirs, and the first difference that of symtape diff.

    $ mkdir a b && cp $RECORDINGS/train.log.zst a/x.log.zst && cp $RECORDINGS/encoder.log.zst b/x.log.zst

    $ symtape dash a b
    Points
      point  files  tapes  models  what is known of it
      a          -      1       1  torch 2.13.0+cpu
      b          -      1       1  torch 2.13.0+cpu

    Results
      point  models      passed  compile time
      a           1  100 %, 1/1        1.32 s
      b           1  100 %, 1/1        10.7 s
      speed-up and memory ratio: geometric means over the models that passed; compile time and MFU: arithmetic means

    Before and after, over the models in common
      configuration  measure           before       after      change  models
      -              passed        100 %, 1/1  100 %, 1/1           -       1
      -              compile time      1.32 s      10.7 s  +711.0 % ?       1
      noise: no larger than the spread of repeated runs; ?: not repeated on both sides, so it may be noise

    Most regressed
      model  measure       before   after         worse  first difference
      x      compile time  1.32 s  10.7 s  8.11 times ?  compiles new: forward at demo/encoder.py:55
      noise: no larger than the spread of repeated runs; ?: not repeated on both sides, so it may be noise

    Slowest
      model  measure       before   after         worse  first difference
      x      compile time  1.32 s  10.7 s  8.11 times ?  compiles new: forward at demo/encoder.py:55
      noise: no larger than the spread of repeated runs; ?: not repeated on both sides, so it may be noise

Tapes beside results are those of the same models.

    $ printf 'name,speedup\nx,1.5\n' > a/r.csv && printf 'name,speedup\nx,1.2\n' > b/r.csv

    $ symtape dash a b | sed -n '/Most/,/^$/p'
    Most regressed
      model  measure       before   after         worse  first difference
      x      compile time  1.32 s  10.7 s  8.11 times ?  compiles new: forward at demo/encoder.py:55
      x      speed-up       1.50x   1.20x  1.25 times ?  compiles new: forward at demo/encoder.py:55
      noise: no larger than the spread of repeated runs; ?: not repeated on both sides, so it may be noise

JSON lines, from a pipe; MFU from FLOPs and latencies.

    $ printf '{"model": "x", "device": "cuda", "speedup": 2, "flops": 2e12, "abs_latency": 10, "commit": "1a2b"}\n\n{"model": "y", "device": "cuda", "speedup": 8, "mfu": 0.4, "commit": "1a2b"}\n' > r.jsonl

    $ symtape dash - --peak-tflops 1000 < r.jsonl
    Points
      point  files  tapes  models  what is known of it
      -          1      -       2  commit 1a2b

    Results
      device  models      passed  speed-up     MFU
      cuda         2  100 %, 2/2     4.00x  30.0 %
      speed-up and memory ratio: geometric means over the models that passed; compile time and MFU: arithmetic means

    Slowest
      model  measure   after  configuration
      x      speed-up  2.00x  cuda
      y      speed-up  8.00x  cuda

    $ symtape dash --json r.jsonl | head -c 120
    {"schema":"symtape.dash/1","points":[{"point":"r.jsonl","files":1,"tapes":0,"models":2,"facts":[{"name":"commit","value"

History: charts for what two points have, and a section for each point.

    $ symtape dash monday tuesday -o week.html && grep -c '<svg' week.html && grep -o 'id="point-[0-9]"' week.html
    4
    id="point-0"
    id="point-1"

    $ symtape dash monday --to tuesday -o week.html
    2> symtape: week.html exists already; --overwrite replaces it
    [exit 2]

    $ symtape dash a b -o ab.html --pages && grep -o 'href="ab_files[^"]*"' ab.html | sort -u && grep -c 'symtape report' ab_files/1.html
    href="ab_files/1.html"
    3

    $ symtape dash a b -o 'a#b.html' --pages && grep -o 'href="a%[^"]*"' 'a#b.html' | sort -u
    href="a%23b_files/1.html"

    $ symtape dash a b --pages
    2> symtape: dash: --pages needs --html and -o FILE
    [exit 2]

    $ symtape dash a b --markdown | head -7
    ### symtape dash

    **Points**

    | point | files | tapes | models | what is known of it |
    | --- | ---: | ---: | ---: | --- |
    | a | 1 | 1 | 1 | `torch 2.13.0+cpu` |

    $ symtape dash a b a --base a | sed -n '/Before/,/^$/p'
    Before and after, over the models in common
      configuration  measure           before       after  change  models
      -              passed        100 %, 1/1  100 %, 1/1       -       1
      -              speed-up           1.50x       1.50x       -       1
      -              compile time      1.32 s      1.32 s       -       1

Times below 0 are missing, and from 0 there is no factor.

    $ printf 'name,speedup,compilation_latency\nx,2,0\ny,2,-1\n' > zero.csv; printf 'name,speedup,compilation_latency\nx,2,5\ny,2,4e10\n' > five.csv; symtape dash zero.csv five.csv
    Points
      point     files  tapes  models  what is known of it
      zero.csv      1      -       2  -
      five.csv      1      -       2  -

    Results
      point     models      passed  speed-up  compile time
      zero.csv       2  100 %, 2/2     2.00x          0 ns
      five.csv       2  100 %, 2/2     2.00x       2e+10 s
      speed-up and memory ratio: geometric means over the models that passed; compile time and MFU: arithmetic means

    Before and after, over the models in common
      configuration  measure           before       after    change  models
      -              passed        100 %, 2/2  100 %, 2/2         -       2
      -              speed-up           2.00x       2.00x         -       2
      -              compile time        0 ns      5.00 s  from 0 ?       1
      noise: no larger than the spread of repeated runs; ?: not repeated on both sides, so it may be noise

    Most regressed
      model  measure       before   after     worse
      x      compile time    0 ns  5.00 s  from 0 ?
      noise: no larger than the spread of repeated runs; ?: not repeated on both sides, so it may be noise

    Slowest
      model  measure   before  after
      x      speed-up   2.00x  2.00x
      y      speed-up   2.00x  2.00x

What cannot be read, and what makes no sense.

    $ printf 'name,speedup\nx,1.5x\n' > bad.csv && symtape dash bad.csv
    2> symtape: bad.csv: line 2: speedup: "1.5x" is not a number
    [exit 3]

    $ printf 'name,speedup\n"x,1.5\n' | symtape dash -
    2> symtape: -: line 2: a quote is not closed
    [exit 3]

    $ printf 'a,b\n1,2\n' | symtape dash -
    2> symtape: -: line 1: no column is "name" or "model"
    [exit 3]

    $ printf '{"name": "x"}\n{"speedup": 1}\n' | symtape dash -
    2> symtape: -: line 2: a row without a name
    [exit 3]

    $ symtape dash nowhere.csv
    2> symtape: nowhere.csv: No such file or directory
    [exit 4]

    $ mkdir empty && symtape dash empty
    2> symtape: empty: a folder without result files (.csv, .jsonl) or tapes (.tape, .log, .pt2)
    [exit 3]

    $ symtape dash a --expect expected
    2> symtape: dash: --expect expected is about none of the results: their suite, compiler, dtype, mode or device is another one, or they have no status
    [exit 2]

    $ symtape dash a --expect bad.csv
    2> symtape: bad.csv: line 1: the columns are not name, accuracy or status, graph_breaks
    [exit 3]

    $ gzip -k expected/inductor_torchbench_training.csv && symtape dash monday --expect expected/inductor_torchbench_training.csv.gz --update | head -1
    2> symtape: expected/inductor_torchbench_training.csv.gz: --update writes a plain file, and one that is as it was read

    $ symtape dash --to a
    2> symtape: dash: there is nothing before --to
    [exit 2]

    $ symtape dash a --base c
    2> symtape: dash: --base c: no point has this name
    [exit 2]

    $ symtape dash a --update
    2> symtape: dash: --update, --partial and --flaky need --expect
    [exit 2]

    $ symtape dash a --json --html
    2> symtape: dash: --json, --markdown and --html exclude each other
    [exit 2]

    $ symtape dash a --peak-tflops -3
    2> symtape: dash: --peak-tflops -3: not a number above 0
    [exit 2]
