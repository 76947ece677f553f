A small file that would take much memory, without and with --big.

Requires: zstd plain

    $ { printf 'V1120 09:41:07.123000 42 a.py:1] {"artifact": {"name": ['; yes '1,' | head -n 7000000 | tr -d '\n'; printf '1]}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}\n'; } | zstd -q >a.log.zst

    $ symtape info a.log.zst
    2> symtape: input of {*} kB would take {*} MB of memory or more, and {*} MB is allowed; --big lifts this limit
    [exit 3]

    $ symtape import a.log.zst -o a.tape; ls
    a.log.zst
    2> symtape: input of {*} kB would take {*} MB of memory or more, and {*} MB is allowed; --big lifts this limit

    $ symtape info --big a.log.zst | head -n 3
    1 record, 0 payloads, 14.0 MB of log
    0 symbols, 0 guards of 1 attempt (not counted: 0 suppressed, 0 runtime asserts)

    $ symtape import --big -q a.log.zst -o a.tape && symtape info --big a.tape | head -n 3
    1 record, 0 payloads, 14.0 MB of log in {*} of tape (1/{*})
    0 symbols, 0 guards of 1 attempt (not counted: 0 suppressed, 0 runtime asserts)
