"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create everything."""
    op.create_table(
        "campaigns",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("recipe", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("reused", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["reused"],
            ["campaigns.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "images",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_table(
        "refusals",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=200), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
    )
    op.create_index(
        "refusals_by_slot", "refusals", ["campaign", "step", "slot", "worker"], unique=False
    )
    op.create_table(
        "items",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("image", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign"],
            ["campaigns.id"],
        ),
        sa.ForeignKeyConstraint(
            ["image"],
            ["images.hash"],
        ),
        sa.PrimaryKeyConstraint("campaign", "number"),
        sa.UniqueConstraint("campaign", "id"),
    )
    op.create_table(
        "questions",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign"],
            ["campaigns.id"],
        ),
        sa.PrimaryKeyConstraint("campaign", "number"),
        sa.UniqueConstraint("campaign", "id"),
    )
    op.create_table(
        "steps",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("items", sa.LargeBinary(), nullable=False),
        sa.Column("questions", sa.LargeBinary(), nullable=False),
        sa.Column("repeats", sa.LargeBinary(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("known", sa.Text(), nullable=True),
        sa.Column("opened", sa.Double(), nullable=False),
        sa.Column("closed", sa.Double(), nullable=True),
        sa.Column("counts", sa.LargeBinary(), nullable=True),
        sa.Column("sums", sa.LargeBinary(), nullable=True),
        sa.Column("squares", sa.LargeBinary(), nullable=True),
        sa.Column("seal", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign"],
            ["campaigns.id"],
        ),
        sa.PrimaryKeyConstraint("campaign", "number"),
    )
    op.create_table(
        "workers",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("joined", sa.Double(), nullable=False),
        sa.Column("seen", sa.Double(), nullable=False),
        sa.Column("revoked", sa.Double(), nullable=True),
        sa.Column("step", sa.Integer(), nullable=True),
        sa.Column("reference", sa.Boolean(), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign"],
            ["campaigns.id"],
        ),
        sa.PrimaryKeyConstraint("campaign", "name"),
    )
    op.create_table(
        "slots",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("question", sa.Integer(), nullable=False),
        sa.Column("reference", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=200), nullable=True),
        sa.Column("lease", sa.String(length=64), nullable=True),
        sa.Column("expires", sa.Double(), nullable=True),
        sa.Column("value", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign", "step"],
            ["steps.campaign", "steps.number"],
        ),
        sa.PrimaryKeyConstraint("campaign", "step", "number"),
    )
    _partial_index("slots_open", ["campaign", "step", "number"], "state = 0")
    _partial_index("slots_leased", ["campaign", "expires"], "state = 1")
    _partial_index(
        "slots_by_worker", ["campaign", "worker", "item", "question"], "worker IS NOT NULL"
    )
    op.create_table(
        "answers",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=200), nullable=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("question", sa.Integer(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("cost", sa.Double(), nullable=True),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("retracted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign", "step", "slot"],
            ["slots.campaign", "slots.step", "slots.number"],
        ),
        sa.PrimaryKeyConstraint("campaign", "step", "slot", "id"),
        sqlite_with_rowid=False,
    )


def _partial_index(name: str, columns: list[str], where: str) -> None:
    only = sa.text(where)
    op.create_index(name, "slots", columns, sqlite_where=only, postgresql_where=only)
