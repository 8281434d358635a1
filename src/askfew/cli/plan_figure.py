"""The plan's figure: answers against the gap, one line a share of the small group."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

__all__ = ["draw"]


def draw(path: Path, curves: dict[float, list[tuple[float, float, float]]], caption: str) -> None:
    """Medians as lines, what 90 % of runs stay under dotted."""
    figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    colours = ("#0072B2", "#D55E00", "#009E73")
    for (share, points), colour in zip(curves.items(), colours, strict=False):
        gaps, medians, high = zip(*points, strict=True)
        axes.plot(gaps, medians, "o-", color=colour, label=f"small group {share:.0%}")
        axes.plot(gaps, high, ":", color=colour, linewidth=1.3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,g}")
        axis.set_minor_formatter(lambda value, _: f"{value:,g}")
    axes.set_xlabel(f"gap on the useful questions\n{caption}")
    axes.set_ylabel("answers (line: median, dotted: 90 % stay under)")
    axes.set_title("What a campaign will ask", loc="left")
    axes.grid(color="0.92", which="both")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
