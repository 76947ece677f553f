/* The sections of the page, and the page. */

/* ---- The diagnosis ---- */

function findingElement(finding) {
    const list = el("dl");
    const add = (name, ...values) => list.append(el("dt", {}, name), el("dd", {}, ...values));
    if (finding.line) add("line", placeButton(finding.line), " ", el("code", {}, finding.line.code || ""));
    if (finding.source) add("input", el("code", {}, finding.source));
    if (finding.message) add("message", el("pre", {}, finding.message));
    for (const line of finding.evidence.slice(0, 12)) add("recorded", el("code", {}, line));
    if (finding.evidence.length > 12) add("", `and ${plural(finding.evidence.length - 12, "more line")}`);
    finding.remedies.forEach((remedy, i) => add(i ? "or" : remedy.proved ? "proved" : "suggested", el("code", {}, remedy.text)));
    const cost = finding.seconds === null ? "" : ` (${finding.basis === "estimated" ? "an estimated " : ""}${time(finding.seconds * 1e9)}${finding.share === null ? "" : ", " + share(finding.share, 1) + " of the compile time"})`;
    return el("article", { className: finding.ended_program ? "finding ended" : "finding" },
        el("h3", {}, `${finding.kind.replaceAll("_", " ")}${finding.count > 1 ? ", " + finding.count + " times" : ""}${cost}`),
        el("p", {}, finding.cause), list);
}

function differing(row, value) {
    return !known(value) ? null : row.what === "ns" ? time(value) : typeof value === "number" ? count(value) : String(value);
}

const COUNTS = [["compiles", "compile"], ["attempts", "attempt"], ["recompiles", "recompile"], ["breaks", "graph break"], ["graphs", "graph"], ["guards", "shape guard"]];

function diagnosisCards(recordings, replays) {
    const sum = key => recordings.reduce((n, r) => n + r[key], 0);
    const replayed = key => replays.reduce((n, r) => n + r.totals[key], 0);
    return el("div", { className: "cards" },
        card(time(sum("compile_ns")), "of compiling"), sum("restarted_ns") ? card(time(sum("restarted_ns")), "of that thrown away by restarts") : null,
        COUNTS.map(([key, word]) => card(count(sum(key)), sum(key) === 1 ? word : word + "s")),
        replayed("calls") ? card(share(replayed("match"), replayed("calls")), `of ${plural(replayed("calls"), "call")} replayed as recorded`, replayed("match") === replayed("calls") ? "good" : "") : null);
}

function findingElements(diagnosis) {
    const findings = diagnosis ? diagnosis.findings : [];
    return findings.length ? findings.map(findingElement) : [el("p", {}, "Nothing was found that failed, recompiled or took long for a known cause.")];
}

/* Tapes that are runs of a program, side by side. */
function besideElement() {
    return el("div", { className: "beside" }, data.tapes.map(tape => el("div", {}, el("h3", {}, lastPart(tape.path)),
        diagnosisCards(tape.recordings.map(k => profile.recordings[k]), data.replay.filter(r => r.tape === tape.path)), findingElements(tape.diagnosis))));
}

function diagnosisSection() {
    const parent = section("diagnosis", "Diagnosis");
    if (data.tapes.some(tape => tape.diagnosis)) {
        parent.append(besideElement());
    } else {
        const ranks = data.compared.ranks;
        parent.append(diagnosisCards(profile.recordings, data.replay));
        if (ranks && ranks.divergences.length) parent.append(el("p", {}, el("a", { href: "#ranks" }, divergenceText(ranks.divergences[0])), "."));
        if (!ranks || !ranks.differs || profile.diagnosis.findings.length) parent.append(...findingElements(profile.diagnosis));
        if (profile.headlines.length) parent.append(el("h3", {}, "Also"), el("ul", {}, profile.headlines.map(line => el("li", {}, line))));
    }
    tableSection(parent, "Recordings", [{ title: "recording", kind: "word", get: r => recordingName(r.name) }, word("rank", "rank"), nanoseconds("compile time", "compile_ns"), nanoseconds("restarted", "restarted_ns"),
        number("compiles", "compiles"), number("attempts", "attempts"), number("graphs", "graphs"), number("guards", "guards"), number("recompiles", "recompiles"), number("breaks", "breaks"),
        number("failures", "failures"), number("unfinished", "unfinished")], several ? profile.recordings : []);
    tableSection(parent, "What differs between recordings", [word("compile", "compile"), { title: "what", kind: "word", get: row => row.what === "ns" ? "time" : row.what }, ...profile.recordings.slice(0, 16).map((recording, i) => ({ title: recordingName(recording.name), kind: "text", get: row => differing(row, row.values[i]) }))], data.compared.differences.length ? [] : profile.differences);
}

