"""The answerer that asks one model: prompt, call, retry and read.

Every call is in the ledger and in the log of exchanges.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from askfew.answers import AnswerKind
from askfew.campaigns.campaign import Assignment
from askfew.errors import AskfewError, WorkerStopped
from askfew.workers.desk import Answer, NoAnswer, Pictures, Reply
from askfew.workers.llm.config import Config
from askfew.workers.llm.endpoint import Completion, Endpoint, Failed, Rejected, Secret
from askfew.workers.llm.ledger import Booking, ExchangeLog, Ledger, Reservation
from askfew.workers.llm.limits import Limits
from askfew.workers.llm.prompt import (
    Prompt,
    Prompts,
    answer_schema,
    answers_schema,
    parse_answer,
    parse_answers,
)

__all__ = ["ModelAnswerer", "RunContext"]

_LONGEST_PAUSE = 60.0
"""Seconds between two attempts. A plain choice: a minute's limits have passed by then."""
_OUTAGES = 3
"""Questions in a row for which every attempt failed before the worker stops. A plain choice: with
the default of six attempts that is 18 failed calls, and a stopped worker can be started again."""
_UNREADABLE = 20
"""Calls in a row that could not be read before the worker stops. A plain choice, the same as the
exceptions in a row of a Python worker: each of these calls is paid for."""
_OVERHEAD = 100
"""Tokens that the protocol may add to a prompt. A generous plain choice: it only makes a
reservation larger."""
_SHOWN = 200
"""Characters of a reply that the reason of a failure shows. A plain choice."""
_OPTIONAL = ("response_format", "seed", "temperature")
"""Fields that are left out of the request if an endpoint does not know them."""

logger = logging.getLogger(__name__)


@dataclass
class RunContext:
    """What all models of a run share."""

    config: Config
    endpoint: Endpoint
    ledger: Ledger
    limits: Limits
    log: ExchangeLog
    secret: Secret


