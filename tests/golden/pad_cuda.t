Padded sizes on the fake device: the outputs are those without padding.

Requires: cuda

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --pad s23:8 --sizes s23=3,5,6 --runs 1 $RECORDINGS/train.log.zst:0/0:forward | tr -s ' ' | sed -E 's/ [0-9.]+ [num]?s\b/ TIME/g'
    1 graph at 3 sizes on cuda: ran; peak memory 30.2 kB
    0/0_0:aot_forward_graph: padding s23 to multiples of 8: outputs agree
     size padded first time padded memory padded
     s23=3 s23=8 TIME TIME TIME 15.6 kB 30.2 kB
     s23=5 s23=8 TIME TIME TIME 21.4 kB 30.2 kB
     s23=6 s23=8 TIME TIME TIME 24.3 kB 30.2 kB
     first runs: TIME at 3 sizes; padded: TIME at 1
     later runs: TIME; padded: TIME
     peak memory: 24.3 kB; padded: 30.2 kB

    $ SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape run --backend cuda --pad auto --no-cuda-graph --runs 1 $RECORDINGS/mlp.log.zst:0/1:inference | grep padding
    0/1_0:aot_inference_graph: padding s77: outputs agree
