"""``askfew work llm``: a language model answers."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

from typer import Option

from askfew.campaigns.sentences import money
from askfew.cli import options
from askfew.cli.campaigns.store_option import Name
from askfew.cli.work.desks import Idle, ServerUrl, Token, WorkStore, open_desks
from askfew.cli.work.shifts import log_to_notes, run_shifts, say
from askfew.errors import InvalidInput
from askfew.workers.desk import Desk
from askfew.workers.llm.config import Config, read_config
from askfew.workers.llm.endpoint import Endpoint
from askfew.workers.llm.exchanges import ExchangeLog
from askfew.workers.llm.judge import Judge, Office
from askfew.workers.llm.ledger import Ledger
from askfew.workers.llm.limits import Limits
from askfew.workers.llm.prompt import Prompts
from askfew.workers.llm.secret import Secret
from askfew.workers.pictures import Pictures
from askfew.workers.shift import Shift

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
    settings = base.changed(models=model or None, base_url=base_url, concurrency=concurrency)
    names = _names(settings, worker, server)
    secret = _secret(settings.key_variable)
    ledger = _ledger(settings, max_cost)
    log_to_notes()
    with ExitStack() as stack:
        desks = stack.enter_context(open_desks(name, store, server, token, names))
        about = desks[0].describe()
        prompts = Prompts(about.answers, about.guidelines, settings.paraphrases, settings.template)
        exchanges = ExchangeLog(log, secret)
        stack.callback(exchanges.close)
        ledger.spent, ledger.elsewhere = exchanges.spent, exchanges.spent_elsewhere
        pictures = Pictures(desks[0])
        stack.callback(pictures.close)
        endpoint = Endpoint(settings.base_url, secret, settings.timeout)
        limits = Limits(settings.requests_per_minute, settings.tokens_per_minute)
        office = Office(settings, endpoint, ledger, limits, exchanges, secret)
        most = float("inf") if idle is None else idle

        def shift(desk: Desk, model: str) -> Shift:
            judge = Judge(office, model, desk.worker, about.answers, prompts, pictures)
            return Shift(desk, judge, settings.concurrency, idle=most)

        pairs = zip(desks, settings.models, strict=True)
        worked = run_shifts([shift(desk, model) for desk, model in pairs], endpoint.close)
        say(worked, _booked(ledger), bill=_bill(ledger), json=json)


def _names(settings: Config, worker: str, server: str | None) -> list[str]:
    if not settings.models:
        raise InvalidInput("a model must be named", "none", "say --model NAME")
    if len(set(settings.models)) < len(settings.models):
        raise InvalidInput("models must differ", ", ".join(settings.models), "name each once")
    if len(settings.models) == 1:
        return [worker or ("" if server else settings.models[0])]
    return [f"{worker} {model}".strip() for model in settings.models]


def _secret(variable: str) -> Secret:
    key = os.environ.get(variable, "")
    if not key:
        raise InvalidInput(
            f"the endpoint's key must be in the environment variable {variable}",
            "none",
            "set it (to any word, if the endpoint needs none)",
        )
    return Secret(key)


def _ledger(settings: Config, max_cost: float | None) -> Ledger:
    free = [model for model in settings.models if model not in settings.prices]
    if max_cost is not None and free:
        raise InvalidInput(
            "with --max-cost every model must have a price",
            f"none for {free[0]!r}",
            f'write [prices."{free[0]}"] with input and output into the --config file',
        )
    return Ledger(settings.prices, float("inf") if max_cost is None else max_cost)


def _bill(ledger: Ledger) -> str:
    tokens = f"{ledger.prompt_tokens:,} tokens in, {ledger.completion_tokens:,} out"
    unknown = f" ({ledger.unknown:,} booked at their reservation)" if ledger.unknown else ""
    cost = f"; {money(ledger.spent)} spent, earlier runs with this log included"
    return f"{ledger.calls:,} calls{unknown}, {tokens}{cost if ledger.spent else ''}."


def _booked(ledger: Ledger) -> dict[str, object]:
    return {
        "calls": ledger.calls,
        "prompt_tokens": ledger.prompt_tokens,
        "completion_tokens": ledger.completion_tokens,
        "calls_booked_at_their_reservation": ledger.unknown,
        "cost": round(ledger.spent, 9),
    }
