# symtape inputs: what an exported program asserts, and its guards

What depends on data is not examined:

    $ symtape inputs $RECORDINGS/exported.pt2 --cover "x.size(0)=0..64,pair['rows'].size(1)=4"
    exported: proved: 3 of 3 conditions on these sizes always hold
      * not examined, because no size of them varies: 2

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind    condition                         user line  code
      proved          range   s77 >= 0                          -          -
      proved          range   s77 <= 64                         -          -
      proved          static  L['pair']['rows'].size()[1] == 4  -          -

The program asserts another condition, and has a guard on sizes:

    $ python3 - "$RECORDINGS/exported.pt2" <<'END'
    > import sys, zipfile
    > with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile("asserts.pt2", "w") as new:
    >     for name in old.namelist():
    >         text = old.read(name)
    >         if name.endswith("/model.json"):
    >             text = text.replace(b"GreaterThan(Symbol('u0', integer=True), Integer(0))",
    >                                 b"Ne(Mod(Symbol('s77', integer=True), Integer(5)), Integer(0))")
    >             text = text.replace(b'"guards_code": []', b'"guards_code": ["L[\'x\'].size()[0] <= 2 * L[\'pair\'][\'rows\'].size()[0]", "L[\'repeat\'] == 3"]')
    >         new.writestr(name, text)
    > END

    $ symtape inputs asserts.pt2 -n 3 --seconds 600
    asserts: its asserts allow s77 in {1, 2, 3, 4 and others}, and 1 condition on several sizes; other sizes fall into at least 2 other regions

      symbol  source                       recorded  sizes                       because of
      s77     L['x'].size()[0]                    6  in {1, 2, 3, 4 and others}  demo/exported.py:18
      s82     L['pair']['rows'].size()[0]         5  any

      condition on several sizes                           user line  code
      L['x'].size()[0] <= 2 * L['pair']['rows'].size()[0]  -          -

      region  what      calls  smallest sizes  sizes                                                             told apart by            user line            code
           1  recorded         s77=1, s82=1    s77 in {1, 2, 3, 4 and others}, and 1 condition on several sizes                           -                    -
           2  refused          s77=65, s82=0   s77 in {65, 70, 75, ...}, and 1 condition on several sizes        1: not s77 <= 64         -                    -
           3  refused          s77=0, s82=0    s77 in {0, 5, ..., 60}, and 1 condition on several sizes          1: not Mod(s77, 5) != 0  demo/exported.py:18  kept = pair["rows"][pair["rows"].sum(1) > 0]

    $ symtape inputs asserts.pt2 --cover "x.size(0)=1..6,pair['rows'].size(0)=3"
    asserts: refuted: 4 of 5 conditions on these sizes always hold
      * the smallest sizes that violate one: s77=5; Mod(s77, 5) != 0 is false, at demo/exported.py:18 `kept = pair["rows"][pair["rows"].sum(1) > 0]`

      Violated by some sizes of the range
      verdict  sizes  kind    condition         user line            code
      refuted  s77=5  assert  Mod(s77, 5) != 0  demo/exported.py:18  kept = pair["rows"][pair["rows"].sum(1) > 0]

      Always hold in this range, and can be dropped for it
      verdict  sizes  kind   condition                                            user line  code
      proved          range  s77 >= 0                                             -          -
      proved          range  s77 <= 64                                            -          -
      proved          range  s82 >= 0                                             -          -
      proved          guard  L['x'].size()[0] <= 2 * L['pair']['rows'].size()[0]  -          -
    [exit 1]

    $ symtape inputs asserts.pt2 --cover "x.size(0)=5" --json
    {"schema":"symtape.inputs.cover/1","cover":"x.size(0)=5","assume":null,"functions":[],"compiles":[{"recording":"asserts","compile":null,"attempt":null,"status":null,"verdict":"refuted","empty":false,"missing":[],"unrelated":1,"of_data":0,"counterexample":[{"symbol":"s77","source":"L['x'].size()[0]","value":5}],"conditions":[{"kind":"range","expr":"s77 >= 0","verdict":"proved","method":"intervals","can_be_dropped":true,"counterexample":null,"smallest":false,"raises":false,"not_exact":false,"points":0,"log_line":1,"line":null},{"kind":"range","expr":"s77 <= 64","verdict":"proved","method":"intervals","can_be_dropped":true,"counterexample":null,"smallest":false,"raises":false,"not_exact":false,"points":0,"log_line":1,"line":null},{"kind":"assert","expr":"Mod(s77, 5) != 0","verdict":"refuted","method":"search","can_be_dropped":false,"counterexample":[{"symbol":"s77","source":"L['x'].size()[0]","value":5}],"smallest":true,"raises":false,"not_exact":false,"points":1,"log_line":1,"line":{"file":"/home/user/demo/exported.py","line":18,"function":"forward","code":"kept = pair[\"rows\"][pair[\"rows\"].sum(1) > 0]"}},{"kind":"guard","expr":"L['x'].size()[0] <= 2 * L['pair']['rows'].size()[0]","verdict":"proved","method":"intervals","can_be_dropped":true,"counterexample":null,"smallest":false,"raises":false,"not_exact":false,"points":0,"log_line":1,"line":null}]}],"verdict":"refuted"}
    [exit 1]
