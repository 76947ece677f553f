/* The data of the page, its sections, and the columns that tables of one kind share. */
const data = JSON.parse(document.getElementById("data").textContent);
const profile = data.profile, several = profile.recordings.length > 1;
const main = document.getElementById("main"), nav = document.getElementById("nav");

/* ---- Sections ---- */

function section(id, title) {
    const element = el("section", { id }, el("h2", {}, title));
    main.append(element);
    nav.append(el("a", { href: "#" + id }, title));
    return element;
}

function card(value, label, className) {
    return el("div", { className: "card" }, el("b", { className: className || "" }, value), el("span", {}, label));
}

/* ---- What all tables of one kind share ---- */

const where = row => row.compile ? row.compile + (row.attempt ? "_" + row.attempt : "") : "";
const COMPILE = { title: "compile", kind: "word", get: where };
/* Recordings by the last part of their names, where that tells them apart. */
const lastPart = name => name.split("/").pop();
const distinct = new Set(profile.recordings.map(r => lastPart(r.name))).size === profile.recordings.length;
const recordingName = name => distinct ? lastPart(name) : name;
const RECORDING = { title: "recording", kind: "word", get: row => several && row.recording ? recordingName(row.recording) : null };
const operator = (title, key) => ({ title, kind: "operator", get: row => row[key] });
const LINE = { title: "user line", kind: "place", get: row => row.line };
const CODE = { title: "code", kind: "code", get: row => row.line && row.line.code };
const text = (title, key) => ({ title, kind: "text", get: row => row[key] });
const code = (title, key) => ({ title, kind: "code", get: row => row[key] });
const word = (title, key) => ({ title, kind: "word", get: row => row[key] });
const number = (title, key) => ({ title, kind: "count", get: row => row[key] || null });
const nanoseconds = (title, key) => ({ title, kind: "ns", get: row => row[key] || null });
const size = (title, key) => ({ title, kind: "bytes", get: row => row[key] || null });
