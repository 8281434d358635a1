"""Open the store that a command names, and say in a sentence why that does not work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from typer import Argument, Option

from askfew.campaigns.doctor.examine import FAILURES, first_problem
from askfew.campaigns.store import Store
from askfew.errors import AskfewError, InvalidInput, StoreUnreachable

__all__ = [
    "DEFAULT_STORE",
    "Name",
    "StoreUrl",
    "check_there",
    "open_store",
    "translate_database_errors",
]

DEFAULT_STORE = "sqlite:///askfew.db"

StoreUrl = Annotated[
    str,
    Option(
        "--store",
        envvar="ASKFEW_STORE",
        metavar="URL",
        help="sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE.",
    ),
]
Name = Annotated[str, Argument(metavar="NAME", help="The campaign's name.", show_default=False)]


@contextmanager
def open_store(url: str, *, new: bool = False) -> Iterator[Store]:
    """The store at this address; only a ``new`` one may be created by looking."""
    if not new:
        check_there(url)
    with translate_database_errors(url):
        store = Store(url)
    try:
        yield store
    except AskfewError:
        raise
    except FAILURES as error:
        # Ours, or the store's? Whoever edited or lost a part of it should hear that.
        _check_sound(store, url, error)
        raise
    finally:
        store.close()


def _check_sound(store: Store, url: str, error: Exception) -> None:
    problem = first_problem(store.database)
    if problem is not None:
        raise StoreUnreachable(
            "the store must be sound",
            f"{make_url(url).render_as_string()} ({problem})",
            "see what 'askfew doctor' says, and go on from a backup",
        ) from error


@contextmanager
def translate_database_errors(url: str) -> Iterator[None]:
    """What the database does not like about the address, as a sentence without passwords."""
    try:
        yield
    except DBAPIError as error:
        raise InvalidInput(
            "the store must be a database of askfew's",
            f"{make_url(url).render_as_string()} ({str(error.orig).strip()})",
            "check the address",
        ) from error


def check_there(url: str) -> None:
    """Refuse a file that is not there: SQLite would create an empty one, to be found later."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return  # the store itself says what is wrong with it
    file = parsed.database if parsed.get_backend_name() == "sqlite" else None
    if file and file != ":memory:" and not os.path.exists(file):
        raise InvalidInput(
            "the store must be there",
            f"no file {file}",
            "create a campaign first, or name its store (--store URL, or ASKFEW_STORE)",
        )
