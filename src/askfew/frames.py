"""Read and write data frames of pandas, polars or pyarrow, through narwhals (an extra)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from askfew.errors import InvalidInput, MissingExtra

__all__ = ["columns_of", "frame_of"]

_BACKENDS = ("pandas", "polars", "pyarrow")


def columns_of(frame: Any, names: Sequence[str]) -> list[list[Any]]:
    """The columns of these names as lists; missing values are refused."""
    narwhals = _narwhals()
    try:
        eager = narwhals.from_native(frame, eager_only=True)
        columns = eager.columns
    except TypeError:
        raise InvalidInput(
            "a frame must be one of pandas, polars or pyarrow",
            type(frame).__name__,
            "collect a lazy one, or read it with one of them",
        ) from None
    except narwhals.exceptions.DuplicateError as error:
        raise InvalidInput(
            "the columns of a frame must have different names",
            " ".join(str(error).split()),
            "rename or drop some",
        ) from None
    if not set(names) <= set(columns):
        raise InvalidInput(
            f"the frame must have the columns {', '.join(names)}",
            ", ".join(columns) or "none",
            "name its columns with item=, question=, answer= (reset_index makes an index a column)",
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
    narwhals = _narwhals()
    try:
        frame = narwhals.from_dict(dict(columns), backend=backend)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"a frame of {backend} needs that package", "none", f"pip install {backend}"
        ) from error
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"a column of {backend} must hold values of one type",
            str(error).splitlines()[0],
            "name all items by texts, or take a frame of pandas",
        ) from error
    # Without a value a column has no type of its own, and could not be stacked on another run's.
    empty = [name for name, column in columns.items() if all(value is None for value in column)]
    typed = [narwhals.col(name).cast(narwhals.Float64) for name in empty]
    return frame.with_columns(typed).to_native()


def _narwhals() -> ModuleType:
    try:
        import narwhals
    except ImportError as error:
        raise MissingExtra(
            "data frames need narwhals", "none", "pip install 'askfew[frames]'"
        ) from error
    return narwhals
