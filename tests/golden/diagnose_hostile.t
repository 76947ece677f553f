# Diagnoses of hostile logs

Requires: python3

Names, files, code, messages and settings with terminal escapes are printed without them.

    $ python3 $ROOT/tests/golden/make_hostile.py escapes > escapes.log

    $ symtape --color always escapes.log | sed 's/\x1b\[[0-9;]*m//g' | LC_ALL=C grep -c "[[:cntrl:]]"
    0
    [exit 1]

    $ symtape escapes.log | sed -n 3p
        because \x1b[2J\x1b]0;title\x07 \u009b31m\u202e

    $ symtape --json escapes.log | LC_ALL=C grep -c "[[:cntrl:]]"
    0
    [exit 1]

Messages of megabytes are cut.

    $ python3 $ROOT/tests/golden/make_hostile.py giant > giant.log

    $ symtape giant.log | wc -l | { read n; test $n -le 24 && echo few lines; }
    few lines

    $ symtape giant.log | wc -c | { read n; test $n -le 3000 && echo few bytes; }
    few bytes

Phases that are shorter than a hundredth of what they are divided by are no division by zero.

    $ python3 $ROOT/tests/golden/make_hostile.py instant > instant.log

    $ symtape --json instant.log | grep -o 'generating and compiling kernels took [0-9]* %'
    generating and compiling kernels took 100 %