@dataclass
class ModelAnswerer:
    """An answerer that asks one model."""

    context: RunContext
    model: str
    worker: str
    kind: AnswerKind
    prompts: Prompts
    pictures: Pictures
    _asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    _without: set[str] = field(default_factory=set)
    _length_key: str = "max_tokens"
    _outages: int = 0
    _succeeded: bool = False
    _unread: int = 0
    """Calls in a row whose reply could not be read at all."""
    _last_unread: str = ""
    _questions: int = 0
    _unread_questions: int = 0

    async def __call__(self, plate: Sequence[Assignment]) -> list[Reply]:
        """Answer questions about one item in one call."""
        image = plate[0].item.image
        picture = None
        if image is not None:
            picture = await asyncio.to_thread(self.pictures.content, image)
        variants = [self._next_variant(each) for each in plate]
        if len(plate) == 1:
            prompt = self.prompts.write(plate[0], variants[0], picture)
        else:
            prompt = self.prompts.write_several(plate, variants, picture)
        return await self._call(plate, prompt, variants[0])

    def plates(self, questions: Sequence[Assignment]) -> list[list[Assignment]]:
        """Group questions by item, as many as go into one call.

        A call asks about a cell once, because a second answer must be another draw.
        """
        most, plates = self.context.config.questions_per_call, []
        open_: dict[str, list[Assignment]] = {}
        for each in questions:
            plate = open_.get(each.item.id)
            asked = {one.question.id for one in plate or ()}
            if plate is None or len(plate) == most or each.question.id in asked:
                plate = open_[each.item.id] = []
                plates.append(plate)
            plate.append(each)
        return plates

    def stuck(self) -> WorkerStopped | None:
        """An error if there is no use in waiting: the last replies, or most, could not be read."""
        if not self._unread and 2 * self._unread_questions <= self._questions:
            return None
        return WorkerStopped(
            f"{self.model} must give answers that can be read",
            f"{self._unread_questions:,} of {self._questions:,} that cannot, the last one"
            f" {self._last_unread}",
            "look into the log of exchanges, and fix the model, the prompt or max_tokens",
        )

    def _next_variant(self, asked: Assignment) -> int:
        cell = (asked.item.id, asked.question.id)
        self._asked[cell] += 1
        return self._asked[cell] - 1

    async def _call(self, asked: Sequence[Assignment], prompt: Prompt, variant: int) -> list[Reply]:
        """Call the endpoint until there is a reply, with a longer pause after each failure."""
        attempts, cost, attempt = self.context.config.attempts, 0.0, 1
        while True:
            request = self._request(asked, prompt, attempt)
            about = {"attempt": attempt, "paraphrase": variant % self.prompts.variants}
            came, booking = await self._attempt(asked, prompt, request, about)
            cost += booking.cost
            if isinstance(came, Completion):
                # From now on a failure is a failure of one question, not of the configuration.
                self._outages, self._succeeded = 0, True
                return self._read(came, cost, len(asked))
            why = str(came)
            if isinstance(came, Rejected):
                # Trying again without the field is no new attempt: the endpoint did not fail.
                if not self._do_without(request, why):
                    return [self._rejected(why)] * len(asked)
            elif attempt == attempts:
                return [self._outage(why)] * len(asked)
            else:
                await asyncio.sleep(self._pause(attempt, came.after))
                attempt += 1

    async def _attempt(
        self,
        asked: Sequence[Assignment],
        prompt: Prompt,
        request: dict[str, Any],
        about: dict[str, Any],
    ) -> tuple[Completion | Failed | Rejected, Booking]:
        """Make one call. It is reserved, admitted, booked and logged, however it ends."""
        context = self.context
        # Money first: a call that waits for its turn must not find the money spent by others.
        reserved = await self._reserve(prompt, len(asked))
        came: Completion | Failed | Rejected | None = None
        usage, by, began = None, "nothing", time.time()
        try:
            ticket = await context.limits.admit(reserved.tokens)
            by, began = "reservation", time.time()  # if we are stopped now, it may be billed
            came = await context.endpoint.complete(request)
            usage = came.usage
            if usage is not None:
                by = "usage"
                await context.limits.correct(ticket, sum(usage))
        except (Failed, Rejected) as error:
            came = error
            by = "reservation" if isinstance(error, Failed) and error.maybe_billed else "nothing"
        # Wrong key, unknown model, no money on the account: such calls are not billed.
        except AskfewError:
            by = "nothing"
            raise
        finally:
            booking = context.ledger.settle(reserved, usage, by=by)
            self._log(asked, request, about, came, booking, began)
            await context.ledger.wake()
        return came, booking

    async def _reserve(self, prompt: Prompt, questions: int) -> Reservation:
        config = self.context.config
        # In bytes, because a token has at least one; tokenizers differ between models.
        most = len(prompt.text.encode()) + _OVERHEAD
        most += config.image_tokens if prompt.picture else 0
        return await self.context.ledger.reserve(self.model, most, config.max_tokens * questions)

    def _log(
        self,
        asked: Sequence[Assignment],
        request: dict[str, Any],
        about: dict[str, Any],
        came: Completion | Failed | Rejected | None,
        booking: Booking,
        began: float,
    ) -> None:
        self.context.log.write(
            time=round(began, 3),
            seconds=round(time.time() - began, 3),
            worker=self.worker,
            model=self.model,
            **_ids(asked),
            **about,
            request=_loggable(request, asked[0]),
            **_outcome(came),
            prompt_tokens=booking.prompt_tokens,
            completion_tokens=booking.completion_tokens,
            cost=booking.cost,
            booked_by=booking.by,
        )

    def _request(self, asked: Sequence[Assignment], prompt: Prompt, attempt: int) -> dict[str, Any]:
        config, schema = self.context.config, answer_schema(self.kind)
        if len(asked) > 1:
            schema = answers_schema(self.kind, len(asked))
        request: dict[str, Any] = {
            "model": self.model,
            "messages": prompt.messages(),
            self._length_key: config.max_tokens * len(asked),
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        if config.temperature is not None:
            request["temperature"] = config.temperature
        if config.seed is not None:
            request["seed"] = _fresh_seed(config.seed, asked[0].id, attempt)
        return {key: value for key, value in request.items() if key not in self._without}

    def _do_without(self, request: dict[str, Any], why: str) -> bool:
        """Leave out a field that the endpoint does not know; return whether there was one."""
        # Newer models of OpenAI refuse the older name.
        if "max_tokens" in request and "max_completion_tokens" in why:
            self._length_key = "max_completion_tokens"
            return True
        for name in _OPTIONAL:
            if name in request and (name in why or (name == "response_format" and "json" in why)):
                if name not in self._without:
                    fresh = ", and may give no fresh draws" if name == "temperature" else ""
                    logger.warning(
                        "%s: the endpoint takes no %s%s: %s", self.worker, name, fresh, why
                    )
                self._without.add(name)
                return True
        return False

    def _read(self, completion: Completion, cost: float, questions: int) -> list[Reply]:
        """Read the answers. The cost of a call is divided equally among its questions."""
        redact = self.context.secret.redact
        values: list[float | None] = [None] * questions
        if completion.refused:
            why = f"refused: {redact(completion.refused)}"[:_SHOWN]
        else:
            why = f"not an answer: {redact(completion.text)!r}"[:_SHOWN]
            if questions == 1:
                values = [parse_answer(self.kind, completion.text)]
            else:
                values = parse_answers(self.kind, completion.text, questions)
        self._count_unread(values, why)
        # Without a price the cost is unknown, not 0: the campaign then counts its own price.
        own = cost / questions if self.model in self.context.config.prices else None
        return [NoAnswer(why) if value is None else Answer(value, own) for value in values]

    def _count_unread(self, values: Sequence[float | None], why: str) -> None:
        """Count replies that could not be read, and stop after too many: each call is paid for."""
        missing = sum(each is None for each in values)
        # Only a call without a single answer counts as unread: in a long reply one may be missing.
        self._unread = self._unread + 1 if missing == len(values) else 0
        self._questions += len(values)
        self._unread_questions += missing
        self._last_unread = why if missing else self._last_unread
        if self._unread >= _UNREADABLE and (error := self.stuck()) is not None:
            raise error

    def _rejected(self, why: str) -> Reply:
        # Before the first success the address or the model is to blame, and every question would
        # fail.
        if not self._succeeded:
            raise WorkerStopped(
                f"the endpoint {self.context.endpoint.url} must accept our requests",
                why,
                "check --base-url and --model",
            )
        return NoAnswer(f"rejected: {why}"[:_SHOWN])

    def _outage(self, why: str) -> Reply:
        self._outages += 1
        if not self._succeeded or self._outages >= _OUTAGES:
            raise WorkerStopped(
                f"the endpoint {self.context.endpoint.url} must answer",
                f"{why}, after {self.context.config.attempts} attempts",
                "see that it runs, and start again",
            )
        return NoAnswer(f"outage: {why}"[:_SHOWN])

    def _pause(self, attempt: int, after: float | None) -> float:
        """Twice as long each time, and at least as long as the endpoint asked for."""
        # A quarter more or less, so that many calls that failed together do not come back together.
        pause: float = self.context.config.backoff * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)
        return max(min(pause, _LONGEST_PAUSE), after or 0.0)


