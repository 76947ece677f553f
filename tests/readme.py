#!/usr/bin/env python3
"""The examples of README.md print what it says. usage: readme.py [--accept]

An example is a line indented by four spaces that starts with "$ ", with what it prints below it, as in
golden cases (tests/golden/README.md). They run one after another in one folder in which tests/ is ours.
"""
import difflib
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "golden")]
import cases  # noqa: E402
import run as golden  # noqa: E402


def masked(lines):
    """Sizes of tapes are libzstd's business."""
    return [re.sub(r"[0-9.]+ k?B of tape( \(1/[0-9]+\))?", "SIZE of tape", line) for line in lines]


def main():
    readme = cases.ROOT / "README.md"
    parts = golden.parse(readme.read_text())
    tell = cases.Cases()
    with tempfile.TemporaryDirectory(prefix="symtape-readme-") as folder:
        Path(folder, "tests").symlink_to(cases.ROOT / "tests")
        for step in (p for p in parts if isinstance(p, golden.Step)):
            actual = golden.play(step, folder)
            name = f"README.md:{step.line}"
            if masked(actual) == masked(step.expected):
                tell.ok(name)
            elif "--accept" in sys.argv[1:]:
                step.expected = actual
                tell.ok(f"{name} (rewritten)")
            else:
                diff = difflib.unified_diff(step.expected, actual, "README.md", "printed", lineterm="")
                tell.fail(name, step.command + "\n    " + "\n    ".join(diff))
    if "--accept" in sys.argv[1:]:
        readme.write_text(golden.unparse(parts))
    tell.finish()


if __name__ == "__main__":
    main()
