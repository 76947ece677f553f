symtape run --profile on the fake device: later runs of a size are one CUDA graph, or the report says why they are not.

Requires: cuda

    $ export SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda; symtape run --backend cuda --profile --runs 1 $RECORDINGS/train.log.zst:0/0:forward | sed -nE '2p;/CUDA graph/s/[0-9.]+ [num]?s$/TIME/p'
    0/0_0:aot_forward_graph: 13 operator calls, 7 launches on cuda at s23 = 4, s27 = 10
      each run was launched as one CUDA graph, which the second one captured in TIME

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --runs 1 --sizes s23=4..6 $RECORDINGS/train.log.zst:0/0:forward | sed -nE '/CUDA graph/s/captured in [0-9.]+ [num]?s/captured in TIME/p'
      each run was launched as one CUDA graph, which the second one captured in TIME
      each run was launched as one CUDA graph, which the second one captured in TIME, updating that of another size
      each run was launched as one CUDA graph, which the second one captured in TIME, updating that of another size

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --runs 1 $RECORDINGS/cond.log.zst | grep 'CUDA graph'
      runs cannot be launched as one CUDA graph: node cond at /home/user/demo/cond.py:14 `return torch.cond(x.sum() > 0, grow, shrink, (x, weight)) + x.shape[0]`: the host reads values

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --runs 1 --json $RECORDINGS/cond.log.zst | grep -oE '"(not_)?captured":("[^"]*"|[a-z]*)'
    "captured":false
    "not_captured":"node cond at /home/user/demo/cond.py:14 `return torch.cond(x.sum() > 0, grow, shrink, (x, weight)) + x.shape[0]`: the host reads values"

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --runs 1 --no-cuda-graph $RECORDINGS/train.log.zst:0/0:forward | grep -c 'CUDA graph'
    0
    [exit 1]

    $ symtape run --no-cuda-graph $RECORDINGS/train.log.zst:0/0:forward
    2> symtape: --no-cuda-graph: only with --profile or --pad, which run a graph several times
    [exit 2]

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --runs 1 --json $RECORDINGS/train.log.zst:0/0:backward | grep -oE '"captured(_differs)?":[a-z]*'
    "captured":true
    "captured_differs":false

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --runs 1 --pool-budget 3000000 --sizes s23=4..6 $RECORDINGS/train.log.zst:0/0:forward | grep 'memory pool'
      memory pool: peak 4.19 MB; 2.10 MB taken, 2.10 MB given back, 2.10 MB kept; the budget was exceeded
      memory pool: peak 4.19 MB; 2.10 MB taken, 2.10 MB given back, 2.10 MB kept; the budget was exceeded
      memory pool: peak 4.19 MB; 2.10 MB taken, 2.10 MB given back, 2.10 MB kept; the budget was exceeded

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --runs 1 --pool-budget 3000000 --json $RECORDINGS/train.log.zst:0/0:forward | grep -oE '"pool":{[^}]*}'
    "pool":{"budget_bytes":3000000,"peak_bytes":4194304,"taken_bytes":2097152,"returned_bytes":2097152,"kept_bytes":2097152}

Memory that measuring the ceilings needed after the first size is given back before the second one.

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --runs 1 --pool-budget 1000000000 --sizes s23=4,15,8 $RECORDINGS/train.log.zst:0/0:forward | grep 'memory pool'
      memory pool: peak 4.19 MB; 2.10 MB taken, 0 B given back, 4.19 MB kept
      memory pool: peak 4.19 MB; 2.10 MB taken, 0 B given back, 4.19 MB kept
      memory pool: peak 4.19 MB; 0 B taken, 0 B given back, 4.19 MB kept

    $ symtape run --pool-budget 3000000 $RECORDINGS/train.log.zst:0/0:forward
    2> symtape: --pool-budget: only with --profile
    [exit 2]

    $ symtape run --profile --pool-budget 3000000 $RECORDINGS/train.log.zst:0/0:forward
    2> symtape: --pool-budget: backend cpu has no memory pool
    [exit 2]

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --pool-budget 0 $RECORDINGS/train.log.zst:0/0:forward
    2> symtape: --pool-budget: at least 1 byte
    [exit 2]

    $ symtape run --backend cuda --profile --pool-budget 3M $RECORDINGS/train.log.zst:0/0:forward
    2> symtape: run: --pool-budget: "3M" is not a whole number below 2^64
    [exit 2]

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda XDG_CACHE_HOME=$PWD/warm symtape run --backend cuda --profile --runs 1 --warm s23=1..9 --sizes s23=5 $RECORDINGS/train.log.zst:0/0:forward | sed -nE '/warmed/s/ in [0-9.]+ [num]?s/ in TIME/p;/done once/s/[0-9.]+ [num]?s/TIME/gp'
    0/0_0:aot_forward_graph: warmed at 8 sizes in TIME: 10 kernels compiled, 8 library calls planned, 0 plans timed; 1 sizes refused

