"""``askfew demo``: two examples that take seconds, a simulated crowd and a real table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from askfew.cli import options
from askfew.cli.demo.birds import run_birds
from askfew.cli.demo.table import print_story, run_table
from askfew.cli.output import check_drawable, note, print_json
from askfew.errors import MissingExtra

__all__ = ["demo"]

DELTA = 0.05


def demo(
    seed: options.Seed = 1,
    picture: Annotated[Path | None, Option(help="Where to save the picture.")] = Path(
        "askfew-demo.png"
    ),
    serve: Annotated[
        bool, Option("--serve", help="A live campaign in the browser instead.")
    ] = False,
    port: Annotated[
        int, Option(min=0, max=65_535, help="With --serve: the port; 0 for any free one.")
    ] = 8080,
    pause: Annotated[
        float, Option(min=0, help="With --serve: seconds that a simulated worker takes to answer.")
    ] = 1.0,
    json: options.AsJson = False,
) -> None:
    """Run two examples, one for each promise: what is asked, what is found, what it costs."""
    if serve:
        from askfew.cli.demo.live import serve_demo  # needs extras that the two examples do not

        serve_demo(seed, port, pause)
        return
    try:
        check_drawable(picture)
    except MissingExtra as error:  # the demo also works without a picture
        note(f"No picture: {error}")
        picture = None
    first = run_birds(seed, DELTA, quiet=json)
    if picture is not None:
        first.draw(picture)
        note(f"Picture saved as {picture}")
    second = run_table(seed, DELTA)
    if json:
        print_json({**first.to_dict(), "table": None if second is None else second.to_dict()})
        return
    first.print_bills()
    if second is None:
        note(
            "The second example, a real table, needs scikit-learn: pip install 'askfew[baselines]'."
        )
    else:
        print_story(second)
