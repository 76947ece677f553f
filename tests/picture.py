#!/usr/bin/env python3
"""The picture of README.md: what `symtape TAPE` prints on a terminal, as SVG.

    tests/picture.py             fails when the picture is not what symtape prints now
    tests/picture.py --accept    writes it anew
"""
import difflib
import html
import os
import re
import subprocess
import sys

from cases import ROOT, SYMTAPE

PICTURE = ROOT / "man" / "diagnosis.svg"
TAPE = "tests/recordings/encoder.log.zst"
COLUMNS, CHARACTER, LINE, MARGIN = 96, 8.4, 19, 16
CLASSES = {"0": None, "1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "36": "cyan"}


def printed():
    """What the program prints on a terminal, with its colors."""
    reader, terminal = os.openpty()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    program = subprocess.Popen([SYMTAPE, TAPE], stdout=terminal, env=environment, cwd=ROOT)
    os.close(terminal)
    text = bytearray()
    try:
        while piece := os.read(reader, 65536):
            text.extend(piece)
    except OSError: # the last one who had the terminal open closed it
        pass
    if program.wait():
        sys.exit("symtape failed")
    return text.decode().replace("\r\n", "\n").splitlines()


def spans(line):
    """The line as text elements of SVG."""
    parts, style = [], None
    for piece in re.split(r"(\033\[\d+m)", line):
        code = re.fullmatch(r"\033\[(\d+)m", piece)
        if code:
            style = CLASSES[code[1]]
        elif piece:
            text = html.escape(piece, quote=False)
            parts.append(f'<tspan class="{style}">{text}</tspan>' if style else text)
    return "".join(parts)


def picture(lines):
    lines = [f"$ symtape {TAPE.rpartition('/')[2]}", *lines]
    width, height = MARGIN * 2 + COLUMNS * CHARACTER, MARGIN * 2 + LINE * len(lines)
    rows = "\n".join(f'<text x="{MARGIN}" y="{MARGIN + LINE * (i + 0.75):g}">{spans(line)}</text>'
                     for i, line in enumerate(lines))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}">
<style>
text {{ font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d7dae0; white-space: pre }}
.bold {{ font-weight: bold; fill: #fff }} .dim {{ fill: #8b93a1 }} .red {{ fill: #ff7b72 }}
.green {{ fill: #7ee787 }} .yellow {{ fill: #e3b341 }} .cyan {{ fill: #76d9e6 }}
</style>
<rect width="100%" height="100%" rx="8" fill="#1b1f27"/>
{rows}
</svg>
"""


def main():
    now = picture(printed())
    if "--accept" in sys.argv[1:]:
        PICTURE.write_text(now)
        return 0
    old = PICTURE.read_text() if PICTURE.exists() else ""
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), now.splitlines(True), str(PICTURE), "printed"))
    print("ok - the picture is what symtape prints" if old == now else "not ok - run tests/picture.py --accept")
    return old != now


if __name__ == "__main__":
    sys.exit(main())
