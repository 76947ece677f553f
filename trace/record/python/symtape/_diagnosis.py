"""symtape.diagnose(): what the program says about a tape, as text, as data and as HTML."""
import json
import os
from html import escape
from typing import Any

from symtape import _program


class Diagnosis:
    """`text` is what `symtape diagnose` prints, and so is str(); `data` is the JSON object of
    `symtape diagnose --json`, whose schema is symtape.diagnosis/1."""

    def __init__(self, text: str, data: dict[str, Any]) -> None:
        self.text, self.data = text, data

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The causes, worst first."""
        return self.data.get("findings", [])

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(_html_of_finding(i, f) for i, f in enumerate(self.findings, 1))
        return f'<table class="symtape">{rows}</table>' if rows else _html("pre", self.text)


def diagnose(tape: str | os.PathLike[str]) -> Diagnosis:
    """The causes of failures, recompiles and long compiles on a tape, worst first."""
    name = os.fspath(tape)
    return Diagnosis(_program.run("diagnose", "--", name),
                     json.loads(_program.run("diagnose", "--json", "--", name)))


# A tape is not trusted: every text of it is escaped.

def _html(tag: str, text: object) -> str:
    return f'<{tag} style="text-align: left">{escape(str(text))}</{tag}>'


def _html_of_finding(number: int, finding: dict[str, Any]) -> str:
    parts = [_html("div", finding.get("cause", ""))]
    if line := finding.get("line"):
        parts.append(_html("pre", f"{line.get('file')}:{line.get('line')}  {line.get('code')}"))
    parts += [_html("div", text) for text in finding.get("evidence") or ()]
    parts += [_html("pre", ("proved: " if remedy.get("proved") else "suggested: ")
                    + str(remedy.get("text")))
              for remedy in finding.get("remedies") or ()]
    return (f"<tr>{_html('td', number)}{_html('td', _cost(finding))}"
            f'<td style="text-align: left">{"".join(parts)}</td></tr>')


def _cost(finding: dict[str, Any]) -> str:
    kind, seconds, share = (finding.get(key) for key in ("kind", "seconds", "share"))
    text = str(kind).replace("_", " ")
    if isinstance(seconds, (int, float)):
        text += f", {seconds:.3g} s"
    if isinstance(share, (int, float)):
        text += f" ({100 * share:.0f} %)"
    return text + (", estimated" if finding.get("basis") == "estimated" else "")
