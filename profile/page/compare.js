/* What several tapes differ in: runs of a program (symtape diff), or the ranks of a job (symtape ranks). */

/* ---- Runs ---- */

const KIND_TITLES = { asserts: "Runtime asserts", breaks: "Graph breaks", nodes: "Nodes of graphs by user line", operators: "Operators by level", graphs: "Shape of graphs", size_uses: "Sizes that Python used" };
const kindTitle = kind => KIND_TITLES[kind] || kind[0].toUpperCase() + kind.slice(1).replaceAll("_", " ");

function signed(change) {
    return [[change.new, "+"], [change.gone, "\u2212"], [change.changed, "~"]].filter(([n]) => n > 0).map(([n, sign]) => sign + count(n)).join(" ");
}

function measured(value, unit) {
    if (!value) return "";
    const n = value.median;
    const scale = { s: 1e9, ms: 1e6, us: 1e3, ns: 1 }[unit];
    return scale ? time(Math.round(n * scale)) : unit === "bytes" || unit === "B" ? bytes(n) : Number.isInteger(n) ? count(n) : digits(n);
}

/* The columns of two numbers and their difference in per cent. */
function beforeAfter(before, after, show) {
    const change = row => {
        const a = before(row), b = after(row);
        return a && b && a.median > 0 ? 100 * (b.median - a.median) / a.median : null;
    };
    return [{ title: "before", kind: "measure", get: row => ({ n: before(row) ? before(row).median : null, text: show(row, before(row)) }) },
        { title: "after", kind: "measure", get: row => ({ n: after(row) ? after(row).median : null, text: show(row, after(row)) }) },
        { title: "change", kind: "measure", get: row => ({ n: change(row), text: change(row) === null ? "" : (change(row) > 0 ? "+" : "") + change(row).toFixed(Math.abs(change(row)) < 10 ? 1 : 0) + " %" }) }];
}

const CHANGES = [word("change", "change"), word("level", "level"), code("what", "what"), code("before", "was"), code("after", "now"), text("more", "more"), number("times before", "before"), number("times after", "after"),
    nanoseconds("time before", "before_ns"), nanoseconds("time after", "after_ns"), word("compile", "compile"), LINE, CODE];

function changesTables(parent, diff) {
    const kinds = [...new Set(diff.changes.map(row => row.kind))];
    for (const kind of kinds) {
        const rows = diff.changes.filter(row => row.kind === kind), all = diff.counts[kind];
        tableSection(parent, `${kindTitle(kind)} that differ`, CHANGES, rows, all > rows.length ? `${count(rows.length)} of ${count(all)} are on this page.` : "");
    }
}

function differenceElements(parent, diff) {
    const counts = Object.entries(diff.counts).filter(([, n]) => n > 0).map(([kind, n]) => plural(n, kind.replaceAll("_", " ").replace(/s$/, "")));
    parent.append(el("h3", { className: "pair" }, `${diff.before.label} \u2192 ${diff.after.label}`),
        el("p", {}, counts.length ? counts.join(", ") + (counts.length === 1 && counts[0].startsWith("1 ") ? " differs." : " differ.") : "No difference was found."));
    if (diff.notes.length) parent.append(el("ul", {}, diff.notes.map(note => el("li", {}, note))));
    const changes = key => ({ title: key, kind: "word", get: row => signed(row[key]) });
    tableSection(parent, "User lines with differences", [LINE, CODE, changes("incidents"), changes("guards"), changes("symbols"), changes("nodes")], diff.lines, "+ new, \u2212 gone, ~ changed.");
    const median = key => row => row[key];
    tableSection(parent, "Measures", [word("measure", "name"), ...beforeAfter(median("before"), median("after"), (row, value) => measured(value, row.unit)), word("verdict", "verdict")],
        diff.measures.filter(row => row.verdict !== "same"), "A time is judged only where a side has several runs (symtape diff).");
    changesTables(parent, diff);
    const ns = [...beforeAfter(median("before_ns"), median("after_ns"), (row, value) => value ? time(value.median) : "")];
    tableSection(parent, "Phases side by side", [word("phase", "name"), number("calls before", "before_calls"), number("calls after", "after_calls"), ...ns], diff.phases, "Time of the phase itself, without the phases within it.");
    tableSection(parent, "User lines side by side, by estimated time", [LINE, CODE, ...ns], diff.line_times);
}

