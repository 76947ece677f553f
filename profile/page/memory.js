/* Memory over the nodes of a graph, as an area. The arrow keys go from node to node; a click goes to the nearest one. */
const AREA_HEIGHT = 110;

function svg(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
}

class MemoryChart {
    constructor(live, rows) {
        this.live = live;
        this.rows = rows; /* by node: { name, op, line } */
        this.most = live.reduce((most, n) => Math.max(most, n), 1);
        this.peak = live.indexOf(this.most);
        this.now = Math.max(this.peak, 0);
        this.mark = svg("line", { class: "mark", y1: 0, y2: AREA_HEIGHT });
        this.area = svg("svg", { class: "memory", viewBox: `0 0 ${live.length} ${AREA_HEIGHT}`, preserveAspectRatio: "none", tabindex: 0, role: "img" },
            svg("path", { d: this.path() }), this.mark);
        this.area.setAttribute("aria-label", "Memory over the nodes of the graph: arrow keys go from node to node");
        this.area.addEventListener("keydown", event => this.key(event));
        this.area.addEventListener("click", event => {
            const box = this.area.getBoundingClientRect();
            this.choose(Math.floor((event.clientX - box.left) / box.width * live.length));
        });
        this.text = el("div", { className: "detail", role: "status" });
        this.element = el("div", {}, this.area, this.text);
        this.choose(this.now);
    }
    path() {
        const y = n => (AREA_HEIGHT * (1 - n / this.most)).toFixed(1);
        return `M0 ${AREA_HEIGHT}` + this.live.map((n, i) => `V${y(n)}H${i + 1}`).join("") + `V${AREA_HEIGHT}Z`;
    }
    choose(i) {
        this.now = Math.min(Math.max(i, 0), this.live.length - 1);
        this.mark.setAttribute("x1", this.now + 0.5);
        this.mark.setAttribute("x2", this.now + 0.5);
        const row = this.rows[this.now];
        this.text.replaceChildren(el("b", {}, bytes(this.live[this.now])), ` while node ${count(this.now + 1)} of ${count(this.live.length)} runs, `,
            el("code", {}, row.name), row.op ? " = " + row.op : "", this.now === this.peak ? ", the peak" : `; the peak is ${bytes(this.most)}, at node ${count(this.peak + 1)}`, " ", row.line ? placeButton(row.line) : "");
    }
    key(event) {
        const keys = { ArrowLeft: this.now - 1, ArrowRight: this.now + 1, Home: 0, End: this.live.length - 1 };
        if (!(event.key in keys) || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        this.choose(keys[event.key]);
    }
}
