Decompositions of torch/_decomp are run with their guards: affine_grid_generator, grid_sampler_2d and pad_sequence. A size that a guard made
a number is a plain int in Python's comparisons.

    $ symtape replay $RECORDINGS/grids.log.zst | head -n 2
    6 graphs of 3 attempts, 31 calls (9 Dynamo, 22 ATen): all match; 27 guards: 27 computed, 0 from the record
    kernel guards: 23 reproduced, 0 missing, 0 extra, 0 invisible