function differencesSection() {
    const differences = data.compared.differences;
    if (differences.length === 0) return;
    const parent = section("differences", "What differs"), place = el("div");
    let shown = []; /* tables of the pair that is shown */
    const show = i => {
        shown.forEach(table => tables.splice(tables.indexOf(table), 1));
        const before = tables.length;
        place.replaceChildren();
        differenceElements(place, differences[i]);
        shown = tables.slice(before);
    };
    const choose = el("select", { "aria-label": "Which tapes", on: { change: () => show(choose.selectedIndex) } }, differences.map(diff => el("option", {}, `${diff.before.label} \u2192 ${diff.after.label}`)));
    if (differences.length > 1) parent.append(el("p", { className: "soft" }, "The first tape is compared with each of the others."), el("div", { className: "tools" }, el("label", {}, "Tapes ", choose)));
    parent.append(place);
    show(0);
}

/* ---- Ranks ---- */

const named = names => names.length > 8 ? `${names.slice(0, 7).join(", ")} and ${names.length - 7} more` : names.join(", ");
const placed = row => row && row.file ? { file: row.file, line: row.line, code: null } : null;

function factText(fact) {
    return [fact.what, fact.detail, fact.sizes, fact.dtype].filter(Boolean).join(" ");
}

function divergenceText(d) {
    return `${named(d.ranks)} ${d.ranks.length > 1 ? "differ: each " : ""}${d.text}`;
}

function divergenceElement(d) {
    const list = el("dl"), add = (name, ...values) => list.append(el("dt", {}, name), el("dd", {}, ...values));
    if (placed(d)) add("line", placeButton(placed(d)));
    if (d.own) add(named(d.ranks), el("code", {}, factText(d.own)), " ", placed(d.own) ? placeButton(placed(d.own)) : "");
    if (d.others_own) add("others", el("code", {}, factText(d.others_own)), " ", placed(d.others_own) ? placeButton(placed(d.others_own)) : "");
    if (d.cause) add("cause", el("code", {}, d.cause.what), ` is ${d.cause.detail}, and ${d.others_cause.detail} on the others`);
    return el("article", { className: "finding" }, el("h3", {}, `${d.kind.replaceAll("_", " ")}: ${plural(d.ranks.length, "rank")} ${d.ranks.length === 1 ? "differs" : "differ"} from ${count(d.others)}`),
        el("p", {}, divergenceText(d)), list);
}

/* By state, of one rank and of several. */
const WAITS = { collective: ["waits in", "wait in"], compiler_collective: ["waits in a compiler collective of", "wait in a compiler collective of"], compile: ["is in compile", "are in compile"],
    not_there: ["has not come", "have not come"], failed: ["failed in", "failed in"] };

function waitElement(wait) {
    const what = wait.collective ? wait.collective.what + (wait.compile ? " of " + wait.compile : "") : wait.compile || "";
    const at = placed(wait) || placed(wait.collective), state = WAITS[wait.state] || [wait.state, wait.state];
    return el("li", {}, `${named(wait.ranks)} ${state[wait.ranks.length === 1 ? 0 : 1]}${wait.state === "not_there" ? (what ? `: there is none in ${wait.ranks.length === 1 ? "its" : "their"} ${what}` : "") : what ? " " + what : ""}`,
        at ? [", called at ", placeButton(at)] : "", wait.for && wait.for.length ? `, for ${named(wait.for)}` : "");
}

function ranksSection() {
    const ranks = data.compared.ranks;
    if (!ranks) return;
    const parent = section("ranks", "Ranks");
    if (!ranks.differs) parent.append(el("p", {}, `No rank does otherwise than the others: ${plural(ranks.ranks.length, "rank")}, ${plural(ranks.steps, "compile")}.`));
    parent.append(...ranks.divergences.map(divergenceElement));
    if (ranks.waits.length) parent.append(el("h3", {}, "Who waits for whom, if the job hangs"), el("ul", {}, ranks.waits.map(waitElement)));
    if (ranks.graphs_differ) parent.append(el("p", { className: "soft" }, `Graphs differ in ${plural(ranks.graphs_differ, "compile")}, which alone is no fault.`));
    if (ranks.stages > 1) parent.append(el("p", { className: "soft" }, `The ranks are ${count(ranks.stages)} stages by what they send and receive; each is compared in itself.`));
    const seconds = key => row => Math.round(row[key] * 1e9) || null;
    tableSection(parent, "Phases in which a rank is slower", [word("phase", "phase"), word("rank", "recording"), { title: "its time", kind: "ns", get: seconds("seconds") }, { title: "median of all", kind: "ns", get: seconds("median_seconds") }], ranks.stragglers);
    tableSection(parent, "Ranks", [word("rank", "recording"), { title: "compiles", kind: "count", get: r => r.compiles.length || null }, { title: "collectives", kind: "count", get: r => r.collectives.length || null },
        { title: "in their order", kind: "code", get: r => r.collectives.join(", ") }], ranks.ranks);
}
