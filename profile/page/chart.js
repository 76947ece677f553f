/* Boxes in rows over an axis, which zooms. A box is { from, to, row, label, detail, color, unfinished }; color is a class.
   Options: format(number) of the axis, and names, [{ row, text }] of rows without boxes.
   Click or Enter zooms to a box, Escape zooms out, the arrow keys go from box to box. */
const ROW = 22, TOP = 18;

class Chart {
    constructor(name, boxes, options) {
        this.options = options;
        this.boxes = boxes.filter(b => b.to >= b.from).sort((a, b) => a.row - b.row || a.from - b.from);
        this.begin = this.boxes.reduce((least, b) => Math.min(least, b.from), Infinity);
        this.end = this.boxes.reduce((most, b) => Math.max(most, b.to), -Infinity);
        if (this.end <= this.begin) this.end = this.begin + 1;
        this.view = [this.begin, this.end];
        this.rows = this.boxes.reduce((most, b) => Math.max(most, b.row + 1), 1);
        this.now = this.boxes[0] || null;
        this.area = el("div", { className: "chart", tabIndex: 0, role: "application" });
        this.area.setAttribute("aria-label", name + ": arrow keys go from box to box, Enter zooms in, Escape zooms out");
        this.area.style.height = TOP + ROW * this.rows + 4 + "px";
        this.area.addEventListener("keydown", event => this.key(event));
        this.text = el("div", { className: "detail", role: "status" });
        this.out = el("button", { type: "button", on: { click: () => this.zoom(this.begin, this.end) } }, "Zoom out");
        this.element = el("div", {}, this.area, this.text, el("div", { className: "tools" }, this.out));
        new ResizeObserver(() => this.draw()).observe(this.area);
        this.describe();
    }
    zoom(from, to) {
        const least = (this.end - this.begin) / 1e7;
        this.view = [from, Math.max(to, from + least)];
        this.draw();
    }
    choose(box, zoom) {
        if (!box) return;
        this.now = box;
        if (zoom) this.zoom(box.from, box.to);
        else if (box.to < this.view[0] || box.from > this.view[1]) this.zoom(box.from, box.from + this.view[1] - this.view[0]);
        this.draw();
        this.describe();
    }
    describe() {
        if (!this.now) return;
        const button = this.now.place ? [" ", placeButton(this.now.place)] : [];
        this.text.replaceChildren(el("b", {}, this.now.label), " ", this.now.detail, ...button);
    }
    /* The nearest box to the middle of the chosen one, of a row or the next one that has boxes. */
    nearest(row, step) {
        const middle = (this.now.from + this.now.to) / 2, away = b => Math.max(b.from - middle, middle - b.to, 0);
        let inside = [];
        for (; row >= 0 && row < this.rows && inside.length === 0; row += step) inside = this.boxes.filter(b => b.row === row);
        return inside.reduce((best, b) => !best || away(b) < away(best) ? b : best, null);
    }
    beneath() {
        const inside = this.boxes.filter(b => b.row === this.now.row + 1 && b.from < this.now.to && b.to > this.now.from);
        return inside.reduce((best, b) => !best || b.to - b.from > best.to - best.from ? b : best, null) || this.nearest(this.now.row + 1, 1);
    }
    beside(step) {
        const row = this.boxes.filter(b => b.row === this.now.row);
        return row[row.indexOf(this.now) + step];
    }
    key(event) {
        const keys = {
            ArrowUp: () => this.choose(this.nearest(this.now.row - 1, -1)),
            ArrowDown: () => this.choose(this.beneath()),
            ArrowLeft: () => this.choose(this.beside(-1)),
            ArrowRight: () => this.choose(this.beside(1)),
            Enter: () => this.choose(this.now, true),
            Escape: () => this.zoom(this.begin, this.end),
        };
        if (!this.now || !keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        keys[event.key]();
    }
    ticks(width) {
        const [from, to] = this.view, n = Math.max(2, Math.floor(width / 110));
        const raw = (to - from) / n, unit = 10 ** Math.floor(Math.log10(raw));
        const step = [1, 2, 5, 10].map(k => k * unit).find(s => s >= raw);
        const ticks = [];
        for (let at = Math.ceil((from - this.begin) / step) * step + this.begin; at < to && ticks.length < 40; at += step) {
            if (width * (to - at) < 50 * (to - from)) break; /* its text would not fit */
            const tick = el("span", { className: "tick" }, at > this.begin ? this.options.format(at - this.begin) : "0");
            tick.style.left = (at - from) / (to - from) * 100 + "%";
            ticks.push(tick);
        }
        return ticks;
    }
    names() {
        return (this.options.names || []).map(({ row, text }) => {
            const name = el("span", { className: "row-name", title: text }, text);
            name.style.top = TOP + ROW * row + "px";
            return name;
        });
    }
    draw() {
        const width = this.area.clientWidth, [from, to] = this.view, scale = width / (to - from);
        if (width === 0) return;
        const drawn = [];
        const until = []; /* the pixel up to which a row is drawn: boxes that would lie within it are left out */
        for (const box of this.boxes) {
            if (box.to < from || box.from > to) continue;
            const left = Math.max(0, (box.from - from) * scale), right = Math.min(width, (box.to - from) * scale);
            if (right - left < 1 && until[box.row] >= left + 1 && box !== this.now) continue;
            const wide = Math.max(right - left, 2);
            until[box.row] = left + wide;
            const div = el("div", { className: `box ${box.color}${box === this.now ? " now" : ""}${box.unfinished ? " open" : ""}`, title: box.label + "\n" + box.detail,
                on: { click: () => { this.choose(box, true); this.area.focus({ preventScroll: true }); } } }, wide > 24 ? box.label : "");
            div.style.left = left / width * 100 + "%"; /* so that paper, which is narrower, has all */
            div.style.top = TOP + ROW * box.row + "px";
            div.style.width = wide / width * 100 + "%";
            if (wide < 9) div.style.padding = "0";
            drawn.push(div);
        }
        this.area.replaceChildren(...this.ticks(width), ...this.names(), ...drawn);
        this.out.hidden = from === this.begin && to === this.end;
    }
}

/* Boxes of a tree: a node is { label, value, detail, place, children }, and a child lies below its parent. */
const DEEPEST = 60;
function icicle(roots, format) {
    const boxes = [], total = roots.reduce((sum, n) => sum + n.value, 0);
    let todo = [], at = 0;
    for (const root of roots) { todo.push([root, at, 0, hash(root.label)]); at += root.value; }
    while (todo.length) {
        const [node, from, row, color] = todo.pop();
        boxes.push({ from, to: from + node.value, row, label: node.label, place: node.place, color: node.color ?? color,
            detail: `${format(node.value)}, ${share(node.value, total)}${node.detail ? "; " + node.detail : ""}` });
        let next = from;
        for (const child of row < DEEPEST ? (node.children || []).slice().sort((a, b) => b.value - a.value) : []) {
            if (child.value > 0) todo.push([child, next, row + 1, hash(child.label)]);
            next += child.value;
        }
    }
    return boxes;
}
function hash(text) {
    let h = 0;
    for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) >>> 0;
    return "c" + h % 7;
}
/* A tree of paths: each row has { path: [label, ...], value, place }. */
function treeOf(rows) {
    const root = { children: [], value: 0, byLabel: new Map() };
    for (const row of rows) {
        let node = root;
        for (const [i, label] of row.path.entries()) {
            let child = node.byLabel.get(label);
            if (!child) {
                child = { label, value: 0, children: [], byLabel: new Map() };
                node.byLabel.set(label, child);
                node.children.push(child);
            }
            child.value += row.value;
            if (row.places) child.place = row.places[i];
            node = child;
        }
        node.detail = row.detail;
    }
    return root.children.filter(n => n.value > 0);
}
