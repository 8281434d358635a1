"""``askfew work llm``: language models answer."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Annotated

from typer import Option

from askfew.cli import options
from askfew.cli.campaigns.store_option import Name
from askfew.cli.output import report
from askfew.cli.work.desks import USUAL_DESK, DeskOptions
from askfew.errors import InvalidInput
from askfew.workers.desk import Desk, StoreDesk
from askfew.workers.llm import Config, check_models, influence, read_config, run

__all__ = ["llm"]

Models = Annotated[
    list[str] | None,
    Option(help="The model; several are several workers.", show_default=False),
]
BaseUrl = Annotated[
    str | None,
    Option(metavar="URL", help="An OpenAI-compatible endpoint.", show_default=False),
]
ConfigFile = Annotated[
    Path | None,
    Option(
        metavar="FILE",
        help="TOML: models, prices, paraphrases, temperature, limits, template.",
        show_default=False,
    ),
]
Then = Annotated[
    str | None,
    Option(
        metavar="MODEL",
        help="A more expensive model, for questions that the others may not answer again: items"
        " that are still doubtful when a step closes.",
        show_default=False,
    ),
]
QuestionsPerCall = Annotated[
    int | None,
    Option(help="Questions about one item in one call, at most.", show_default=False),
]
InfluenceItems = Annotated[
    int | None,
    Option(
        "--influence",
        metavar="ITEMS",
        help="Answer nothing; measure on this many items whether questions in one call influence"
        " each other.",
        min=1,
        show_default=False,
    ),
]
Concurrency = Annotated[
    int | None, Option(help="Calls at a time, for each model.", show_default=False)
]
MaxCost = Annotated[
    float | None,
    Option(help="Stop before more is spent by all runs, now and before, with this log.", min=0),
]
LogFile = Annotated[
    Path, Option(metavar="FILE", help="Every exchange and its price, as JSON lines.")
]


@options.expand_options
def llm(
    name: Name,
    model: Models = None,
    base_url: BaseUrl = None,
    config: ConfigFile = None,
    then: Then = None,
    questions_per_call: QuestionsPerCall = None,
    influence_items: InfluenceItems = None,
    worker: Annotated[str, Option(help="Its name.", show_default="the model's")] = "",
    concurrency: Concurrency = None,
    max_cost: MaxCost = None,
    log: LogFile = Path("askfew-llm.jsonl"),
    desk: DeskOptions = USUAL_DESK,
) -> None:
    """Let language models answer until the campaign is over; the key comes from the environment."""
    settings = _with_models(Config() if config is None else read_config(config), model, then)
    settings = settings.changed(
        base_url=base_url, concurrency=concurrency, questions_per_call=questions_per_call
    )
    most = math.inf if max_cost is None else max_cost
    check_models(settings, most)
    # From the environment only: a key on the command line is in the history of the shell.
    key = _key(settings.key_variable)
    names = _names(settings, worker, desk)
    with desk.open(name, names) as desks:
        if influence_items is not None:
            _print_influence(desks[0], settings, key, influence_items, log)
            return
        reports, ledger = run(
            desks,
            settings,
            key,
            max_cost=most,
            log=log,
            idle=desk.patience,
            last_after_others=then is not None,
        )
    desk.print(reports, ledger.to_dict(), bill=str(ledger))


def _with_models(config: Config, named: list[str] | None, then: str | None) -> Config:
    models = tuple(named or config.models)
    if then is not None and not models:
        raise InvalidInput("--then needs a cheaper model", "none", "pass --model NAME, too")
    return config.changed(models=models if then is None else (*models, then))


def _print_influence(desk: Desk, settings: Config, key: str, items: int, log: Path) -> None:
    if not isinstance(desk, StoreDesk):
        raise InvalidInput("--influence needs a campaign's store", "a server", "pass --store")
    found, ledger = influence(desk, settings, key, items=items, log=log)
    report.print(f"{settings.models[0]}: {found}", str(ledger), sep="\n", markup=False)


def _names(settings: Config, worker: str, desk: DeskOptions) -> list[str]:
    """The name of each model as a worker."""
    if len(settings.models) == 1:
        return [desk.name(worker, settings.models[0])]
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
