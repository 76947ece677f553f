#!/usr/bin/env python3
"""The page of symtape report in headless Chromium: it opens without an error and within its time, shows what
the tape has, filters, sorts, zooms, leads to lines, switches its theme, and fits 1,024 and 390 pixels.

usage: page_browser.py [--pictures FOLDER] [TAPE...]

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


ROWS = "[...document.querySelectorAll('#guards table')][0].tBodies[0].rows"


def loads(browser, page):
    """It says what the tape has."""
    yield "title", "symtape report" in browser.value("document.title")
    yield "sections", browser.value("document.querySelectorAll('main > section').length") == 9
    yield "diagnosis", browser.value("document.querySelectorAll('.finding').length > 0")
    yield "guards", browser.value(f"{ROWS}.length") > 0
    yield "minutes", browser.value("time(119.7e9) + ', ' + time(60e9)") == "2 min 0 s, 1 min 0 s"
    yield "shares", browser.value("[share(9999, 1e4), share(1, 1e4), share(1, 1), share(0, 1)].join()") == "> 99 %,< 1 %,100 %,0 %"
    yield "no policy was violated", not browser.errors


def filters(browser, page):
    """/ goes to the filter of all tables."""
    before = browser.value(f"{ROWS}.length")
    browser.press("/", "/")
    yield "focus", browser.value("document.activeElement.id") == "find"
    browser.type("no such row")
    yield "no row is left", browser.value(f"{ROWS}.length") == 0
    browser.value("const f = document.getElementById('find'); f.value = ''; f.dispatchEvent(new Event('input')); return 0")
    yield "all are back", browser.value(f"{ROWS}.length") == before


def sorts(browser, page):
    """A click on a title sorts by the column, another one the other way round."""
    column = "[...document.querySelector('#guards thead').querySelectorAll('th')].findIndex(h => h.textContent === 'count')"
    cells = f"const i = {column}; return [...{ROWS}].map(r => Number(r.cells[i].textContent.replaceAll(',', '')))"
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
        return new Set(names).size""")
    yield "each division", views >= 4 and shown == views


def leads(browser, page):
    """A user line opens what the page has about it, Escape closes it."""
    browser.value("document.querySelector('#guards .place').click()")
    yield "opened", browser.value("document.getElementById('line').open && document.querySelectorAll('#line h3').length > 0")
    browser.press("Escape")
    yield "closed", not browser.value("document.getElementById('line').open")
    graphs = browser.value("document.querySelector('#graphs select').length")
    rows = browser.value("""const s = document.querySelector('#graphs select'); s.selectedIndex = s.length - 1;
        s.dispatchEvent(new Event('change')); return document.querySelectorAll('#graphs tbody tr').length""")
    yield "graphs", graphs > 1 and rows > 3


def themes(browser, page):
    """The switch goes from the system's theme to light and dark."""
    back = "getComputedStyle(document.body).backgroundColor"
    found = []
    for _ in range(3):
        browser.value("document.getElementById('theme').click()")
        found.append(browser.value(back))
    yield "light and dark differ", found[0] != found[1] and found[2] in found[:2]


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


CHECKS = (loads, filters, sorts, zooms, leads, themes, fits, hostile)


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
    parser.add_argument("tapes", nargs="*", type=Path, default=[cases.RECORDINGS / "encoder.log.zst"])
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
            for tape in args.tapes:
                page, stem = folder / "page.html", tape.name.removesuffix(".log.zst")
                made = cases.run(["report", "--overwrite", tape, "-o", page])
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
