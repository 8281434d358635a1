"""``askfew store`` and ``askfew doctor``: maintain and check the database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from typer import Argument, Option

from askfew.campaigns.backup import back_up
from askfew.campaigns.backup import restore as fill
from askfew.campaigns.doctor.examine import Examination, examine_store
from askfew.campaigns.doctor.examine import mend as mend_store
from askfew.campaigns.doctor.upgrade import touched_by_upgrade
from askfew.campaigns.store import Store
from askfew.cli import options
from askfew.cli.campaigns.store_option import (
    DEFAULT_STORE,
    StoreUrl,
    check_there,
    open_store,
    translate_database_errors,
)
from askfew.cli.commands import Command, Group
from askfew.cli.output import check_writable, print_json, report
from askfew.errors import StoreOutdated, StoreUnreachable
from askfew.wording import counted

__all__ = ["doctor", "store_app"]

store_app = typer.Typer(cls=Group, help="Look after the database that holds the campaigns.")


@store_app.callback()
def _about() -> None:
    """Look after the database that holds the campaigns."""


@store_app.command(cls=Command)
def upgrade(store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """Bring a store's tables to this askfew's version; nothing is lost."""
    check_there(store)
    with translate_database_errors(store):
        before, after = Store.upgrade(store)
    if json:
        print_json({"before": before, "after": after, "upgraded": before != after})
    elif before == after:
        typer.echo(f"The store is of version {after} already.")
    else:
        typer.echo(f"Upgraded from version {before or '(empty)'} to {after}.")


@store_app.command(cls=Command)
def backup(
    file: Annotated[Path, Argument(metavar="FILE", help="The copy.", show_default=False)],
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Copy a store as it stands at one moment, also while servers and workers use it.

    The copy is a SQLite file, also of a PostgreSQL store, and needs no other tools.
    """
    check_writable(file)
    with open_store(store) as opened:
        copied = back_up(opened, file)
    _say_copied({"file": str(file), **copied}, f"Wrote {file}", json)


@store_app.command(cls=Command)
def restore(
    file: Annotated[Path, Argument(metavar="FILE", help="The copy.", show_default=False)],
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Fill a new, empty store with what a backup has."""
    with open_store(store, new=True) as opened, translate_database_errors(store):
        copied = fill(opened, file)
    _say_copied({"file": str(file), **copied}, f"Restored {file}", json)


def _say_copied(copied: dict[str, Any], done: str, json: bool) -> None:
    if json:
        print_json(copied)
    else:
        size = f"{counted(copied['campaigns'], 'campaign')}, {counted(copied['answers'], 'answer')}"
        typer.echo(f"{done}: {size}.")


_SHOWN = 10
"""Problems of a campaign that are listed. A plain choice: it fits a screen; --json has all."""


def doctor(
    store: StoreUrl = DEFAULT_STORE,
    mend: Annotated[
        bool,
        Option("--mend", help="First take out answers that are impossible, such as 1e200."),
    ] = False,
    json: options.AsJson = False,
) -> None:
    """Check a store: replay every campaign, and count its answers again.

    Before an upgrade it says which campaigns that would touch, and changes nothing. Exit code 1 if
    something is wrong or cannot be replayed, or if an open campaign could not go on.
    """
    mended: dict[str, int] = {}
    try:
        with open_store(store) as opened:
            if mend:
                mended = mend_store(opened.database)
            found = examine_store(opened.database)
    except StoreOutdated as error:
        _before_upgrade(store, error, json=json)
        return
    # A damaged file may not even open. That is a finding, not a failure of the doctor.
    except StoreUnreachable as error:
        found = Examination((str(error),), ())
    if json:
        print_json({**found.to_dict(), "mended": mended})
    else:
        for name, count in mended.items():
            taken = counted(count, "impossible answer was", "impossible answers were")
            report.print(Text(f"{name}: {taken} taken out."))
        _say_findings(found)
    if not found.sound:
        raise typer.Exit(1)


def _say_findings(found: Examination) -> None:
    if found.problems:
        report.print("[bold red]store: WRONG[/bold red]")
        _list(found.problems)
    for each in found.campaigns:
        size = f"({each.state}; steps: {each.steps:,}, answers: {each.answers:,})"
        verdict = Text("sound") if each.sound else Text("WRONG", style="bold red")
        if each.other_claim:
            verdict = Text("begun under another claim", style="bold yellow")
        report.print(Text(f"{each.campaign}: ").append_text(verdict).append(f" {size}"))
        _list(each.problems)
        _list(each.notes)
    if found.sound:
        report.print("Nothing is wrong.")
    elif not found.problems and all(each.sound or each.other_claim for each in found.campaigns):
        report.print(
            "Nothing else is wrong. What has ended stands as it is; an open one goes on in a new"
            " campaign with the answers already paid for: 'askfew create DIR --reuse NAME'."
        )
    elif any(each.mendable for each in found.campaigns):
        report.print("'askfew doctor --mend' takes impossible answers out; keep a copy first.")
    else:
        report.print(
            "Keep a copy of the store, and go on from a backup"
            " (or from 'askfew export --format campaign')."
        )


def _before_upgrade(store: str, error: StoreOutdated, *, json: bool) -> None:
    """Print which campaigns the upgrade would change; write nothing."""
    with translate_database_errors(store):
        touched = touched_by_upgrade(store)
    if json:
        tables = {"version": error.version, "latest": error.latest}
        print_json({"tables": tables, "touched": [each.to_dict() for each in touched]})
    else:
        report.print(
            f"The tables are of version {error.version}, this askfew's of {error.latest}. Nothing"
            " was changed; 'askfew store upgrade' brings them there, and loses nothing."
        )
        for each in touched:
            report.print(Text(f"  - {each}"))
        if not any(each.is_open for each in touched):
            report.print("Every open campaign can go on after it.")
    # The exit code is for scripts that upgrade by night: they should stop here.
    if any(each.is_open for each in touched):
        raise typer.Exit(1)


def _list(sentences: tuple[str, ...]) -> None:
    for sentence in sentences[:_SHOWN]:
        report.print(Text(f"  - {sentence}"))
    if len(sentences) > _SHOWN:
        report.print(f"  - and {len(sentences) - _SHOWN:,} more")
