"""A campaign's forecast in sentences, for the command line, the form and the dashboard."""

from __future__ import annotations

import math

from askfew.campaigns.forecast import FINISHED, RUNS_FOR_NINE_IN_TEN, CrowdForecast, Remedy
from askfew.campaigns.settings import Settings
from askfew.wording import counted, money

__all__ = ["forecast_sentences", "upper_words"]

_ENOUGH = f"{FINISHED:.0%} of the items".replace("%", " %")


def forecast_sentences(forecast: CrowdForecast, settings: Settings) -> list[str]:
    """Sentences on what to expect, whether people and cap are enough, and what was assumed."""
    said = [_need(forecast, settings.price)]
    if forecast.people is not None:
        said = [_verdict(forecast, forecast.people, settings)]
    if forecast.remedies:
        ways = [_way(each) for each in forecast.remedies]
        said.append(f"What would be enough: {_either(ways)}.")
    elif forecast.people is None and not forecast.enough_people:
        said.append(
            f"Only {forecast.finished} of {forecast.simulated} certified at least {_ENOUGH}. More"
            " items, more questions that tell the groups apart, or items whose group you know"
            " (anchors) may help."
        )
    elif not forecast.enough_people:
        said.append(
            "More people or questions would not be enough, as far as was tried. More items whose"
            " group you know (anchors), or questions that define the split, may help."
        )
    within, simulated = forecast.within_cap, forecast.simulated
    if within is not None and forecast.finished and within < FINISHED * forecast.finished:
        low = "may be" if within else "is"
        said.append(
            f"The cap of {settings.max_answers:,} answers {low} too low: {within} of {simulated}"
            " simulated campaigns finished within it."
        )
    return [*said, _basis(forecast, settings)]


def _basis(forecast: CrowdForecast, settings: Settings) -> str:
    """What was simulated, and what was not."""
    basis = f"Simulated: {counted(forecast.simulated, 'campaign')}, {forecast.assumed}."
    if not settings.gold:
        return basis
    extra = round(forecast.typical_answers * settings.gold / (1 - settings.gold))
    return f"{basis} Gold questions come on top: about {_answers(extra, settings.price)}."


def upper_words(simulated: int) -> str:
    """What the larger figures of a forecast mean, which depends on the number of runs.

    >>> upper_words(20), upper_words(4)
    ('nine in ten of 20 simulated campaigns', 'the most expensive of 4 simulated campaigns')
    """
    which = "nine in ten" if simulated >= RUNS_FOR_NINE_IN_TEN else "the most expensive"
    return f"{which} of {counted(simulated, 'simulated campaign')}"


def _need(forecast: CrowdForecast, price: float) -> str:
    people = "one person"
    if forecast.typical_workers > 1:
        people = f"about {forecast.typical_workers:,} different people"
    return (
        f"It will take about {_answers(forecast.typical_answers, price)} from {people};"
        f" {upper_words(forecast.simulated)} took at most {forecast.most_answers:,} answers."
    )


def _verdict(forecast: CrowdForecast, people: int, settings: Settings) -> str:
    """Whether this many people can finish it."""
    finished, simulated = forecast.finished or 0, forecast.simulated
    who, price = counted(people, "person", "people"), settings.price
    if settings.repeats == "same":  # a language model, or another machine
        who = counted(people, "worker")
    each = math.ceil(forecast.typical_answers / people)
    if forecast.enough_people:
        return (
            f"{who} can finish this: about {_answers(forecast.typical_answers, price)}, {each:,}"
            f" each. {finished} of {counted(simulated, 'simulated campaign')} certified at least"
            f" {_ENOUGH}, and {upper_words(simulated)} took at most {forecast.most_answers:,}"
            " answers."
        )
    able = "may not" if 2 * finished >= simulated else "can hardly" if finished else "cannot"
    return (
        f"{who} {able} finish this: {finished} of {counted(simulated, 'simulated campaign')}"
        f" certified at least {_ENOUGH}, after about {_answers(forecast.typical_answers, price)}."
    )


def _way(remedy: Remedy) -> str:
    proof = f"({remedy.finished} of {remedy.simulated} finished)"
    match remedy.kind:
        case "people":
            return f"{counted(remedy.number, 'person', 'people')} {proof}"
        case "questions":
            return f"{_more_questions(remedy.number)} {proof}"
        case "defining":
            define = "defines" if remedy.number == 1 else "define"
            return f"{counted(remedy.number, 'more question')} that {define} the split {proof}"
        case "share":
            return f'error = "share" {proof}'
        case "same":
            more = f" and {_more_questions(remedy.number)}" if remedy.number else ""
            return f'for language models, which repeat themselves, repeats = "same"{more} {proof}'


def _more_questions(number: int) -> str:
    verb = "tells" if number == 1 else "tell"
    return f"{counted(number, 'more question')} that {verb} the groups apart"


def _either(ways: list[str]) -> str:
    return ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])}, or {ways[-1]}"


def _answers(number: int, price: float) -> str:
    return f"{counted(number, 'answer')}" + (f" ({money(number * price)})" if price else "")
