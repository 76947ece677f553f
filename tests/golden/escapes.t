Texts of files that hold terminal escapes: they are shown as text, in a pipe as well.

A candidate whose error quotes a string of the file:

    $ symtape minify $ROOT/tests/hostile/tty_escape.fx --error . -o out.tape --fx out.fx --issue out.md
    calls 1 -> 1, symbols 0 -> 0, guards 0 -> 0; 2 checks (2 answers were known), {*} s
    minimal: removing any single remaining part makes the failure disappear
    failure: RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'zz\x1b]0;PWNED\x07\x1b[2J <img src=x onerror=alert(1)>'

    # symtape candidate: other, seed 0
    class GraphModule(torch.nn.Module):
        def forward(self, x: "f32[4, 8][8, 1]cpu"):
            c: "f32[4, 8][8, 1]cpu" = torch.ops.aten.div.Tensor_mode(x, x, rounding_mode = 'zz\x1b]0;PWNED\x07\x1b[2J <img src=x onerror=alert(1)>')
            return (c,)

    why each part is needed
      c = aten.div.Tensor_mode, replaced by an input: it does not fail any more
    2> symtape: out.tape: the result as a tape
    2> symtape: out.fx: the result as FX text
    2> symtape: out.md: a bug report

What was written has no control character either, and no HTML outside of code:

    $ grep -c '[[:cntrl:]]' out.fx out.md
    out.fx:0
    out.md:0
    [exit 1]

    $ head -n 1 out.md
    # `aten.div.Tensor_mode: RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'zz\x...`

A log with escapes in a name, in a file's name and in a payload:

    $ printf 'V1120 09:41:07.123000 42 a.py:1] {"str": ["/tmp/\\u001b[2J.py", 0]}\n' >a.log

    $ printf 'V1120 09:41:07.123000 42 a.py:1] {"artifact": {"name": "\\u001b]0;PWNED\\u0007\\u009b31m", "encoding": "string"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "ce47f92fa4533866f16270dd421ba09d"}\n\t\033[31mred\033]8;;http://example.com\a\n' >>a.log

    $ symtape show --events a.log
    log line  time             compile  event     payload  metadata
           1  09:41:07.123000  -        str             -  ["/tmp/\u001b[2J.py", 0]
           2  09:41:07.123000  0/0_0    artifact     32 B  {"name": "\u001b]0;PWNED\u0007\u009b31m", "encoding": "string"}

    $ symtape info a.log
    2 records, 1 payload, 315 B of log
    0 symbols, 0 guards of 1 attempt (not counted: 0 suppressed, 0 runtime asserts)

    tape   recording  rank  pid  torch  records  payloads  damaged  whole
    a.log  a             -   42  -            2         1        0  yes

    recording  compile  attempt  status      records  symbols  guards  graphs  calls
    a          0/0            0  unfinished        1        0       0       0      0

    count  event
        1  artifact
        1  str

    $ symtape show a.log:0/0 --events
    log line  time             compile  event     payload  metadata
           2  09:41:07.123000  0/0_0    artifact     32 B  {"name": "\u001b]0;PWNED\u0007\u009b31m", "encoding": "string"}

    $ for f in info 'show --events' 'show --events --json' profile replay; do symtape $f a.log; done 2>&1 | tr -d '\n\t' | grep -c '[[:cntrl:]]'
    0
    [exit 1]
