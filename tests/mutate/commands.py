"""Every command line that reads a kind of file. {in} is the mutated file, {stdin} that file as standard
input, {graph} a graph in it, {compile} a compile; {good} and the other names in braces are files that
nobody changed (bases.py makes them). What a command writes is called out.*; anything else that is
there afterwards is an error."""

MINIFY = "-o out.tape --max-calls 30 --deadline 4"

# {program}: runs the candidate as a program, and says that it fails as long as it has a call of aten.
PROGRAM = "sh -c 'python3 -S $SYMTAPE_PY; grep -q aten $SYMTAPE_FX'"

# Of what holds records: tapes, logs, folders, archives.
RECORDS = [
    "info {in}", "info --json {in}", "info --strict {in}", "info {good} {in}",
    "show {in}", "show {in} --graphs --json", "show {in} --guards", "show {in} --guards --json --stack",
    "show {in} --symbols", "show {in} --symbols --json", "show {in} --specializations",
    "show {in} --levels", "show {in} --levels --json --stack",
    "show {in} --signature --weights", "show {in} --signature --weights --json", "show {in} --events",
    "show {in} --events --json --limit 40", "show {in} --events=create_symbol --stack",
    "show {in} --restarts --recompiles --breaks --failures --caches",
    "show {in} --restarts --recompiles --breaks --failures --caches --json",
    "show {in} --restarts --breaks --failures --stack",
    "show {in} --artifact symtape_dispatches", "show {in} --artifact dynamo_cpp_guards_str",
    "show {in} --artifact compilation_metrics --json", "show {in} --compile 0/0 --guards --file demo",
    "profile {in}", "profile {in} --json", "profile {in} --format folded", "profile {in} --format chrome",
    "profile {in} --format speedscope", "profile {in} -o out.pb.gz", "profile {in} --format folded --view kernel-nodes",
    "profile {in} -n 0 --by op,line,stack,module", "profile {in} --no-replay --sort exprs", "profile {in} {good}",
    "profile {in} --cost-model", "profile {good} {in} --cost-model --json",
    "profile {good} {in} --json -o out.json", "profile --rules {rules} {in}",
    "advise {in}", "advise {in} --json",
    "report {in} -o out.html", "report {in} {good} --json",
    "replay {in}", "replay {in} --json", "replay {in} --guards", "replay {in} --guards --json -j 2",
    "replay {in} --operators", "replay {in} --dynamic recorded,static,batch,partial,auto,all",
    "replay {in} --dynamic auto,all --json", "replay {in} --dynamic-shapes L['x']:0=dynamic",
    "replay {in} --dynamic-shapes L['x']:0=Dim(batch)", "replay {in} --dynamic-shapes L['ids']:0=Dim(b,1..64),L['ids']:1=unbacked",
    "replay {in} --sizes s27=9", "replay {in} --what-if s27=31", "replay {in} --ablate fastpath,cache+roofline,device-property,cached-meta",
    "replay {in} --audit fastpath", "replay {in} --all --strict", "replay {in} --bisect-codes",
    "replay {in} --rules {rules}",
    "inputs {in} -n 4 --seconds 1", "inputs {in} --json -n 3 --seconds 1", "inputs {in} --cover s27=1..64,s77=2..9 --json",
    "inputs {in} --python -n 3 --seconds 1",
    "inputs {in} --cover x.size(0)=1..4096:x2 --assume x.size(0)<9",
    "validate {in}", "validate {in} --redundant --json", "rewrite {in} --masks -o out.tape",
    "diff {in} {good}", "diff {good} {in}", "diff {in} {good} --json", "diff {good} {in} --format markdown",
    "diff {good} {in} -n 0 --only guards,nodes,operators", "diff {in} {in}", "diff {in} {good} --vs {good} {good}",
    "diff --save out.json {in}", "diff {good} {in} --bisect-codes",
    "check --max guards:3,calls:10 {in}", "check --list {in}", "check --save out.json {in}",
    "check -b {baseline} {in}", "check -b {baseline} {in} --json", "check -b {baseline} {in} --format markdown",
    "check -b {baseline} --fail-on guards:+0,calls:+5% {in} {good} --bisect-codes",
    "opcheck {in} --coverage", "opcheck {in} --json --rules {rules}", "opcheck {in} --generate out.jsonl",
    "export --log {in}", "export --log {in} -o out.log", "export --log {in} -o out",
    "export --sqlite out.sqlite --jsonl out {in}", "export --sqlite out.sqlite {compile}",
    "import {in} -o out.tape", "import {in} -o out.tape --redact", "import {in} {good} -o out.tape --json",
    "import {in} -o out.tape --strict", "import {in} -o -", "import -o out.tape {stdin}", "info {stdin}",
    "show {stdin} --graphs --json", "replay {stdin} --guards", "export --log {stdin}", "diff {stdin} {good}",
    "bisect {compile} --list", "bisect {compile} --guard Eq(s27,16)", "bisect {compile} --specializes s27 --json",
    "bisect {compile} --expect .", "bisect {compile} --expect . --bisect-codes", "bisect --between {in} {good}",
]