def _ids(asked: Sequence[Assignment]) -> dict[str, Any]:
    """The ids in a line of the log: of one question, or lists for several."""
    item, ids = asked[0].item.id, [each.id for each in asked]
    questions = [each.question.id for each in asked]
    if len(asked) == 1:
        return {"id": ids[0], "item": item, "question": questions[0]}
    return {"id": ids, "item": item, "question": questions}


def _fresh_seed(seed: int, lease: str, attempt: int) -> int:
    """A new seed for every call, so that an endpoint that uses seeds draws a new answer."""
    digest = hashlib.blake2b(f"{seed} {lease} {attempt}".encode(), digest_size=4).digest()
    # 31 bits: some endpoints read seeds as signed 32-bit numbers.
    return int.from_bytes(digest) >> 1


def _outcome(came: Completion | Failed | Rejected | None) -> dict[str, str]:
    match came:
        case Completion(text, refused):
            return {"status": "ok", "response": text, "refused": refused}
        case Failed() | Rejected():
            return {"status": type(came).__name__.lower(), "error": str(came)}
        case None:
            return {"status": "stopped"}


def _loggable(request: dict[str, Any], asked: Assignment) -> dict[str, Any]:
    """The request, with its picture replaced by a hash."""
    (message,) = request["messages"]
    if isinstance(message["content"], str):
        return request
    content = [message["content"][0], {"type": "image", "hash": asked.item.image}]
    return {**request, "messages": [{**message, "content": content}]}
