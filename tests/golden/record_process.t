# a process that runs already

The Python module symtape starts `record --process`, which tells it where to log, and packs when its
input ends. Here nothing is logged.

    $ symtape record --process $$ -o x.tape --json < /dev/null | cut -d, -f 1-4
    {"schema":"symtape.record.folder/1","folder":"{*}/symtape-{*}","library":null}
    {"schema":"symtape.record/1","status":0,"signal":0,"abandoned":false
    2> symtape: PyTorch logged nothing: the program compiled nothing; no tape is written
    2> symtape: the program ran {*}

    $ symtape record --process nobody -o x.tape
    2> symtape: record: --process: "nobody" is not the number of a process
    [exit 2]

    $ symtape record --process 0 -o x.tape
    2> symtape: record: --process: "0" is not the number of a process
    [exit 2]

    $ symtape record
    2> symtape: record: an argument is missing; usage: symtape record [options] [--] CMD [ARG...]
    [exit 2]
