# symtape inputs --run

Requires: zstd

The smallest sizes of each region that a recorded compile serves are run on a backend. A region without a compile is not run:

    $ symtape inputs $RECORDINGS/mlp.log.zst --run cpu
    0/1_0 serves s77 >= 2; other sizes fall into 2 other regions

      symbol  source            recorded  sizes  because of
      s77     L['x'].size()[0]         6  >= 2   demo/mlp.py:15

      region  what      calls     smallest sizes  sizes     told apart by      user line       code                                              run
           1  recorded  0/0, 0/1  s77=2           s77 >= 2                     -               -                                                 ok
           2  guards              s77=0           s77 = 0   1: not s77 >= 2    demo/mlp.py:15  return x + self.outer(torch.relu(self.inner(x)))  not run: no compile was recorded for it
           3  guards              s77=1           s77 = 1   2: not Eq(s77, 0)  demo/mlp.py:15  return x + self.outer(torch.relu(self.inner(x)))  not run: no compile was recorded for it

With null, calls and memory are counted. An exported program has one compile, which is the program:

    $ symtape inputs $RECORDINGS/exported.pt2 --run null
    exported: its asserts allow s77 in 0..64; other sizes fall into 1 other region

      symbol  source                       recorded  sizes     because of
      s77     L['x'].size()[0]                    6  in 0..64
      s82     L['pair']['rows'].size()[0]         5  any

      region  what      calls  smallest sizes  sizes         told apart by     user line  code  run
           1  recorded         s77=0, s82=0    s77 in 0..64                    -          -     11 calls, 68 B
           2  refused          s77=65, s82=0   s77 >= 65     1: not s77 <= 64  -          -     not run: PyTorch raises an error

A region that another compile of the function serves is run with that one's graphs, at the sizes of the same sources. One whose compile refuses the
smallest sizes of the region is not run:

    $ symtape inputs $RECORDINGS/reset.log.zst --seconds 600 -n 25 --run cpu --json | grep -oE '"(calls|backend|against)":("[a-z]*"|null|\["[^]]*\])|"run":\{[^}]*\}' | grep -v 'no compile'
    "backend":"cpu"
    "against":null
    "calls":["0/0"]
    "run":{"status":"ok","compile":"0/0","message":null,"graphs":1,"calls":2,"peak_bytes":24,"max_absolute":null}
    "calls":["0/1"]
    "run":{"status":"ok","compile":"0/1","message":null,"graphs":1,"calls":2,"peak_bytes":12,"max_absolute":null}
    "calls":["0/0.1"]
    "run":{"status":"ok","compile":"0/0.1","message":null,"graphs":1,"calls":2,"peak_bytes":36,"max_absolute":null}
    "calls":["0/1.1"]
    "run":{"status":"ok","compile":"0/1.1","message":null,"graphs":1,"calls":1,"peak_bytes":28,"max_absolute":null}
    "calls":["0/2.1"]
    "run":{"status":"ok","compile":"0/2.1","message":null,"graphs":1,"calls":1,"peak_bytes":12,"max_absolute":null}
    "calls":["0/1.1"]
    "run":{"status":"ok","compile":"0/1.1","message":null,"graphs":1,"calls":1,"peak_bytes":28,"max_absolute":null}
    "calls":["0/0.1"]
    "run":{"status":"not run","compile":null,"message":"its compiles serve other sizes of it","graphs":0,"calls":0,"peak_bytes":0,"max_absolute":null}
    "calls":["0/2.1"]
    "run":{"status":"ok","compile":"0/2.1","message":null,"graphs":1,"calls":1,"peak_bytes":12,"max_absolute":null}
    "calls":["0/2.1"]
    "run":{"status":"ok","compile":"0/2.1","message":null,"graphs":1,"calls":1,"peak_bytes":12,"max_absolute":null}

A compile that failed has no graph that could run:

    $ symtape inputs $RECORDINGS/data_dependent.log.zst --seconds 600 -n 2 --run cpu | sed 's/.*  //'
    0/0_0 (failed) was traced for s77 >= 2, s27 >= 2; other sizes fall into at least 1 other region

    because of
    demo/data_dependent.py:11
    demo/data_dependent.py:11

    run
    not run: it recorded no graph to run
    not run: no compile was recorded for it
    2> symtape: 0/0 failed in PyTorch: UserError: the code asks whether u1 > 4, which depends on data and is not known when the program is compiled, demo/data_dependent.py:13

    $ symtape inputs $RECORDINGS/data_dependent.log.zst --seconds 600 -n 2 --run cpu >out 2>&1; echo $?
    125

A region whose smallest sizes need more memory than there is:

    $ zstd -dcq $RECORDINGS/mlp.log.zst | sed 's/"val": "6", "vr": "\[2, int_oo\]"/"val": "200000000000", "vr": "[100000000000, int_oo]"/' > large.log

    $ symtape inputs large.log --run cpu -n 1 | sed 's/.*  //'
    0/1_0 serves s77 >= 100000000000; no region of other sizes was found, but there may be some

    because of
    demo/mlp.py:15

    run
    not run: 32000000004288 bytes of memory are needed, and {*} are available on cpu; node arg3_1 is the first that needs more (0/1_0:aot_inference_graph)

    $ symtape inputs large.log --run null -n 1 | sed 's/.*  //'
    0/1_0 serves s77 >= 100000000000; no region of other sizes was found, but there may be some

    because of
    demo/mlp.py:15

    run
    6 calls, 32.0 TB

Options that do not go together, and a backend that there is not:

    $ symtape inputs $RECORDINGS/mlp.log.zst --run cpu --cover s77=1..4
    2> symtape: inputs: --run excludes --cover and --python
    [exit 2]

    $ symtape inputs $RECORDINGS/mlp.log.zst --run cpu --python
    2> symtape: inputs: --run excludes --cover and --python
    [exit 2]

    $ symtape inputs $RECORDINGS/mlp.log.zst --run tpu
    2> symtape: inputs: --run: "tpu" is not one of cpu|cuda|null; did you mean "cpu"?
    [exit 2]
