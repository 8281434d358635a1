"""A rule as a figure: one panel for each division, one bar for each question."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from askfew.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from askfew.rule import Node, Rule

__all__ = ["draw_rule"]

_LOW, _HIGH = "#D55E00", "#0072B2"  # colours of Okabe and Ito, safe for the colour-blind
_BAR, _AROUND = 0.38, 0.5
"""Inches for a bar, and around the bars of a panel. Plain choices of layout."""
_LONGEST = 46
"""The most characters of a question on a line. A plain choice of layout."""


def draw_rule(rule: Rule, path: str | Path) -> None:
    """Save it as PNG, SVG or PDF, by the file's ending.

    A bar's length is the question's weight. It points to the group that a mean answer above the cut
    speaks for.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtra(
            "a figure needs matplotlib", "none", "pip install 'askfew[plot]'"
        ) from error
    heights = [_AROUND + _BAR * len(node.questions) for node in rule.nodes]
    figure, panels = plt.subplots(
        len(heights),
        1,
        figsize=(7.5, 0.3 + sum(heights)),
        height_ratios=heights,
        squeeze=False,
        layout="constrained",
    )
    most = max(abs(weight) for node in rule.nodes for weight in node.weights)
    for axes, node in zip(panels[:, 0], rule.nodes, strict=True):
        _draw_node(axes, rule, node, most)
    figure.supxlabel(
        "A mean answer above the cut speaks for the side its bar points to, a long bar the more.",
        fontsize=8,
        color="0.35",
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _draw_node(axes: Axes, rule: Rule, node: Node, most: float) -> None:
    names = [
        "\n".join(textwrap.wrap(str(rule.questions[place]), _LONGEST)) for place in node.questions
    ]
    colours = [_HIGH if weight > 0 else _LOW for weight in node.weights]
    rows = range(len(names))
    bars = axes.barh(rows, node.weights, color=colours, height=0.66)
    axes.bar_label(bars, [f"above {cut:.3g}" for cut in node.cuts], padding=4, fontsize=8)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(rows, names, fontsize=9)
    axes.set_xlim(-1.8 * most, 1.8 * most)  # room for the cuts beside the bars
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    axes.spines[:].set_visible(False)
    low, high = rule.side_names(node)
    axes.set_title(f"◂ {low}", loc="left", color=_LOW, fontsize=10)
    axes.set_title(f"{high} ▸", loc="right", color=_HIGH, fontsize=10)
