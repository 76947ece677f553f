More memory than there is: told before the run, and with --force tried all the same.

Requires: plain

    $ (ulimit -v 4000000; symtape replay --backend cpu $RECORDINGS/encoder.log.zst:0/1 --set s77=2000000)
    2> symtape: 0/1_0:aot_inference_graph: 61440152472 bytes of memory are needed, and {*} can be had on cpu; node arg4_1 is the first beyond that
    [exit 4]

    $ (ulimit -v 4000000; symtape replay --backend cpu $RECORDINGS/encoder.log.zst:0/1 --set s77=2000000 --force)
    2> symtape: 0/1_0:aot_inference_graph: 61440152472 bytes of memory are needed, and {*} can be had on cpu; node arg4_1 is the first beyond that; running anyway (--force)
    2> symtape: 0/1_0:aot_inference_graph: node arg4_1: 6144000000 bytes of memory cannot be had
    [exit 4]
