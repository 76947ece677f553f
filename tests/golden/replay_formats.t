A convolution asks nothing of what pooling or another convolution made channels last. The batch of vmap becomes a part of the channels, the
rows or the samples, fill_diagonal_() makes numbers of strides, and a float that a guard replaced is specialized as its replacement. Of a view
that PyTorch's cache made it is known whether it is contiguous, so that no guard is about that.

    $ symtape replay $RECORDINGS/formats.log.zst | head -n 2
    16 graphs of 8 attempts, 113 calls (38 Dynamo, 75 ATen): all match; 38 guards: 25 computed, 13 from the record
    kernel guards: 20 reproduced, 0 missing, 0 extra, 1 invisible
