"""Figures like the paper's: mean curves with bands from 5 % to 95 %."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator
from numpy.typing import ArrayLike

from askfew.experiments.study import Line, Measured

__all__ = ["draw_curves"]

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
_MARKS = "osD^vP*X"
_FEW = 10
"""The most values of x that each get a tick. A plain choice of layout."""
_BELOW = 8
"""The axis of answers begins at the cheapest runs, divided by this. A plain choice of layout."""


def draw_curves(
    measured: Sequence[Measured],
    lines: Sequence[Line],
    path: Path,
    *,
    title: str,
    x_label: str,
    caption: str,
) -> None:
    """Draw every curve and save the figure as PNG and as SVG."""
    figure, axes = plt.subplots(figsize=(9.5, 5.8), layout="constrained")
    curves = list(dict.fromkeys(cell.curve for cell in measured))
    for index, curve in enumerate(curves):
        cells = [c for c in measured if c.curve == curve and c.summary.mean_answers is not None]
        x = [cell.x for cell in cells]
        look = {"color": _COLOURS[index % len(_COLOURS)], "marker": _MARKS[index % len(_MARKS)]}
        means = [cell.summary.mean_answers for cell in cells]
        axes.plot(x, means, label=curve, markersize=4, linewidth=1.4, **look)  # type: ignore[arg-type]
        low = [cell.summary.q05_answers for cell in cells]
        high = [cell.summary.q95_answers for cell in cells]
        axes.fill_between(x, low, high, color=look["color"], alpha=0.13, linewidth=0)  # type: ignore[arg-type]
    for index, line in enumerate(lines):
        look = {"marker": "x+1"[index % 3]} if line.points else {"marker": ""}
        style = "none" if line.points else ("--", ":", "-.")[index % 3]
        axes.plot(line.x, line.y, color="0.35", linestyle=style, label=line.name, **look)  # type: ignore[arg-type]
    values = sorted({cell.x for cell in measured})
    axes.set_xscale("log" if _even(np.log(values)) > _even(values) else "linear")
    axes.set_yscale("log")
    lows = [cell.summary.q05_answers for cell in measured if cell.summary.q05_answers]
    if lows:  # otherwise a bound far below all points would take most of the figure
        axes.set_ylim(bottom=min(lows) / _BELOW)
    _tick(axes.xaxis, values)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.set_xlabel(f"{x_label}\n{caption}")
    axes.set_ylabel("answers")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    for suffix in (".png", ".svg"):
        figure.savefig(path.with_suffix(suffix), dpi=150)
    plt.close(figure)


def _even(values: ArrayLike) -> float:
    """How evenly values are spread over an axis: the smallest step divided by the mean step."""
    steps = np.diff(np.asarray(values, dtype=np.float64))
    return float(steps.min() / steps.mean()) if len(steps) else 1.0


def _tick(axis: Axis, values: Sequence[float]) -> None:
    """Label the axis with plain numbers; label every value if there are few."""
    if len(values) <= _FEW:
        axis.set_major_locator(FixedLocator(values))
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_formatter(NullFormatter())