/* ---- Time ---- */

function phaseTree() {
    const parts = new Map(profile.phases.map(p => [p.name, p.part]));
    const nodes = profile.phase_tree.map(p => ({ label: p.name, value: p.inclusive_ns, children: [], color: partColor(parts.get(p.name)),
        detail: `${time(p.exclusive_ns)} itself, ${plural(p.calls, "call")}${p.unfinished ? ", " + p.unfinished + " never ended" : ""}` }));
    const roots = [];
    profile.phase_tree.forEach((p, i) => (p.parent === null || !nodes[p.parent] ? roots : nodes[p.parent].children).push(nodes[i]));
    return roots;
}

const PATH = place => place.file.split("/").slice(-2).join("/");
function lineTree() {
    return treeOf(profile.lines.filter(l => l.ns > 0).map(l => ({ value: l.ns, path: [PATH(l), l.function || "(module)", `${l.line}: ${l.code}`], places: [null, null, l],
        detail: l.share_low !== undefined ? `between ${share(l.share_low, 1)} and ${share(l.share_high, 1)}` : "" })));
}

const stacks = (profile.by && profile.by.stack) || [], modules = (profile.by && profile.by.module) || [];
function stackTree(key) {
    return treeOf(stacks.filter(s => s[key] > 0).map(s => ({ value: s[key], path: s.frames.map(f => `${f.function} ${shortPlace(f)}`), places: s.frames })));
}

function moduleTree(key) {
    return treeOf(modules.filter(m => m[key] > 0).map(m => ({ value: m[key], path: ["model", ...(m.name ? m.name.split(".") : [])] })));
}

/* Kernels below the program of Inductor that calls them, then, by nodes, their user lines. */
function kernelTree(by) {
    return treeOf(data.kernels.flatMap(k => {
        const path = [...(several ? [recordingName(k.recording)] : []), where(k), k.program, k.name];
        const places = path.map((label, i) => i === path.length - 1 ? k.lines[0] : null);
        if (by === "ns") return [{ value: (k.compile_ns || 0) + (k.autotune_ns || 0), path, places, detail: `${k.kind}${k.operators ? ", " + k.operators : ""}` }];
        const lined = k.lines.map(l => ({ value: l.nodes, path: [...path, `${shortPlace(l)} ${l.code}`], places: [...places, l] }));
        const rest = k.nodes - k.lines.reduce((n, l) => n + l.nodes, 0);
        return rest > 0 ? [...lined, { value: rest, path, places }] : lined;
    }).filter(row => row.value > 0));
}

function guardTree() {
    return treeOf(profile.guards.map(g => ({ value: g.count, path: [g.class, ...(g.line && g.line.file ? [`${shortPlace(g.line)} ${g.line.code || ""}`] : []), g.expr], places: [null, ...(g.line && g.line.file ? [g.line] : []), g.line] })));
}

function operatorTree() {
    const real = profile.deep;
    return treeOf(profile.operator_costs.map(o => {
        const parts = o.op.split("."), path = parts.length > 2 ? [parts[0], parts.slice(0, -1).join("."), o.op] : [parts[0], o.op];
        return { value: real ? (o.real ? o.real.self_ns : 0) : o.replayed ? o.replayed.dispatches : 0, path };
    }).filter(row => row.value > 0));
}

