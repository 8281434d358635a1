"""What calls cost: the ledger of tokens and money, and the log of every exchange.

Money is reserved before a call and settled after it. The reservation is the most that the call can
cost: a token has at least one byte, so a prompt has no more tokens than bytes, and an answer has no
more than ``max_tokens``. Spent and reserved money together never exceed ``max_cost``. Processes
that share a log see what the others have spent as soon as it is booked, so together they exceed
``max_cost`` by no more than the calls in flight.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from askfew.errors import InvalidInput
from askfew.wording import counted, money
from askfew.workers.desk import StopAnswering
from askfew.workers.llm.config import Price
from askfew.workers.llm.endpoint import Secret

__all__ = ["Booking", "ExchangeLog", "Ledger", "ModelBill", "Reservation"]

_FREE = Price(0.0, 0.0)


@dataclass(frozen=True)
class Reservation:
    """The most that a call can cost."""

    model: str
    prompt_tokens: int
    completion_tokens: int
    cost: float

    @property
    def tokens(self) -> int:
        """Tokens of prompt and answer together."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class Booking:
    """The tokens and the cost of a call, counted by the endpoint or taken from its reservation."""

    prompt_tokens: int
    completion_tokens: int
    cost: float
    by: str
    """``usage``, ``reservation`` or ``nothing``."""


@dataclass
class ModelBill:
    """The cost of one model in this run."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0


@dataclass
class Ledger:
    """All calls of a run. ``spent`` starts with what earlier runs with the same log have spent."""

    prices: Mapping[str, Price] = field(default_factory=dict)
    max_cost: float = float("inf")
    spent: float = 0.0
    reserved: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    """Only of calls whose tokens the endpoint counted."""
    unknown: int = 0
    """Calls that were booked at their reservation."""
    by_model: dict[str, ModelBill] = field(default_factory=dict)
    elsewhere: Callable[[], float] | None = None
    """Returns what other processes have spent meanwhile."""
    _in_flight: int = 0
    _settled: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def reserve(self, model: str, prompt_tokens: int, completion_tokens: int) -> Reservation:
        """Set money aside; wait while calls in flight may leave enough, else StopAnswering."""
        cost = self._price(model).of(prompt_tokens, completion_tokens)
        async with self._settled:
            while (spent := self._spent_by_all()) + self.reserved + cost > self.max_cost:
                # Calls in flight usually cost less than was reserved for them, so waiting may help.
                if self._in_flight == 0:
                    raise StopAnswering(
                        f"the next call may cost {cost:.6f}, and {spent:.6f} of at most"
                        f" {self.max_cost:g} are spent"
                    )
                await self._settled.wait()
            self.reserved += cost
            self._in_flight += 1
        return Reservation(model, prompt_tokens, completion_tokens, cost)

    def settle(self, reserved: Reservation, usage: tuple[int, int] | None, *, by: str) -> Booking:
        """Book a call by its ``usage``, by its ``reservation``, or as ``nothing``."""
        self.calls += 1
        match by, usage:
            case "usage", (prompt, completion):
                self.prompt_tokens += prompt
                self.completion_tokens += completion
                cost = self._price(reserved.model).of(prompt, completion)
                booking = Booking(prompt, completion, cost, by)
            case "nothing", _:
                booking = Booking(0, 0, 0.0, by)
            case _:
                self.unknown += 1
                tokens = reserved.prompt_tokens, reserved.completion_tokens
                booking = Booking(*tokens, reserved.cost, "reservation")
        self.spent += booking.cost
        bill = self.by_model.setdefault(reserved.model, ModelBill())
        bill.calls += 1
        bill.cost += booking.cost
        if by == "usage":
            bill.prompt_tokens += booking.prompt_tokens
            bill.completion_tokens += booking.completion_tokens
        self._in_flight -= 1
        # Differences of floats leave a remainder; with no call in flight nothing is reserved.
        self.reserved = self.reserved - reserved.cost if self._in_flight else 0.0
        return booking

    def to_dict(self) -> dict[str, object]:
        """As JSON-ready values."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "calls_booked_at_their_reservation": self.unknown,
            "cost": round(self.spent, 9),
            "by_model": {model: asdict(bill) for model, bill in self.by_model.items()},
        }

    def __str__(self) -> str:
        """The bill in words: a line for all calls, and one for each of several models."""
        tokens = f"{self.prompt_tokens:,} tokens in, {self.completion_tokens:,} out"
        unknown = f" ({self.unknown:,} booked at their reservation)" if self.unknown else ""
        cost = f"; {money(self.spent)} spent, earlier runs with this log included"
        whole = f"{self.calls:,} calls{unknown}, {tokens}{cost if self.spent else ''}."
        if len(self.by_model) < 2:
            return whole
        each = [
            f"{model}: {counted(bill.calls, 'call')}, {money(bill.cost)}"
            for model, bill in self.by_model.items()
        ]
        return "\n".join([whole, *each])

    async def wake(self) -> None:
        """Wake the calls that wait for money."""
        async with self._settled:
            self._settled.notify_all()

    def _spent_by_all(self) -> float:
        return self.spent + (self.elsewhere() if self.elsewhere is not None else 0.0)

    def _price(self, model: str) -> Price:
        return self.prices.get(model, _FREE)


class ExchangeLog:
    """A file with one JSON line for every call: request, reply and cost, never the key.

    Several processes may write to one file: each line is written in one piece and names its run.
    """

    def __init__(self, path: Path, secret: Secret) -> None:
        self._secret, self._lock = secret, Lock()
        self._run, self._elsewhere = secrets.token_hex(4), 0.0
        try:
            # Not buffered: each write appends one whole line, also beside other processes.
            self._file = path.open("ab", buffering=0)
            self._others = path.open("rb")
            # A restarted run goes on with the bill of the earlier ones.
            self.spent = sum(cost for _, cost in self._new_lines())
            if self._others.read():  # a line that a crash cut short
                self._file.write(b"\n")
        except OSError as error:
            raise InvalidInput(
                "the log must be a writable file",
                f"{path} ({error.strerror})",
                "fix it",
            ) from None

    def write(self, **exchange: Any) -> None:
        """Write one line. It is in the file before the next call."""
        line = json.dumps(self._redact({"run": self._run, **exchange}), ensure_ascii=False)
        with self._lock:
            # A reply may contain half of a surrogate pair, which UTF-8 cannot encode.
            self._file.write(line.encode(errors="replace") + b"\n")

    def spent_elsewhere(self) -> float:
        """What other processes have booked in this file since we opened it."""
        with self._lock:
            self._elsewhere += sum(cost for run, cost in self._new_lines() if run != self._run)
            return self._elsewhere

    def _new_lines(self) -> Iterator[tuple[str, float]]:
        """The run and the cost of every new line that is complete and readable."""
        while (line := self._others.readline()).endswith(b"\n"):
            # Somebody may have edited the file: a line that is not ours must not stop a run.
            with suppress(ValueError, KeyError, TypeError, AttributeError):
                exchange = json.loads(line)
                yield exchange.get("run", ""), float(exchange["cost"])
        # Another process is just writing this line: it is read again when it is complete.
        self._others.seek(-len(line), os.SEEK_CUR)

    def _redact(self, value: Any) -> Any:
        match value:
            case str():
                return self._secret.redact(value)
            case dict():
                return {key: self._redact(each) for key, each in value.items()}
            case list():
                return [self._redact(each) for each in value]
            case _:
                return value

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._others.close()
