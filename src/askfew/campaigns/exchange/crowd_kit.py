r"""crowd-kit's table of answers: task, worker, label.

A task is an item and a question, joined by ``|``. A ``|`` or ``\`` inside an id is escaped with a
``\``, so that every task can be split again.
"""

from __future__ import annotations

import re

from askfew.errors import InvalidInput

__all__ = ["COLUMNS", "join_task", "split_task"]

COLUMNS: dict[str, type] = {"task": str, "worker": str, "label": float}

_SPECIAL = re.compile(r"([\\|])")
_TASK = re.compile(r"((?:[^\\|]|\\[\\|])+)\|((?:[^\\|]|\\[\\|])+)")
_ESCAPED = re.compile(r"\\([\\|])")


def join_task(item: str, question: str) -> str:
    r"""The task for a cell.

    >>> join_task("mallard", "swims"), join_task("a|b", "swims")
    ('mallard|swims', 'a\\|b|swims')
    """
    return "|".join(_SPECIAL.sub(r"\\\1", part) for part in (item, question))


def split_task(task: str) -> tuple[str, str]:
    r"""The item and the question of a task.

    >>> split_task("a\\|b|swims")
    ('a|b', 'swims')
    """
    found = _TASK.fullmatch(task)
    if found is None:
        raise InvalidInput("a task must be item|question", repr(task), "write it as export does")
    item, question = (_ESCAPED.sub(r"\1", part) for part in found.groups())
    return item, question
