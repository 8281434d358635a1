"""A campaign keeps the forecast that was made when it was created."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Campaigns that are there already have none."""
    op.add_column("campaigns", sa.Column("forecast", sa.Text(), nullable=True))
