"""Language models as workers: ``run`` is all that one needs to call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from askfew.errors import InvalidInput
from askfew.workers.desk import Desk, Pictures
from askfew.workers.llm.config import Config, read_config
from askfew.workers.llm.endpoint import Endpoint, Secret
from askfew.workers.llm.exchanges import ExchangeLog
from askfew.workers.llm.judge import Judge, Office
from askfew.workers.llm.ledger import Ledger
from askfew.workers.llm.limits import Limits
from askfew.workers.llm.prompt import Prompts
from askfew.workers.shift import Shift, Worked, run_shifts

__all__ = ["Config", "Ledger", "check_models", "read_config", "run"]


def run(
    desks: Sequence[Desk],
    config: Config,
    key: str,
    *,
    max_cost: float = math.inf,
    log: Path,
    idle: float = math.inf,
) -> tuple[list[Worked], Ledger]:
    """Let each of the models answer at a desk until the campaign is over, or ``idle`` seconds
    without a question: what each did, and what it cost. Every exchange is in the ``log``, and
    ``max_cost`` is for all runs, now and before, with this log.
    """
    check_models(config, max_cost)
    ledger, secret = Ledger(config.prices, max_cost), Secret(key)
    about = desks[0].describe()
    prompts = Prompts(about.answers, about.guidelines, config.paraphrases, config.template)
    with ExitStack() as stack:
        exchanges = ExchangeLog(log, secret)
        stack.callback(exchanges.close)
        ledger.spent, ledger.elsewhere = exchanges.spent, exchanges.spent_elsewhere
        pictures = Pictures(desks[0])
        stack.callback(pictures.close)
        endpoint = Endpoint(config.base_url, secret, config.timeout)
        limits = Limits(config.requests_per_minute, config.tokens_per_minute)
        office = Office(config, endpoint, ledger, limits, exchanges, secret)
        shifts = []
        for desk, model in zip(desks, config.models, strict=True):
            judge = Judge(office, model, desk.worker, about.answers, prompts, pictures)
            shifts.append(Shift(desk, judge, config.concurrency, idle=idle))
        return run_shifts(shifts, endpoint.close), ledger


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
