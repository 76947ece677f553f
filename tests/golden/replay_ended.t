A compile that was ended while AOTAutograd traced has Dynamo's graph only. The guards that the trace asked for are of calls without a graph:
no rule is said to miss them.

    $ zstd -dcq $RECORDINGS/encoder.log.zst | sed '/{"aot_[a-z]*_graph"/,$d' > ended.log
    $ symtape replay ended.log | head -n 2
    1 graph of 1 attempt, 102 calls: all match; 77 guards: 66 computed, 11 from the record
    kernel guards: 55 reproduced, 0 missing, 0 extra, 0 invisible, 10 of calls without a graph
