"""A table that is written to a file row by row, so that a long count can be taken up again."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

__all__ = ["count_rows", "table_options"]

Name = TypeVar("Name", bound=tuple[str, ...])


def table_options(description: str | None, runs: int) -> argparse.ArgumentParser:
    """The options that every such command has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--out", type=Path)
    return parser


def count_rows(
    command: str,
    columns: Sequence[str],
    rows: Mapping[Name, Callable[[], Sequence[str]]],
    out: Path | None,
) -> None:
    """Count and print the rows that the same command has not written to the file yet.

    ``rows`` maps the first cells of a row, which name it, to a function that counts the others.
    """
    head = (_line(columns), "|---" * len(columns) + "|")
    lines = [command, "", *head, *_before(out, command, head[1])]
    print("\n".join(lines), flush=True)
    for name, counted in rows.items():
        if any(line.startswith(_line(name)) for line in lines):
            continue
        lines.append(_line([*name, *counted()]))
        print(lines[-1], flush=True)
        if out is not None:
            out.write_text("\n".join(lines) + "\n")


def _before(file: Path | None, command: str, rule: str) -> list[str]:
    """The rows that the same command has written there before."""
    lines = file.read_text().splitlines() if file is not None and file.exists() else []
    if command not in lines or rule not in lines:
        return []
    return [line for line in lines[lines.index(rule) + 1 :] if line.startswith("| ")]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
