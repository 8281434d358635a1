import ast
from pathlib import Path

import askfew.theory


def test_theory_imports_nothing_of_askfew_but_errors() -> None:
    for file in Path(askfew.theory.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                alone = not name.startswith("askfew") or name == "askfew.errors"
                assert alone or name.startswith("askfew.theory"), f"{file.name} imports {name}"
