"""Tokens and money, call by call. Money is reserved before a call and settled after it.

A call is reserved at what it can cost at most: a token has at least one byte, so a prompt has no
more tokens than bytes, and an answer no more than ``max_tokens``. What is spent and what is
reserved together never exceed ``max_cost``. Processes that share a log see what the others have
spent as soon as it is booked, so that together they exceed it by no more than the calls in flight.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from askfew.workers.desk import Enough
from askfew.workers.llm.config import Price

__all__ = ["Booking", "Ledger", "ModelBill", "Reservation"]

_FREE = Price(0.0, 0.0)


@dataclass(frozen=True)
class Reservation:
    """What a call may cost at most."""

    model: str
    prompt_tokens: int
    completion_tokens: int
    cost: float

    @property
    def tokens(self) -> int:
        """Both kinds together."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class Booking:
    """What a call is booked at: as the endpoint counted it, or at its reservation."""

    prompt_tokens: int
    completion_tokens: int
    cost: float
    by: str
    """``usage``, ``reservation`` or ``nothing``."""


@dataclass
class ModelBill:
    """What one model has cost in this run."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0


@dataclass
class Ledger:
    """All calls of a run; ``spent`` may begin with what earlier runs have paid."""

    prices: Mapping[str, Price] = field(default_factory=dict)
    max_cost: float = float("inf")
    spent: float = 0.0
    reserved: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    """Of calls that the endpoint counted itself."""
    unknown: int = 0
    """Calls booked at their reservation."""
    by_model: dict[str, ModelBill] = field(default_factory=dict)
    elsewhere: Callable[[], float] | None = None
    """What others have spent of the same money meanwhile."""
    _in_flight: int = 0
    _settled: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def reserve(self, model: str, prompt_tokens: int, completion_tokens: int) -> Reservation:
        """Set the money aside; waits while calls in flight may leave enough, else ``Enough``."""
        cost = self._price(model).of(prompt_tokens, completion_tokens)
        async with self._settled:
            while (spent := self._spent_by_all()) + self.reserved + cost > self.max_cost:
                if self._in_flight == 0:
                    raise Enough(
                        f"the next call may cost {cost:.6f}, and {spent:.6f} of at most"
                        f" {self.max_cost:g} are spent"
                    )
                await self._settled.wait()
            self.reserved += cost
            self._in_flight += 1
        return Reservation(model, prompt_tokens, completion_tokens, cost)

    def settle(self, reserved: Reservation, usage: tuple[int, int] | None, *, by: str) -> Booking:
        """Book a call: by ``usage`` with its tokens, by its ``reservation``, or as ``nothing``."""
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
        # Sums of floats leave crumbs: with nothing in flight nothing is reserved.
        self.reserved = self.reserved - reserved.cost if self._in_flight else 0.0
        return booking

    async def wake(self) -> None:
        """Let those who wait for money look again."""
        async with self._settled:
            self._settled.notify_all()

    def _spent_by_all(self) -> float:
        return self.spent + (self.elsewhere() if self.elsewhere is not None else 0.0)

    def _price(self, model: str) -> Price:
        return self.prices.get(model, _FREE)
