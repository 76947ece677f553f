# symtape inputs --calls: in which regions a program's calls lie

    $ symtape inputs $RECORDINGS/sequence.log.zst:0/1 --calls $RECORDINGS/sequence.jsonl --seconds 600
    0/1_0 serves s77 >= 2; other sizes fall into 2 other regions
      * calls that lie in none, with other static sizes or numbers or an unknown size: 8

      symbol  source            recorded  sizes  because of
      s77     L['x'].size()[0]         6  >= 2   demo/sequence.py:15

      region  what      calls              smallest sizes  sizes     told apart by      user line            code
           1  recorded  4 calls: 0/0, 0/1  s77=2           s77 >= 2                     -                    -
           2  guards                       s77=0           s77 = 0   1: not s77 >= 2    demo/sequence.py:15  x = x.sum(0)
           3  guards                       s77=1           s77 = 1   2: not Eq(s77, 0)  demo/sequence.py:15  x = x.sum(0)

    $ symtape inputs $RECORDINGS/sequence.log.zst:0/2 --calls $RECORDINGS/sequence.jsonl --seconds 600 --json
    {"schema":"symtape.inputs/1","compiles":[{"recording":"sequence","compile":"0/2","attempt":0,"status":"ok","complete":true,"undecided":0,"unread":0,"calls_left_out":0,"served":[{"symbol":"s77","source":"L['x'].size()[0]","words":">= 2","lines":[{"file":"/home/user/demo/sequence.py","line":15,"code":"x = x.sum(0)"}]},{"symbol":"s16","source":"L['k']","words":"any","lines":[]}],"regions":[{"what":"recorded","message":null,"words":"s77 >= 2","sizes":[{"symbol":"s77","source":"L['x'].size()[0]","recorded":9,"smallest":2},{"symbol":"s16","source":"L['k']","recorded":3,"smallest":0}],"is_smallest":true,"calls":["0/0","0/1","0/2","0/3"],"times":10,"neighbor":null,"separator":null,"conditions":[{"expr":"s77 >= 2","recorded":true,"line":{"file":"/home/user/demo/sequence.py","line":15,"code":"x = x.sum(0)"}}]},{"what":"guards","message":null,"words":"s77 = 0","sizes":[{"symbol":"s77","source":"L['x'].size()[0]","recorded":9,"smallest":0},{"symbol":"s16","source":"L['k']","recorded":3,"smallest":0}],"is_smallest":true,"calls":[],"times":0,"neighbor":0,"separator":0,"conditions":[{"expr":"Eq(s77, 0)","recorded":false,"line":{"file":"/home/user/demo/sequence.py","line":15,"code":"x = x.sum(0)"}}]},{"what":"guards","message":null,"words":"s77 = 1","sizes":[{"symbol":"s77","source":"L['x'].size()[0]","recorded":9,"smallest":1},{"symbol":"s16","source":"L['k']","recorded":3,"smallest":0}],"is_smallest":true,"calls":[],"times":2,"neighbor":1,"separator":0,"conditions":[]}]}]}

A call that does not tell a size is left out:

    $ head -5 $RECORDINGS/sequence.jsonl | sed "s/L\['x'\]/L['z']/" > other.jsonl

    $ symtape inputs $RECORDINGS/sequence.log.zst:0/1 --calls other.jsonl --seconds 600
    0/1_0 serves s77 >= 2; other sizes fall into 2 other regions
      * calls that lie in none, with other static sizes or numbers or an unknown size: 5

      symbol  source            recorded  sizes  because of
      s77     L['x'].size()[0]         6  >= 2   demo/sequence.py:15

      region  what      calls     smallest sizes  sizes     told apart by      user line            code
           1  recorded  0/0, 0/1  s77=2           s77 >= 2                     -                    -
           2  guards              s77=0           s77 = 0   1: not s77 >= 2    demo/sequence.py:15  x = x.sum(0)
           3  guards              s77=1           s77 = 1   2: not Eq(s77, 0)  demo/sequence.py:15  x = x.sum(0)

    $ symtape inputs $RECORDINGS/sequence.log.zst:0/1 --calls nowhere.jsonl
    2> symtape: nowhere.jsonl: No such file or directory
    [exit 4]

    $ symtape inputs $RECORDINGS/exported.pt2 --calls $RECORDINGS/sequence.jsonl
    2> symtape: --calls: there are no compiles
    [exit 2]

    $ symtape inputs $RECORDINGS/sequence.log.zst --calls other.jsonl --cover s77=2
    2> symtape: inputs: --calls excludes --cover
    [exit 2]
