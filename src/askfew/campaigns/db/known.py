"""What a method knew before a step, as the store keeps it: a line of JSON, then packed arrays.

With 100 000 items it takes some 100 kB a step, and 2.3 MB as plain JSON. Evidence is kept in single
precision: it is shown, and never counted on (a replay computes it anew).
"""

from __future__ import annotations

import json
import math
import zlib
from typing import Any

import numpy as np

from askfew.records import Snapshot

__all__ = ["pack", "unpack"]

_NUMBERS = ("threshold", "question", "expected")
_MOST = 1 << 27
"""Bytes when unpacked: of 20 million items."""


def pack(known: Snapshot) -> bytes:
    """A snapshot as bytes; its phase has a column of its own."""
    evidence = known.evidence
    facts: dict[str, Any] = {name: _finite(getattr(known, name)) for name in _NUMBERS}
    facts |= {"items": len(known.labels), "evidence": evidence is not None}
    arrays = known.labels.astype("<i2").tobytes()
    if evidence is not None:
        arrays += np.asarray(evidence).astype("<f4").tobytes()
    return zlib.compress(json.dumps(facts).encode() + b"\n" + arrays, 1)


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def unpack(content: bytes) -> dict[str, Any]:
    """What ``pack`` was given, JSON-ready; ValueError for anything else.

    >>> unpack(pack(Snapshot("label", np.array([0, -1, 1]), np.array([7.5, 0, 8]), threshold=6.0)))
    {..., 'labels': [0, -1, 1], 'evidence': [7.5, 0.0, 8.0]}
    """
    try:
        head, _, arrays = zlib.decompressobj().decompress(content, _MOST).partition(b"\n")
        facts = json.loads(head)
        items, has_evidence = int(facts["items"]), bool(facts["evidence"])
        found: dict[str, Any] = {name: facts[name] for name in _NUMBERS}
    except (zlib.error, KeyError, TypeError, RecursionError, OverflowError) as error:
        raise ValueError(f"no snapshot ({error!r})") from None
    for number in found.values():
        if not (number is None or (type(number) in (int, float) and math.isfinite(number))):
            raise ValueError(f"{number!r} in a snapshot")
    if items < 0 or len(arrays) != items * (6 if has_evidence else 2):
        raise ValueError(f"a snapshot of {items} items in {len(arrays)} bytes")
    labels = np.frombuffer(arrays, "<i2", items)
    evidence = np.frombuffer(arrays, "<f4", offset=2 * items)
    if (labels < -1).any():
        raise ValueError("labels below -1 in a snapshot")
    found["labels"] = labels.tolist()
    found["evidence"] = evidence.tolist() if has_evidence else None
    return found
