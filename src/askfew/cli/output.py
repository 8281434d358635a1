"""How commands speak: reports on standard output, progress and notes on standard error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["note", "notes", "print_json", "progress", "report"]

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
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(
            *columns, console=notes, transient=True, disable=not notes.is_terminal
        ) as bar:
            yield from bar.track(results, total=total, description=what)

    return watch
