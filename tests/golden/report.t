# symtape report

Requires: python3

A page is one file, within its bound, that names no other file and allows only its own script and style.

    $ symtape report $RECORDINGS/encoder.log.zst -o encoder.html && wc -c < encoder.html | { read n; test $n -gt 100000 && test $n -lt 5000000 && echo bounded; }
    bounded

    $ grep -c '<script>\|<script type="application/json" id="data">' encoder.html
    2

    $ grep -o "default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]*='; style-src 'sha256-[A-Za-z0-9+/]*='; base-uri 'none'; form-action 'none'" encoder.html | sed 's/sha256-[^=]*/HASH/g'
    default-src 'none'; script-src 'HASH='; style-src 'HASH='; base-uri 'none'; form-action 'none'

The hashes are those of the two elements.

    $ python3 - <<'END'
    > import base64, hashlib, re
    > page = open("encoder.html", newline="").read()
    > for name in ("script", "style"):
    >     text = re.findall(f"<{name}>(.*?)</{name}>", page, re.S)
    >     digest = base64.b64encode(hashlib.sha256(text[0].encode()).digest()).decode()
    >     print(name, len(text), f"{name}-src 'sha256-{digest}'" in page)
    > END
    script 1 True
    style 1 True

Its data is one JSON document, which --json prints.

    $ cat > data.py <<'END'
    > import json, re, sys
    > page = open(sys.argv[1], newline="").read()
    > data, = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    > json.dump(json.loads(data), sys.stdout)
    > END

    $ python3 data.py encoder.html > data.json; symtape report --json $RECORDINGS/encoder.log.zst | python3 -c '
    > import json, sys
    > own, page = json.load(sys.stdin), json.load(open("data.json"))
    > print(own == page, *own)
    > print(own["attempts"][0])
    > print(own["graphs"][0]["nodes"][3], own["graphs"][0]["metas"][1])
    > print(own["replay"][0]["totals"]["calls"], own["replay"][0]["totals"]["match"])'
    True schema version tapes profile attempts spans n_spans symbols kernels calls replay compared graphs omitted
    {'recording': 'encoder', 'compile': '0/0', 'attempt': 0, 'status': 'restarted', 'start_ns': 0, 'end_ns': 4421000000, 'records': 278}
    ['s27', 0, '', 2, -1] ['Sym(s77)', '3', -1]
    938 938

The guards of a symbol are those of its own attempt: the log's 192 guards name symbols 283 times.

    $ symtape report --json $RECORDINGS/encoder.log.zst | python3 -c '
    > import json, sys
    > symbols = json.load(sys.stdin)["symbols"]
    > print(sum(s["guards"] for s in symbols), *((s["compile"], s["attempt"], s["guards"]) for s in symbols if s["symbol"] == "s27"))'
    283 ('0/0', 0, 70) ('0/0', 1, 70) ('0/1', 0, 31)

Without a replay its parts are empty.

    $ symtape report --no-replay --json $RECORDINGS/encoder.log.zst | grep -o '"replay":\[[^]]*\]'
    "replay":[]

Texts with markup stay data: the page has the elements that every page has, and the texts come out of its JSON.

    $ python3 $ROOT/tests/golden/make_hostile.py markup > markup.log

    $ symtape report markup.log -o markup.html; python3 - <<'END'
    > from html.parser import HTMLParser
    > class Tags(HTMLParser):
    >     def __init__(self, name):
    >         super().__init__()
    >         self.tags = []
    >         self.feed(open(name).read())
    >     def handle_starttag(self, tag, attributes):
    >         self.tags.append((tag, attributes if tag != "meta" else []))
    >     def handle_comment(self, text):
    >         self.tags.append(text)
    > print(Tags("markup.html").tags == Tags("encoder.html").tags, len(Tags("markup.html").tags))
    > END
    True 22

    $ python3 data.py markup.html > markup.json; grep -o '<script>alert(1)</script>' markup.json | uniq
    <script>alert(1)</script>

    $ sed -n '/id="data"/p' markup.html | sed 's/.*id="data">//; s@</script>$@@' | grep -c '[<>&]'
    0
    [exit 1]

Long lists and messages of megabytes are cut, and the page says so.

    $ python3 $ROOT/tests/golden/make_hostile.py giant > giant.log

    $ symtape report giant.log -o giant.html; wc -c < giant.html | { read n; test $n -lt 300000 && echo few bytes; }
    few bytes

    $ python3 data.py giant.html | grep -o '"omitted".*'
    "omitted": [{"list": "texts", "left_out": 5}]}

