"""One figure for each suite of the bench: what a person sees at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from askfew.experiments.bench import Cell, Floor
from askfew.experiments.real import RealRow

__all__ = ["draw_planted", "draw_real"]

_COLOURS = ("#0072B2", "#000000", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31")
"""Okabe and Ito's, safe for all, and one more."""
_LOOKS = {
    "frugal": ("o", "#0072B2"),
    "told-gap": ("D", "#000000"),
    "told-levels": ("d", "0.5"),
    "paper": ("s", "#D55E00"),
    "kmeans10": ("v", "#009E73"),
    "spectral": ("^", "#CC79A7"),
    "acb": ("P", "#E69F00"),
    "boc": ("*", "#56B4E9"),
    "ariu": ("X", "#8C6D31"),
    "same-cluster": ("<", "#D55E00"),
}


def draw_planted(cells: Sequence[Cell], floors: Sequence[Floor], caption: str, path: Path) -> None:
    """Mean answers on a log axis, one line a case, one mark a method; hollow where it errs.

    A grey bar ends at the highest lower bound: nobody who keeps delta can be in it.
    """
    cases = list(dict.fromkeys(cell.case for cell in cells))
    methods = list(dict.fromkeys(cell.method for cell in cells))
    figure, axes = plt.subplots(figsize=(9, 1.8 + 0.42 * len(cases)), layout="constrained")
    for method in methods:
        mark, colour = _LOOKS[method]
        for cell in cells:
            if cell.method == method and cell.summary.mean_answers is not None:
                axes.plot(
                    cell.summary.mean_answers,
                    cases.index(cell.case),
                    mark,
                    color=colour,
                    markerfacecolor=colour if cell.summary.error_rate <= 0.1 else "none",
                )
        axes.plot([], [], mark, color=colour, label=method)
    axes.set_xscale("log")
    left = axes.get_xlim()[0]
    for place, case in enumerate(cases):
        highest = max((floor.answers for floor in floors if floor.case == case), default=0.0)
        axes.barh(place, max(highest - left, 0.0), 0.5, left, color="0.85", zorder=0)
    axes.barh([0], [0.0], color="0.85", label="below a bound")
    axes.set_xlim(left=left)
    axes.set_yticks(range(len(cases)), cases)
    axes.invert_yaxis()
    axes.grid(axis="both", color="0.93")
    axes.set_axisbelow(True)
    axes.set_xlabel(f"mean answers (hollow: wrong in more than a tenth of its runs)\n{caption}")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=min(len(methods) + 1, 6), frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_real(rows: Sequence[RealRow], caption: str, path: Path) -> None:
    """Answers against the share correct, one panel a world.

    Full marks are labels that askfew gives, with the share of the items that get one; hollow ones
    are methods without a promise, which label every item.
    """
    worlds = list(dict.fromkeys(row.world for row in rows))
    across = min(3, len(worlds))
    down = -(-len(worlds) // across)
    size = (4.2 * across, 3.1 * down + 0.9)
    figure, grid = plt.subplots(down, across, figsize=size, layout="constrained", squeeze=False)
    for place, world in enumerate(worlds):
        _panel(grid.flat[place], [row for row in rows if row.world == world])
        grid.flat[place].set_title(world, fontsize=10, loc="left")
    for axes in grid.flat[len(worlds) :]:
        axes.set_visible(False)
    explained = "full: labels that askfew gives, and to how many items; hollow: others, all items"
    figure.supxlabel(f"answers ({explained})\n{caption}", fontsize=9)
    figure.supylabel("share in the group of their class", fontsize=9)
    figure.legend(handles=_legend(rows), loc="outside upper center", ncols=5, frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


_KINDS = {0: "o", 3: "s", 10: "^"}
"""Marks of askfew by the number of anchors."""
_BESIDE = {0: (15, -3), 3: (-4, 7), 10: (2, 7)}
"""Where a mark's number stands, in points: marks that lie together keep theirs apart."""


def _panel(axes: Axes, rows: Sequence[RealRow]) -> None:
    for row in rows:
        mark, colour = _look(row)
        if row.like is not None:
            axes.plot(row.answers, row.accuracy_all, mark, color=colour, mfc="none", ms=6)
        elif row.accuracy_decided is not None:
            axes.plot(row.answers, row.accuracy_decided, mark, color=colour, ms=8)
            axes.annotate(
                f"{row.decided:.0%}",
                (row.answers, row.accuracy_decided),
                xytext=_BESIDE[_anchors(row.setting)],
                textcoords="offset points",
                ha="center",
                fontsize=7,
                color=colour,
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


def _anchors(name: str) -> int:
    return int(name.split()[0]) if " anchors: " in name else 0


def _look(row: RealRow) -> tuple[str, str]:
    mark = _KINDS[_anchors(row.setting)]
    method = row.setting.split(": ")[-1]
    names = ("rule", "majority vote", "Dawid-Skene", "k-means", "spectral", "latent class")
    colours = dict(zip(names, (_COLOURS[0], *_COLOURS[2:7]), strict=True))
    colours |= {"rule, any error": _COLOURS[0], "latent classes": colours["latent class"]}
    colours |= {"naive Bayes": _COLOURS[7], "groups": _COLOURS[1]}
    if method == "rule, any error":
        mark = "D"
    return ("P" if method == "groups" else mark), colours[method]


def _legend(rows: Sequence[RealRow]) -> list[Line2D]:
    names = dict.fromkeys(row.setting.split(": ")[-1].replace("classes", "class") for row in rows)
    handles = []
    for name in names:
        row = next(r for r in rows if r.setting.replace("classes", "class").endswith(name))
        mark, colour = _look(row)
        full = row.like is None
        handles.append(
            Line2D(
                [],
                [],
                marker=mark if full else "o",
                color=colour,
                ls="",
                label=name,
                mfc=colour if full else "none",
            )
        )
    return [
        *handles,
        *(
            Line2D([], [], marker=_KINDS[a], color="0.4", ls="", mfc="none", label=f"{a} anchors")
            for a in (3, 10)
        ),
    ]
