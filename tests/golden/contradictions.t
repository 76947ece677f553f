# Records that contradict each other

A size of an input is in several records. Here the hint of its symbol is changed, which its description denies; the replay goes on
with the size of the description.

    $ zstd -dcq $RECORDINGS/mlp.log.zst | sed 's/"s77", "val": "6"/"s77", "val": "9"/' > hint.log; symtape replay hint.log
    4 graphs of 2 attempts, 20 calls (8 Dynamo, 12 ATen): 20 match, 0 mismatch, 0 refused, 0 unsupported; 0 adopted
    records that others contradict: 1 hint

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/0_0:dynamo_output_graph      4      4         -        -            -        -  -
    0/0_0:aot_inference_graph      6      6         -        -            -        -  -
    0/1_0:dynamo_output_graph      4      4         -        -            -        -  -
    0/1_0:aot_inference_graph      6      6         -        -            -        -  -

    0/1_0: hint s77, line 694 of the log
      recorded  9
      expected  6, as line 675 says
    [exit 1]

A guard that is false at the hints is named. What is applied instead is what agrees best with the guards of kernels after it.

    $ zstd -dcq $RECORDINGS/encoder.log.zst | sed 's/"expr": "Eq(Mod(s27, 8), 0)"/"expr": "Eq(Mod(s27, 8), 1)"/' > guard.log; symtape replay guard.log:0/1 | head -9
    2 graphs of 1 attempt, 288 calls (91 Dynamo, 197 ATen): 288 match, 0 mismatch, 0 refused, 0 unsupported; 0 adopted; 38 guards: 37 computed, 1 from the record
    kernel guards: 28 reproduced, 0 missing, 0 extra, 0 invisible
    other guards: 6 torch function, 4 dynamo, 0 backend, 0 user
    records that others contradict: 1 guard

    graph                      calls  match  mismatch  refused  unsupported  adopted  error
    0/1_0:dynamo_output_graph     91     91         -        -            -        -  -
    0/1_0:aot_inference_graph    197    197         -        -            -        -  -

A specialization to another number than the hint, and a description of which its storage and its placeholders differ.

    $ zstd -dcq $RECORDINGS/encoder.log.zst | sed 's/"value": "32", "reason"/"value": "33", "reason"/' > number.log; symtape replay number.log --json | grep -o '"contradictions":.[^]]*' | cut -c 1-300
    "contradictions":[{"recording":"number","compile":"0/0","attempt":0,"kind":"specialization","line":105,"name":"s53","recorded":"33","expected":"32"},{"recording":"number","compile":"0/0","attempt":1,"kind":"specialization","line":1774,"name":"s53","recorded":"33","expected":"32"},{"recording":"numbe

    $ zstd -dcq $RECORDINGS/train.log.zst | sed 's/"size": .50, 16./"size": [51, 16]/' > description.log; symtape replay description.log | tail -n 4

    0/0_0: description L['self']._modules['embedding']._parameters['weight'], line 62 of the log
      recorded  f32[51, 16][16, 1]cpu
      expected  f32[50, 16][16, 1]cpu, as line 150 says

Their number is a measure, so that a limit can be set on it.

    $ symtape check --max contradictions:0 hint.log
    1 of 1 limit is exceeded
      verdict    limit                 baseline  here  change  allowed  meaning
      regressed  max contradictions:0         -     1       -        0  records that other records of their attempt contradict
    [exit 1]
