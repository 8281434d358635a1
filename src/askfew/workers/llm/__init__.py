"""Language models as workers. ``run`` is the entry point; ``influence`` answers nothing."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from askfew.campaigns.db.queries.calls import CallLimits
from askfew.errors import InvalidInput
from askfew.workers.desk import Desk, Pictures, StoreDesk
from askfew.workers.llm.answerer import ModelAnswerer, RunContext
from askfew.workers.llm.config import Config, read_config
from askfew.workers.llm.endpoint import Endpoint, Secret
from askfew.workers.llm.influence import Influence, measure_influence
from askfew.workers.llm.ledger import ExchangeLog, Ledger
from askfew.workers.llm.limits import Limits
from askfew.workers.llm.prompt import Prompts
from askfew.workers.shift import Shift, ShiftReport, run_shifts

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
) -> tuple[list[ShiftReport], Ledger]:
    """Let each model answer at its desk until the campaign is over; return what each did, and the
    cost.

    A model also stops after ``idle`` seconds without a question. Every exchange is written to
    ``log``. ``max_cost`` is for all runs with this log, earlier ones included. The limits per
    minute are shared by all who work on one store. With ``last_after_others`` the last model takes
    only what the others may not answer again.
    """
    check_models(config, max_cost)
    about = desks[0].describe()
    prompts = Prompts(about.answers, about.guidelines, config.paraphrases, config.template)
    with _run_context(desks[0], config, key, max_cost, log) as (context, pictures):
        shifts = []
        for desk, model in zip(desks, config.models, strict=True):
            answerer = ModelAnswerer(context, model, desk.worker, about.answers, prompts, pictures)
            shifts.append(
                Shift(
                    desk,
                    answerer,
                    config.concurrency,
                    config.questions_per_call,
                    idle=idle,
                    plates=answerer.plates,
                    stuck=answerer.stuck,
                )
            )
        if last_after_others:
            shifts[-1].after = shifts[:-1]
        return run_shifts(shifts, context.endpoint.close), context.ledger


def influence(
    desk: StoreDesk, config: Config, key: str, *, items: int, log: Path
) -> tuple[Influence, Ledger]:
    """Measure on the first items of a campaign whether questions in one call influence each other.

    It uses the first model and the first paraphrase. The campaign gets no answers from it.
    """
    if config.questions_per_call < 2:
        raise InvalidInput(
            "influence needs several questions in a call", "one", "pass --questions-per-call 5"
        )
    about, campaign = desk.describe(), desk.campaign
    # One paraphrase: otherwise answers would also differ because of the wording.
    prompts = Prompts(about.answers, about.guidelines, config.paraphrases[:1])
    with _run_context(desk, config, key, math.inf, log) as (context, pictures):
        answerer = ModelAnswerer(
            context, config.models[0], desk.worker, about.answers, prompts, pictures
        )

        async def measured() -> Influence:
            try:
                return await measure_influence(answerer, campaign.items[:items], campaign.questions)
            finally:
                await context.endpoint.close()

        return asyncio.run(measured()), context.ledger


@contextmanager
def _run_context(
    desk: Desk, config: Config, key: str, max_cost: float, log: Path
) -> Iterator[tuple[RunContext, Pictures]]:
    """What all models of a run share. The endpoint is closed by ``run_shifts``, in its loop."""
    ledger, secret = Ledger(config.prices, max_cost), Secret(key)
    with ExitStack() as stack:
        exchanges = ExchangeLog(log, secret)
        stack.callback(exchanges.close)
        ledger.spent, ledger.elsewhere = exchanges.spent, exchanges.spent_elsewhere
        pictures = Pictures(desk)
        stack.callback(pictures.close)
        endpoint = Endpoint(config.base_url, secret, config.timeout)
        most = CallLimits(config.requests_per_minute, config.tokens_per_minute)
        limits = Limits(most, desk.admit_call)
        yield RunContext(config, endpoint, ledger, limits, exchanges, secret), pictures


def check_models(config: Config, max_cost: float) -> None:
    """Check that models are named, that they differ, and that ``max_cost`` can be kept."""
    models = config.models
    if not models:
        raise InvalidInput("a model must be named", "none", "pass --model NAME")
    if len(set(models)) < len(models):
        raise InvalidInput("models must differ", ", ".join(models), "name each once")
    free = [model for model in models if model not in config.prices]
    if max_cost < math.inf and free:
        raise InvalidInput(
            "with --max-cost every model must have a price",
            f"none for {free[0]!r}",
            f'write [prices."{free[0]}"] with input and output into the --config file',
        )
