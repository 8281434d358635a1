"""``askfew list``, ``result`` and ``report``: the results of campaigns."""

from __future__ import annotations

import json as json_format
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text
from typer import Option

from askfew.answer_warnings import sentence
from askfew.campaigns.db.queries.campaigns import all_campaigns
from askfew.campaigns.exchange.files import (
    csv_text,
    write_parquet,
    write_whole,
)
from askfew.campaigns.reading.report import report_html
from askfew.campaigns.reading.results import RESULT_COLUMNS, CampaignResult, result_of
from askfew.campaigns.reading.rules import group_word
from askfew.cli import options
from askfew.cli.campaigns.exchange import Out, format_of
from askfew.cli.campaigns.store_option import DEFAULT_STORE, Name, StoreUrl, open_store
from askfew.cli.output import note, print_json, report
from askfew.errors import InvalidInput
from askfew.wording import chance

__all__ = ["list_campaigns", "result", "write_report"]


def list_campaigns(store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """List the campaigns of a store, oldest first."""
    with open_store(store) as opened, opened.database.read() as connection:
        rows = all_campaigns(connection)
    if json:
        print_json(
            {
                "campaigns": [
                    {"name": row.name, "state": row.state, "created": row.created} for row in rows
                ]
            }
        )
        return
    table = Table("campaign", "state", "created (UTC)")
    for row in rows:
        created = datetime.fromtimestamp(row.created, UTC)
        table.add_row(Text(row.name), row.state, f"{created:%Y-%m-%d %H:%M}")
    report.print(table)


_ENDINGS = {".csv": "csv", ".json": "json", ".parquet": "parquet"}


def result(
    name: Name,
    format: Annotated[  # noqa: A002 (the option is called so)
        Literal["csv", "json", "parquet"] | None,
        Option(help="A table of all items instead of the story.", show_default=False),
    ] = None,
    out: Out = None,
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Show the groups found, or so far: certified labels, and a guess for every other item."""
    kind = format or (format_of(out, _ENDINGS) if out is not None else "json" if json else None)
    if kind == "parquet" and out is None:
        raise InvalidInput("parquet needs a file to write to", "none", "pass --out FILE")
    with open_store(store) as opened:
        found = result_of(opened.campaign(name))
    if out is not None:
        _write(found, kind, out)
        note(f"Wrote {out}")
    if json or (kind == "json" and out is None):
        print_json(found.to_dict())
    elif kind == "csv" and out is None:
        typer.echo(_csv(found), nl=False)
    elif out is None:
        _print_result(found)


def _write(found: CampaignResult, kind: str | None, out: Path) -> None:
    if kind == "parquet":
        write_parquet(out, RESULT_COLUMNS, found.rows)
    elif kind == "csv":
        write_whole(out, _csv(found).encode())
    else:
        write_whole(out, (json_format.dumps(found.to_dict(), indent=2) + "\n").encode())


def _csv(found: CampaignResult) -> str:
    return csv_text(RESULT_COLUMNS, found.rows)


def _print_result(found: CampaignResult) -> None:
    ending = found.status or f"so far ({found.state})"
    lines = [f"{found.name}, {ending}: {found.reason}", f"{found.answers:,} answers"]
    if found.rule_text is not None:
        lines += ["The rule:", *(f"  {line}" for line in found.rule_text.splitlines())]
    elif found.question is not None:
        lines.append(f"question that separates best: {found.question}")
    names = [group_word(name) for name in found.group_names]
    for number, group in enumerate(found.groups):
        lines.append(f"{names[number]} ({len(group)}): {', '.join(group)}")
    lines += _undecided_lines(found, names)
    if found.certificate_text is not None:
        lines.append(found.certificate_text)  # with the warnings
    else:
        lines.append(_no_certificate(found))
        lines += [f"WARNING: {sentence(each)}." for each in found.warnings]
    for line in lines:
        report.print(Text(line))


def _undecided_lines(found: CampaignResult, names: list[str]) -> list[str]:
    """A line for each reason why items have no group, with the items and their guesses."""
    by_reason: dict[str, list[str]] = {}
    for each in found.undecided:
        guess = f"{each.item} ({names[each.guess]}? {chance(each.confidence)})"
        by_reason.setdefault(each.undecided or "", []).append(guess)
    return [
        f"undecided{f', {reason}' if reason else ''} ({len(guesses)}; with a guess, which promises"
        f" nothing): {', '.join(guesses)}"
        for reason, guesses in by_reason.items()
    ]


def _no_certificate(found: CampaignResult) -> str:
    if found.status is None and found.state != "closed":
        return "No certificate yet: the campaign has not ended."
    if not any(found.groups):
        return "No certificate: no item is certified."
    return "No certificate: nothing is promised about these labels."


def write_report(
    name: Name,
    store: StoreUrl = DEFAULT_STORE,
    out: Annotated[Path | None, Option(help="Where to write it; NAME.html by default.")] = None,
    json: options.AsJson = False,
) -> None:
    """Write a campaign's report as one self-contained HTML file."""
    path = out or Path(f"{name}.html")
    with open_store(store) as opened:
        write_whole(path, report_html(opened.campaign(name)).encode())
    if json:
        print_json({"campaign": name, "report": str(path)})
    else:
        note(f"Report written to {path}")
