More memory than there is: told before the run, and with --ignore-guards tried anyway.

Requires: plain

    $ (ulimit -v 4000000; symtape run $RECORDINGS/encoder.log.zst:0/1 --sizes s77=2000000)
    1 graph on cpu: failed
    2> symtape: 0/1_0:aot_inference_graph: 61440152472 bytes of memory are needed, and {*} are available on cpu; node arg4_1 is the first that needs more
    [exit 4]

    $ (ulimit -v 4000000; symtape run $RECORDINGS/encoder.log.zst:0/1 --sizes s77=2000000 --ignore-guards)
    1 graph on cpu: failed
    2> symtape: 0/1_0:aot_inference_graph: 61440152472 bytes of memory are needed, and {*} are available on cpu; node arg4_1 is the first that needs more; running anyway (--ignore-guards)
    2> symtape: 0/1_0:aot_inference_graph: node arg4_1: cannot allocate 6144000000 bytes of memory
    [exit 4]
