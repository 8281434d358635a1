"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from askfew.algorithms import METHODS

__all__ = [
    "AsJson",
    "Balance",
    "Decay",
    "Delta",
    "Gap",
    "Items",
    "Jobs",
    "MaxAnswers",
    "Method",
    "Noise",
    "Price",
    "Questions",
    "Seed",
    "Sigma",
    "Useful",
]

Method = Annotated[str, Option(help=f"One of {', '.join(METHODS)}.")]
Items = Annotated[int, Option(help="How many items.")]
Questions = Annotated[int, Option(help="How many questions.")]
Useful = Annotated[int, Option(help="On how many random questions the groups differ.")]
Gap = Annotated[float, Option(help="How far the group means differ there.")]
Noise = Annotated[str, Option(help="gaussian, yes-no or scale (five values).")]
Sigma = Annotated[float, Option(help="Spread of gaussian answers.")]
Balance = Annotated[float, Option(help="The second group's share of the items.")]
Decay = Annotated[float, Option(help="The j-th useful question has gap / j^decay.")]
Delta = Annotated[float, Option(help="Allowed probability of any wrong label.")]
Seed = Annotated[int, Option(help="Decides everything, on any number of jobs.")]
MaxAnswers = Annotated[int, Option(help="Cap on the answers of a run.")]
Price = Annotated[float, Option(help="Price of an answer.")]
Jobs = Annotated[int, Option(help="Processes; -1 for all cores.")]
AsJson = Annotated[bool, Option("--json", help="One JSON document on standard output.")]
