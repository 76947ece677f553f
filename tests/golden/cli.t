# The command line

Mistakes are one line on standard error, with the nearest name, and exit 2.

    $ symtape
    2> symtape: a command is missing; symtape help lists them
    [exit 2]

    $ symtape improt x
    2> symtape: unknown command "improt"; did you mean "import"?
    [exit 2]

    $ symtape info
    2> symtape: info: an argument is missing; usage: symtape info [options] TAPE[@RECORDING]...
    [exit 2]

    $ symtape info --jsno x.tape
    2> symtape: info: unknown option --jsno; did you mean --json?
    [exit 2]

    $ symtape show --limit many x.tape
    2> symtape: show: --limit: "many" is not a whole number below 2^64
    [exit 2]

    $ symtape show x.tape:0/0_
    2> symtape: "0/0_" is not COMPILE[_ATTEMPT][:KIND[#I]], as in 0/0:forward
    [exit 2]

    $ symtape profile --format xml x.tape
    2> symtape: profile: --format: "xml" is not one of text|json|folded|speedscope|pprof|chrome
    [exit 2]

    $ symtape profile --json --format folded x.tape
    2> symtape: profile: --json and --format folded exclude each other
    [exit 2]

    $ symtape import $RECORDINGS/mlp.log.zst
    2> symtape: import: -o TAPE is missing; it names the tape to write: symtape import -o mlp.tape $RECORDINGS/mlp.log.zst
    [exit 2]

    $ symtape completions csh
    2> symtape: completions: "csh" is not one of bash, zsh, fish
    [exit 2]

What is not there, or not what it claims to be.

    $ symtape info nowhere.tape
    2> symtape: nowhere.tape: No such file or directory
    [exit 4]

    $ mkdir empty && symtape info empty
    2> symtape: empty: a folder without logs (*.log, *.log.zst, *.log.gz) or .pt2 files
    [exit 3]

    $ printf 'hello\n' > text.log && symtape info text.log
    2> symtape: text.log: it contains no record of TORCH_TRACE; symtape record makes recordings
    [exit 3]

A flag is switched off by --no-; options may follow operands.

    $ symtape version --json --no-json | head -1
    symtape 0.1.0

    $ symtape show $RECORDINGS/mlp.log.zst --json --restarts
    {"schema":"symtape.show/1","tape":"$RECORDINGS/mlp.log.zst","restarts":[],"omitted":{}}

Nothing is colored unless it is asked for.

    $ symtape info $RECORDINGS/mlp.log.zst | grep -c $'\033'
    0
    [exit 1]

    $ symtape --color=always info $RECORDINGS/mlp.log.zst | grep -c $'\033'
    3

    $ CLICOLOR_FORCE=1 symtape info $RECORDINGS/mlp.log.zst | grep -c $'\033'
    0
    [exit 1]

    $ NO_COLOR= CLICOLOR_FORCE=1 symtape info $RECORDINGS/mlp.log.zst | grep -c $'\033'
    3

What could not be printed is an error.

    $ symtape info $RECORDINGS/mlp.log.zst > /dev/full
    2> symtape: standard output: No space left on device; what was printed is incomplete
    [exit 4]

    $ symtape help >&-
    2> symtape: standard output: Bad file descriptor; what was printed is incomplete
    [exit 4]
