"""The demo's picture: where the answers went, and what each way of asking costs."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from askfew.cli.demo_crowd import QUESTIONS, Crowd
from askfew.log import Log

__all__ = ["draw"]


def draw(path: Path, crowd: Crowd, log: Log, bills: list[tuple[str, int]]) -> None:
    """Save both panels as one file."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(12, 5.2), width_ratios=[3, 2], layout="constrained"
    )
    _draw_cells(left, crowd, log)
    _draw_bills(right, bills)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _draw_cells(axes: Axes, crowd: Crowd, log: Log) -> None:
    asked = np.zeros((len(QUESTIONS), len(crowd.names)))
    for step in log:
        np.add.at(asked, (step.batch.questions, step.batch.items), step.tally.counts)
    order = np.argsort(crowd.species, kind="stable")
    shown = np.ma.masked_equal(asked[:, order], 0)
    image = axes.imshow(shown, aspect="auto", cmap="viridis_r", norm=LogNorm(1, asked.max()))
    axes.set_yticks(range(len(QUESTIONS)), QUESTIONS, fontsize=8)
    axes.set_xticks([])
    axes.axvline(np.sum(crowd.species == 0) - 0.5, color="black", linewidth=1)
    axes.set_xlabel("photos, first species left of the line, second right")
    axes.set_title("Where askfew spent its answers", loc="left")
    bar = axes.figure.colorbar(image, ax=axes, pad=0.01)
    bar.set_label("answers asked (white: none)")


def _draw_bills(axes: Axes, bills: list[tuple[str, int]]) -> None:
    names = [way.replace(", ", ",\n") for way, _ in bills]
    answers = [count for _, count in bills]
    bars = axes.barh(names, answers, color=["#0072B2", "#D55E00", "#999999"], height=0.6)
    axes.bar_label(bars, [f"{count:,}" for count in answers], padding=4)
    axes.set_xscale("log")
    axes.set_xlim(min(answers) / 5, max(answers) * 10)
    axes.invert_yaxis()
    axes.set_xlabel("answers (log scale)")
    axes.set_title("What it costs", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