function timeSection() {
    const parent = section("time", "Where the time went");
    const by = key => n => `${count(n)} ${key}`;
    const views = [
        ["phases (measured)", () => phaseTree(), time],
        [`user lines (${profile.lines_basis} time)`, () => lineTree(), time],
        ["user stacks, by time in dispatches", () => stackTree("self_ns"), time],
        ["user stacks, by guards", () => stackTree("guards"), by("guards")],
        ["modules, by ATen calls", () => moduleTree("aten_calls"), by("calls")],
        ["modules, by Dynamo's calls", () => moduleTree("dynamo_calls"), by("calls")],
        [profile.deep ? "operators, by time in dispatches" : "operators, by replayed dispatches", () => operatorTree(), profile.deep ? time : by("dispatches")],
        ["kernels, by time of compiling and tuning", () => kernelTree("ns"), time],
        ["kernels, by the nodes that they compute", () => kernelTree("nodes"), by("nodes")],
        ["guards, by the code that asked for them", () => guardTree(), by("guards")],
    ].map(([name, make, format]) => ({ name, format, roots: make() })).filter(view => view.roots.length > 0);
    if (views.length === 0) {
        parent.append(el("p", {}, "No phase, line or operator was recorded."));
        return;
    }
    const place = el("div");
    const choose = el("select", { "aria-label": "What the icicle divides", on: { change: () => show(views[choose.selectedIndex]) } }, views.map(view => el("option", {}, view.name)));
    const show = view => place.replaceChildren(new Chart(view.name, icicle(view.roots, view.format), { format: view.format }).element);
    if (several) parent.append(el("p", { className: "soft" }, "Sums over all recordings."));
    parent.append(el("div", { className: "tools" }, el("label", {}, "Divided by ", choose)), place);
    show(views[0]);
    tableSection(parent, "Phases by name", [word("phase", "name"), nanoseconds("exclusive", "exclusive_ns"), { title: "share of all phases", kind: "share", get: p => ({ part: p.exclusive_ns, whole: profile.phases_ns }) },
        nanoseconds("inclusive", "inclusive_ns"), number("calls", "calls"), number("never ended", "unfinished"), text("part of the compiler", "part")], profile.phases);
    tableSection(parent, "Phases that never ended", [word("phase", "name"), COMPILE, RECORDING, nanoseconds("elapsed", "elapsed_ns")], profile.unfinished);
    tableSection(parent, "User lines", [{ title: "line", kind: "place", get: l => l }, code("code", "code"), word("function", "function"), { title: profile.lines_basis + " time", kind: "ns", get: l => l.ns || null },
        { title: "share of all lines", kind: "share", get: l => l.ns ? { part: l.ns, whole: profile.lines_total_ns } : null }, number("nodes", "nodes"), number("guards", "guards"), number("symbols", "symbols"),
        number("specializations", "specializations"), number("dispatches", "dispatches"), size("saved for backward", "saved_bytes")], profile.lines);
    tableSection(parent, "Lines of PyTorch that asked", [{ title: "line", kind: "place", get: l => l }, code("code", "code"), word("function", "function"), number("guards", "guards"), number("symbols", "symbols"),
        number("specializations", "specializations")], profile.library_lines);
}

/* ---- The time axis ---- */

const STATUSES = ["ok", "restarted", "failed", "unfinished"];

/* Gives each box the first row, from `first` on, that is free for its time. Returns the row after the last one. */
function packRows(boxes, first) {
    const ends = [];
    for (const box of boxes.sort((a, b) => a.from - b.from || b.to - a.to)) {
        let row = ends.findIndex(end => end <= box.from);
        if (row < 0) row = ends.length < 40 ? ends.length : 39;
        ends[row] = box.to;
        box.row = first + row;
    }
    return first + ends.length;
}

function attemptBox(attempt, recompiled, calls) {
    const again = attempt.attempt > 0 ? ", attempt " + attempt.attempt : "";
    const why = recompiled.get(attempt.recording + "\n" + attempt.compile), call = calls.get(attempt.recording + "\n" + attempt.compile);
    return { from: attempt.start_ns, to: Math.max(attempt.end_ns, attempt.start_ns), color: STATUSES.includes(attempt.status) ? attempt.status : "unfinished",
        label: (why ? "\u21bb " : "") + where(attempt) + (attempt.status === "ok" ? "" : " " + attempt.status),
        detail: `${several ? recordingName(attempt.recording) + ": " : ""}compile ${attempt.compile}${again}: ${attempt.status}, ${time(Math.max(attempt.end_ns - attempt.start_ns, 0))} from ${time(attempt.start_ns)}, ${plural(attempt.records, "record")}` +
            (why ? "; a recompile: " + why : "") + (call === undefined ? "" : `; for call ${count(call)}`) };
}

function partColor(part) {
    return "c" + Math.max(0, Object.keys(profile.parts).indexOf(part)) % 9;
}

