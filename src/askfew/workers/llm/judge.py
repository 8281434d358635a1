"""A model as a worker: prompt, call, retry, read; every call in the ledger and in the log."""

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
from askfew.workers.llm.exchanges import ExchangeLog
from askfew.workers.llm.ledger import Booking, Ledger
from askfew.workers.llm.limits import Limits
from askfew.workers.llm.prompt import (
    Prompt,
    Prompts,
    answer_schema,
    answers_schema,
    parse_answer,
    parse_answers,
)

__all__ = ["Judge", "Office"]

_LONGEST_PAUSE = 60.0
_OUTAGES = 3
"""Questions in a row for which every attempt failed, before the endpoint counts as gone."""
_UNREADABLE = 20
"""Calls in a row that brought nothing that can be read, before the worker stops: as many as
exceptions of a Python worker."""
_OVERHEAD = 100
"""Tokens that the protocol may add to a prompt."""
_OPTIONAL = ("response_format", "seed", "temperature")
"""What a request can do without, where an endpoint does not know it."""

logger = logging.getLogger(__name__)


@dataclass
class Office:
    """What all judges of a run share."""

    config: Config
    endpoint: Endpoint
    ledger: Ledger
    limits: Limits
    log: ExchangeLog
    secret: Secret


@dataclass
class Judge:
    """An answerer that asks one model."""

    office: Office
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
    """Calls in a row of which nothing could be read."""
    _last_unread: str = ""
    _questions: int = 0
    _unread_questions: int = 0

    async def __call__(self, plate: Sequence[Assignment]) -> list[Reply]:
        """One reply for each question; all are about one item, and go into one call."""
        image = plate[0].item.image
        picture = None
        if image is not None:
            picture = await asyncio.to_thread(self.pictures.content, image)
        variants = [self._next_variant(each) for each in plate]
        if len(plate) == 1:
            prompt = self.prompts.write(plate[0], variants[0], picture)
        else:
            prompt = self.prompts.write_several(plate, variants, picture)
        return await self._insist(plate, prompt, variants[0])

    def plates(self, questions: Sequence[Assignment]) -> list[list[Assignment]]:
        """Questions about the same item together, as many as go into one call.

        A cell stands in a call once: a second answer to it is to be another draw.
        """
        most, plates = self.office.config.questions_per_call, []
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
        """Why waiting would be in vain: answers could not be read, the last ones or most."""
        if not self._unread and 2 * self._unread_questions <= self._questions:
            return None
        return WorkerStopped(
            f"{self.model} must give answers that can be read",
            f"{self._unread_questions:,} of {self._questions:,} that cannot, the last one"
            f" {self._last_unread}",
            "look into the log of exchanges, and mend the model, the prompt or max_tokens",
        )

    def _next_variant(self, asked: Assignment) -> int:
        cell = (asked.item.id, asked.question.id)
        self._asked[cell] += 1
        return self._asked[cell] - 1

    async def _insist(
        self, asked: Sequence[Assignment], prompt: Prompt, variant: int
    ) -> list[Reply]:
        """Call until something comes back, with longer and longer pauses."""
        attempts, cost, attempt = self.office.config.attempts, 0.0, 1
        while True:
            request = self._request(asked, prompt, attempt)
            about = {"attempt": attempt, "paraphrase": variant % self.prompts.variants}
            came, booking = await self._call(asked, prompt, request, about)
            cost += booking.cost
            if isinstance(came, Completion):
                self._outages, self._succeeded = 0, True
                return self._read(came, cost, len(asked))
            why = str(came)
            if isinstance(came, Rejected):
                if not self._do_without(request, why):
                    return [self._rejected(why)] * len(asked)
            elif attempt == attempts:
                return [self._outage(why)] * len(asked)
            else:
                await asyncio.sleep(self._pause(attempt, came.after))
                attempt += 1

    async def _call(
        self,
        asked: Sequence[Assignment],
        prompt: Prompt,
        request: dict[str, Any],
        about: dict[str, Any],
    ) -> tuple[Completion | Failed | Rejected, Booking]:
        """One attempt, reserved, admitted, booked and logged whatever becomes of it."""
        office = self.office
        most = len(prompt.text.encode()) + _OVERHEAD
        most += office.config.image_tokens if prompt.picture else 0
        longest = office.config.max_tokens * len(asked)
        reserved = await office.ledger.reserve(self.model, most, longest)
        came: Completion | Failed | Rejected | None = None
        usage, by, began = None, "nothing", time.time()
        try:
            ticket = await office.limits.admit(reserved.tokens)
            by, began = "reservation", time.time()  # it may be under way when we are stopped
            came = await office.endpoint.complete(request)
            usage = came.usage
            if usage is not None:
                by = "usage"
                office.limits.correct(ticket, sum(usage))
        except (Failed, Rejected) as error:
            came = error
            by = "reservation" if isinstance(error, Failed) and error.maybe_billed else "nothing"
        except AskfewError:
            by = "nothing"
            raise
        finally:
            booking = office.ledger.settle(reserved, usage, by=by)
            office.log.write(
                time=round(began, 3),
                seconds=round(time.time() - began, 3),
                worker=self.worker,
                model=self.model,
                **_named(asked),
                **about,
                request=_loggable(request, asked[0]),
                **_outcome(came),
                prompt_tokens=booking.prompt_tokens,
                completion_tokens=booking.completion_tokens,
                cost=booking.cost,
                booked_by=booking.by,
            )
            await office.ledger.wake()
        return came, booking

    def _request(self, asked: Sequence[Assignment], prompt: Prompt, attempt: int) -> dict[str, Any]:
        config, schema = self.office.config, answer_schema(self.kind)
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
        """Leave out what the endpoint says it does not know; whether that may help."""
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
        """The answers; what a call cost falls to its questions in equal parts."""
        struck = self.office.secret.struck
        values: list[float | None] = [None] * questions
        if completion.refused:
            why = f"refused: {struck(completion.refused)}"[:200]
        else:
            why = f"not an answer: {struck(completion.text)!r}"[:200]
            if questions == 1:
                values = [parse_answer(self.kind, completion.text)]
            else:
                values = parse_answers(self.kind, completion.text, questions)
        self._count_unread(values, why)
        own = cost / questions if self.model in self.office.config.prices else None
        return [NoAnswer(why) if value is None else Answer(value, own) for value in values]

    def _count_unread(self, values: Sequence[float | None], why: str) -> None:
        """Stop if nothing can be read any more: each call is paid for."""
        missing = sum(each is None for each in values)
        self._unread = self._unread + 1 if missing == len(values) else 0
        self._questions += len(values)
        self._unread_questions += missing
        self._last_unread = why if missing else self._last_unread
        if self._unread >= _UNREADABLE and (error := self.stuck()) is not None:
            raise error

    def _rejected(self, why: str) -> Reply:
        if not self._succeeded:
            raise WorkerStopped(
                f"the endpoint {self.office.endpoint.url} must accept our requests",
                why,
                "check --base-url and --model",
            )
        return NoAnswer(f"rejected: {why}"[:200])

    def _outage(self, why: str) -> Reply:
        self._outages += 1
        if not self._succeeded or self._outages >= _OUTAGES:
            raise WorkerStopped(
                f"the endpoint {self.office.endpoint.url} must answer",
                f"{why}, after {self.office.config.attempts} attempts",
                "see that it runs, and start again",
            )
        return NoAnswer(f"outage: {why}"[:200])

    def _pause(self, attempt: int, after: float | None) -> float:
        """Twice as long each time, give or take, and as long as the endpoint asked for."""
        pause: float = self.office.config.backoff * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)
        return max(min(pause, _LONGEST_PAUSE), after or 0.0)


def _named(asked: Sequence[Assignment]) -> dict[str, Any]:
    """What a line of the log is about: one question, or a list of them."""
    item, ids = asked[0].item.id, [each.id for each in asked]
    questions = [each.question.id for each in asked]
    if len(asked) == 1:
        return {"id": ids[0], "item": item, "question": questions[0]}
    return {"id": ids, "item": item, "question": questions}


def _fresh_seed(seed: int, lease: str, attempt: int) -> int:
    """Another one for every asking, so that an endpoint that keeps to seeds draws anew."""
    digest = hashlib.blake2b(f"{seed} {lease} {attempt}".encode(), digest_size=4).digest()
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
    """The request; a picture by its hash."""
    (message,) = request["messages"]
    if isinstance(message["content"], str):
        return request
    content = [message["content"][0], {"type": "image", "hash": asked.item.image}]
    return {**request, "messages": [{**message, "content": content}]}
