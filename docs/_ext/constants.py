"""The directive ``constants``: every constant of a package with its value and its reason.

They are read from the source, so the page cannot say anything else than the code does.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

_NAMES = {"_NONE", "LOW, HIGH"}  # they stand for themselves
_PRIVATE = re.compile(r"\b_(?=[A-Z])")  # readers need not know which constants are private


class Constants(SphinxDirective):
    """``.. constants:: package`` lists the modules of a package that have constants."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        place = Path(importlib.import_module(self.arguments[0]).__file__)
        files = sorted(place.parent.rglob("*.py")) if place.name == "__init__.py" else [place]
        return [node for path in files for node in self._module(path, place.parent.parent)]

    def _module(self, path: Path, root: Path) -> Iterator[nodes.Node]:
        self.env.note_dependency(str(path))
        text = path.read_text()
        found = list(_constants(ast.parse(text), text))
        if not found:
            return
        where = nodes.literal(text=path.relative_to(root).as_posix())
        about = (ast.get_docstring(ast.parse(text)) or "").splitlines()[0]
        yield nodes.paragraph("", "", where, nodes.Text(f": {about}"))
        yield _list(found)


def _constants(tree: ast.Module, text: str) -> Iterator[tuple[str, str, str]]:
    """Name, value and docstring of capitals in a module, and of the fields of a class Tuning."""
    bodies = [tree.body] + [
        node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Tuning"
    ]
    for body in bodies:
        for node, after in zip(body, [*body[1:], None], strict=True):
            target = getattr(node, "target", None) or getattr(node, "targets", [None])[0]
            names = [each.id for each in getattr(target, "elts", [target]) if hasattr(each, "id")]
            name, value = ", ".join(names), getattr(node, "value", None)
            if not name or value is None or not (name.isupper() or body is not tree.body):
                continue
            written = " ".join(ast.get_source_segment(text, value).split())
            if not re.search(r"\d", written) or name in _NAMES:
                continue  # no number that was chosen
            said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if not said:
                raise ValueError(f"the constant {name} = {written} has no reason below it")
            yield name, written, " ".join(after.value.value.split())


def _list(found: list[tuple[str, str, str]]) -> nodes.bullet_list:
    items = []
    for name, value, why in found:
        said = nodes.literal(text=_PRIVATE.sub("", f"{name} = {value}"))
        parts = re.split("``(.+?)``", _PRIVATE.sub("", f": {why}"))
        text = [(nodes.literal if at % 2 else nodes.inline)(text=p) for at, p in enumerate(parts)]
        items.append(nodes.list_item("", nodes.paragraph("", "", said, *text)))
    return nodes.bullet_list("", *items)


def setup(app):
    """Sphinx calls this."""
    app.add_directive("constants", Constants)
    return {"parallel_read_safe": True}
