# symtape cache --ranks: jobs of several ranks

Requires: shared

The caches of rank 1 were emptied: rank 0 is ready with 0/0 and waits.

    $ symtape cache --ranks $SHARED/ranks/fsdp_cache.rank*.log.zst
    rank1 was the last in 2 of 2 compiles; the others were ready 16.1 s earlier in all
    4 graphs compiled, 4 from the cache; 4 were compiled although the cache of another one had the graph (25.5 s)
    to change: one folder of caches for all, and one that compiles first

    Compiles by begin; ahead: ready before the last one was
      begin    took  rank   compile   ahead  last   collective  graphs                     function
       0 ns  26.5 s  rank1  0/0           -                  -  2 compiled that rank0 had  forward ranks/fsdp_cache.py:19
    3.68 ms  11.9 s  rank0  0/0      14.6 s  rank1           -  2 from the cache           forward ranks/fsdp_cache.py:19
     26.5 s  358 ms  rank0  0/1      1.49 s  rank1           -  2 from the cache           forward ranks/fsdp_cache.py:19
     26.5 s  1.84 s  rank1  0/1           -                  -  2 compiled that rank0 had  forward ranks/fsdp_cache.py:19

The backend of rank 2 sleeps in each of its compiles:

    $ symtape cache --ranks -n 4 $SHARED/ranks/fsdp_slow.rank*.log.zst
    rank2 was the last in 2 of 2 compiles; the others were ready 10.5 s earlier in all

    Compiles by begin; ahead: ready before the last one was
      begin    took  rank   compile   ahead  last   collective  graphs  function
       0 ns  6.21 s  rank1  0/0      6.38 s  rank2           -          forward ranks/fsdp_slow.py:19
    3.61 ms  12.6 s  rank2  0/0           -                  -          forward ranks/fsdp_slow.py:19
    7.96 ms  6.19 s  rank0  0/0      6.40 s  rank2           -          forward ranks/fsdp_slow.py:19
    15.1 ms  6.19 s  rank3  0/0      6.39 s  rank2           -          forward ranks/fsdp_slow.py:19
      ... and 4 more

Rank 1 waits in a compiler collective that rank 0 does not come to:

    $ symtape cache --ranks $SHARED/ranks/cc_hang.rank*.log.zst
    rank1 was the last in 1 of 1 compile; the others were ready 1.73 ms earlier in all
    rank0 waited 11.0 ms for others in compiler collectives
    rank1 waits in a compiler collective of 0/1, a compile that no other one has

    Compiles by begin; ahead: ready before the last one was
      begin    took  rank   compile    ahead  last   collective  graphs  function
       0 ns  1.58 s  rank0  0/0      1.73 ms  rank1     11.0 ms          score ranks/cc_hang.py:16
    6.33 ms  1.58 s  rank1  0/0            -                  -          score ranks/cc_hang.py:16
     1.61 s  no end  rank1  0/1            -                  -

Four ranks compile one graph each for itself:

    $ symtape cache --ranks -n 1 $SHARED/ranks/coll_block.rank*.log.zst | head -2
    rank0 was the last in 1 of 1 compile; the others were ready 3.28 ms earlier in all
    4 graphs compiled, 0 from the cache; 3 were compiled although another one compiled the same graph (2 min 10 s)
