"""One link for a person, whatever they are invited to; open links, flags, gold questions, names.

A link that was made before opens the one campaign that it was made for, as it always did.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Move the links of old invitations to a table of their own; all of them keep working."""
    op.add_column("campaigns", sa.Column("names", sa.Text(), nullable=True))
    connection = op.get_bind()
    # Read before the table is dropped and made anew.
    invited = [
        {**row, "signed_up": False}
        for row in connection.execute(
            sa.text("SELECT campaign, worker, hash, created, expires, revoked FROM invitations")
        ).mappings()
    ]
    op.drop_table("invitations")
    invitations = op.create_table(
        "invitations",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=200), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("revoked", sa.Double(), nullable=True),
        sa.Column("signed_up", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"]),
        sa.PrimaryKeyConstraint("campaign", "worker"),
    )
    links = op.create_table(
        "links",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("worker", sa.String(length=200), nullable=False),
        sa.Column("campaign", sa.Integer(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"]),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_index("ix_links_worker", "links", ["worker"])
    op.create_table(
        "open_links",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("most", sa.Integer(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"]),
        sa.PrimaryKeyConstraint("campaign"),
        sa.UniqueConstraint("hash"),
    )
    op.create_table(
        "flags",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=200), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"]),
        sa.PrimaryKeyConstraint("campaign", "item", "worker"),
    )
    op.create_table(
        "gold",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=200), nullable=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("question", sa.Integer(), nullable=False),
        sa.Column("lease", sa.String(length=64), nullable=False),
        sa.Column("asked", sa.Double(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("cost", sa.Double(), nullable=True),
        sa.Column("told", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"]),
        sa.PrimaryKeyConstraint("campaign", "worker", "item", "question"),
        sa.UniqueConstraint("campaign", "lease"),
    )
    if invited:
        _insert(invitations, ("campaign", "worker", "created", "revoked", "signed_up"), invited)
        _insert(links, ("hash", "worker", "campaign", "created", "expires"), invited)


def _insert(table: sa.Table, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    op.bulk_insert(table, [{key: row[key] for key in columns} for row in rows])
