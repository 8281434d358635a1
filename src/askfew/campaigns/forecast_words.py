"""A campaign's forecast in sentences, for the command line, the form and the dashboard."""

from __future__ import annotations

import math
from typing import Protocol

from askfew.campaigns.forecast import FINISHED, RUNS_FOR_NINE_IN_TEN, CrowdForecast, Remedy
from askfew.wording import counted, money

__all__ = ["forecast_sentences", "upper_words"]


class _Costs(Protocol):
    @property
    def price(self) -> float: ...
    @property
    def max_answers(self) -> int: ...
    @property
    def gold(self) -> float: ...


def forecast_sentences(forecast: CrowdForecast, settings: _Costs) -> list[str]:
    """Sentences on what to expect, whether people and cap are enough, and what was assumed."""
    said = [_need(forecast, settings.price)]
    if forecast.people is not None:
        said = [_verdict(forecast, forecast.people, settings.price)]
    if forecast.remedies:
        ways = [_way(each) for each in forecast.remedies]
        said.append(f"What would do: {_either(ways)}.")
    within, simulated = forecast.within_cap, forecast.simulated
    if within is not None and forecast.finished and within < FINISHED * forecast.finished:
        said.append(
            f"The cap of {settings.max_answers:,} answers may be too low: {within} of {simulated}"
            " simulated campaigns finished within it."
        )
    if settings.gold:
        extra = round(forecast.typical_answers * settings.gold / (1 - settings.gold))
        said.append(f"Gold questions come on top: about {_answers(extra, settings.price)}.")
    said.append(f"Simulated: {counted(simulated, 'campaign')}, {forecast.assumed}.")
    return said


def upper_words(simulated: int) -> str:
    """What the larger figures of a forecast mean, which depends on the number of runs.

    >>> upper_words(20), upper_words(4)
    ('nine in ten of 20 simulated campaigns', 'the dearest of 4 simulated campaigns')
    """
    which = "nine in ten" if simulated >= RUNS_FOR_NINE_IN_TEN else "the dearest"
    return f"{which} of {counted(simulated, 'simulated campaign')}"


def _need(forecast: CrowdForecast, price: float) -> str:
    people = counted(forecast.typical_workers, "different person", "different people")
    return (
        f"It will take about {_answers(forecast.typical_answers, price)} from about {people};"
        f" {upper_words(forecast.simulated)} took at most {forecast.most_answers:,} answers."
    )


def _verdict(forecast: CrowdForecast, people: int, price: float) -> str:
    """Whether this many people can finish it."""
    finished, simulated = forecast.finished or 0, forecast.simulated
    who = counted(people, "person", "people")
    each = math.ceil(forecast.typical_answers / people)
    share = f"{FINISHED:.0%} of the items".replace("%", " %")
    if forecast.enough_people:
        return (
            f"{who} can finish this: about {_answers(forecast.typical_answers, price)}, {each:,}"
            f" each. {finished} of {counted(simulated, 'simulated campaign')} certified at least"
            f" {share}, and {upper_words(simulated)} took at most {forecast.most_answers:,}"
            " answers."
        )
    able = "cannot" if finished == 0 else "can hardly"
    return (
        f"{who} {able} finish this: {finished} of {counted(simulated, 'simulated campaign')}"
        f" certified at least {share}, after about {_answers(forecast.typical_answers, price)}."
    )


def _way(remedy: Remedy) -> str:
    proof = f"({remedy.finished} of {remedy.simulated} finished)"
    match remedy.kind:
        case "people":
            return f"{counted(remedy.number, 'person', 'people')} {proof}"
        case "questions":
            more = counted(remedy.number, "more question")
            return (
                f"{more} that {'tells' if remedy.number == 1 else 'tell'} the groups apart {proof}"
            )
        case "share":
            return f'error = "share" {proof}'


def _either(ways: list[str]) -> str:
    return ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])}, or {ways[-1]}"


def _answers(number: int, price: float) -> str:
    return f"{counted(number, 'answer')}" + (f" ({money(number * price)})" if price else "")
