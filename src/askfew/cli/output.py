"""How commands print: reports on standard output, notes on standard error, checked files."""

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
    """Print a sentence on standard error, without markup: a file name may look like markup."""
    notes.print(sentence, markup=False, soft_wrap=True)


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON document. A command prints nothing else on standard output then."""
    typer.echo(json.dumps(document, indent=2, allow_nan=False))


def progress(what: str, total: int) -> Callable[[Iterator[T]], Iterator[T]]:
    """A function that shows a progress bar while results pass through it; only on a terminal."""

    def watch(results: Iterator[T]) -> Iterator[T]:
        if not notes.is_terminal:  # some versions of rich print a line even for a disabled bar
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
    """Raise an error if no picture can be drawn and saved there; None is fine."""
    if path is None:
        return
    if find_spec("matplotlib") is None:
        raise MissingExtra("a picture needs matplotlib", "none", "pip install 'askfew[plot]'")
    if path.suffix.lower() not in _PICTURES:
        raise InvalidInput(
            f"a picture's name must end with one of {', '.join(_PICTURES)}",
            repr(path.name),
            "rename it",
        )
    check_writable(path)


def check_writable(path: Path | None) -> None:
    """Raise an error if no file can be written there; None is fine."""
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
