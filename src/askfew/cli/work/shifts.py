"""Run shifts until they are done or somebody stops them, and say what they did."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict

import typer

from askfew.cli.output import notes, print_json, report
from askfew.workers.shift import Shift, Worked, first_error

__all__ = ["log_to_notes", "run_shifts", "say"]


def log_to_notes() -> None:
    """What workers log, on standard error."""
    handler = logging.StreamHandler(notes.file)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    logger = logging.getLogger("askfew.workers")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)


def run_shifts(
    shifts: Sequence[Shift], close: Callable[[], Awaitable[None]] | None = None
) -> list[Worked]:
    """All at once. Ctrl-C (or SIGTERM) lets them hand back what they hold, then aborts."""
    try:
        return asyncio.run(_together(shifts, close))
    except asyncio.CancelledError:
        raise typer.Abort from None


def say(
    worked: Sequence[Worked], more: Mapping[str, object], *, bill: str = "", json: bool
) -> None:
    """A line for each worker and the bill, or one JSON document with more in it."""
    if json:
        print_json({"workers": [asdict(each) for each in worked], **more})
        return
    for each in worked:
        parts = [f"{each.answered:,} answered"]
        if each.skipped:
            parts.append(f"{each.skipped:,} without an answer")
        if each.handed_back:
            parts.append(f"{each.handed_back:,} handed back")
        if each.refused:
            parts.append(f"{each.refused:,} too late")
        report.print(f"{each.worker}: {', '.join(parts)}; {each.ended}.", markup=False)
    if bill:
        report.print(bill, markup=False)


async def _together(
    shifts: Sequence[Shift], close: Callable[[], Awaitable[None]] | None
) -> list[Worked]:
    own = asyncio.current_task()
    assert own is not None
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, own.cancel)
    try:
        async with asyncio.TaskGroup() as together:
            tasks = [together.create_task(shift.run()) for shift in shifts]
    except BaseExceptionGroup as group:
        raise first_error(group) from None
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(each)
        if close is not None:
            await close()
    return [task.result() for task in tasks]
