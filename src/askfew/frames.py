"""Data frames of pandas, polars or pyarrow, read and written through narwhals (an extra)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from askfew.errors import InvalidInput, MissingExtra

__all__ = ["columns_of", "frame_of"]

_BACKENDS = ("pandas", "polars", "pyarrow")


def columns_of(frame: Any, names: Sequence[str]) -> list[list[Any]]:
    """The columns of these names as lists; missing values are refused."""
    try:
        eager = _narwhals().from_native(frame, eager_only=True)
    except TypeError:
        raise InvalidInput(
            "a frame must be one of pandas, polars or pyarrow",
            type(frame).__name__,
            "collect a lazy one, or read it with one of them",
        ) from None
    absent = [name for name in names if name not in eager.columns]
    if absent:
        raise InvalidInput(
            f"the frame must have the columns {', '.join(names)}",
            ", ".join(eager.columns) or "none",
            "name its columns with item=, question=, answer=",
        )
    holes = [name for name in names if eager[name].null_count()]
    if holes:
        raise InvalidInput(
            f"the columns {', '.join(names)} must be filled in every row",
            f"empty places in {', '.join(holes)}",
            "drop those rows",
        )
    return [eager[name].to_list() for name in names]


def frame_of(columns: Mapping[str, Sequence[Any]], backend: str) -> Any:
    """A frame of the backend with these columns."""
    if backend not in _BACKENDS:
        raise InvalidInput(
            f"backend must be one of {', '.join(_BACKENDS)}", repr(backend), "choose one"
        )
    try:
        return _narwhals().from_dict(dict(columns), backend=backend).to_native()
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"a frame of {backend} needs that package", "none", f"pip install {backend}"
        ) from error


def _narwhals() -> ModuleType:
    try:
        import narwhals
    except ImportError as error:
        raise MissingExtra(
            "data frames need narwhals", "none", "pip install 'askfew[frames]'"
        ) from error
    return narwhals
