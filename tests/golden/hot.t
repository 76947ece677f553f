# Where did the time of a large model go?

Requires: shared

hrnet_w18 takes more than a minute to compile, and half of it for nothing.

    $ symtape profile $SHARED/traces/hrnet_w18.eval.aot_eager.log.zst | head -2
    64.5 s of compiling: 1 compile, 2 attempts, 4 graphs, 2,146 guards; 18,847 records
     1  restarted, 31.0 s of 64.5 s

    $ symtape profile $SHARED/traces/hrnet_w18.eval.aot_eager.log.zst | grep -A 3 '^Restarts'
    Restarts (attempts that were thrown away)
      thrown away  compile  attempt  records  graphs  symbols  guards  reason
           31.0 s  0/0            0    9,402       2      685   1,073  a float was specialized: TensorifyScalarRestartAnalysis

    $ symtape profile $SHARED/traces/hrnet_w18.eval.aot_eager.log.zst | sed -n '/^Levels/,/^$/p'
    Levels: from Dynamo's calls to dispatches
      level                                                   count  of Dynamo's  compile time each
      calls that Dynamo captured, kept attempts               1,146         1.00            56.2 ms
      ATen calls, kept attempts                               2,123         1.85            30.4 ms
      dispatches of FakeTensorMode, all attempts, estimated  44,356        14.91            1.45 ms
      dispatches of the proxy mode, all attempts, estimated  14,758         4.96            4.37 ms
      dispatches in one walk of each graph, all attempts     11,928         4.01            5.40 ms
      30.4 ms for each ATen call; the rule of thumb of 2023 was 20 ms.

    $ symtape profile -n 4 --by module $SHARED/traces/hrnet_w18.eval.aot_eager.log.zst
    By module
      guards  with below  Dynamo calls  with below  ATen calls  with below  module
           3       1,073            31       1,146          47       2,123  (the model)
           -         459             6         507           8       1,028  stage4
           -         390             9         441          12         816  stage3
           -         159             2         167           3         340  stage4.0
      ... and 974 more

Which a gate would have refused.

    $ symtape check --max restarts:0,ms_per_op:20 $SHARED/traces/hrnet_w18.eval.aot_eager.log.zst
    2 of 2 limits are exceeded
      verdict    limit             baseline     here  change  allowed  meaning
      regressed  max restarts:0           -        1       -        0  attempts that were thrown away
      regressed  max ms_per_op:20         -  30.4 ms       -  20.0 ms  compile time for each ATen call
    [exit 1]

Training saves what these lines make.

    $ symtape profile -n 3 $SHARED/traces/bert.train.aot_eager.log.zst | sed -n '/^Memory of graphs/,/^Caches/p'
    Memory of graphs (estimated at the hints, as if each call ran by itself)
        peak  in blocks  with inputs  inputs  outputs   saved  saved inputs  unknown  compile  graph     peak at   line
      626 MB     626 MB      1.12 GB  622 MB   438 MB       -             -        -  0/0      backward  add_2338  bert/modeling_bert.py:99
      186 MB     186 MB       625 MB  438 MB   186 MB  155 MB        436 MB        -  0/0      forward   addmm_73  bert/modeling_bert.py:495

    Alive at the highest of these peaks
        bytes  share  node                        operator                               line                       code
      93.8 MB   15 %  add_2338                    aten.add.Tensor                        bert/modeling_bert.py:99   inputs_embeds = self.word_embeddings(input_ids)
      93.8 MB   15 %  embedding_dense_backward_2  aten.embedding_dense_backward.default  bert/modeling_bert.py:99   inputs_embeds = self.word_embeddings(input_ids)
      93.8 MB   15 %  mm_1                        aten.mm.default                        bert/modeling_bert.py:495  hidden_states = self.decoder(hidden_states)

    Saved for backward by user line (estimated)
        saved  line                            code
      38.5 MB  transformers/activations.py:89  return self.act(input)
      37.7 MB  bert/modeling_bert.py:335       hidden_states = self.dense(hidden_states)
      18.9 MB  bert/modeling_bert.py:350       hidden_states = self.LayerNorm(hidden_states + input_tensor)
      ... and 11 more
