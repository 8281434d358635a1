"""``askfew create``: create a campaign in a store from its folder."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument, Option

from askfew.campaigns.folder.load import read_folder
from askfew.campaigns.forecast import CrowdForecast, Sizes, crowd_forecast
from askfew.campaigns.forecast_words import forecast_sentences
from askfew.campaigns.reading.status import CampaignStatus, status_of
from askfew.campaigns.settings import Settings
from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, StoreUrl, open_store
from askfew.cli.output import notes, print_json, report
from askfew.planning import Range
from askfew.wording import counted

__all__ = ["create"]

MANY_WORKERS = 20
"""With more workers than this a warning is printed. A plain choice: a warning costs nothing, and
few teams have more than twenty people for one task."""


def create(
    folder: Annotated[
        Path, Argument(metavar="DIR", help="A folder as 'askfew new' makes it.", show_default=False)
    ],
    store: StoreUrl = DEFAULT_STORE,
    reuse: Annotated[
        str | None,
        Option(metavar="OLD", help="Begin with the answers that campaign OLD has paid for."),
    ] = None,
    gap: Annotated[
        str | None,
        Option(help="For the forecast: how far groups differ where they do, or a range."),
    ] = None,
    share: Annotated[
        str | None, Option(help="For the forecast: the share of the smaller of two groups.")
    ] = None,
    useful: Annotated[
        str | None, Option(help="For the forecast: how many questions tell the groups apart.")
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Create a campaign from its folder, with its first questions open."""
    plan = read_folder(folder)
    assumed = {"gap": gap, "share": share, "useful": useful}
    crowd = crowd_forecast(
        plan.settings,
        Sizes.of(plan.items, plan.questions),
        {name: Range.read(text, name) for name, text in assumed.items() if text is not None},
    )
    with open_store(store, new=True) as opened:
        campaign = opened.create(
            plan.settings, plan.items, plan.questions, reuse=reuse, forecast=crowd
        )
        status = status_of(campaign)
    if json:
        print_json(status.to_dict())
    else:
        _say(plan.settings, len(plan.questions), status, crowd, reuse)
    _warn_few_workers(plan.settings, crowd)


def _say(
    settings: Settings,
    questions: int,
    status: CampaignStatus,
    crowd: CrowdForecast,
    reuse: str | None,
) -> None:
    report.print(
        f"Created {settings.name}: {counted(status.items, 'item')},"
        f" {counted(questions, 'question')}, {settings.answers};"
        f" {counted(status.open, 'question is', 'questions are')} open.",
        markup=False,
    )
    if reuse is not None:
        many = sum(worker.reused > 0 for worker in status.workers)
        report.print(
            f"Took over {counted(status.answers, 'answer')} of {reuse},"
            f" given by {counted(many, 'worker')}.",
            markup=False,
        )
    if status.state == "ended":
        report.print(f"It is over: askfew result {quote(settings.name)}", markup=False)
        return
    verdict, *more = forecast_sentences(crowd, settings)
    report.print(verdict, markup=False, style=None if crowd.enough_people else "bold red")
    report.print(
        *more,
        f"The open step needs {counted(status.workers_needed, 'worker')}.",
        sep="\n",
        markup=False,
    )
    report.print(
        f"Next: askfew serve, askfew work, or askfew ask {quote(settings.name)} --worker YOU",
        soft_wrap=True,
        markup=False,
    )


def _warn_few_workers(settings: Settings, crowd: CrowdForecast) -> None:
    often = settings.answers_per_worker_and_cell
    if settings.people is not None:
        return  # the forecast above has said whether they are enough
    if crowd.typical_workers > MANY_WORKERS:
        notes.print(
            f"[bold red]MANY WORKERS NEEDED:[/bold red] about {crowd.typical_workers} different"
            " people, because nobody answers the same question about the same item more than"
            f" {_times(often)} (answers_per_worker_and_cell = {often}). With fewer, steps wait"
            " and close without all their answers; one model alone cannot finish. Set how many"
            " there are (people = 12), and the forecast says what they can do; raise"
            " answers_per_worker_and_cell if a second answer of the same worker tells as much as"
            " the first.",
        )
    elif crowd.most_workers > 1:
        able = "will hardly" if crowd.typical_workers > 1 else "may not"
        notes.print(
            f"[bold red]ONE WORKER MAY BE TOO FEW:[/bold red] one model alone {able} finish,"
            " because no worker answers the same question about the same item more than"
            f" {_times(often)} (answers_per_worker_and_cell = {often}), and some will be asked"
            f" up to {crowd.most_workers * often} times. Let several models or people answer; for"
            ' one model that repeats itself set people = 1 and repeats = "same".',
        )


def _times(often: int) -> str:
    return "once" if often == 1 else f"{often} times"
