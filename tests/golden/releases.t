What releases of PyTorch do differently (replay/shape/env/behaviors.def): the same program, recorded by three of them, is replayed as each
did it.

    $ for r in "" torch-2.14/ torch-2.15/; do symtape replay $RECORDINGS/${r}releases.log.zst | head -n 2; done
    8 graphs of 3 attempts, 45 calls (12 Dynamo, 6 joint, 27 ATen): all match; 46 guards: 46 computed, 0 from the record
    kernel guards: 43 reproduced, 0 missing, 0 extra, 0 invisible
    8 graphs of 3 attempts, 45 calls (12 Dynamo, 6 joint, 27 ATen): all match; 41 guards: 41 computed, 0 from the record
    kernel guards: 38 reproduced, 0 missing, 0 extra, 0 invisible
    8 graphs of 3 attempts, 45 calls (12 Dynamo, 6 joint, 27 ATen): all match; 31 guards: 31 computed, 0 from the record
    kernel guards: 26 reproduced, 0 missing, 0 extra, 0 invisible

Meta kernels of 2.15 that were references before, and copies into parts, which the reference of expand checks:

    $ symtape replay $RECORDINGS/torch-2.15/meta_kernels.log.zst | head -n 2
    8 graphs of 4 attempts, 36 calls (8 Dynamo, 28 ATen): all match; 20 guards: 20 computed, 0 from the record
    kernel guards: 16 reproduced, 0 missing, 0 extra, 0 invisible

A release that the caller names is simulated instead.

    $ symtape replay --torch 2.11 $RECORDINGS/releases.log.zst | head -n 2
    8 graphs of 3 attempts, 45 calls (12 Dynamo, 6 joint, 27 ATen): 43 match, 2 mismatch, 0 refused, 0 unsupported; 0 adopted; 46 guards: 38 computed, 8 from the record
    kernel guards: 35 reproduced, 8 missing, 6 extra, 0 invisible

    $ symtape replay --torch 2.13.1+cpu $RECORDINGS/torch-2.15/releases.log.zst | head -n 2
    8 graphs of 3 attempts, 45 calls (12 Dynamo, 6 joint, 27 ATen): all match; 31 guards: 31 computed, 0 from the record
    kernel guards: 26 reproduced, 0 missing, 12 extra, 0 invisible

    $ symtape replay --torch new $RECORDINGS/releases.log.zst
    2> symtape: --torch new: not a version such as 2.13
    [exit 2]

Logs of torch 2.10 and 2.11 name it in the metrics of a compile.

    $ cd $RECORDINGS/torch-2.11; symtape info cond.log.zst | sed -n 4,5p
    tape          recording  rank  pid  torch         records  payloads  damaged  whole
    cond.log.zst  cond          -  449  2.11.0+cu130       50        25        0  yes
