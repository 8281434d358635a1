"""Where a command will write: looked at before minutes of work, not after."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from askfew.errors import InvalidInput, MissingExtra

__all__ = ["check_drawable", "check_writable"]

_PICTURES = (".png", ".svg", ".pdf")


def check_drawable(path: Path | None) -> None:
    """Refuse what no picture could be saved as, or drawn with; None is none."""
    if path is None:
        return
    if find_spec("matplotlib") is None:
        raise MissingExtra("a picture needs matplotlib", "none", "pip install 'askfew[plot]'")
    if path.suffix.lower() not in _PICTURES:
        raise InvalidInput(
            f"a picture's name must end with one of {', '.join(_PICTURES)}",
            repr(path.name),
            "name it so",
        )
    check_writable(path)


def check_writable(path: Path | None) -> None:
    """Refuse a place where no file could be written; None is none."""
    if path is None:
        return
    if path.is_dir():
        got = "a folder"
    elif not path.parent.is_dir():
        got = "no such folder"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        got = "no permission"
    else:
        return
    raise InvalidInput(f"{path}: a file must be writable here", got, "choose another place")
