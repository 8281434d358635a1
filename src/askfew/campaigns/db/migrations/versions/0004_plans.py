"""Steps keep the plans that led to them; items may be anchors, questions may define the split.

The chain of seals now begins with a digest of what the campaign was given. Valid seals are
rewritten. From the first invalid one on they stay as they are, so that a change made by hand is
still found.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_PARTS = ("items", "questions", "repeats", "counts", "sums", "squares")


def upgrade() -> None:
    """Add the columns, empty for existing rows, and rewrite the seals."""
    op.add_column("steps", sa.Column("plans", sa.LargeBinary(), nullable=True))
    op.add_column("campaigns", sa.Column("closing", sa.LargeBinary(), nullable=True))
    op.add_column("campaigns", sa.Column("imported", sa.Double(), nullable=True))
    op.add_column("items", sa.Column("group", sa.Text(), nullable=True))
    op.add_column("questions", sa.Column("defines", sa.Boolean(), nullable=True))
    connection = op.get_bind()
    rows = connection.execute(sa.text("SELECT id, settings, recipe FROM campaigns")).all()
    for campaign, settings, recipe in rows:
        _reseal(connection, campaign, json.loads(settings)["answers"], json.loads(recipe))


def _reseal(connection: sa.Connection, campaign: int, kind: Any, recipe: object) -> None:
    old, new = "", _origin(connection, campaign, kind, recipe)
    steps = connection.execute(
        sa.text(
            f"SELECT number, seal, {', '.join(_PARTS)} FROM steps"
            " WHERE campaign = :campaign AND closed IS NOT NULL ORDER BY number"
        ),
        {"campaign": campaign},
    ).all()
    for step in steps:
        content = b"".join(bytes(getattr(step, part) or b"") for part in _PARTS)
        old = hashlib.sha256(old.encode() + content).hexdigest()
        if old != step.seal:
            return
        new = hashlib.sha256(new.encode() + content).hexdigest()
        connection.execute(
            sa.text("UPDATE steps SET seal = :seal WHERE campaign = :campaign AND number = :step"),
            {"seal": new, "campaign": campaign, "step": step.number},
        )


def _origin(connection: sa.Connection, campaign: int, kind: Any, recipe: object) -> str:
    """The digest of what the campaign was given, as askfew computed it when this version came."""
    sizes = [
        connection.execute(
            sa.text(f"SELECT count(*) FROM {table} WHERE campaign = :campaign"),
            {"campaign": campaign},
        ).scalar_one()
        for table in ("items", "questions")
    ]
    match kind:
        case {"scale": [low, high]}:
            answers = f"Scale(low={float(low)!r}, high={float(high)!r})"
        case {"number": {"sigma": sigma}}:
            answers = f"Number(sigma={float(sigma)!r})"
        case _:
            answers = "YesNo()"
    problem = f"Problem(items={sizes[0]}, questions={sizes[1]}, answers={answers})"
    return hashlib.sha256(json.dumps([problem, recipe], sort_keys=True).encode()).hexdigest()
