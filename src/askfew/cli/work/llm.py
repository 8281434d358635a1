"""``askfew work llm``: a language model answers."""

from __future__ import annotations

import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from typer import Option

from askfew.cli import options
from askfew.cli.campaigns.store_option import Name
from askfew.cli.output import report
from askfew.cli.work.desks import Idle, ServerUrl, Token, WorkStore, at_work, open_desks, say
from askfew.errors import InvalidInput
from askfew.wording import counted, money
from askfew.workers.desk import Desk
from askfew.workers.llm import Config, Ledger, check_models, read_config, run
from askfew.workers.llm import influence as measure
from askfew.workers.store_desk import StoreDesk

__all__ = ["llm"]


def llm(
    name: Name,
    model: Annotated[
        list[str] | None,
        Option(help="The model; several are several workers.", show_default=False),
    ] = None,
    base_url: Annotated[
        str | None,
        Option(metavar="URL", help="An OpenAI-compatible endpoint.", show_default=False),
    ] = None,
    config: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="TOML: models, prices, paraphrases, temperature, limits, template.",
            show_default=False,
        ),
    ] = None,
    then: Annotated[
        str | None,
        Option(
            metavar="MODEL",
            help="A dearer model, for what the others may not answer any more: items that are"
            " still doubtful when a step closes.",
            show_default=False,
        ),
    ] = None,
    questions_per_call: Annotated[
        int | None,
        Option(help="Questions about one item in one call, at most.", show_default=False),
    ] = None,
    influence: Annotated[
        int | None,
        Option(
            metavar="ITEMS",
            help="Answer nothing; measure on so many items whether questions in one call influence"
            " each other.",
            min=1,
            show_default=False,
        ),
    ] = None,
    worker: Annotated[str, Option(help="Its name.", show_default="the model's")] = "",
    concurrency: Annotated[
        int | None, Option(help="Calls at a time, for each model.", show_default=False)
    ] = None,
    max_cost: Annotated[
        float | None,
        Option(help="Stop before more is spent by all runs, now and before, with this log.", min=0),
    ] = None,
    log: Annotated[
        Path, Option(metavar="FILE", help="Every exchange and its price, as JSON lines.")
    ] = Path("askfew-llm.jsonl"),
    idle: Idle = None,
    store: WorkStore = None,
    server: ServerUrl = None,
    token: Token = None,
    json: options.AsJson = False,
) -> None:
    """Let language models answer until the campaign is over; the key comes from the environment."""
    base = Config() if config is None else read_config(config)
    models = tuple(model or base.models)
    if then is not None and not models:
        raise InvalidInput("--then needs a cheaper model", "none", "say --model NAME, too")
    settings = base.changed(
        models=models if then is None else (*models, then),
        base_url=base_url,
        concurrency=concurrency,
        questions_per_call=questions_per_call,
    )
    most = math.inf if max_cost is None else max_cost
    check_models(settings, most)
    key = _key(settings.key_variable)
    with (
        at_work(),
        open_desks(name, store, server, token, _names(settings, worker, server)) as desks,
    ):
        if influence is not None:
            _say_influence(desks[0], settings, key, influence, log)
            return
        worked, ledger = run(
            desks,
            settings,
            key,
            max_cost=most,
            log=log,
            idle=math.inf if idle is None else idle,
            last_after_others=then is not None,
        )
    say(worked, _booked(ledger), bill=_bill(ledger), json=json)


def _say_influence(desk: Desk, settings: Config, key: str, items: int, log: Path) -> None:
    if not isinstance(desk, StoreDesk):
        raise InvalidInput("--influence needs a campaign's store", "a server", "say --store")
    found, ledger = measure(desk, settings, key, items=items, log=log)
    report.print(f"{settings.models[0]}: {found}", _bill(ledger), sep="\n", markup=False)


def _names(settings: Config, worker: str, server: str | None) -> list[str]:
    if len(settings.models) == 1:
        return [worker or ("" if server else settings.models[0])]
    return [f"{worker} {model}".strip() for model in settings.models]


def _key(variable: str) -> str:
    key = os.environ.get(variable, "")
    if not key:
        raise InvalidInput(
            f"the endpoint's key must be in the environment variable {variable}",
            "none",
            "set it (to any word, if the endpoint needs none)",
        )
    return key


def _bill(ledger: Ledger) -> str:
    tokens = f"{ledger.prompt_tokens:,} tokens in, {ledger.completion_tokens:,} out"
    unknown = f" ({ledger.unknown:,} booked at their reservation)" if ledger.unknown else ""
    cost = f"; {money(ledger.spent)} spent, earlier runs with this log included"
    whole = f"{ledger.calls:,} calls{unknown}, {tokens}{cost if ledger.spent else ''}."
    if len(ledger.by_model) < 2:
        return whole
    each = [
        f"{model}: {counted(bill.calls, 'call')}, {money(bill.cost)}"
        for model, bill in ledger.by_model.items()
    ]
    return "\n".join([whole, *each])


def _booked(ledger: Ledger) -> dict[str, object]:
    return {
        "calls": ledger.calls,
        "prompt_tokens": ledger.prompt_tokens,
        "completion_tokens": ledger.completion_tokens,
        "calls_booked_at_their_reservation": ledger.unknown,
        "cost": round(ledger.spent, 9),
        "by_model": {model: asdict(bill) for model, bill in ledger.by_model.items()},
    }
