# Archives of torch.export

Requires: shared

They hold a program and no times.

    $ symtape profile $SHARED/exports/mlp.pt2 | head -12
    15 records
    No failure, recompile, restart, graph break or costly line was found.
      * an exported program, 9 calls in 1 graph; an archive (.pt2) tells no times, guards or phases

    User lines
      time  share  guards  symbols  specialized  Dynamo nodes  ATen nodes  line                     code
         -  -           -        -            -             -           5  models/rec_export.py:37  return (y - y.mean(0)).softmax(-1), y.view(-1, 4).sum(1)
         -  -           -        -            -             -           4  models/rec_export.py:36  y = s.net(x)

    Costs of operators in one replay of the graphs (record --deep has the real ones)
      dispatches  deepest  calls  guards  exprs  evaluations  symbolic tensors  operator
              18        1      -       -      -            -                 -  aten.addmm.default

    $ symtape profile --compile 0/0 $SHARED/exports/mlp.pt2
    2> symtape: no compile 0/0
    [exit 2]

    $ symtape info $SHARED/exports/mlp.pt2 | tail -6

    recording  graph outside compiles  inputs  nodes  calls  outputs
    mlp        mlp/models/model.json        7     17      9        2

    count  event
       15  pt2_member
