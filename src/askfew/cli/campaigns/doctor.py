"""``askfew doctor``: is the store sound?"""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text
from typer import Option

from askfew.campaigns.doctor.examine import Examination, examine_store
from askfew.campaigns.doctor.mend import mend as mend_store
from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, StoreUrl, open_store
from askfew.cli.output import print_json, report
from askfew.errors import StoreUnreachable
from askfew.wording import counted

__all__ = ["doctor"]

_SHOWN = 10


def doctor(
    store: StoreUrl = DEFAULT_STORE,
    mend: Annotated[
        bool,
        Option("--mend", help="First take out answers that are impossible, such as 1e200."),
    ] = False,
    json: options.AsJson = False,
) -> None:
    """Check a store: replay every campaign, and count its answers again.

    Exit code 1 if something is wrong.
    """
    mended: dict[str, int] = {}
    try:
        with open_store(store) as opened:
            if mend:
                mended = mend_store(opened.database)
            found = examine_store(opened.database)
    except StoreUnreachable as error:
        found = Examination((str(error),), ())
    if json:
        print_json({**found.to_dict(), "mended": mended})
    else:
        for name, count in mended.items():
            taken = counted(count, "impossible answer was", "impossible answers were")
            report.print(Text(f"{name}: {taken} taken out."))
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
    elif any(each.mendable for each in found.campaigns):
        report.print("'askfew doctor --mend' takes impossible answers out; keep a copy first.")
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
