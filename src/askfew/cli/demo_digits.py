"""The live demo's world: handwritten zeros and ones as pictures, and people who look at them."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import zoom

from askfew.campaigns.records import Item, Question
from askfew.errors import MissingExtra
from askfew.records import Floats, Ints

__all__ = ["Digits", "draw_digits"]

PICTURES = 60
_SIDE = 320
_TELLING = {
    "hole": ("Is there a hole in it?", 0.94, 0.06),
    "stroke": ("Could you draw it with one straight stroke?", 0.08, 0.85),
    "wide": ("Is it about as wide as it is high?", 0.75, 0.2),
}
"""Question, and how often people say yes to it about a zero and about a one."""
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
    """Some pictures in random order, under names that do not say what they show."""
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
    """Dark ink on light paper, as a grey PNG: smoothly enlarged, without an image library."""
    framed = np.pad(ink, 1)
    large = zoom(framed, _SIDE / len(framed), order=3)
    pen = 1 / (1 + np.exp(-14 * (large - 0.42)))  # eight pixels a side are a blur otherwise
    grey = (252 - 226 * pen).astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    head = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