function spanBoxes(spans, first) {
    const boxes = spans.map(s => ({ from: s.start_ns, to: s.start_ns + s.ns, color: partColor(s.part), unfinished: s.unfinished, label: s.name,
        detail: `${time(s.ns)}${s.compile ? ", compile " + s.compile : ""}${s.detail ? ", " + s.detail : ""}; ${s.part}${s.unfinished ? "; it never ended" : ""}` }));
    let rows = first;
    const open = [];
    for (const box of boxes.sort((a, b) => a.from - b.from || b.to - a.to)) {
        while (open.length && open[open.length - 1].to <= box.from) open.pop();
        box.row = first + Math.min(open.length, 25);
        open.push(box);
        rows = Math.max(rows, box.row + 1);
    }
    return [boxes, rows];
}

function timelineSection() {
    const parent = section("timeline", "Compiles in time");
    const recompiled = new Map(profile.recompiles.map(r => [r.recording + "\n" + r.compile, r.reasons.map(reason => reason.guard).join("; ")]));
    const timed = data.attempts.filter(a => a.start_ns !== undefined);
    const all = [], names = [], calls = compilingCalls();
    let row = 0;
    profile.recordings.forEach((recording, i) => {
        const attempts = timed.filter(a => a.recording === recording.name).map(a => attemptBox(a, recompiled, calls));
        if (several && (attempts.length || data.spans.some(s => s.recording === i))) names.push({ row: row++, text: recordingName(recording.name) });
        row = packRows(attempts, row);
        all.push(...attempts);
        const tracks = new Set(data.spans.filter(s => s.recording === i).map(s => s.track));
        for (const track of [...tracks].slice(0, 12)) {
            const [boxes, next] = spanBoxes(data.spans.filter(s => s.recording === i && s.track === track), row);
            all.push(...boxes);
            row = next;
        }
    });
    if (all.length === 0) {
        parent.append(el("p", {}, "No compile has a time."));
        return;
    }
    parent.append(el("p", { className: "soft" }, "Attempts of compiles by the times of their records, recordings below each other (each tape begins at 0), and the phases of each thread beneath. \u21bb marks a recompile."),
        el("div", { className: "key" }, STATUSES.filter(name => timed.some(a => a.status === name)).map(name => el("span", {}, el("i", { className: name }), "attempt " + name)),
            [...new Set(data.spans.map(s => s.part))].map(part => el("span", {}, el("i", { className: partColor(part) }), part))),
        new Chart("Compiles in time", all, { format: time, names }).element);
    if (data.n_spans > data.spans.length) parent.append(el("p", { className: "soft" }, `The ${count(data.spans.length)} longest of ${plural(data.n_spans, "phase")} are shown.`));
}

/* ---- Tables ---- */

function compilesSection() {
    const lines = new Map(profile.compiles.map(c => [c.recording + "\n" + c.id, c.line]));
    const functionLine = row => lines.get(row.recording + "\n" + row.compile);
    const parent = section("compiles", "Compiles");
    const calls = (title, ...levels) => ({ title, kind: "count", get: c => levels.reduce((sum, level) => sum + (c.calls[level] || 0), 0) || null });
    tableSection(parent, "Compiles", [word("compile", "id"), RECORDING, word("status", "status"), number("attempts", "attempts"), word("function", "function"), LINE, nanoseconds("time", "ns"), nanoseconds("restarted", "restarted_ns"),
        number("graphs", "graphs"), calls("Dynamo's calls", "dynamo"), calls("ATen calls", "forward", "backward", "inference"), number("guards", "guards"), number("symbols", "symbols"),
        number("specializations", "specializations"), number("records", "records")], profile.compiles,
        "Calls: in graphs of the attempt that was kept; ATen calls are those of the forward, the backward and the inference graph.");
    tableSection(parent, "Failures", [COMPILE, RECORDING, word("type", "type"), text("reason", "reason"), LINE, CODE], profile.failures);
    tableSection(parent, "Restarts", [COMPILE, RECORDING, nanoseconds("thrown away", "ns"), text("reason", "summary"), text("meaning", "meaning"), number("records", "records"), number("graphs", "graphs"), number("symbols", "symbols"),
        number("guards", "guards")], profile.restarts);
    const reasons = profile.recompiles.flatMap(r => (r.reasons.length ? r.reasons : [{}]).map(reason => ({ ...r, of: reason.compile, guard: reason.guard, line: reason.line })));
    tableSection(parent, "Recompiles", [COMPILE, RECORDING, nanoseconds("time", "ns"), word("guard of", "of"), code("guard that failed", "guard"), LINE], reasons);
    tableSection(parent, "Graph breaks", [COMPILE, RECORDING, text("why", "summary"), LINE, CODE, text("explanation", "explanation"), text("hint", "hint"), nanoseconds("compiles that it caused", "caused_ns")], profile.breaks);
    tableSection(parent, "Caches", [COMPILE, RECORDING, word("cache", "cache"), word("result", "result"), code("key", "key"), text("reason", "reason"), text("detail", "detail"), nanoseconds("time", "ns"), { title: "line of the function", kind: "place", get: c => functionLine(c) }], profile.caches);
    const none = [["failures", profile.failures], ["restarts", profile.restarts], ["recompiles", profile.recompiles], ["graph breaks", profile.breaks], ["cache look-ups", profile.caches]].filter(([, rows]) => rows.length === 0);
    if (none.length) parent.append(el("p", { className: "soft" }, "Not recorded: " + none.map(([name]) => name).join(", ") + "."));
}

