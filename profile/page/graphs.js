/* Graphs, what each level made of a user line, and what a line or an operator leads to. */

function graphRows(graph, metas) {
    return graph.nodes.map(([name, op, args, meta, line]) => {
        const m = metas[meta] || [null, null, -1], at = graph.lines[line];
        return { name, op: graph.ops[op], args, meta: m[0], hint: m[1], bytes: m[2], line: at && at[0] ? { file: at[0], line: at[1], code: at[3] } : null };
    });
}

function graphName(graph) {
    return (several && graph.recording ? recordingName(graph.recording) + " " : "") + (graph.compile ? where(graph) + ":" : "") + graph.kind + (graph.index ? "#" + graph.index : "") + (graph.subgraph ? " \u203a " + graph.subgraph : "");
}

/* ---- Levels ---- */

const LEVELS = [["dynamo_output_graph", "Dynamo"], ["aot_joint_graph", "joint"], ["aot_forward_graph", "forward"], ["aot_backward_graph", "backward"], ["aot_inference_graph", "inference"],
    ["inductor_post_grad_graph", "post-grad"], ["exported_program", "exported"]];
const levelName = kind => (LEVELS.find(([name]) => name === kind) || [kind, kind.replaceAll("_", " ")])[1];
const INPUTS = new Set(["placeholder", "get_attr", "alias", "output", "opaque"]);

/* By user line, the calls of a graph: { line key: Map of operator to calls }. */
const lineCalls = new Map();
function callsByLine(i) {
    if (!lineCalls.has(i)) {
        const graph = data.graphs[i], found = new Map();
        for (const [, op, , , line] of graph.nodes) {
            const at = graph.lines[line], name = graph.ops[op];
            if (!at || !at[0] || INPUTS.has(name)) continue;
            const key = at[0] + ":" + at[1], ops = found.get(key) || new Map();
            found.set(key, ops.set(name, (ops.get(name) || 0) + 1));
        }
        lineCalls.set(i, found);
    }
    return lineCalls.get(i);
}

const attemptKey = graph => [graph.recording, graph.compile, graph.attempt].join("\n");
const total = ops => [...ops.values()].reduce((sum, n) => sum + n, 0);

/* What the other graphs of its attempt made of the line of a node: "forward 3, backward 2". */
function otherLevels(i, place) {
    if (!place) return null;
    const key = placeKey(place), counts = new Map();
    data.graphs.forEach((graph, k) => {
        const ops = k !== i && attemptKey(graph) === attemptKey(data.graphs[i]) ? callsByLine(k).get(key) : null;
        if (ops) counts.set(levelName(graph.kind), (counts.get(levelName(graph.kind)) || 0) + total(ops));
    });
    return [...counts].map(([level, n]) => `${level} ${count(n)}`).join(", ") || null;
}

/* The graphs that have calls of a line, and which. */
function levelRows(key) {
    return data.graphs.map((graph, i) => ({ graph: graphName(graph), level: levelName(graph.kind), ops: callsByLine(i).get(key) })).filter(row => row.ops)
        .map(row => ({ ...row, calls: total(row.ops), operators: [...row.ops].map(([op, n]) => n > 1 ? `${op} \u00d7${n}` : op).join(", ") }));
}

const NODE = { title: "node", kind: "name", get: node => node.name };
const nodeColumns = others => [NODE, operator("operator", "op"), word("sizes at the hints", "hint"), { title: "bytes", kind: "bytes", get: n => n.bytes > 0 ? n.bytes : null }, LINE, others,
    code("arguments", "args"), code("recorded as", "meta"), CODE];

function memoryElement(graph, rows) {
    if (!graph.memory || graph.memory.length === 0) return "";
    return el("div", {}, el("h3", {}, "Memory over the graph"), el("p", { className: "soft" }, "What the calls of the graph have allocated while each node runs, at the hints, besides its inputs; estimated, as if each call ran by itself." +
        (graph.memory.length < graph.n_nodes ? ` The first ${count(graph.memory.length)} of ${plural(graph.n_nodes, "node")}.` : "")), new MemoryChart(graph.memory, rows).element);
}

