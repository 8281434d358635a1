"""What stays on one line: short code, a number with its sign, and cells of columns of numbers."""

import re

from docutils import nodes
from sphinx.application import Sphinx

_SHORT, _LONGEST = 20, 30  # characters of code with and without spaces; a phone's line has forty
_TIED = re.compile(r"(?<=\d) (?=%)|(?<=\b[1nK]) (?=- )|(?<=\b[1nK] -) ")  # 95 %, 1 - delta
_NUMBERS = re.compile(r"[-+]?\.?\d(?:[\d.,%/()\s]|of|to|runs|labels)*|-?")


def _tie(app: Sphinx, document: nodes.document) -> None:  # noqa: ARG001 - Sphinx passes both
    for code in document.findall(nodes.literal):
        text = code.astext()
        if len(text) <= (_SHORT if " " in text else _LONGEST):
            code["classes"].append("whole")
    for text in list(document.findall(nodes.Text)):
        if not isinstance(text.parent, nodes.FixedTextElement | nodes.literal):
            text.parent.replace(text, nodes.Text(_TIED.sub("\N{NO-BREAK SPACE}", text)))
    for table in document.findall(nodes.tgroup):
        heads, *rows = (row.children for row in table.findall(nodes.row))
        for head, *cells in zip(heads, *rows, strict=True):
            if all(_NUMBERS.fullmatch(cell.astext()) for cell in cells):
                for cell in (head, *cells):
                    cell["classes"].append("number")


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("doctree-read", _tie)