function guardsSection() {
    const parent = section("guards", "Guards and symbols");
    const columns = [code("expression", "expr"), word("asked by", "class"), number("count", "count"), number("kept", "kept"), LINE, CODE];
    tableSection(parent, "Guards", columns, profile.guards, "Kept: in attempts that were not thrown away.");
    tableSection(parent, "Suppressed guards", columns, profile.suppressed_guards);
    tableSection(parent, "Runtime asserts", columns, profile.runtime_asserts);
    tableSection(parent, "Symbols", [word("symbol", "symbol"), COMPILE, RECORDING, word("value", "value"), word("range", "range"), code("source", "source"), { title: "became", kind: "word", get: s => s.specialized && s.specialized.value },
        { title: "why", kind: "text", get: s => s.specialized && s.specialized.reason }, number("guards", "guards"), LINE, CODE], data.symbols, "Guards: those of the symbol's own attempt that name it.");
    tableSection(parent, "Sizes that Python used", [word("use", "use"), code("expression", "expr"), code("source", "source"), number("count", "count"), LINE, CODE], profile.size_uses);
    if (!profile.guards.length && !data.symbols.length) parent.append(el("p", { className: "soft" }, "No guard and no symbol was recorded."));
}

function operatorsSection() {
    const parent = section("operators", "Operators and counters");
    const real = key => ({ title: "real " + key.replaceAll("_", " "), kind: key.endsWith("ns") ? "ns" : "count", get: o => o.real && o.real[key] || null });
    const replayed = key => ({ title: key.replaceAll("_", " "), kind: "count", get: o => o.replayed && o.replayed[key] || null });
    tableSection(parent, "Operators", [operator("operator", "op"), real("dispatches"), real("self_ns"), replayed("dispatches"), replayed("calls"), replayed("guards"), replayed("exprs"), replayed("evaluations"), replayed("symbolic_tensors")],
        profile.operator_costs, profile.deep ? "Real: counted and measured by a deep recording; the others by the replay." : "Counted by a replay of the graphs.");
    tableSection(parent, "Calls in graphs", [operator("operator", "op"), word("level", "level"), number("calls", "calls"), number("kept", "kept")], profile.operators);
    tableSection(parent, "Kernels of Inductor", [word("kernel", "name"), COMPILE, RECORDING, word("program", "program"), word("kind", "kind"), { title: "time", kind: "ns", get: k => (k.compile_ns || 0) + (k.autotune_ns || 0) || null },
        nanoseconds("compiling", "compile_ns"), nanoseconds("autotuning", "autotune_ns"), number("configurations", "configurations"), number("calls", "calls"), number("nodes", "nodes"), text("operators", "operators"),
        { title: "user line", kind: "place", get: k => k.lines[0] }, { title: "code", kind: "code", get: k => k.lines[0] && k.lines[0].code }], data.kernels, "The user line is that of most of its nodes.");
    tableSection(parent, "Dispatch counters", [code("counter", "label"), number("PyTorch", "pytorch"), number("recorded", "recorded"), number("estimated by the replay", "estimated")], profile.counters);
    tableSection(parent, "Work around operators", [code("work", "cost"), code("caller", "caller"), number("calls", "calls"), nanoseconds("time", "ns"), nanoseconds("itself", "self_ns")], profile.costs);
    tableSection(parent, "Memory of graphs at the hints", [COMPILE, RECORDING, word("level", "level"), size("inputs", "input_bytes"), size("peak", "peak_bytes"), word("at node", "peak_node"), size("outputs", "output_bytes"),
        size("saved for backward", "saved_bytes"), number("saved tensors", "saved")], profile.graph_memory, "Estimated, as if each call ran by itself and each tensor were freed after its last use.");
    tableSection(parent, "Tensors that are alive at a graph's peak", [COMPILE, RECORDING, word("level", "level"), word("node", "node"), word("operator", "op"), size("bytes", "bytes"), LINE, CODE],
        profile.graph_memory.flatMap(g => g.live.map(node => ({ recording: g.recording, compile: g.compile, level: g.level, ...node }))));
}

