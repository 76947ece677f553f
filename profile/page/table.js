/* A table that sorts and filters. A column is { title, get(row), kind }; kinds:
     text, code, word, name   as they are; a name may wrap
     count, ns, bytes, share   numbers; share is { part, whole }
     measure            { n, text }: a number with a text of its own
     place              {"file", "line"}, a button that shows the line
     operator           a button that shows the calls of the operator */
const KINDS = {
    text: { show: v => known(v) ? String(v) : "" },
    code: { show: v => known(v) ? String(v) : "" },
    name: { show: v => known(v) ? String(v) : "" },
    word: { show: v => known(v) ? String(v) : "" },
    count: { show: count, number: true },
    ns: { show: time, number: true },
    bytes: { show: bytes, number: true },
    share: { show: v => v ? share(v.part, v.whole) : "", number: true, key: v => v ? v.part : null },
    measure: { show: v => v.text, number: true, key: v => v.n },
    operator: { show: v => known(v) ? String(v) : "", button: v => operatorButton(v) },
    place: { show: v => shortPlace(v), button: v => placeButton(v), key: v => v && v.file ? v.file + ":" + String(v.line).padStart(8, "0") : null },
};
const ROWS_AT_FIRST = 12;
const tables = [];

class Table {
    constructor(title, columns, rows, options = {}) {
        /* A column without a single value is not shown. */
        this.columns = columns.filter(c => rows.some(row => { const v = c.get(row); return known(v) && KINDS[c.kind].show(v) !== ""; }));
        this.rows = rows;
        this.all = rows.map((row, i) => ({ row, i, text: null }));
        this.shown = options.rows || ROWS_AT_FIRST;
        this.words = { own: "", common: "" };
        this.sort = null;
        this.body = el("tbody");
        this.state = el("span", { className: "soft", role: "status" });
        this.more = el("button", { type: "button", on: { click: () => { this.shown *= 8; this.draw(); } } }, "Show more");
        this.input = el("input", { type: "search", placeholder: "filter", "aria-label": "Filter " + title, autocomplete: "off", spellcheck: false,
            on: { input: () => { this.words.own = this.input.value; this.draw(); } } });
        this.heads = this.columns.map((column, i) => {
            const head = el("th", { scope: "col", className: KINDS[column.kind].number ? "number" : "" },
                el("button", { type: "button", on: { click: () => this.sortBy(i) } }, column.title));
            head.setAttribute("aria-sort", "none");
            return head;
        });
        this.element = el("div", { className: "table" },
            el("div", { className: "tools" }, this.input, this.state),
            el("div", { className: "scroll" }, el("table", {}, el("caption", { hidden: true }, title), el("thead", {}, el("tr", {}, this.heads)), this.body)),
            this.more);
        this.input.hidden = rows.length <= 3;
        this.draw();
    }
    sortBy(i) {
        const number = KINDS[this.columns[i].kind].number;
        const down = this.sort && this.sort.i === i ? !this.sort.down : Boolean(number);
        this.sort = { i, down };
        this.heads.forEach((head, k) => head.setAttribute("aria-sort", k !== i ? "none" : down ? "descending" : "ascending"));
        this.draw();
    }
    filter(words) {
        this.words.common = words;
        this.draw();
    }
    textOf(entry) {
        if (entry.text === null)
            entry.text = this.columns.map(c => c.kind === "place" ? placeKey(c.get(entry.row)) : KINDS[c.kind].show(c.get(entry.row))).join("\n").toLowerCase();
        return entry.text;
    }
    matches() {
        const words = (this.words.own + " " + this.words.common).toLowerCase().split(/\s+/).filter(Boolean);
        const found = words.length ? this.all.filter(entry => words.every(word => this.textOf(entry).includes(word))) : this.all.slice();
        if (!this.sort) return found;
        const { i, down } = this.sort, column = this.columns[i], key = KINDS[column.kind].key || (v => v);
        const compare = (a, b) => {
            const x = key(column.get(a.row)), y = key(column.get(b.row));
            if (!known(x) || !known(y)) return known(x) ? -1 : known(y) ? 1 : a.i - b.i;
            const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
            return (down ? -order : order) || a.i - b.i;
        };
        return found.sort(compare);
    }
    cell(column, row) {
        const kind = KINDS[column.kind], value = column.get(row);
        const text = kind.show(value);
        const cell = el("td", { className: kind.number ? "number" : column.kind === "place" ? "line" : column.kind === "operator" ? "name" : column.kind }, text === "" ? null : kind.button ? kind.button(value) : text);
        cell.dataset.title = column.title;
        return cell;
    }
    draw() {
        const found = this.matches(), n = Math.min(found.length, this.shown);
        this.body.replaceChildren(...found.slice(0, n).map(entry => el("tr", {}, this.columns.map(c => this.cell(c, entry.row)))));
        this.state.textContent = (found.length === this.all.length ? plural(found.length, "row") : `${count(found.length)} of ${plural(this.all.length, "row")}`) +
            (n < found.length ? `, ${count(n)} shown` : "");
        this.more.hidden = n === found.length;
    }
}

/* A table with its heading; it takes part in the filter of all tables. Nothing without rows. */
function tableSection(parent, title, columns, rows, note) {
    if (!rows || rows.length === 0) return null;
    const table = new Table(title, columns, rows);
    tables.push(table);
    parent.append(el("h3", {}, title), note ? el("p", { className: "soft" }, note) : "", table.element);
    return table;
}
