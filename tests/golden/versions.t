Bisecting over versions, and workers: what is refused, and a list of releases.

    $ symtape minify $RECORDINGS/encoder.log.zst:0/1:dynamo --guard x --launcher nice
    2> symtape: --launcher needs --check or --torch-oracle
    [exit 2]

    $ symtape minify $RECORDINGS/encoder.log.zst:0/1:dynamo --check true --launcher 'nice | cat' -o x.tape
    2> symtape: --launcher: "|" outside quotes: only one simple command can be run; use sh -c '...' for more
    [exit 2]

    $ symtape bisect
    2> symtape: bisect: an argument is missing: name a TAPE, --commits A..B or --python NAME=PYTHON
    [exit 2]

    $ symtape bisect --commits v1..v2
    2> symtape: bisect: --commits and --python need --suite
    [exit 2]

    $ symtape bisect --commits v1..v2 --python 1=a --suite x.sh
    2> symtape: bisect: --commits and --python exclude each other
    [exit 2]

    $ symtape bisect --commits v1..v2 --suite x.sh a.tape
    2> symtape: bisect: --commits and --python take no TAPE, and only --suite, --repeat, --jobs, --launcher, --log, --timeout, --invert, --from-end, --extra-checks, --bisect-codes, --overwrite and --json
    [exit 2]

    $ symtape bisect --suite x.sh a.tape
    2> symtape: bisect: --suite, --repeat, --launcher, --log and --overwrite need --commits or --python
    [exit 2]

    $ symtape bisect --commits v1 --suite x.sh
    2> symtape: --commits: "v1" is not a range, as in v1.0..main: the first is good, the last is bad
    [exit 2]

    $ symtape bisect --commits --upload-pack=x..v2 --suite x.sh
    2> symtape: --commits: "--upload-pack=x..v2" is not a range, as in v1.0..main: the first is good, the last is bad
    [exit 2]

    $ symtape bisect --python 2.7=p7 --python 2.7=p8 --suite x.sh
    2> symtape: --python names 2.7 twice
    [exit 2]

    $ symtape bisect --python 2.7=p7 --python 2.8=p8 --suite absent.sh
    2> symtape: absent.sh: No such file or directory
    [exit 4]

The first release in which a suite fails; the log has the answers, and a second run asks nothing.

    $ printf 'case $SYMTAPE_RELEASE in 2.7|2.8) exit 0;; *) exit 1;; esac\n' > suite.sh

    $ symtape bisect --python 2.7=p7 --python 2.8=p8 --python 2.9=env9/bin/python --python 2.10=p10 --suite suite.sh
    first bad: 2.9 (env9/bin/python)
    last good: 2.8 (p8)
    4 releases, 4 checks in 4 rounds, 4 runs of the suite; the last good and the first bad one were both checked again
    first-bad=2.9 good=2.8 probes=4
    [exit 1]

    $ cat bisect.log
    # symtape bisect 1, suite 2c6240c6394972f8
    # good 2.8
    # bad 2.9
    # again: bad 2.9
    # again: good 2.8

    $ symtape bisect --python 2.7=p7 --python 2.8=p8 --python 2.9=env9/bin/python --python 2.10=p10 --suite suite.sh --json -j 2
    {"schema":"symtape.bisect.versions/1","verdict":"found","over":"releases","versions":4,"first_bad":{"name":"2.9","title":"","python":"env9/bin/python"},"last_good":{"name":"2.8","title":"","python":"p8"},"certified":true,"monotone":true,"probes":4,"rounds":2,"runs":0,"log":"bisect.log"}
    [exit 1]

    $ symtape bisect --python 2.7=p7 --python 2.8=p8 --python 2.9=p9 --suite suite.sh
    2> symtape: bisect.log: a log of another suite, range or --repeat; --overwrite replaces it, and --log names another file
    [exit 2]

    $ symtape bisect --python 2.7=p7 --python 2.8=p8 --suite suite.sh --log other.log
    good: 2.8 (p8)
    2 releases, 1 checks in 1 rounds, 1 runs of the suite
    first-bad=none end=never probes=1

What is no release, and too few of them.

    $ for p in 2.7 2.7= =p7 '2 7=p'; do symtape bisect --python 2.8=p8 --python "$p" --suite suite.sh; done
    2> symtape: --python: "2.7" is not NAME=PYTHON, as in 2.13=env13/bin/python
    2> symtape: --python: "2.7=" is not NAME=PYTHON, as in 2.13=env13/bin/python
    2> symtape: --python: "=p7" is not NAME=PYTHON, as in 2.13=env13/bin/python
    2> symtape: --python: "2 7=p" is not NAME=PYTHON, as in 2.13=env13/bin/python
    [exit 2]

    $ symtape bisect --python 2.8=p8 --suite suite.sh
    2> symtape: --python is given once for each release, the good one first, and two or more are needed
    [exit 2]

A program of Python is run by the Python of the release.

    $ printf '#!/bin/sh\necho $SYMTAPE_RELEASE in good\nexit 0\n' > good; sed 's/good/bad/; s/0$/1/' good > bad; chmod +x good bad

    $ echo 'no program of the shell (' > suite.py

    $ symtape bisect --python 2.7=./good --python 2.8=./good --python 2.9=./bad --suite suite.py --log python.log
    first bad: 2.9 (./bad)
    last good: 2.8 (./good)
    3 releases, 3 checks in 3 rounds, 3 runs of the suite; the last good and the first bad one were both checked again
    first-bad=2.9 good=2.8 probes=3
    [exit 1]

A suite that cannot be run is no answer.

    $ printf 'exit 127\n' > suite.sh; symtape bisect --python 2.7=p7 --python 2.8=p8 --suite suite.sh --overwrite
    2> symtape: --suite: it cannot be run: exit 127:
    [exit 4]

    $ printf 'exit 125\n' > suite.sh; symtape bisect --python 2.7=p7 --python 2.8=p8 --suite suite.sh --overwrite
    cannot tell: the suite could not decide: exit 125:
    2 releases, 2 checks in 2 rounds, 2 runs of the suite
    first-bad=none end=cannot probes=2
    [exit 125]

A worker speaks when it starts, and refuses what is no message.

    $ symtape worker < /dev/null | sed 's/"version":.*/.../'
    {"symtape-worker":2,...

    $ echo banana | symtape worker | sed 's/"version":.*/.../'
    {"symtape-worker":2,...
    2> symtape: offset 0: expected a value

    $ symtape worker tape
    2> symtape: worker: too many arguments; usage: symtape worker [--kernels NVRTC]
    [exit 2]

    $ symtape worker --kernels /no/such/lib < /dev/null
    2> symtape: NVRTC: /no/such/lib: cannot open shared object file: No such file or directory
    [exit 4]