# Of one graph.
GRAPH = [
    "show {graph}", "show {graph} --json", "show {graph} --guards",
    "replay {graph}", "replay {graph} --guards --json", "replay {graph} --operators --strict",
    "run {graph} --backend cpu", "run {graph} --backend cpu --json --sizes {sizes}",
    "run {graph} --backend cpu --ignore-guards --sizes {sizes} --compare-with cpu --nodes",
    "run {graph} --backend cpu --profile --runs 1", "run {graph} --backend cpu --outputs out.st --save all",
    "run {graph} --backend null", "run {graph} --backend null --json --ignore-guards --sizes {sizes}",
    "run {graph} --backend null --sizes {sizes_file}",
    "export --python {graph}", "export --python --cpu --set {sizes} {graph}", "export --python {graph} -o out.py",
    f"minify {{graph}} {MINIFY} --expect .", f"minify {{graph}} {MINIFY} --check-ops aten.tanh --repro out.py",
    f"minify {{graph}} {MINIFY} --specializes s27 --issue out.md",
    f"minify {{graph}} {MINIFY} --guard Eq(s27,16) --fx out.fx --json",
    f"minify {{graph}} {MINIFY} --cost guards>=1 --fx out.fx --good out.good.py --anonymize",
    f"minify {{graph}} {MINIFY} --check-ops aten.add.Tensor --repro out.py --issue out.md --fx out.fx "
    "--good out.good.fx --anonymize",
    f"minify {{graph}} {MINIFY} --backend-mismatch cpu,cpu", f"minify {{graph}} {MINIFY}",
    "minify {graph} -o out.tape --max-calls 2 --deadline 8 --check {program} --repro out.py",
    "minify {graph} -o out.tape --max-calls 2 --deadline 8 --torch-oracle compile --repro out.py --issue out.md",
    "minify {graph} -o out.tape --max-calls 2 --deadline 8 --torch-oracle export --cpu",
    "bisect {graph} --check {program} --looks 1 --timeout 5",
]

FX = [
    "rewrite {in} --masks --check always -o out.tape",
    f"minify {{in}} {MINIFY} --expect . --repro out.py --issue out.md --fx out.fx", f"minify {{in}} {MINIFY}",
    f"minify {{in}} {MINIFY} --check-ops aten.cos,aten.neg --repro out.py --good out.good.py",
    f"minify {{in}} {MINIFY} --check-ops aten.div --anonymize --issue out.md --fx out.fx --repro out.py",
    f"minify {{in}} {MINIFY} --guard Eq(s1,3) --json", f"minify {{in}} {MINIFY} --cost exprs>=1 --fx out.fx",
    "minify {in} -o out.tape --max-calls 2 --deadline 8 --check {program} --repro out.py",
    "minify {in} -o out.tape --max-calls 2 --deadline 8 --torch-oracle run --backend eager --repro out.py",
    f"minify {{in}} {MINIFY} --backend-mismatch cpu,cpu --inject aten.cos=1e-2",
    "bisect {in} --expect .", "bisect {in} --list", "bisect {in} --guard Eq(s1,3) --json",
    "bisect {in} --check {program} --looks 1 --timeout 5",
]

ARCHIVE = [f"minify {{in}} {MINIFY} --check-ops aten.linear --repro out.py --issue out.md",
           f"minify {{in}} {MINIFY} --expect . --good out.good.py", "bisect {in} --list",
           "minify {in} -o out.tape --max-calls 2 --deadline 8 --torch-oracle compile --repro out.py"]

RULES = ["replay --rules {in} {good}", "replay --rules {in} --operators {good} --json", "profile --rules {in} {good}",
         "check --rules {in} --list {good}"]

VALUES = ["run --backend cpu {goodgraph} --inputs {in}", "run --backend cpu {goodgraph} --compare-with {in} --json",
          "run --backend cpu {goodgraph} --inputs {in} --input-prefix in. --compare-with {in} --nodes"]

BASELINE = ["check -b {in} {good}", "check -b {in} {good} --json", "check -b {in} {good} --format markdown -o out.md",
            "check -b {in} {good} --bisect-codes"]

CASES = ["opcheck --cases {in}", "opcheck --cases {in} --json", "opcheck --cases {in} --coverage {good}",
         "opcheck --cases {in} --xfail out.json --update", "opcheck --cases {in} --generate out.jsonl"]

XFAIL = ["opcheck {good} --xfail {in}", "opcheck {good} --xfail {in} --json", "opcheck {good} --op aten.addmm --xfail {in}"]

SNAPSHOT = ["diff {in} {good}", "diff {good} {in} --json", "diff {in} {in} --format markdown",
            "diff {in} {good} --bisect-codes", "diff {in} {good} --vs {in} {good} --json"]

JOURNAL = [f"minify {{goodgraph}} --check-ops aten.tanh {MINIFY} --resume --overwrite --journal {{in}}",
           f"minify {{goodgraph}} --check-ops aten.tanh {MINIFY} --journal {{in}} --json",
           f"minify {{goodgraph}} --check-ops aten.tanh {MINIFY} --journal {{in}} --force --fx out.fx"]

SIZES = ["run {goodgraph} --backend null --sizes {in}", "run {goodgraph} --backend null --sizes {in} --json --ignore-guards"]
