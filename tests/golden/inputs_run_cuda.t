symtape inputs --run cuda on the fake device: the outputs are compared with those of the CPU reference.

Requires: cuda

    $ export SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda; symtape inputs $RECORDINGS/mlp.log.zst --run cuda --json | grep -oE '"against":"cpu"|"run":\{"status":"ok"' | sort -u
    "against":"cpu"
    "run":{"status":"ok"

Results that are wrong:

    $ SYMTAPE_FAKE_IDLE=1 SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape inputs $RECORDINGS/mlp.log.zst --run cuda | sed 's/.*  //'
    0/1_0 serves s77 >= 2; other sizes fall into 2 other regions

    because of
    demo/mlp.py:15

    run
    differs by 3.5 in out.0 (0/1_0:aot_inference_graph)
    not run: no compile was recorded for it
    not run: no compile was recorded for it

    $ SYMTAPE_FAKE_IDLE=1 SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape inputs $RECORDINGS/mlp.log.zst --run cuda >out; echo $?
    1

A device that fails:

    $ SYMTAPE_FAKE_LOST=1:700 SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape inputs $RECORDINGS/mlp.log.zst --run cuda | sed 's/.*  //'
    0/1_0 serves s77 >= 2; other sizes fall into 2 other regions

    because of
    demo/mlp.py:15

    run
    failed: node addmm (aten.addmm.default of f32[32], f32[2, 16], f32[16, 32]) at /home/user/demo/mlp.py:15 `return x + self.outer(torch.relu(self.inner(x)))`: kernel matmul_thin: 4 x 1 x 1 blocks of 256 threads: CUDA_ERROR_ILLEGAL_ADDRESS 700: an illegal memory access was encountered; everything that this run had on the device is lost; the last kernel launched was matmul_thin (CUDA_LAUNCH_BLOCKING=1 shows which one it is) (0/1_0:aot_inference_graph)
    not run: no compile was recorded for it
    not run: no compile was recorded for it
    2> symtape: node addmm (aten.addmm.default of f32[32], f32[2, 16], f32[16, 32]) at /home/user/demo/mlp.py:15 `return x + self.outer(torch.relu(self.inner(x)))`: kernel matmul_thin: 4 x 1 x 1 blocks of 256 threads: CUDA_ERROR_ILLEGAL_ADDRESS 700: an illegal memory access was encountered; everything that this run had on the device is lost; the last kernel launched was matmul_thin (CUDA_LAUNCH_BLOCKING=1 shows which one it is) (0/1_0:aot_inference_graph)

    $ SYMTAPE_FAKE_LOST=1:700 SYMTAPE_CUDA_LIB=$SYMTAPE_BUILD/tests/cuda symtape inputs $RECORDINGS/mlp.log.zst --run cuda >out; echo $?
    4
    2> symtape: node addmm (aten.addmm.default of f32[32], f32[2, 16], f32[16, 32]) at /home/user/demo/mlp.py:15 `return x + self.outer(torch.relu(self.inner(x)))`: kernel matmul_thin: 4 x 1 x 1 blocks of 256 threads: CUDA_ERROR_ILLEGAL_ADDRESS 700: an illegal memory access was encountered; everything that this run had on the device is lost; the last kernel launched was matmul_thin (CUDA_LAUNCH_BLOCKING=1 shows which one it is) (0/1_0:aot_inference_graph)
