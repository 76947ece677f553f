What graphs can be run on is told of every machine; of CUDA, whatever is found, and otherwise why not.

    $ symtape info --backends | grep -E '^(cpu|null)' -A1
    cpu   reference: every operator straightforward, in float64
          float64 throughout, one order of operations, bit-stable
    --
    null  sizes only: memory is counted, nothing is computed
          sizes, calls and memory; nothing is computed

    $ symtape info --backends | grep -cE '^cuda '
    1

    $ symtape info --backends --json | python3 -c 'import json, sys; print(*[b["name"] for b in json.load(sys.stdin)["backends"]])'
    cpu cuda null

    $ symtape info --backends x.tape
    2> symtape: info: --backends takes no TAPE
    [exit 2]

    $ symtape info
    2> symtape: info: an argument is missing; usage: symtape info [options] TAPE[@RECORDING]...
    [exit 2]

A folder without a driver in it, on a machine without one, is no error of this command.

    $ SYMTAPE_CUDA_LIB=$PWD symtape info --backends >out.txt; echo $?
    0
