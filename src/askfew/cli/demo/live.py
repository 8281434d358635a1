"""``askfew demo --serve``: a live campaign with simulated workers, to watch and to join."""

from __future__ import annotations

import struct
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import numpy as np
import typer
from scipy.ndimage import zoom

from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.forecast import Sizes, crowd_forecast
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.errors import MissingExtra
from askfew.records import Floats, Ints

__all__ = ["Digits", "draw_digits", "serve_demo"]

NAME = "digits"
WORKERS = ("Ada", "Blaise", "Carl", "Emmy", "Sofia")
GUIDELINES = """\
Look at the picture as it is, and answer what you see.

If you cannot tell, skip the question: someone else is asked then.

(This is a demo. The pictures are handwritten digits of two kinds; the others who answer are \
simulated. What they find out, they find out from the answers alone.)"""
_SETTINGS = {
    "name": NAME,
    "max_answers": 3000,
    "price": 0.02,
    "answers_per_worker_and_cell": 50,  # there are few workers, so that their table fits a screen
    "lease_seconds": 60,
    "guidelines": GUIDELINES,
}


def serve_demo(seed: int, port: int, pause: float) -> None:
    """Serve until Ctrl-C. The store is temporary."""
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
        typer.echo(f"Join in: {address}/i/{new_link(campaign, 'you')}")
        typer.echo(f"{', '.join(WORKERS)} answer in the background. Ctrl-C ends it all.")
        workers = _simulated_workers(campaign, digits, seed, pause)
        with closing(store), workers, suppress(KeyboardInterrupt):
            server.serve(store, listening)


@contextmanager
def _simulated_workers(
    campaign: Campaign, digits: Digits, seed: int, pause: float
) -> Iterator[None]:
    """Threads that answer until the block ends."""
    stop = Event()
    threads = [
        Thread(target=_answer, args=(campaign, digits, name, number, seed, pause, stop))
        for number, name in enumerate(WORKERS)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _answer(
    campaign: Campaign, digits: Digits, name: str, number: int, seed: int, pause: float, stop: Event
) -> None:
    """Be one simulated worker: take about ``pause`` seconds for an answer; sometimes skip."""
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
        # A gamma law: most people are a little faster than the mean, a few are much slower.
        stop.wait(pause * rng.gamma(4, 0.25) if asked else 0.5)
        if asked and not stop.is_set():
            settle(asked[0], time.monotonic() - began)


# The world: handwritten zeros and ones as pictures, and how people answer about them. All numbers
# are made up to look lifelike; nothing is measured with them.

PICTURES = 60
_SIDE = 320
_TELLING = {
    "hole": ("Is there a hole in it?", 0.94, 0.06),
    "stroke": ("Could you draw it with one straight stroke?", 0.08, 0.85),
    "wide": ("Is it about as wide as it is high?", 0.75, 0.2),
}
"""The question, and how often people say yes about a zero and about a one."""
_IDLE = {
    "bold": "Is it written with a bold pen?",
    "leans": "Does it lean to the right?",
    "middle": "Is it exactly in the middle?",
    "neat": "Is it written neatly?",
    "edge": "Does it touch an edge of the picture?",
    "hurry": "Was it written in a hurry?",
    "left": "Was the writer left-handed?",
}


@dataclass(frozen=True, eq=False)
class Digits:
    """Pictures, questions, and how often people say yes (rows: digits, columns: questions)."""

    items: tuple[Item, ...]
    questions: tuple[Question, ...]
    digits: Ints
    chances: Floats

    def chance(self, item: int, question: int) -> float:
        """How often people say yes to this question about this picture."""
        return float(self.chances[self.digits[item], question])


def draw_digits(seed: int) -> Digits:
    """Choose pictures at random and give them names that do not say what they show."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingExtra(
            "the live demo needs scikit-learn's digits", "none", "pip install 'askfew[baselines]'"
        ) from error
    images, targets = load_digits(n_class=2, return_X_y=True)
    rng = np.random.default_rng([seed, 0])
    chosen = rng.choice(len(targets), PICTURES, replace=False)
    items = tuple(
        Item(f"digit {number:02}", image=_png(images[row].reshape(8, 8) / 16))
        for number, row in enumerate(chosen, start=1)
    )
    texts = {key: (text, 0.5, 0.5) for key, text in _IDLE.items()} | _TELLING
    order = sorted(texts)
    chances = np.array([[texts[key][side] for key in order] for side in (1, 2)])
    questions = tuple(Question(key, texts[key][0]) for key in order)
    return Digits(items, questions, targets[chosen].astype(np.int64), chances)


def _png(ink: Floats) -> bytes:
    """An enlarged picture as a grey PNG, dark on light, made without an image library."""
    framed = np.pad(ink, 1)
    large = zoom(framed, _SIDE / len(framed), order=3)
    pen = 1 / (1 + np.exp(-14 * (large - 0.42)))  # sharpen: enlarged from 8 pixels it is blurred
    grey = (252 - 226 * pen).astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    head = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
