"""What a campaign of 100 000 items costs the process that serves it, on PostgreSQL.

    python benchmarks/scale.py [--items 100000] [--questions 20] [--steps 3] [--write]

The campaign certifies items by a rule of three questions. Every step's answers are put into the
store by SQL, as if workers had told them; then one call closes the step, computes the next and
opens it. Counted is the CPU time of this process (the database has its own) for that call, for
``create``, for ``status``, for what the dashboard reads and for the report; and how much the
database grew for each answer. ``--write`` keeps the table in scale.md.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sqlalchemy import text

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.report import report_html
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.rule import Node, Rule
from askfew.web.pages.dashboard.view import details_of
from postgres import PrivatePostgres

T = TypeVar("T")

_ANSWER = """
UPDATE slots SET state = 2, worker = 'w' || (number % 97), expires = NULL,
    lease = campaign || '-' || step || '-' || number || '-00',
    value = CASE WHEN random() < 0.9 THEN item % 2 ELSE 1 - item % 2 END
WHERE state = 0
"""
_KEEP = """
INSERT INTO answers (id, campaign, step, slot, worker, item, question, value, raw, seconds, cost,
    time, retracted)
SELECT lease, campaign, step, number, worker, item, question, value, '', 5, 0, 0, false
FROM slots WHERE step = (SELECT max(number) FROM steps)
"""


def counted(lines: list[str], what: str, work: Callable[[], T]) -> T:
    """The result of ``work``, and a line about what it took here."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    lines.append(f"| {what} | {cpu:.2f} | {wall:.1f} |")
    print(lines[-1], flush=True)
    return result


def told(campaign: Campaign) -> int:
    """Answer all that is open; how many that were."""
    with campaign.database.write() as connection:
        count = connection.execute(text(_ANSWER)).rowcount
        connection.execute(text(_KEEP))
    return int(count)


def size(campaign: Campaign) -> int:
    """Bytes of the database."""
    with campaign.database.read() as connection:
        query = text("SELECT pg_database_size(current_database())")
        return int(connection.execute(query).scalar_one())


def measured(url: str, items: int, questions: int, steps: int) -> list[str]:
    """The table's lines."""
    lines: list[str] = []
    root = Node((0, 1, 2), (1.0, 1.0, 1.0), (0.5, 0.5, 0.5), (0,), (1,))
    rule = Rule(("q0", "q1", "q2"), root)
    settings = Settings(name="wide", error="share", max_answers=10**9, rule=rule)
    store = Store(url)
    things = [Item(f"i{number}") for number in range(items)]
    asked = [Question(f"q{number}", "?") for number in range(questions)]
    campaign = counted(lines, "create", lambda: store.create(settings, things, asked))
    before, answers = size(campaign), 0
    for number in range(steps):
        count = told(campaign)
        answers += count
        if not count:
            break
        counted(lines, f"advance after {count:,} answers, step {number}", campaign.catch_up)
    grown = (size(campaign) - before) / answers
    fresh = store.campaign("wide")
    counted(lines, "status", lambda: status_of(fresh))
    counted(lines, "the dashboard, all parts", lambda: details_of(fresh))
    page = counted(lines, "report", lambda: report_html(fresh))
    store.close()
    lines.append(f"\nThe report has {len(page) / 1e6:.1f} MB.")
    lines.append(f"The database grew by {grown:,.0f} bytes an answer (the open step's slots too).")
    return lines


def main() -> None:
    """Measure, print, and keep."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    said = f"--items {options.items} --questions {options.questions} --steps {options.steps}"
    text_ = (
        "# A campaign of many items on PostgreSQL\n\n"
        f"`python benchmarks/scale.py {said} --write` on Python {platform.python_version()}.\n"
        "CPU time of the serving process; the database's own is not in it.\n\n"
        "| what | CPU, s | wall, s |\n|---|---|---|\n"
    )
    with PrivatePostgres() as server:
        url = server.create_database("scale")
        lines = measured(url, options.items, options.questions, options.steps)
    print("\n".join(lines[-2:]))
    if options.write:
        Path(__file__).with_suffix(".md").write_text(text_ + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
