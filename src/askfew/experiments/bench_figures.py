"""The figures of the benchmark, one for each suite: answers against the share that is right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from askfew.experiments.bench import Cell, Floor
from askfew.experiments.real import RealRow

__all__ = ["draw_planted", "draw_real"]

# The colours of Okabe and Ito, which people with colour blindness can tell apart, and one more.
_BLUE, _BLACK, _RED, _GREEN = "#0072B2", "#000000", "#D55E00", "#009E73"
_PINK, _ORANGE, _SKY, _BROWN = "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31"
_PLANTED = {
    "frugal": ("o", _BLUE),
    "told-gap": ("D", _BLACK),
    "told-levels": ("d", "0.5"),
    "paper": ("s", _RED),
    "kmeans10": ("v", _GREEN),
    "spectral": ("^", _PINK),
    "acb": ("P", _ORANGE),
    "boc": ("*", _SKY),
    "ariu": ("X", _BROWN),
    "same-cluster": ("<", _RED),
}
"""The mark and the colour of each method."""
_LEAST_RIGHT = 0.8
"""Where the share of right runs begins; a method below it is drawn there, hollow."""


def draw_planted(
    cells: Sequence[Cell], floors: Sequence[Floor], delta: float, caption: str, path: Path
) -> None:
    """A panel for each case: mean answers, and the share of the runs with no wrong label.

    A line goes on to the answers that 95 % of the runs stay under, and another shows the interval
    of the share. A grey bar ends at the highest lower bound: no method that keeps delta can be
    inside it.
    """
    cases = list(dict.fromkeys(cell.case for cell in cells))
    methods = list(dict.fromkeys(cell.method for cell in cells))
    size = (9, 1.8 + 0.55 * len(cases))
    figure, grid = plt.subplots(
        len(cases), 1, figsize=size, sharex=True, sharey=True, layout="constrained", squeeze=False
    )
    for axes, case in zip(grid.flat, cases, strict=True):
        axes.set_xscale("log")
        for cell in cells:
            if cell.case == case and cell.summary.mean_answers is not None:
                _mark(axes, cell)
    left = grid[0, 0].get_xlim()[0]
    for axes, case in zip(grid.flat, cases, strict=True):
        highest = max((floor.answers for floor in floors if floor.case == case), default=0.0)
        axes.axvspan(left, max(highest, left), color="0.85", zorder=0)
        axes.axhline(1 - delta, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
        axes.set_xlim(left=left)
        axes.set_ylim(_LEAST_RIGHT - 0.02, 1.04)
        axes.set_yticks([_LEAST_RIGHT, 1], [f"{_LEAST_RIGHT:.0%}", "100%"])
        axes.yaxis.tick_right()
        axes.set_ylabel(case, rotation="horizontal", ha="right", va="center")
        axes.grid(axis="x", color="0.93")
        axes.set_axisbelow(True)
        axes.spines[["top", "left"]].set_visible(False)
        axes.tick_params(axis="y", labelsize=7)
        if case != cases[-1]:
            axes.tick_params(axis="x", which="both", length=0)
    figure.supxlabel(
        "mean answers (lines to the right: 95 % of the runs)\n"
        f"height: runs without a wrong label, with their interval (dotted: {1 - delta:.0%})\n"
        f"{caption}",
        fontsize=9,
    )
    marks = [_handle(*_PLANTED[method], method, full=True) for method in methods]
    bound = Patch(color="0.85", label="below a bound")
    figure.legend(handles=[*marks, bound], loc="outside upper center", ncols=6, frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _handle(mark: str, colour: str, name: str, *, full: bool) -> Line2D:
    fill = colour if full else "none"
    return Line2D([], [], marker=mark, color=colour, mfc=fill, ls="", label=name)


def _mark(axes: Axes, cell: Cell) -> None:
    mark, colour = _PLANTED[cell.method]
    mean, late = cell.summary.mean_answers, cell.summary.q95_answers
    assert mean is not None
    right = max(1 - cell.summary.error_rate, _LEAST_RIGHT)
    low, high = (max(1 - error, _LEAST_RIGHT) for error in cell.summary.error_interval)
    axes.plot([mean, late or mean], [right, right], color=colour, linewidth=1, alpha=0.6)
    axes.plot([mean, mean], [low, high], color=colour, linewidth=1, alpha=0.6)
    hollow = 1 - cell.summary.error_rate < _LEAST_RIGHT
    fill = "none" if hollow else colour
    axes.plot(mean, right, mark, color=colour, mfc=fill, zorder=4 if cell.method == "frugal" else 3)


_REAL = {
    "rule": ("rule", _BLUE),
    "frugal": ("groups", _BLACK),
    "majority-vote": ("majority vote", _RED),
    "dawid-skene": ("Dawid-Skene", _GREEN),
    "kmeans10": ("k-means", _PINK),
    "spectral": ("spectral", _ORANGE),
    "latent-classes": ("latent classes", _SKY),
    "naive-bayes": ("naive Bayes", _BROWN),
}
"""The name and the colour of each method."""
_ANCHORS = {0: "o", 3: "s", 10: "^"}
"""The mark, by the number of anchors; a diamond bounds the chance of any wrong label."""


def draw_real(rows: Sequence[RealRow], caption: str, path: Path) -> None:
    """The share of right labels against answers, one panel for each world.

    Full marks are askfew's labels, with the share of the items that get one; hollow marks are
    methods without a promise, which label every item.
    """
    worlds = list(dict.fromkeys(row.world for row in rows))
    across = min(2, len(worlds))
    down = -(-len(worlds) // across)
    size = (4.6 * across, 3.2 * down + 1.1)
    figure, grid = plt.subplots(down, across, figsize=size, layout="constrained", squeeze=False)
    for place, world in enumerate(worlds):
        _panel(grid.flat[place], [row for row in rows if row.world == world])
        grid.flat[place].set_title(world, fontsize=10, loc="left")
    for axes in grid.flat[len(worlds) :]:
        axes.set_visible(False)
    explained = "full: labels that askfew gives, and to how many items; hollow: others, all items"
    figure.supxlabel(f"answers ({explained})\n{caption}", fontsize=9)
    figure.supylabel("share in the group of their class", fontsize=9)
    figure.legend(handles=_real_legend(rows), loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _panel(axes: Axes, rows: Sequence[RealRow]) -> None:
    anchored = [row.answers for row in rows if row.like is None and row.anchors]
    for row in rows:
        mark, colour = _real_mark(row), _REAL[row.method][1]
        if row.like is not None:
            axes.plot(row.answers, row.accuracy_all, mark, color=colour, mfc="none", ms=6)
        elif row.accuracy_decided is not None:
            axes.plot(row.answers, row.accuracy_decided, mark, color=colour, ms=8)
            axes.annotate(
                f"{row.decided:.0%}",
                (row.answers, row.accuracy_decided),
                xytext=_beside(row, anchored),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color=colour,
                path_effects=[withStroke(linewidth=2, foreground="white")],
            )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.margins(x=0.12)
    axes.set_ylim(0.4, 1.08)
    axes.grid(color="0.93")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def _beside(row: RealRow, anchored: Sequence[float]) -> tuple[int, int]:
    """Where the number of a mark is printed, in points.

    The marks with anchors often lie next to each other, so the numbers stand on their far sides.
    """
    if not row.anchors:
        return 19, -3
    return (-12 if row.answers == min(anchored) else 11), 7


def _real_mark(row: RealRow) -> str:
    if row.method == "frugal":
        return "P"
    return "D" if row.promised == "any" else _ANCHORS[row.anchors]


def _real_legend(rows: Sequence[RealRow]) -> list[Line2D]:
    """Every method without anchors, and what the marks say about anchors."""
    handles = []
    for method in dict.fromkeys(row.method for row in rows):
        name, colour = _REAL[method]
        full = any(row.method == method and row.like is None for row in rows)
        handles.append(_handle("P" if method == "frugal" else "o", colour, name, full=full))
        if method == "rule":
            handles.append(_handle("D", colour, "rule, any error", full=full))
    anchors = [_handle(_ANCHORS[each], "0.4", f"{each} anchors", full=False) for each in (3, 10)]
    return [*handles, *anchors]