A page is written once, and where it goes is said.

    $ symtape report $RECORDINGS/encoder.log.zst -o encoder.html
    2> symtape: encoder.html exists already; --overwrite replaces it
    [exit 2]

    $ symtape report $RECORDINGS/encoder.log.zst
    2> symtape: report: name the page to write, as -o report.html
    [exit 2]

    $ symtape report -o x.html $RECORDINGS/encoder.log.zst:0/9
    2> symtape: $RECORDINGS/encoder.log.zst: no compile 0/9; there are 0/0_0, 0/0_1, 0/1_0
    [exit 2]

    $ symtape report -o x.html $RECORDINGS/encoder.log.zst:0/0:dynamo
    2> symtape: $RECORDINGS/encoder.log.zst:0/0:dynamo: name a tape, a recording or a compile here, not a graph
    [exit 2]

    $ symtape report --rules none.rules -o x.html $RECORDINGS/encoder.log.zst
    2> symtape: none.rules: No such file or directory
    [exit 4]

    $ symtape report nowhere.tape -o x.html
    2> symtape: nowhere.tape: No such file or directory
    [exit 4]

Recordings of several ranks, and one compile of several.

    $ symtape report $RECORDINGS/two_ranks --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print([r["recording"] for r in d["attempts"]], len(d["graphs"]))'
    ['rank0', 'rank1'] 4

    $ symtape report $RECORDINGS/encoder.log.zst:0/1 --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(*(sorted({x["compile"] for x in d[k]}) for k in ("attempts", "graphs", "symbols")))'
    ['0/1'] ['0/1'] ['0/1']

Of two tapes, each has its diagnosis, and the second is compared with the first, as symtape diff does.

    $ symtape report $RECORDINGS/layers.log.zst $RECORDINGS/layers_window.log.zst --json > two.json; symtape diff $RECORDINGS/layers.log.zst $RECORDINGS/layers_window.log.zst --json --labels layers.log.zst,layers_window.log.zst > diff.json; python3 - <<'END'
    > import json
    > page, diff = json.load(open("two.json")), json.load(open("diff.json"))
    > print([[f["kind"] for f in tape["diagnosis"]["findings"]] for tape in page["tapes"]])
    > print(page["compared"]["differences"] == [diff], page["compared"]["ranks"])
    > END
    [[], ['recompile']]
    True None

Of the ranks of a job it has what symtape ranks finds, and no differences of runs.

    $ symtape report $RECORDINGS/ranks_missing --json > ranks.json; symtape ranks $RECORDINGS/ranks_missing --json > found.json; python3 - <<'END'
    > import json
    > page, found = json.load(open("ranks.json")), json.load(open("found.json"))
    > print(page["compared"]["differences"], page["compared"]["ranks"] == found, "diagnosis" in page["tapes"][0])
    > END
    [] True False

Calls that were recorded, neighbors that are equal in one row; the kernels of Inductor; the memory over a graph has the peak of the profile.

    $ symtape report $RECORDINGS/levels.log.zst --json | python3 -c '
    > import json, sys
    > calls = json.load(sys.stdin)["calls"]
    > print(calls["n"], sum(run[2] for run in calls["runs"]), calls["skipped"], calls["runs_left_out"])
    > print(calls["runs"][6], calls["forms"][6])'
    20 20 0 0
    [0, 6, 4, 6] {'function': 'select', 'outcome': 'hit', 'compile': '6/0', 'arguments': "L['x'] [10, 8], L['most'] []", 'line': {'file': '/home/user/demo/levels.py', 'line': 22, 'code': ''}}

    $ symtape report $RECORDINGS/inductor.log.zst --json | python3 -c '
    > import json, sys
    > for k in json.load(sys.stdin)["kernels"]: print(k["compile"], k["program"], k["name"], k["nodes"], sum(l["nodes"] for l in k["lines"]))'
    0/0 forward extern_kernels.mm 2 2
    0/0 forward cpp_fused__softmax_gelu_sum_0 11 11

    $ symtape report $RECORDINGS/train.log.zst --json | python3 -c '
    > import json, sys
    > page = json.load(sys.stdin)
    > print([(g["kind"], max(g["memory"]), len(g["memory"]) == g["n_nodes"]) for g in page["graphs"] if "memory" in g], [m["peak_bytes"] for m in page["profile"]["graph_memory"]])'
    [('aot_forward_graph', 11360, True), ('aot_backward_graph', 11284, True)] [11360, 11284]

A record of guards that lost its payload costs the tree alone.

    $ zstdcat $RECORDINGS/mlp.log.zst | awk '/^V/ { g = /dynamo_cpp_guards_str/ } g && /^\t/ { next } g { sub(/, "has_payload": "[0-9a-f]*"/, "") } { print }' > cut.log; symtape report -q --json cut.log 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["replay"][0]["totals"]["graphs"])'
    4
