"""All processes with language models share their limits per minute, on any machine."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add an empty table: nobody has called in the last minute."""
    op.create_table(
        "calls",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
