"""The command line. Each command is imported when it is used."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any, NoReturn

import typer

from askfew import __version__
from askfew.cli.commands import COMMANDS, Group
from askfew.errors import AskfewError, InvalidInput, StoreFull, shown

__all__ = ["app", "main"]


class _AllCommands(Group):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands.update(COMMANDS)


app = typer.Typer(
    name="askfew",
    cls=_AllCommands,
    help="Sort items into groups from as few noisy, paid answers as possible, with a certificate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"askfew {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: bool = typer.Option(
        False,
        "--version",
        callback=_print_version,
        is_eager=True,
        help="Print the version and exit.",
    ),
) -> None:
    """Options before the command."""


def main() -> None:
    """Run a command. An error is one sentence; exit code 1 is a failure, 2 is bad usage."""
    try:
        code = app(prog_name="askfew", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code)
    except StoreFull as error:
        _fail(str(error), 1)
    except AskfewError as error:
        _fail(str(error), 2 if isinstance(error, InvalidInput) else 1)
    except typer.TyperException as error:
        message = error.format_message().rstrip(".").replace(": Value error, ", ": ")
        message += _came(error) if ", got " not in message else ""
        if not message:  # the help was shown
            sys.exit(error.exit_code)
        context = getattr(error, "ctx", None)
        where = context.command_path if context is not None else "askfew"
        _fail(f"{message}: try '{where} --help'", error.exit_code)
    except typer.Abort:
        _fail("stopped", 1)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _discard_stdout()
        where = error.filename or "standard output, or a file"
        _fail(f"there must be room to write, got {error.strerror} ({where}): free some space", 1)


def _came(error: typer.TyperException) -> str:
    """What an option was given, which typer's message about a wrong type or range leaves out."""
    wrong = getattr(error.__cause__, "errors", None)
    return f", got {shown(wrong()[0]['input'])}" if wrong is not None else ""


def _discard_stdout() -> None:
    """Send buffered output to nowhere, or Python would fail to write it again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(sentence: str, code: int) -> NoReturn:
    typer.echo(f"askfew: {sentence}", err=True)
    sys.exit(code)
