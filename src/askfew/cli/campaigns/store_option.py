"""The option --store: open the store, or say in one sentence why that is not possible."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from typer import Argument, Option

from askfew.campaigns.db.connections import file_of, shown_url
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
    """Open the store at this address; create a missing one only if it may be ``new``."""
    if not new:
        check_there(url)
    with translate_database_errors(url):
        store = Store(url)
    try:
        yield store
    except AskfewError:
        raise
    except FAILURES as error:
        # A bug of ours, or a damaged store? Somebody who edited the store should hear about that.
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
    """Turn errors of the database into a sentence that shows no password."""
    try:
        yield
    except DATABASE_ERRORS as error:
        raise InvalidInput(
            "the store must be a database of askfew's",
            f"{shown_url(url)} ({driver_words(error)})",
            "check the address",
        ) from error


def check_there(url: str) -> None:
    """Raise an error if the file does not exist, because SQLite would create an empty one."""
    file = file_of(url)  # None if it is not a file; then opening the store says what is wrong
    if file is not None and not os.path.exists(file):
        raise InvalidInput(
            "the store must exist",
            f"no file {file}",
            "create a campaign first, or name its store (--store URL, or ASKFEW_STORE)",
        )
