"""``askfew status``: the status of one campaign, or of all."""

from __future__ import annotations

from typing import Annotated

from rich.table import Table
from rich.text import Text
from typer import Argument

from askfew.answer_warnings import sentence
from askfew.campaigns.forecast_words import upper_words
from askfew.campaigns.reading.status import CampaignStatus, WorkerStatus, status_of
from askfew.campaigns.steps.advance import GOING
from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, StoreUrl, open_store
from askfew.cli.output import print_json, report
from askfew.wording import counted, money

__all__ = ["status"]

_WORKERS_SHOWN = 10
"""Workers that a table lists. A plain choice: ``askfew workers`` lists all."""


def status(
    name: Annotated[
        str | None, Argument(metavar="NAME", help="A campaign; without it, all of them.")
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Say where a campaign stands: phase and why, answers, money, workers, what is left."""
    with open_store(store) as opened:
        names = opened.names() if name is None else [name]
        found = [opened.campaign(each) for each in names]
        all_of_them = [status_of(each) for each in found]
    if json and name is None:
        print_json({"campaigns": [each.to_dict() for each in all_of_them]})
    elif json:
        print_json(all_of_them[0].to_dict())
    elif name is None:
        _print_all(all_of_them)
    else:
        _print_one(all_of_them[0], found[0].settings.price)


def _print_all(all_of_them: list[CampaignStatus]) -> None:
    if not all_of_them:
        report.print("No campaigns yet: 'askfew new DIR' and 'askfew create DIR' make one.")
        return
    table = Table("campaign", "state", "phase", "answers", "left", "decided", "open", "workers")
    for column in table.columns[3:]:
        column.justify = "right"
    for each in all_of_them:
        workers = f"{len(each.workers)}" + (" [red]TOO FEW[/red]" if each.too_few_workers else "")
        table.add_row(
            Text(each.name),
            each.state,
            Text(each.phase),
            f"{each.answers:,}",
            "" if each.expected is None else f"~{each.expected:,.0f}",
            f"{each.decided}/{each.items}",
            f"{each.open + each.leased:,}",
            workers,
        )
    report.print(table)


def _print_one(status: CampaignStatus, price: float) -> None:
    table = Table(show_header=False, title=Text(status.name), title_justify="left")
    rows = {
        "state": status.state,
        "phase": status.phase,
        "why": status.why,
        "answers": _answers(status),
        "money": f"{money(status.cost)} so far{_money_left(status, price)}",
        "decided": f"{status.decided} of {status.items} items, in {counted(status.steps, 'step')}",
        "open": f"{status.open:,} waiting, {status.leased:,} with workers",
        "workers": _workers(status),
        "reused": _reused(status),
    }
    for key, value in rows.items():
        if value:
            table.add_row(key, Text(value))
    report.print(table)
    _print_workers(status)
    if status.too_few_workers:
        _print_too_few(status)
    for warning in status.warnings:
        report.print(Text(f"WARNING: {sentence(warning)}.", style="bold red"))


def _print_too_few(status: CampaignStatus) -> None:
    """Say that more workers are needed: loudly once some have come, not before anybody has."""
    needed, here = status.workers_needed, _here(status)
    if not here:
        report.print(f"Nobody has come yet. This step needs at least {counted(needed, 'worker')}.")
        return
    report.print(
        f"[bold red]TOO FEW WORKERS: this step needs {_different(needed)},"
        f" and {here} {'has' if here == 1 else 'have'} come.[/bold red]"
        " What nobody may answer closes empty after step_timeout.",
    )


def _different(workers: int) -> str:
    return counted(workers, "worker", "different workers")


def _answers(status: CampaignStatus) -> str:
    lines = [f"{status.answers:,} of at most {status.max_answers:,}"]
    if status.expected is not None:
        total = status.answers + status.expected
        # In capitals: the campaign will end before all items have a group.
        over = " (MORE THAN THE CAP)" if total > status.max_answers else ""
        lines.append(f"about {status.expected:,.0f} left, {total:,.0f} in all{over}")
    if status.forecast is not None:
        lines.append(
            f"forecast at the start: {status.forecast['typical_answers']:,};"
            f" {upper_words(status.forecast['simulated'])} took at most"
            f" {status.forecast['most_answers']:,}"
        )
    return "\n".join(lines)


def _money_left(status: CampaignStatus, price: float) -> str:
    if status.expected is None or not price:
        return ""
    return f", about {money(status.expected * price)} to come"


def _here(status: CampaignStatus) -> int:
    return sum(not worker.revoked for worker in status.workers)


def _workers(status: CampaignStatus) -> str:
    lines = [f"{_here(status)} so far"]
    if status.workers_needed:
        lines[0] += f"; this step needs {_different(status.workers_needed)}"
    if status.forecast is not None and status.state in GOING:
        lines.append(
            f"the whole campaign about {status.forecast['typical_workers']:,}, and"
            f" {status.forecast['most_workers']:,} for {upper_words(status.forecast['simulated'])}"
        )
    return "\n".join(lines)


def _reused(status: CampaignStatus) -> str:
    if not status.reused_answers and status.reused is None:
        return ""
    givers = [worker.name for worker in status.workers if worker.reused]
    named = ", ".join(givers[:_WORKERS_SHOWN])
    more = f" and {len(givers) - _WORKERS_SHOWN} more" if len(givers) > _WORKERS_SHOWN else ""
    return f"{counted(status.reused_answers, 'answer')} of {status.reused or 'another store'}" + (
        f", given by {named}{more}" if givers else ""
    )


def _note(worker: WorkerStatus) -> str:
    if worker.revoked:
        return " (revoked)"
    return " (reused)" if 0 < worker.reused == worker.answers else ""


def _print_workers(status: CampaignStatus) -> None:
    if not status.workers:
        return
    table = Table("worker", "answers", "leases", "mean seconds")
    for column in table.columns[1:]:
        column.justify = "right"
    # Of many workers, those with the most answers matter most to the result.
    busiest = sorted(status.workers, key=lambda worker: -worker.answers)
    for worker in busiest[:_WORKERS_SHOWN]:
        table.add_row(
            Text(worker.name + _note(worker)),
            f"{worker.answers:,}",
            f"{worker.leases:,}",
            "" if worker.seconds is None else f"{worker.seconds:.1f}",
        )
    if len(busiest) > _WORKERS_SHOWN:
        table.caption = f"and {len(busiest) - _WORKERS_SHOWN} more"
    report.print(table)
