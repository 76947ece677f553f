# Diagnoses of many recompiles

Requires: python3
Requires: plain

100,000 recompiles of one function: few lines and no more memory than the log needs.

    $ python3 $ROOT/tests/golden/make_hostile.py recompiles > recompiles.log

    $ (ulimit -v 1500000; symtape recompiles.log) | wc -l | { read n; test $n -le 24 && echo few lines; }
    few lines
