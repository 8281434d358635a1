"""``askfew demo --serve``: a campaign that fills up while one watches, and can answer along."""

from __future__ import annotations

import tempfile
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import numpy as np
import typer

from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.forecast import Sizes, crowd_forecast
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.cli.demo_digits import Digits, draw_digits
from askfew.errors import MissingExtra

__all__ = ["serve_demo"]

NAME = "digits"
CREW = ("Ada", "Blaise", "Carl", "Emmy", "Sofia")
GUIDELINES = """\
Look at the picture as it is, and answer what you see.

If you cannot tell, skip the question: someone else is asked then.

(This is a demo. The pictures are handwritten digits of two kinds; the others who answer are \
simulated. What they find out, they find out from the answers alone.)"""
_SETTINGS = {
    "name": NAME,
    "max_answers": 3000,
    "price": 0.02,
    "answers_per_worker_and_cell": 50,  # the crew is small, so that its table fits on a screen
    "lease_seconds": 60,
    "guidelines": GUIDELINES,
}


def serve_demo(seed: int, port: int, pause: float) -> None:
    """Serve until Ctrl-C; nothing is left behind."""
    try:
        from askfew.web import server
        from askfew.web.access.invitations import new_link
        from askfew.web.access.tokens import reset_token
    except ImportError as error:
        raise MissingExtra(
            "serving needs the packages fastapi and uvicorn", "none", "pip install 'askfew[web]'"
        ) from error
    digits = draw_digits(seed)
    with (
        tempfile.TemporaryDirectory(prefix="askfew-demo-") as folder,
        server.bound("127.0.0.1", port) as listening,
    ):
        store = Store(f"sqlite:///{Path(folder, 'demo.db')}")
        settings = Settings.from_dict({**_SETTINGS, "seed": seed})
        campaign = store.create(
            settings,
            digits.items,
            digits.questions,
            forecast=crowd_forecast(settings, Sizes.of(digits.items, digits.questions)),
        )
        address, owner = server.address(listening), reset_token(store)
        typer.echo(f"Watch:        {address}/i/{owner}?watch={NAME}")
        typer.echo(f"Answer along: {address}/i/{new_link(campaign, 'you')}")
        typer.echo(f"{', '.join(CREW)} answer in the background. Ctrl-C ends it all.")
        stop = Event()
        crew = [
            Thread(target=_answer, args=(campaign, digits, name, number, seed, pause, stop))
            for number, name in enumerate(CREW)
        ]
        for worker in crew:
            worker.start()
        try:
            with suppress(KeyboardInterrupt):
                server.serve(store, listening)
        finally:
            stop.set()
            for worker in crew:
                worker.join()
            store.close()


def _answer(
    campaign: Campaign, digits: Digits, name: str, number: int, seed: int, pause: float, stop: Event
) -> None:
    """One simulated worker: looks, thinks for about ``pause`` seconds, answers; sometimes skips."""
    rng = np.random.default_rng([seed, 1, number])
    item = {each.id: row for row, each in enumerate(campaign.items)}
    question = {each.id: column for column, each in enumerate(campaign.questions)}

    def settle(asked: Assignment, seconds: float) -> None:
        if rng.random() < 0.03:
            campaign.skip(asked.id)
        else:
            chance = digits.chance(item[asked.item.id], question[asked.question.id])
            campaign.tell(asked.id, bool(rng.random() < chance), seconds=seconds)

    while not stop.is_set() and campaign.state in ("running", "paused"):
        began = time.monotonic()
        asked = campaign.ask(name)
        # Nobody waits longer for an open step than people would for a page.
        stop.wait(pause * rng.gamma(4, 0.25) if asked else 0.5)
        if asked and not stop.is_set():
            settle(asked[0], time.monotonic() - began)
