"""How commands speak: reports on standard output, notes on standard error, files where they fit."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from askfew.errors import InvalidInput, MissingExtra

__all__ = ["check_drawable", "check_writable", "note", "notes", "print_json", "progress", "report"]

T = TypeVar("T")

report = Console(highlight=False)
notes = Console(stderr=True, highlight=False)


def note(sentence: str) -> None:
    """A sentence on standard error, as it is: what looks like markup may be a file's name."""
    notes.print(sentence, markup=False, soft_wrap=True)


def print_json(document: Mapping[str, object]) -> None:
    """One JSON document on standard output, and nothing else there."""
    typer.echo(json.dumps(document, indent=2, allow_nan=False))


def progress(what: str, total: int) -> Callable[[Iterator[T]], Iterator[T]]:
    """A watcher that shows a bar with time left; only on a terminal."""

    def watch(results: Iterator[T]) -> Iterator[T]:
        if not notes.is_terminal:  # some versions of rich end even a disabled bar with a line
            yield from results
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=notes, transient=True) as bar:
            yield from bar.track(results, total=total, description=what)

    return watch


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