Plans that are timed beforehand are not timed again, neither at a size of --sizes nor by the next process.

    $ SYMTAPE_CUDA_PLANS=all SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda XDG_CACHE_HOME=$PWD/warm symtape run --backend cuda --profile --runs 1 --warm s23=4..6 --sizes s23=5 $RECORDINGS/train.log.zst:0/0:forward | sed -nE '/warmed/s/ in [0-9.]+ [num]?s/ in TIME/p;/done once/s/[0-9.]+ [num]?s/TIME/gp'
    0/0_0:aot_forward_graph: warmed at 3 sizes in TIME: 0 kernels compiled, 3 library calls planned, 9 plans timed

    $ SYMTAPE_CUDA_PLANS=all SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda XDG_CACHE_HOME=$PWD/warm symtape run --backend cuda --profile --runs 1 --warm s23=4..6 --sizes s23=5 $RECORDINGS/train.log.zst:0/0:forward | sed -nE '/warmed/s/ in [0-9.]+ [num]?s/ in TIME/p;/done once/s/[0-9.]+ [num]?s/TIME/gp'
    0/0_0:aot_forward_graph: warmed at 3 sizes in TIME: 0 kernels compiled, 3 library calls planned, 0 plans timed

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --runs 1 --json --warm s23=1,4 $RECORDINGS/train.log.zst:0/0:forward | grep -oE '"warmed":.*"refused":[0-9]*'
    "warmed":[{"graph":"0/0_0:aot_forward_graph","recording":"train","compile":"0/0","attempt":0,"kind":"aot_forward_graph","index":0,"sizes":1,"refused":1

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --warm s23=1..9 $RECORDINGS/train.log.zst:0/0:forward
    2> symtape: --warm: only with --profile
    [exit 2]

    $ symtape run --profile --warm s23=1..9 $RECORDINGS/train.log.zst:0/0:forward
    2> symtape: --warm: backend cpu chooses nothing for sizes
    [exit 2]

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --warm s99=1..9 $RECORDINGS/train.log.zst:0/0:forward
    2> symtape: --warm: no graph has a symbol s99; symtape show --symbols lists them
    [exit 2]

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --warm s23=9..1 $RECORDINGS/train.log.zst:0/0:forward
    2> symtape: --warm: 9..1 is an empty range
    [exit 2]

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --warm nowhere $RECORDINGS/train.log.zst:0/0:forward
    2> symtape: --warm: "nowhere" is neither SYMBOL=NUMBER, as in s77=31, nor a file
    [exit 2]

With --device-sizes, sizes that depend on data stay on the device, and such a run is one CUDA graph; a call that takes sizes from the host is named.

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --runs 1 --device-sizes $RECORDINGS/exported.pt2 | sed -nE 's/captured in [0-9.]+ [num]?s/captured in TIME/;/CUDA graph|on the device|host read/p'
      each run was launched as one CUDA graph, which the second one captured in TIME
      size on the device: index at /home/user/demo/exported.py:18 `kept = pair["rows"][pair["rows"].sum(1) > 0]`: 4 of at most 5; 96 B of 120 B for its tensors were used
      the host read sizes 1 time in a run

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --runs 1 --device-sizes $RECORDINGS/item_size.log.zst:1/0 | grep -E 'CUDA graph|on the device|host read'
      runs cannot be launched as one CUDA graph: node slice_1 (aten.slice.Tensor of i64[-1, 1]) at /home/user/demo/item_size.py:24 `return found[: found.shape[0] // 2]`: aten.slice.Tensor takes sizes from the host (no kernel of it reads them on the device): the host reads values
      size on the device: nonzero at /home/user/demo/item_size.py:22 `found = x.nonzero()`: 5 of at most 5; 40 B of 40 B for its tensors were used
      the host read sizes before slice_1 at /home/user/demo/item_size.py:24 `return found[: found.shape[0] // 2]`: aten.slice.Tensor takes them from the host (no kernel of it reads them on the device)
      the host read sizes 1 time in a run

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --profile --runs 1 --device-sizes --json $RECORDINGS/item_size.log.zst:1/0 | grep -oE '"device_sizes":.*"host_needs":\[[^]]*\]\}'
    "device_sizes":{"reads":1,"sizes":[{"node":"nonzero","value":5,"most":5,"allocated_bytes":40,"used_bytes":40}],"host_needs":[{"node":"slice_1","operator":"aten.slice.Tensor","why":"no kernel of it reads them on the device"}]}

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --device-sizes --outputs out.safetensors $RECORDINGS/item_size.log.zst:1/0 && symtape run --compare-with out.safetensors $RECORDINGS/item_size.log.zst:1/0
    1 graph on cuda: ran; peak memory 60 B
    1/0_0:aot_inference_graph: 4 operator calls, peak 60 bytes
    1 graph on cpu, compared with out.safetensors: agrees; peak memory 60 B
    1/0_0:aot_inference_graph: 4 operator calls, peak 60 bytes
      out.0: 2 elements agree; max absolute 0, 0 ULPs

    $ symtape run --backend cuda --device-sizes $RECORDINGS/exported.pt2
    2> symtape: --device-sizes: only with --profile or --outputs
    [exit 2]

    $ symtape run --backend cuda --device-sizes --profile --compare-with cpu $RECORDINGS/exported.pt2
    2> symtape: --profile only measures times: not with --compare-with, --outputs, --save-nodes or --perturb
    [exit 2]

    $ symtape run --backend cuda --device-sizes --outputs /dev/null --compare-with cpu $RECORDINGS/exported.pt2
    2> symtape: --device-sizes: not with --compare-with, --save-nodes or --perturb, which read values during the run
    [exit 2]

    $ symtape run --device-sizes --profile $RECORDINGS/exported.pt2
    2> symtape: --device-sizes: backend cpu has no device
    [exit 2]
