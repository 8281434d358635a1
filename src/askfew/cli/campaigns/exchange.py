"""``askfew export`` and ``askfew import``: answers, open questions or campaigns as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.exchange import crowd_kit
from askfew.campaigns.exchange.answer_files import header_of, read_answers
from askfew.campaigns.exchange.exporting import FORMATS, text_of, write_export
from askfew.campaigns.exchange.importing import ImportReport, import_answers
from askfew.campaigns.exchange.moving import import_campaign
from askfew.campaigns.reading.status import status_of
from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, Name, StoreUrl, open_store
from askfew.cli.output import note, print_json
from askfew.errors import InvalidInput

__all__ = ["Out", "export", "format_of", "import_file"]


Out = Annotated[
    Path | None, Option(help="The file; its ending chooses the format.", show_default=False)
]


def format_of(path: Path, formats: Mapping[str, str]) -> str:
    """The format of a file, by the ending of its name.

    >>> format_of(Path("answers.CSV"), {".csv": "csv"})
    'csv'
    """
    kind = formats.get(path.suffix.lower())
    if kind is None:
        raise InvalidInput(
            f"the file's ending must be one of {', '.join(formats)}",
            repr(path.name),
            "rename it, or pass --format",
        )
    return kind


_ABOUT = ". ".join(f"{name}: {each.about}" for name, each in FORMATS.items())


def _format_by_ending() -> dict[str, str]:
    return {each.ending: name for name, each in reversed(FORMATS.items())}


def export(
    name: Name,
    format: Annotated[  # noqa: A002 (the option is called so)
        str | None,
        Option(
            metavar="FORMAT",
            help=f"{_ABOUT}.",
            show_default=False,
        ),
    ] = None,
    out: Out = None,
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Write answers, open questions or a whole campaign to a file.

    The answers are a table of item, question, worker, answer, seconds, cost and time.
    """
    kind = format or (format_of(out, _format_by_ending()) if out is not None else "csv")
    if kind not in FORMATS:
        known = ", ".join(FORMATS)
        raise InvalidInput(f"--format must be one of {known}", repr(kind), "choose one")
    if out is None and (json or FORMATS[kind].text is None):
        raise InvalidInput(
            f"{'--json' if json else kind} needs a file to write to", "none", "pass --out FILE"
        )
    with open_store(store) as opened:
        campaign = opened.campaign(name)
        rows = _write(campaign, kind, out)
        running = campaign.state == "running"
    if json:
        about = {"campaign": campaign.settings.name, "format": kind}
        print_json({**about, "out": str(out), "rows": rows})
    elif out is not None:
        note(f"Wrote {out}")
    if kind == "campaign" and running:
        note(f"{name} goes on here: pause it if it is to go on elsewhere.")


def _write(campaign: Campaign, kind: str, out: Path | None) -> int | None:
    """Write the export; return the number of rows, if the format has rows."""
    if out is not None:
        return write_export(campaign, kind, out)
    text, rows = text_of(campaign, kind)
    typer.echo(text, nl=False)
    return rows


ImportFormat = Literal["csv", "parquet", "crowd-kit", "label-studio", "campaign"]
_READ_BY_ENDING = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".json": "label-studio",
    ".askfew": "campaign",
}
_PLACES_SHOWN = 5
"""Lines of a file that a sentence names. A plain choice: it stays one sentence."""


def import_file(
    file: Annotated[Path, Argument(metavar="FILE", help="What to read.", show_default=False)],
    name: Annotated[
        str | None,
        Argument(
            metavar="NAME",
            help="The campaign that the answers are for; or another name for a whole campaign.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[  # noqa: A002 (the option is called so)
        ImportFormat | None,
        Option(
            metavar="FORMAT",
            help="If the file's ending does not say: csv, parquet, crowd-kit, label-studio or"
            " campaign.",
            show_default=False,
        ),
    ] = None,
    skip_bad: Annotated[
        bool,
        Option(
            "--skip-bad", help="Leave out rows that cannot be used, instead of refusing the file."
        ),
    ] = False,
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Read answers to open questions from a file, or a whole campaign.

    Answers are a table of item, question, worker, answer (and seconds, cost, time), crowd-kit's
    table of task (item|question), worker, label, or Label Studio's JSON. A row counts once, even
    if several files have it; without a time, a worker's rows about a cell must come in one file.
    """
    kind = format or format_of(file, _READ_BY_ENDING)
    if kind == "csv" and header_of(file) == set(crowd_kit.COLUMNS):
        kind = "crowd-kit"
    if kind == "campaign":
        _import_campaign(file, name, store, json)
    elif name is None:
        raise InvalidInput("answers are for a campaign", "no NAME", "askfew import FILE NAME")
    else:
        _import_answers(file, kind, name, skip_bad, store, json)


def _import_campaign(file: Path, name: str | None, store: str, json: bool) -> None:
    with open_store(store, new=True) as opened:
        campaign = import_campaign(opened, file, name)
        status = status_of(campaign)
    if json:
        print_json(status.to_dict())
    else:
        typer.echo(
            f"Imported {status.name}: {status.state}, {status.answers:,} answers,"
            f" {status.open:,} questions open."
        )


def _import_answers(
    file: Path, kind: str, name: str, skip_bad: bool, store: str, json: bool
) -> None:
    rows = read_answers(file, kind)
    with open_store(store) as opened:
        report = import_answers(opened.campaign(name), rows, skip_bad=skip_bad)
    if json:
        print_json({"campaign": name, "rows": len(rows), **report.to_dict()})
    else:
        _print_report(report, len(rows))
    if report.unknown or report.invalid:
        raise typer.Exit(1)


def _print_report(report: ImportReport, rows: int) -> None:
    typer.echo(f"{report.taken:,} of {rows:,} answers taken.")
    if report.already:
        typer.echo(f"{report.already:,} had been taken before.")
    sentences = {
        "came late: nothing waits for them, or not from that worker": report.late,
        "are about an unknown item or question": report.unknown,
        "are not possible answers": report.invalid,
        "are from workers who were revoked": report.revoked,
        "have no time, and an earlier file had more or fewer by that worker about the cell: which"
        " are new cannot be told": report.unclear,
    }
    for sentence, places in sentences.items():
        if places:
            more = f" and {len(places) - _PLACES_SHOWN:,} more" * (len(places) > _PLACES_SHOWN)
            typer.echo(f"{len(places):,} {sentence}: {', '.join(places[:_PLACES_SHOWN])}{more}")
