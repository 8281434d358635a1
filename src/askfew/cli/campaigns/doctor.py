"""``askfew doctor``: is the store sound?"""

from __future__ import annotations

import typer
from rich.text import Text

from askfew.campaigns.doctor.examine import Examination, examine_store
from askfew.cli import options
from askfew.cli.campaigns.opening import DEFAULT_STORE, StoreUrl, open_store
from askfew.cli.output import print_json, report
from askfew.errors import StoreUnreachable

__all__ = ["doctor"]

_SHOWN = 10


def doctor(store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """Check a store: replay every campaign, and count its answers again.

    Exit code 1 if something is wrong.
    """
    try:
        with open_store(store) as opened:
            found = examine_store(opened.database)
    except StoreUnreachable as error:
        found = Examination((str(error),), ())
    if json:
        print_json(found.to_dict())
    else:
        _say(found)
    if not found.sound:
        raise typer.Exit(1)


def _say(found: Examination) -> None:
    if found.problems:
        report.print("[bold red]store: WRONG[/bold red]")
        _list(found.problems)
    for each in found.campaigns:
        size = f"({each.state}; steps: {each.steps:,}, answers: {each.answers:,})"
        verdict = Text("sound") if each.sound else Text("WRONG", style="bold red")
        report.print(Text(f"{each.campaign}: ").append_text(verdict).append(f" {size}"))
        _list(each.problems)
        _list(each.notes)
    if found.sound:
        report.print("Nothing is wrong.")
    else:
        report.print(
            "Keep a copy of the store, and go on from a backup"
            " (or from 'askfew export --format campaign')."
        )


def _list(sentences: tuple[str, ...]) -> None:
    for sentence in sentences[:_SHOWN]:
        report.print(Text(f"  - {sentence}"))
    if len(sentences) > _SHOWN:
        report.print(f"  - and {len(sentences) - _SHOWN:,} more")
