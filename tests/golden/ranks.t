# symtape ranks

Two ranks, of which rank 1 leaves out the all_reduce of the second function:

    $ symtape ranks $RECORDINGS/ranks_missing
    rank1 leaves out all_reduce in 1/0, which the other calls
      kind   missing: 1 rank differs from 1
      line   demo/ranks_missing.py:21 in largest
      cause  G['rank'] is 1 on rank1 and 0 on rank0

    Who waits for whom, if the job hangs
    rank0 waits in all_reduce of 1/0, called at demo/ranks_missing.py:30 in <module>, for rank1
    rank1 has not come: there is none in its 1/0, called at demo/ranks_missing.py:30 in <module>
    [exit 1]

Two ranks that do the same, on one tape:

    $ symtape import -q -o same.tape $RECORDINGS/two_ranks

    $ symtape ranks same.tape
    no rank differs: 2 ranks, 1 compile

A rank alone has nothing to be compared with:

    $ symtape ranks $RECORDINGS/train.log.zst
    1 rank: nothing to compare with

JSON has the same; the exit code is that of the comparison:

    $ symtape ranks --json $RECORDINGS/ranks_missing | python3 -c "
    > import json, sys
    > report = json.load(sys.stdin)
    > first = report['divergences'][0]
    > print(report['schema'], report['differs'], first['kind'], first['ranks'], first['compile'])
    > print(first['cause']['what'], first['cause']['detail'], first['others_cause']['detail'])
    > for wait in report['waits']: print(wait['state'], wait['ranks'], wait.get('for'))
    > for rank in report['ranks']: print(rank['recording'], rank['compiles'], rank['collectives'])"
    symtape.ranks/1 True missing ['rank1'] 1/0
    G['rank'] 1 0
    collective ['rank0'] ['rank1']
    not_there ['rank1'] None
    rank0 ['0/0', '1/0'] ['all_reduce', 'all_reduce']
    rank1 ['0/0', '1/0'] ['all_reduce']

    $ symtape ranks --json -o report.json $RECORDINGS/ranks_missing
    [exit 1]

The timeline has a process for each rank:

    $ symtape ranks --format chrome -o job.trace $RECORDINGS/ranks_missing

    $ python3 -c "
    > import json
    > events = json.load(open('job.trace'))['traceEvents']
    > print([e['args']['name'] for e in events if e['name'] == 'process_name'])
    > print({e['pid'] for e in events if e['name'] == 'entire_frame_compile'})"
    ['rank0', 'rank1']
    {0, 1}

Mistakes:

    $ symtape ranks
    2> symtape: ranks: an argument is missing; usage: symtape ranks [options] TAPE...
    [exit 2]

    $ symtape ranks nowhere.tape
    2> symtape: nowhere.tape: No such file or directory
    [exit 4]

    $ symtape ranks same.tape@rank0
    2> symtape: same.tape@rank0: ranks takes whole tapes
    [exit 2]

    $ symtape ranks --json --format chrome same.tape
    2> symtape: ranks: --json and --format chrome exclude each other
    [exit 2]

    $ symtape ranks --format dot same.tape
    2> symtape: ranks: --format: "dot" is not one of text|json|chrome
    [exit 2]

    $ head -c 100 $RECORDINGS/train.log.zst > cut.zst

    $ symtape ranks --strict cut.zst
    2> symtape: cut.zst:1: offset 0: zstd: ends inside a frame
    [exit 3]
