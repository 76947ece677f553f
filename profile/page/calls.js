/* Calls of compiled functions, where they were recorded: in their order, and which compile answered them. */
const OUTCOMES = { hit: ["c1", "answered by a compile"], compiled: ["c2", "compiled"], backward: ["c3", "backward"], eager: ["c4", "run without compiled code"], "no entry": ["c4", "no compile answered"] };

function callRows() {
    return data.calls.runs.map(([recording, first, n, form]) => {
        const call = data.calls.forms[form], backward = call.function === "backward" && call.outcome === null;
        return { ...call, first, n, recording: profile.recordings[recording].name, outcome: backward ? "backward" : call.outcome };
    });
}

/* By recording and compile, the number of the call that compiled it. */
function compilingCalls() {
    return new Map(callRows().filter(call => call.outcome === "compiled" && call.compile).map(call => [call.recording + "\n" + call.compile, call.first]));
}

function callBox(call, row) {
    const last = call.first + call.n - 1, numbers = call.n > 1 ? `calls ${count(call.first)} to ${count(last)}` : `call ${count(call.first)}`;
    const [color, meaning] = OUTCOMES[call.outcome] || ["c7", call.outcome || "not known"];
    return { from: call.first, to: last + 1, row, color, label: (call.outcome || "") + (call.compile ? " " + call.compile : ""), place: call.line,
        detail: `${several ? recordingName(call.recording) + ": " : ""}${numbers} of ${call.function}: ${meaning}${call.arguments ? "; " + call.arguments : ""}` };
}

function callsSection() {
    if (data.calls.n === 0) return;
    const parent = section("calls", "Calls");
    const rows = callRows(), lanes = new Map(), names = [];
    const lane = call => {
        const key = (several ? recordingName(call.recording) + ": " : "") + call.function;
        if (!lanes.has(key)) {
            lanes.set(key, 2 * lanes.size + 1);
            names.push({ row: lanes.get(key) - 1, text: key });
        }
        return lanes.get(key);
    };
    const boxes = rows.map(call => callBox(call, lane(call))).filter(box => box.row < 80);
    const used = new Set(rows.map(call => call.outcome));
    parent.append(el("p", { className: "soft" }, `${plural(data.calls.n, "call")} in the order in which they began; neighbors that are equal are one box.` +
        (data.calls.skipped ? ` ${plural(data.calls.skipped, "row")} of the record could not be read.` : "") + (data.calls.runs_left_out ? ` The last ${plural(data.calls.runs_left_out, "row")} are not on this page.` : "")),
        el("div", { className: "key" }, Object.entries(OUTCOMES).filter(([name]) => used.has(name)).map(([name, [color, meaning]]) => el("span", {}, el("i", { className: color }), name === meaning ? name : `${name}: ${meaning}`))),
        new Chart("Calls", boxes, { format: n => count(Math.round(n)), names }).element);
    tableSection(parent, "Calls, in their order", [number("first call", "number"), number("calls", "n"), RECORDING, word("function", "function"), word("outcome", "outcome"), word("compile", "compile"), code("arguments", "arguments"), LINE],
        rows.map(call => ({ ...call, number: String(call.first) })));
}
