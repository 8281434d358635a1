"""Open the store that a command names, and say in a sentence why that does not work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from typer import Argument, Option

from askfew.campaigns.db.engine import file_of, shown_url
from askfew.campaigns.db.failures import DATABASE_ERRORS, driver_words
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
            f"{shown_url(url)} ({problem})",
            "see what 'askfew doctor' says, and go on from a backup",
        ) from error


@contextmanager
def translate_database_errors(url: str) -> Iterator[None]:
    """What the database does not like about the address, as a sentence without passwords."""
    try:
        yield
    except DATABASE_ERRORS as error:
        raise InvalidInput(
            "the store must be a database of askfew's",
            f"{shown_url(url)} ({driver_words(error)})",
            "check the address",
        ) from error


def check_there(url: str) -> None:
    """Refuse a file that is not there: SQLite would create an empty one, to be found later."""
    file = file_of(url)  # of another address the store itself says what is wrong with it
    if file is not None and not os.path.exists(file):
        raise InvalidInput(
            "the store must be there",
            f"no file {file}",
            "create a campaign first, or name its store (--store URL, or ASKFEW_STORE)",
        )