function graphsSection() {
    const parent = section("graphs", "Graphs");
    if (data.graphs.length === 0) {
        parent.append(el("p", { className: "soft" }, "No graph was recorded."));
        return;
    }
    const roots = [];
    data.graphs.forEach((graph, i) => roots.push(graph.subgraph === null ? i : roots[i - 1]));
    const place = el("div");
    let shown = null;
    const inputs = el("input", { type: "checkbox", on: { change: () => show(choose.selectedIndex) } });
    const choose = el("select", { "aria-label": "Graph", on: { change: () => show(choose.selectedIndex) } }, data.graphs.map(g => el("option", {}, `${graphName(g)} (${plural(g.n_nodes, "node")})`)));
    const show = i => {
        const graph = data.graphs[i];
        if (shown) tables.splice(tables.indexOf(shown), 1);
        const rows = graphRows(graph, data.graphs[roots[i]].metas), levels = new Map();
        const others = { title: "this line at other levels", kind: "text", get: node => {
            const key = placeKey(node.line);
            if (!levels.has(key)) levels.set(key, otherLevels(i, node.line));
            return levels.get(key);
        } };
        const calls = rows.filter(node => node.op !== "placeholder");
        shown = new Table(graphName(graph), nodeColumns(others), inputs.checked || calls.length === 0 ? rows : calls);
        tables.push(shown);
        place.replaceChildren(memoryElement(graph, rows), shown.element, graph.nodes.length < graph.n_nodes ? el("p", { className: "soft" }, `The first ${count(graph.nodes.length)} of ${plural(graph.n_nodes, "node")} are on this page.`) : "");
    };
    parent.append(el("div", { className: "tools" }, el("label", {}, "Graph ", choose), el("label", {}, inputs, " inputs too")), place);
    const first = data.graphs.findIndex(graph => graph.memory);
    choose.selectedIndex = Math.max(first, 0);
    show(choose.selectedIndex);
}

/* ---- A source line ---- */

const dialog = document.getElementById("line");

/* The graph that a graph lies within, or itself. */
const rootOf = i => data.graphs[Math.max(data.graphs.findLastIndex((g, k) => k <= i && g.subgraph === null), 0)];

function showLine(place) {
    const key = placeKey(place), at = row => placeKey(row.line) === key;
    const own = [...profile.lines, ...profile.library_lines].find(l => placeKey(l) === key);
    const nodes = data.graphs.flatMap((graph, i) => {
        const lines = new Set(graph.lines.map((l, k) => [l, k]).filter(([l]) => l[0] + ":" + l[1] === key).map(([, k]) => k));
        return lines.size ? graphRows({ ...graph, nodes: graph.nodes.filter(n => lines.has(n[4])) }, rootOf(i).metas).map(n => ({ ...n, graph: graphName(graph) })) : [];
    });
    const shown = own ? own.code : place.code;
    const body = [el("h2", { id: "line-title" }, key), shown ? el("pre", {}, shown) : null];
    if (own) body.push(el("p", {}, [own.function ? "in " + own.function : "", own.ns ? `${time(own.ns)} (${profile.lines_basis})` : "", `${plural(own.nodes, "node")}, ${plural(own.guards, "guard")}, ${plural(own.symbols, "symbol")}, ${plural(own.specializations, "specialization")}`].filter(Boolean).join("; ")));
    const part = (title, columns, rows) => { if (rows.length) body.push(el("h3", {}, title), new Table(title, columns, rows, { rows: 8 }).element); };
    part("Guards asked here", [code("expression", "expr"), word("asked by", "class"), number("count", "count"), number("kept", "kept")], profile.guards.filter(at));
    part("Symbols made here", [word("symbol", "symbol"), COMPILE, word("value", "value"), code("source", "source"), { title: "became", kind: "word", get: s => s.specialized && s.specialized.value }], data.symbols.filter(at));
    part("Graph breaks here", [COMPILE, text("why", "summary"), text("hint", "hint")], profile.breaks.filter(at));
    part("What each level made of it", [word("graph", "graph"), word("level", "level"), number("calls", "calls"), code("operators", "operators")], levelRows(key));
    part("Kernels with calls from here", [word("kernel", "name"), COMPILE, word("program", "program"), word("kind", "kind"), number("nodes", "nodes")], data.kernels.filter(k => k.lines.some(l => placeKey(l) === key)));
    part("Nodes of graphs", [word("graph", "graph"), NODE, operator("operator", "op"), word("sizes at the hints", "hint"), code("arguments", "args")], nodes);
    openDialog(body);
}

function openDialog(body) {
    body.push(el("div", { className: "tools" }, el("button", { type: "button", on: { click: () => dialog.close() } }, "Close")));
    dialog.replaceChildren(...body.filter(Boolean));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
}

/* The calls of an operator in the graphs of this page. */
function showOperator(op) {
    const calls = data.graphs.flatMap((graph, i) => {
        const number = graph.ops.indexOf(op);
        return number < 0 ? [] : graphRows({ ...graph, nodes: graph.nodes.filter(n => n[1] === number) }, rootOf(i).metas).map(n => ({ ...n, graph: graphName(graph) }));
    });
    openDialog([el("h2", { id: "line-title" }, op),
        calls.length ? new Table("Calls of " + op, [word("graph", "graph"), NODE, word("sizes at the hints", "hint"), code("recorded as", "meta"), code("arguments", "args"), LINE, CODE], calls, { rows: 30 }).element
            : el("p", {}, "No graph on this page calls it.")]);
}
