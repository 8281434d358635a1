"""Language models as workers: ``run`` is all that one needs to call."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from askfew.campaigns.db.queries.calls import shared_calls
from askfew.errors import InvalidInput
from askfew.workers.desk import Desk, Pictures
from askfew.workers.llm.config import Config, read_config
from askfew.workers.llm.endpoint import Endpoint, Secret
from askfew.workers.llm.exchanges import ExchangeLog
from askfew.workers.llm.influence import Influence, measure_influence
from askfew.workers.llm.judge import Judge, Office
from askfew.workers.llm.ledger import Ledger
from askfew.workers.llm.limits import Limits, calls_in_file
from askfew.workers.llm.prompt import Prompts
from askfew.workers.shift import Shift, Worked, run_shifts
from askfew.workers.store_desk import StoreDesk

__all__ = ["Config", "Influence", "Ledger", "check_models", "influence", "read_config", "run"]


def run(
    desks: Sequence[Desk],
    config: Config,
    key: str,
    *,
    max_cost: float = math.inf,
    log: Path,
    idle: float = math.inf,
    last_after_others: bool = False,
) -> tuple[list[Worked], Ledger]:
    """Let each of the models answer at a desk until the campaign is over, or ``idle`` seconds
    without a question: what each did, and what it cost. Every exchange is in the ``log``, and
    ``max_cost`` is for all runs, now and before, with this log. Processes of one store share the
    limits a minute; at a server's desk, those with the same log. The last model may come
    ``last_after_others``: it then takes what they may not answer any more.
    """
    check_models(config, max_cost)
    about = desks[0].describe()
    prompts = Prompts(about.answers, about.guidelines, config.paraphrases, config.template)
    with _office(desks[0], config, key, max_cost, log) as (office, pictures):
        shifts = []
        for desk, model in zip(desks, config.models, strict=True):
            judge = Judge(office, model, desk.worker, about.answers, prompts, pictures)
            shifts.append(
                Shift(
                    desk,
                    judge,
                    config.concurrency,
                    config.questions_per_call,
                    idle=idle,
                    plates=judge.plates,
                    stuck=judge.stuck,
                )
            )
        if last_after_others:
            shifts[-1].after = shifts[:-1]
        return run_shifts(shifts, office.endpoint.close), office.ledger


def influence(
    desk: StoreDesk, config: Config, key: str, *, items: int, log: Path
) -> tuple[Influence, Ledger]:
    """Measure on the first items of a campaign whether questions in one call influence each other,
    for the first model and in the words of the first paraphrase. The campaign is told nothing.
    """
    if config.questions_per_call < 2:
        raise InvalidInput(
            "influence needs several questions in a call", "one", "say --questions-per-call 5"
        )
    about, campaign = desk.describe(), desk.campaign
    prompts = Prompts(about.answers, about.guidelines, config.paraphrases[:1])
    with _office(desk, config, key, math.inf, log) as (office, pictures):
        judge = Judge(office, config.models[0], desk.worker, about.answers, prompts, pictures)

        async def measured() -> Influence:
            try:
                return await measure_influence(judge, campaign.items[:items], campaign.questions)
            finally:
                await office.endpoint.close()

        return asyncio.run(measured()), office.ledger


@contextmanager
def _office(
    desk: Desk, config: Config, key: str, max_cost: float, log: Path
) -> Iterator[tuple[Office, Pictures]]:
    """What all judges of a run share; closed in the end, but for the endpoint."""
    ledger, secret = Ledger(config.prices, max_cost), Secret(key)
    with ExitStack() as stack:
        exchanges = ExchangeLog(log, secret)
        stack.callback(exchanges.close)
        ledger.spent, ledger.elsewhere = exchanges.spent, exchanges.spent_elsewhere
        pictures = Pictures(desk)
        stack.callback(pictures.close)
        endpoint = Endpoint(config.base_url, secret, config.timeout)
        limits = _limits(desk, config, log)
        yield Office(config, endpoint, ledger, limits, exchanges, secret), pictures


def _limits(desk: Desk, config: Config, log: Path) -> Limits:
    """Shared by the processes of a store, or by those of this machine that have the same log."""
    limits = Limits(config.requests_per_minute, config.tokens_per_minute)
    if isinstance(desk, StoreDesk):
        limits.shared = partial(shared_calls, desk.campaign.database)
        limits.clock = desk.campaign.clock
    else:
        limits.shared = partial(calls_in_file, log.with_name(f"{log.name}.limits"))
    return limits


def check_models(config: Config, max_cost: float) -> None:
    """Refuse no model, one model twice, and a limit on money that nobody can keep."""
    models = config.models
    if not models:
        raise InvalidInput("a model must be named", "none", "say --model NAME")
    if len(set(models)) < len(models):
        raise InvalidInput("models must differ", ", ".join(models), "name each once")
    free = [model for model in models if model not in config.prices]
    if max_cost < math.inf and free:
        raise InvalidInput(
            "with --max-cost every model must have a price",
            f"none for {free[0]!r}",
            f'write [prices."{free[0]}"] with input and output into the --config file',
        )
