#!/usr/bin/env python3
"""The page of symtape report beside tlparse's of the same log: time to write, files, bytes, and time to open in
headless Chromium, where there is one. Prints; asserts nothing.

usage: page.py [--rounds N] [--tlparse PROGRAM] [LOG ...]
"""
import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import cases  # noqa: E402
import page_browser  # noqa: E402
import run  # noqa: E402


def opened(browser, page, rounds):
    return f"{statistics.median(browser.open(page, 1024) for _ in range(rounds)):6.2f} s" if browser else "     -"


def sizes(folder):
    files = [f for f in folder.rglob("*") if f.is_file()]
    return len(files), sum(f.stat().st_size for f in files)


def tell(name, cost, size, seconds):
    print(f"  {name:14}  {cost.median() * 1e3:8.1f} ms CPU  {cost.median('wall') * 1e3:8.1f} ms  peak {max(cost.peak):6.1f} MB"
          f"  {size[0]:5} files  {size[1] / 1e6:7.2f} MB  opened in {seconds}", flush=True)


def compare(log, args, folder, browser):
    page, pages = folder / "report.html", folder / "tlparse"
    ours, theirs = run.Cost(), run.Cost()
    for _ in range(args.rounds):
        ours.add([cases.SYMTAPE, "report", "--overwrite", log, "-o", page])
    print(f"\n{log.name} ({log.stat().st_size / 1e6:.1f} MB)")
    tell("symtape report", ours, (1, page.stat().st_size), opened(browser, page, args.rounds))
    for _ in range(args.rounds if args.tlparse else 0):
        theirs.add([args.tlparse, log, "-o", pages, "--overwrite", "--no-browser"])
    if (pages / "index.html").exists():
        tell("tlparse", theirs, sizes(pages), opened(browser, pages / "index.html", args.rounds))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tlparse", default=os.environ.get("SYMTAPE_TLPARSE") or shutil.which("tlparse"))
    parser.add_argument("logs", nargs="*", type=Path)
    args = parser.parse_args()
    shared = cases.shared()
    wanted = args.logs or ([shared / name for name in run.LOGS] if shared else [cases.RECORDINGS / "encoder.log.zst"])
    program = os.environ.get("SYMTAPE_CHROMIUM") or shutil.which("chromium")
    if not args.tlparse:
        print("tlparse is not on the PATH (pip install tlparse): measured without it")
    with tempfile.TemporaryDirectory(prefix="symtape-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        browser = page_browser.Browser(program, folder / "profile") if program else None
        try:
            for log in wanted:
                compare(run.plain(log, folder), args, folder, browser)
        finally:
            if browser:
                browser.close()


if __name__ == "__main__":
    main()
