symtape run on the fake devices: ranks exchange values through the fake NCCL, which checks the calls.

Requires: cuda

    $ export SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=8 TAPE=$RECORDINGS/collectives/eight.log.zst; FAKE_NCCL_TRACE=trace symtape run --ranks 8 --backend cuda --compare-with cpu $TAPE | head -1
    8 ranks, 24 graphs on cuda, compared with cpu: all agree; peak memory 10.1 kB

    $ cut -d, -f1 trace | sort | uniq -c
          3 all_gather of 8
          6 all_reduce of 8
          3 broadcast of 8
          3 reduce_scatter of 8
        192 send of 8

A run that is profiled is captured. It is cut at its collectives, and computes what the calls compute.

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=2 symtape run --ranks 2 --backend cuda --profile --runs 2 $RECORDINGS/collectives/two.log.zst --sizes s77=4,s27=3 --json | grep -o '"captured":[^,]*\|"captured_\(pieces\|collectives\)":[0-9]*\|"captured_differs":[^,]*' | sort | uniq -c
          6 "captured":true
          6 "captured_collectives":6
          6 "captured_differs":false
          6 "captured_pieces":1

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=2 symtape run --ranks 2 --backend cuda --profile --runs 2 $RECORDINGS/collectives/two.log.zst:0/0 | grep -o 'launched as [^,]*'
    launched as 1 CUDA graph and 6 collectives
    launched as 1 CUDA graph and 6 collectives

Collectives of the host cannot stand between CUDA graphs.

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=2 SYMTAPE_CUDA_WITHOUT=nccl symtape run -q --ranks 2 --backend cuda --profile --runs 2 $RECORDINGS/collectives/two.log.zst:0/0 | grep -c 'cannot be launched as one CUDA graph: .*all_reduce'
    2

The calls of a launch that fail:

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=2 SYMTAPE_FAKE_FAIL=cuGraphLaunch:5:700 symtape run --ranks 2 --backend cuda --profile --runs 2 $RECORDINGS/collectives/two.log.zst:0/0 2>&1 | grep -o 'launching a CUDA graph: [A-Z_]* [0-9]*'
    launching a CUDA graph: CUDA_ERROR_ILLEGAL_ADDRESS 700
    launching a CUDA graph: CUDA_ERROR_INVALID_CONTEXT 201

Fewer devices than ranks, and no NCCL: the host exchanges the values.

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=2 symtape run --ranks 8 --backend cuda --compare-with cpu $RECORDINGS/collectives/eight.log.zst:0/0 | head -1
    8 ranks, 8 graphs on cuda, compared with cpu: all agree; peak memory 5.04 kB
    2> symtape: 8 ranks share 2 devices: the host computes their collectives, without NCCL

    $ SYMTAPE_CUDA_WITHOUT=nccl SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=8 symtape run --ranks 8 --backend cuda --compare-with cpu $RECORDINGS/collectives/eight.log.zst:0/0 | head -1
    8 ranks, 8 graphs on cuda, compared with cpu: all agree; peak memory 5.04 kB
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

The device of rank 0 is lost while the others wait for it in a collective of NCCL. They are ended.

    $ for n in 2 8; do FAKE_NCCL=lost SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=$n symtape run --ranks $n --backend cuda $RECORDINGS/collectives/$([ $n = 2 ] && echo two || echo eight).log.zst:0/0 2>&1 | grep -o 'ILLEGAL_ADDRESS 700\|NCCL: .*\|[0-9] ranks.*'; done
    ILLEGAL_ADDRESS 700
    NCCL: the device of another rank was lost, and the collectives that waited for it were aborted
    2 ranks, 2 graphs on cuda: all failed
    ILLEGAL_ADDRESS 700
    NCCL: the device of another rank was lost, and the collectives that waited for it were aborted
    8 ranks, 8 graphs on cuda: all failed

Kernels that are in no cache are compiled where they are needed: a rank that repeated its calls for them would meet again in collectives
that the others have passed.

    $ XDG_CACHE_HOME=$PWD/empty SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda SYMTAPE_FAKE_DEVICES=2 symtape run --backend cuda $RECORDINGS/ranks_missing/*.zst | head -1
    the ranks diverge: missing, rank 1, collective 2 of process group "0"
