symtape run on the fake devices: ranks exchange values through the fake NCCL, which checks the calls.

Requires: cuda

    $ export SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=8 TAPE=$RECORDINGS/collectives/eight.log.zst; FAKE_NCCL_TRACE=trace symtape run --ranks 8 --backend cuda --compare-with cpu $TAPE | head -1
    8 ranks, 24 graphs on cuda, compared with cpu: all agree; peak memory 13.4 kB

    $ cut -d, -f1 trace | sort | uniq -c
          3 all_gather of 8
          6 all_reduce of 8
          3 broadcast of 8
          3 reduce_scatter of 8
        192 send of 8

Fewer devices than ranks, and no NCCL: the host exchanges the values.

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=2 symtape run --ranks 8 --backend cuda --compare-with cpu $RECORDINGS/collectives/eight.log.zst:0/0 | head -1
    8 ranks, 8 graphs on cuda, compared with cpu: all agree; peak memory 6.72 kB
    2> symtape: 8 ranks share 2 devices: the host computes their collectives, without NCCL

    $ SYMTAPE_CUDA_WITHOUT=nccl SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=8 symtape run --ranks 8 --backend cuda --compare-with cpu $RECORDINGS/collectives/eight.log.zst:0/0 | head -1
    8 ranks, 8 graphs on cuda, compared with cpu: all agree; peak memory 6.72 kB
    2> symtape: the host computes collectives: NCCL: $SYMTAPE_CUDA_WITHOUT switches it off

NCCL that fails:

    $ FAKE_NCCL=refuse SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=8 symtape run --ranks 8 --backend cuda $RECORDINGS/collectives/eight.log.zst:0/0 2>&1 | sed 's/.*NCCL:/NCCL:/'
    NCCL: ncclCommInitAll: unhandled system error ($NCCL_DEBUG=WARN says more; $SYMTAPE_CUDA_WITHOUT=nccl runs without it)
    8 ranks, 8 graphs on cuda: all failed

    $ FAKE_NCCL=broken SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=8 symtape run --ranks 8 --backend cuda $RECORDINGS/collectives/eight.log.zst:0/0 2>&1 | sed 's/.*NCCL:/NCCL:/'
    NCCL: all_reduce: unhandled system error ($NCCL_DEBUG=WARN says more; $SYMTAPE_CUDA_WITHOUT=nccl runs without it)
    8 ranks, 8 graphs on cuda: all failed

A device that is lost:

    $ SYMTAPE_FAKE_LOST=1:700 SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=2 symtape run --ranks 2 --backend cuda $RECORDINGS/collectives/two.log.zst:0/0 2>&1 | grep -c ILLEGAL_ADDRESS
    1

Kernels that are in no cache are compiled where they are needed: a rank that repeated its calls for them would meet again in collectives
that the others have passed.

    $ XDG_CACHE_HOME=$PWD/empty SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=2 symtape run --backend cuda $RECORDINGS/ranks_missing/*.zst | head -1
    the ranks diverge: missing, rank 1, collective 2 of process group "0"
