"use strict";
/* Elements and texts. Every text becomes a text node: nothing of the data is ever parsed as HTML. */
function el(tag, properties, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
        if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
        else if (name in element && name !== "list") element[name] = value;
        else element.setAttribute(name, value);
    }
    for (const child of children.flat()) if (child !== null && child !== undefined) element.append(child);
    return element;
}

const NUMBER = new Intl.NumberFormat("en-US");
function known(value) { return value !== null && value !== undefined && value !== ""; }
function count(value) { return known(value) ? NUMBER.format(value) : ""; }
function digits(value) { return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2); }
function time(ns) {
    if (!known(ns)) return "";
    const seconds = Math.round(ns / 1e9);
    if (ns >= 60e9) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    return ns >= 1e9 ? digits(ns / 1e9) + " s" : ns >= 1e6 ? digits(ns / 1e6) + " ms" : ns >= 1e3 ? digits(ns / 1e3) + " \u00b5s" : ns + " ns";
}
function bytes(n) {
    if (!known(n) || n < 0) return "";
    return n >= 1e9 ? digits(n / 1e9) + " GB" : n >= 1e6 ? digits(n / 1e6) + " MB" : n >= 1e3 ? digits(n / 1e3) + " kB" : n + " B";
}
/* Neither all nor nothing is said of what is almost that. */
function share(part, whole) {
    if (!(whole > 0)) return "";
    const percent = Math.round(100 * part / whole);
    return part > 0 && percent < 1 ? "< 1 %" : part < whole && percent === 100 ? "> 99 %" : percent + " %";
}
/* "models/hrnet.py:790" of {"file", "line"}. */
function shortPlace(place) {
    return place && place.file ? place.file.split("/").slice(-2).join("/") + ":" + place.line : "";
}
function placeKey(place) { return place && place.file ? place.file + ":" + place.line : ""; }
function plural(n, word) { return count(n) + " " + word + (n === 1 ? "" : word.endsWith("s") ? "es" : "s"); }

/* A place as a button that shows the line; the whole path is its title. */
function placeButton(place) {
    if (!place || !place.file) return document.createTextNode("");
    return el("button", { className: "place", type: "button", title: `${place.file}:${place.line}`, on: { click: () => showLine(place) } }, shortPlace(place));
}
/* An operator as a button that shows its calls in graphs. */
function operatorButton(op) {
    return el("button", { className: "place", type: "button", on: { click: () => showOperator(op) } }, op);
}
