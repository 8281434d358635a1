"""Processes that let language models answer share their limits a minute, on any machine."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Nobody has called in the last minute."""
    op.create_table(
        "calls",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
