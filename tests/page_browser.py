#!/usr/bin/env python3
"""The page of symtape report in headless Chromium: it opens without an error and within its time, shows what
the tape has, filters, sorts, zooms, leads to lines, switches its theme, and fits 1,024 and 390 pixels.

usage: page_browser.py [--pictures FOLDER] [TAPE[,TAPE...]...]

Tapes with commas between them are on one page.

Chromium is spoken to over its debugging pipe, so that no library is needed. Exits with 77, "skipped" to
meson, where there is none ($SYMTAPE_CHROMIUM, or chromium on the PATH).
"""
import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cases  # noqa: E402

OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions", "--hide-scrollbars",
           "--disable-background-networking", "--remote-debugging-pipe"]
WIDTHS = (1024, 390)
# With recompiles; runs of a program; ranks of a job; calls; kernels; without a table of guards; of no compile.
DEFAULT = ["encoder.log.zst", "layers.log.zst,layers_window.log.zst,encoder.log.zst", "ranks_missing", "levels.log.zst", "inductor.log.zst", "graph_break.log.zst", "exported.pt2"]


class Browser:
    """One page of a browser, by the Chrome DevTools Protocol: messages that end with a NUL."""

    def __init__(self, program, folder):
        to_browser, self.to = os.pipe()
        self.of, from_browser = os.pipe()
        # The browser reads from 3 and writes to 4.
        command = ["sh", "-c", f'exec 3<&{to_browser} 4>&{from_browser}; exec "$@"', "sh", program, *OPTIONS,
                   f"--user-data-dir={folder}", "about:blank"]
        self.child = subprocess.Popen(command, pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, env={**os.environ, "HOME": str(folder)})
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.n, self.session, self.errors, self.loaded = b"", 0, None, [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.rest:
            piece = os.read(self.of, 1 << 16)
            if not piece:
                raise RuntimeError("the browser ended")
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def note(self, message):
        method, told = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(told["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.errors.append(told["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.errors.append(str(told["args"]))
        elif method == "Network.requestWillBeSent" and not told["request"]["url"].startswith(("file:", "data:")):
            self.errors.append("it asked for " + told["request"]["url"])
        self.loaded |= method == "Page.loadEventFired"

    def call(self, method, **params):
        self.n += 1
        message = {"id": self.n, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.n:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def open(self, path, width, dark=False):
        """Seconds from the navigation to the page that is made."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.loaded, start = False, time.monotonic()
        self.call("Page.navigate", url=path.as_uri())
        while not self.loaded:
            self.note(self.message())
        self.value("document.body.offsetHeight")
        return time.monotonic() - start

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=f"(() => {{ {expression if 'return' in expression else 'return ' + expression} }})()",
                           returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def press(self, key, text=""):
        code = {"windowsVirtualKeyCode": 27} if key == "Escape" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **code, **({"text": text} if text and kind == "keyDown" else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path, whole=True):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000) if whole else 900, "scale": 1}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


TABLE = "[...document.querySelectorAll('#guards table, main table')].find(t => t.tBodies[0].rows.length > 1)"
ROWS = f"{TABLE}.tBodies[0].rows"


def has(browser, expression):
    return browser.value(f"Boolean({expression})")


def loads(browser, page):
    """It says what the tape has."""
    parts = browser.value("[...document.querySelectorAll('main > section')].map(s => s.id)")
    yield "title", "symtape report" in browser.value("document.title")
    yield "sections", parts[0] == "diagnosis" and {"time", "timeline", "compiles", "guards", "operators", "graphs", "replay", "omitted"} <= set(parts)
    yield "links", browser.value("[...document.querySelectorAll('nav a')].map(a => a.hash.slice(1))") == parts
    yield "diagnosis", browser.value("document.querySelectorAll('#diagnosis .cards').length > 0")
    yield "guards", has(browser, "document.querySelector('#guards table')") == browser.value("profile.guards.length + data.symbols.length > 0")
    yield "minutes", browser.value("time(119.7e9) + ', ' + time(60e9)") == "2 min 0 s, 1 min 0 s"
    yield "shares", browser.value("[share(9999, 1e4), share(1, 1e4), share(1, 1), share(0, 1)].join()") == "> 99 %,< 1 %,100 %,0 %"
    yield "no policy was violated", not browser.errors


def filters(browser, page):
    """/ goes to the filter of all tables."""
    browser.press("/", "/")
    yield "focus", browser.value("document.activeElement.id") == "find"
    if not has(browser, TABLE):
        return
    browser.value(f"window.rows = {ROWS}; return 0")
    before = browser.value("rows.length")
    browser.type("no such row")
    yield "no row is left", browser.value("rows.length") == 0
    browser.value("const f = document.getElementById('find'); f.value = ''; f.dispatchEvent(new Event('input')); return 0")
    yield "all are back", browser.value("rows.length") == before


def sorts(browser, page):
    """A click on a title sorts by the column, another one the other way round."""
    if not has(browser, "document.querySelector('#guards th.number')"):
        return
    column = "[...document.querySelector('#guards thead').querySelectorAll('th')].findIndex(h => h.textContent === 'count' || h.textContent === 'guards')"
    cells = f"const i = {column}; return [...document.querySelector('#guards tbody').rows].map(r => r.cells[i].textContent.replaceAll(',', '')).filter(t => t !== '').map(Number)"
    click = f"document.querySelector('#guards thead').querySelectorAll('button')[{column}].click()"
    browser.value(click)
    down = browser.value(cells)
    browser.value(click)
    up = browser.value(cells)
    yield "down", down == sorted(down, reverse=True)
    yield "up", up == sorted(up)
    yield "told", browser.value("document.querySelectorAll('#guards th[aria-sort=ascending]').length") == 1


def zooms(browser, page):
    """Arrow keys go from box to box, Enter zooms in, Escape zooms out."""
    detail, boxes = "document.querySelector('#time .detail').textContent", "document.querySelectorAll('#time .box').length"
    if not has(browser, "document.querySelector('#time .chart')"):
        return
    browser.value("document.querySelector('#time .chart').focus()")
    first, all_of_them = browser.value(detail), browser.value(boxes)
    for _ in range(2):
        browser.press("ArrowDown")
    yield "another box", browser.value(detail) != first
    browser.press("ArrowDown")
    browser.press("ArrowRight")
    browser.press("Enter")
    yield "zoomed in", not browser.value("[...document.querySelectorAll('#time button')].find(b => b.textContent === 'Zoom out').hidden")
    browser.press("Escape")
    yield "zoomed out", browser.value(boxes) == all_of_them
    views = browser.value("document.querySelector('#time select').length")
    shown = browser.value("""const s = document.querySelector('#time select'), names = [];
        for (let i = 0; i < s.length; i++) { s.selectedIndex = i; s.dispatchEvent(new Event('change')); names.push(document.querySelector('#time .chart').getAttribute('aria-label')); }
        return names""")
    yield "each division", views >= 1 and len(set(shown)) == views
    wanted = {"kernels, by the nodes": "data.kernels.some(k => k.nodes > 0)", "guards, by": "profile.guards.length > 0", "user stacks, by guards": "stacks.some(s => s.guards > 0)",
              "operators, by": "profile.operator_costs.length > 0"}
    for name, recorded in wanted.items():
        yield name, any(label.startswith(name) for label in shown) == browser.value(recorded)


def leads(browser, page):
    """A user line opens what the page has about it, an operator its calls, Escape closes it."""
    if has(browser, "document.querySelector('#guards .place')"):
        browser.value("document.querySelector('#guards .place').click()")
        yield "opened", browser.value("document.getElementById('line').open && document.querySelectorAll('#line h3').length > 0")
        browser.press("Escape")
        yield "closed", not browser.value("document.getElementById('line').open")
    if not browser.value("data.graphs.length"):
        return
    rows = browser.value("""const s = document.querySelector('#graphs select'); s.selectedIndex = s.length - 1;
        s.dispatchEvent(new Event('change')); return document.querySelectorAll('#graphs tbody tr').length""")
    yield "graphs", browser.value("document.querySelector('#graphs select').length === data.graphs.length") and rows > 0
    if has(browser, "document.querySelector('#graphs td.name .place')"):
        browser.value("document.querySelector('#graphs td.name .place').click()")
        yield "an operator", browser.value("document.querySelectorAll('#line tbody tr').length > 0")
        browser.press("Escape")
    levels = browser.value("""const g = data.graphs.findIndex(g => g.kind === 'aot_forward_graph' || g.kind === 'aot_inference_graph');
        if (g < 0) return null; const s = document.querySelector('#graphs select'); s.selectedIndex = g; s.dispatchEvent(new Event('change'));
        return document.querySelector('#graphs').textContent.includes('this line at other levels')""")
    yield "levels", levels in (None, True)


def memory(browser, page):
    """The memory over a graph has the peak of the table; arrow keys go from node to node."""
    graph = browser.value("""const g = data.graphs.findIndex(g => g.memory && g.memory.length === g.n_nodes && Math.max(...g.memory) > 0); if (g < 0) return null;
        const s = document.querySelector('#graphs select'); s.selectedIndex = g; s.dispatchEvent(new Event('change')); document.querySelector('.memory').focus(); return g""")
    if graph is None:
        return
    detail = "document.querySelector('#graphs .detail').textContent"
    peak = browser.value(detail)
    yield "peak", "the peak" in peak and browser.value(f"profile.graph_memory.some(m => m.peak_bytes === Math.max(...data.graphs[{graph}].memory))")
    browser.press("ArrowLeft")
    yield "another node", browser.value(detail) != peak


def several(browser, page):
    """Runs stand side by side with what differs; ranks stand below each other with what symtape ranks finds."""
    tapes = browser.value("data.tapes.length")
    yield "differences", has(browser, "document.querySelector('#differences table')") == browser.value("data.compared.differences.length > 0")
    if browser.value("data.compared.differences.length > 1"):
        labels = browser.value("""const s = document.querySelector('#differences select'), labels = [];
            for (let i = 0; i < s.length; i++) { s.selectedIndex = i; s.dispatchEvent(new Event('change')); labels.push(document.querySelector('#differences h3.pair').textContent); }
            return labels""")
        yield "each pair", len(set(labels)) == browser.value("data.tapes.length - 1")
    yield "ranks", has(browser, "document.getElementById('ranks')") == browser.value("data.compared.ranks !== null")
    yield "side by side", browser.value("document.querySelectorAll('.beside > div').length") == (tapes if tapes > 1 and browser.value("data.compared.ranks === null") else 0)
    recordings = browser.value("profile.recordings.filter((r, i) => data.spans.some(s => s.recording === i)).length")
    yield "on one time axis", browser.value("document.querySelectorAll('#timeline .row-name').length") == (recordings if recordings > 1 else 0)


def calls(browser, page):
    """Calls that were recorded are boxes and rows."""
    n = browser.value("data.calls.n")
    yield "section", has(browser, "document.getElementById('calls')") == (n > 0)
    if n:
        yield "boxes", browser.value("document.querySelectorAll('#calls .box').length > 1")
        yield "sum", browser.value("data.calls.runs.reduce((sum, run) => sum + run[2], 0) + data.calls.runs_left_out") >= n


def themes(browser, page):
    """The switch goes from the system's theme to light and dark."""
    back = "getComputedStyle(document.body).backgroundColor"
    found = []
    for _ in range(3):
        browser.value("document.getElementById('theme').click()")
        found.append(browser.value(back))
    yield "light and dark differ", found[0] != found[1] and found[2] in found[:2]


def prints(browser, page):
    """On paper no text is wider than the page, and no control is left."""
    browser.open(page, 794)
    browser.call("Emulation.setEmulatedMedia", media="print")
    yield "fits", browser.value("document.documentElement.scrollWidth") <= 794
    yield "no controls", browser.value("[...document.querySelectorAll('input, nav, button:not(.place):not(th button)')].every(e => e.offsetHeight === 0)")
    yield "what is not shown is said", browser.value("tables.every(t => !t.element.isConnected || t.state.offsetHeight > 0)")
    browser.call("Emulation.setEmulatedMedia", media="")


def fits(browser, page):
    """No text is wider than the page, at both widths, in light and dark."""
    for width in WIDTHS:
        for dark in (False, True):
            browser.open(page, width, dark)
            wide = browser.value("document.documentElement.scrollWidth")
            yield f"{width} pixels{', dark' if dark else ''}", wide <= width


def hostile(browser, page):
    """Markup in names and messages of a log is shown as it is, and does nothing."""
    log, path = page.parent / "markup.log", page.parent / "markup.html"
    log.write_bytes(subprocess.run([sys.executable, cases.ROOT / "tests" / "golden" / "make_hostile.py", "markup"], capture_output=True, check=True).stdout)
    cases.run(["report", log, "-o", path])
    browser.open(path, 1024)
    yield "no element of it", browser.value("document.scripts.length === 2 && document.images.length === 0")
    yield "shown", "<script>alert(1)</script>" in browser.value("document.body.innerText")


CHECKS = (loads, filters, sorts, zooms, leads, memory, several, calls, themes, prints, fits, hostile)


def check_page(browser, page, name):
    seconds = browser.open(page, 1024)
    print(f"{name}: {page.stat().st_size / 1e6:.2f} MB, opened in {seconds:.2f} s")
    failed = 0
    for check in CHECKS:
        browser.errors.clear()
        for what, holds in check(browser, page):
            failed += not holds
            print(f"{'ok' if holds else 'not ok'} - {name}: {check.__name__}: {what}")
        for error in browser.errors:
            failed += 1
            print(f"not ok - {name}: {check.__name__}: console: {error}")
    return failed


def take_pictures(browser, page, name, folder):
    for width in WIDTHS:
        for dark in (False, True):
            browser.open(page, width, dark)
            browser.picture(folder / f"{name}.{width}.{'dark' if dark else 'light'}.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("pages", nargs="*", default=DEFAULT)
    args = parser.parse_args()
    program = os.environ.get("SYMTAPE_CHROMIUM") or shutil.which("chromium")
    if not program:
        print("skipped: no chromium")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="symtape-page-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        browser = Browser(program, folder / "profile")
        try:
            for tapes in args.pages:
                page, stem = folder / "page.html", "+".join(Path(t).name.removesuffix(".log.zst") for t in tapes.split(","))
                made = cases.run(["report", "--overwrite", *(cases.RECORDINGS / t for t in tapes.split(",")), "-o", page])
                if made.code != 0:
                    print(f"not ok - {stem}: {made.told()}")
                    failed += 1
                    continue
                failed += check_page(browser, page, stem)
                if args.pictures:
                    take_pictures(browser, page, stem, args.pictures)
        finally:
            browser.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
