"""The method's snapshot before a step is packed, and its phase gets its own column."""

from __future__ import annotations

import json
import zlib

import numpy as np
import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Pack the snapshots, one step at a time: all of them together may be large."""
    op.add_column("steps", sa.Column("phase", sa.Text(), nullable=True))
    # Under another name until the old column, which is a text, is gone.
    op.add_column("steps", sa.Column("packed", sa.LargeBinary(), nullable=True))
    connection = op.get_bind()
    here = sa.text("SELECT campaign, number FROM steps WHERE known IS NOT NULL")
    for campaign, number in connection.execute(here).all():
        place = {"campaign": campaign, "number": number}
        one = sa.text("SELECT known FROM steps WHERE campaign = :campaign AND number = :number")
        known = connection.execute(one, place).scalar_one()
        phase, packed = _packed(known)
        connection.execute(
            sa.text(
                "UPDATE steps SET phase = :phase, packed = :packed"
                " WHERE campaign = :campaign AND number = :number"
            ),
            {**place, "phase": phase, "packed": packed},
        )
    op.drop_column("steps", "known")
    op.alter_column("steps", "packed", new_column_name="known")


def _packed(text: str) -> tuple[str | None, bytes | None]:
    """Phase and packed snapshot, as askfew packed them when this version came.

    None for a broken snapshot: it is only used to show a past step.
    """
    try:
        known = json.loads(text)
        labels, evidence = np.array(known["labels"]).astype("<i2"), known.get("evidence")
        facts = {name: known.get(name) for name in ("threshold", "question", "expected")}
        facts |= {"items": len(labels), "evidence": evidence is not None}
        arrays = labels.tobytes() + np.array(evidence or []).astype("<f4").tobytes()
        head = json.dumps(facts).encode() + b"\n"
        return str(known["phase"]), zlib.compress(head + arrays, 1)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None, None