/* ---- The replay ---- */

function replaySection() {
    const parent = section("replay", "Replay");
    if (data.replay.length === 0) parent.append(el("p", { className: "soft" }, "The graphs were not replayed."));
    for (const replay of data.replay) {
        const t = replay.totals, g = replay.guards, kernel = g.kernel;
        parent.append(el("p", {}, `${several ? replay.tape + ": " : ""}${count(t.match)} of ${plural(t.calls, "call")} in ${plural(t.graphs, "graph")} have the recorded sizes, strides, dtype and device; ` +
            `${count(t.mismatch)} differ, ${count(t.refused)} are refused, ${count(t.unsupported)} are of operators without a rule, ${count(t.adopted)} are taken from the record. ` +
            `Of ${plural(g.recorded, "guard")}, ${count(g.computed)} are computed and ${count(g.from_record)} taken from the record; of those that kernels asked for, ${count(kernel.reproduced)} are reproduced, ` +
            `${count(kernel.missing)} missing and ${count(kernel.extra)} extra.`));
        tableSection(parent, "Replayed graphs", [{ title: "graph", kind: "word", get: graphName }, number("calls", "calls"), number("match", "match"), number("differ", "mismatch"), number("refused", "refused"), number("no rule", "unsupported"),
            number("adopted", "adopted"), text("error", "error")], replay.graphs.map(r => ({ ...r, subgraph: null })));
        tableSection(parent, "Calls that differ", [COMPILE, word("graph", "graph"), word("node", "node"), word("operator", "op"), word("outcome", "outcome"), code("recorded", "recorded"), code("replayed", "replayed"), LINE],
            (replay.mismatches || []).map(m => ({ ...m, line: m.stack && m.stack[0] })));
        tableSection(parent, "Operators without a rule", [word("operator", "op"), number("calls", "calls")], Object.entries(replay.unsupported_ops || {}).map(([op, calls]) => ({ op, calls })));
        tableSection(parent, "Records that contradict each other", [COMPILE, word("kind", "kind"), code("name", "name"), code("recorded", "recorded"), code("expected", "expected")], replay.contradictions);
    }
}

function omittedSection() {
    const parent = section("omitted", "What this page leaves out");
    if (data.omitted.length === 0) parent.append(el("p", {}, "Nothing: all lists and graphs are whole."));
    else parent.append(el("p", {}, "The data of a page is limited in size. These lists were cut; symtape prints them whole."), el("ul", {}, data.omitted.map(o =>
        el("li", {}, o.list === "texts" ? `${plural(o.left_out, "text")} that ${o.left_out === 1 ? "is" : "are"} shortened` : `${plural(o.left_out, o.list === "graphs" ? "graph" : "row")}: ${o.list}`))));
    parent.append(el("p", { className: "soft" }, `Written by symtape ${data.version}. The code shown is that of the tape; no file was read.`));
}

/* ---- The whole page ---- */

const find = document.getElementById("find");
find.addEventListener("input", () => tables.forEach(table => table.filter(find.value)));
document.addEventListener("keydown", event => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || dialog.open || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    find.focus();
    find.select();
});

const THEMES = [["", "as the system"], ["light", "light"], ["dark", "dark"]];
const theme = document.getElementById("theme");
let themeNow = 0;
theme.addEventListener("click", () => {
    themeNow = (themeNow + 1) % THEMES.length;
    document.documentElement.dataset.theme = THEMES[themeNow][0];
    theme.textContent = "Theme: " + THEMES[themeNow][1];
});

document.getElementById("tapes").textContent = data.tapes.map(t => t.path.split("/").pop() + (t.torch ? ` (torch ${t.torch})` : "")).join(", ");
document.title = data.tapes.map(t => t.path.split("/").pop()).join(", ") + " \u2013 symtape report";
for (const make of [diagnosisSection, ranksSection, differencesSection, timeSection, timelineSection, callsSection, compilesSection, guardsSection, operatorsSection, graphsSection, replaySection, omittedSection]) make();
