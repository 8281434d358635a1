"""The command line: one command a file."""

from __future__ import annotations

import sys

import typer

from askfew import __version__
from askfew.cli.demo import demo
from askfew.cli.simulate import simulate
from askfew.errors import AskfewError, InvalidInput

__all__ = ["app", "main"]

app = typer.Typer(
    name="askfew",
    help="Sort items into groups from as few noisy, paid answers as possible, with a certificate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(simulate)


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
    """Run a command; what goes wrong is one sentence. Exit codes: 1 failed, 2 bad usage."""
    try:
        app()
    except AskfewError as error:
        typer.echo(f"askfew: {error}", err=True)
        sys.exit(2 if isinstance(error, InvalidInput) else 1)
