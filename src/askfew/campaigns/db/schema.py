"""The tables of a store. Alembic's migrations create them, and must result in this schema.

Times are seconds since the epoch. Arrays are kept as little-endian bytes, exactly as they were
asked and told: the log is the state, and replay compares every bit of it.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

__all__ = [
    "answers",
    "calls",
    "campaigns",
    "flags",
    "gold",
    "images",
    "invitations",
    "items",
    "links",
    "metadata",
    "open_links",
    "owner_token",
    "questions",
    "refusals",
    "sessions",
    "slots",
    "steps",
    "workers",
]


def _partial(name: str, *columns: str, where: str) -> Index:
    """An index of some rows; only queries that have ``where`` in the same words can use it."""
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))


metadata = MetaData()

campaigns = Table(
    "campaigns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(80), nullable=False, unique=True),
    Column("settings", Text, nullable=False),
    Column("recipe", Text, nullable=False),
    Column("state", String(10), nullable=False),
    Column("outcome", Text),
    Column("created", Double, nullable=False),
    Column("reused", Integer, ForeignKey("campaigns.id")),
    Column("forecast", Text),
    # The plans made after the last step, as in ``steps.plans``.
    Column("closing", LargeBinary),
    # When it was imported from another store. That its plans were made before the answers came is
    # then only attested by the exporter.
    Column("imported", Double),
    # The owner's names of the groups, as JSON, by the method's own names.
    Column("names", Text),
)

# By hash, so that a picture of several items or campaigns is stored once.
images = Table(
    "images",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("content", LargeBinary, nullable=False),
)

items = Table(
    "items",
    metadata,
    Column("campaign", Integer, ForeignKey("campaigns.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("id", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("image", String(64), ForeignKey("images.hash")),
    # Of an anchor: the name of its group, which the owner knows.
    Column("group", Text),
    PrimaryKeyConstraint("campaign", "number"),
    UniqueConstraint("campaign", "id"),
)

questions = Table(
    "questions",
    metadata,
    Column("campaign", Integer, ForeignKey("campaigns.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("id", Text, nullable=False),
    Column("text", Text, nullable=False),
    # Whether it defines the split.
    Column("defines", Boolean),
    PrimaryKeyConstraint("campaign", "number"),
    UniqueConstraint("campaign", "id"),
)

workers = Table(
    "workers",
    metadata,
    Column("campaign", Integer, ForeignKey("campaigns.id"), nullable=False),
    Column("name", String(200), nullable=False),
    Column("joined", Double, nullable=False),
    Column("seen", Double, nullable=False),
    Column("revoked", Double),
    # The step they last got a slot from, and whether that slot was about a reference.
    Column("step", Integer),
    Column("reference", Boolean),
    PrimaryKeyConstraint("campaign", "name"),
)

steps = Table(
    "steps",
    metadata,
    Column("campaign", Integer, ForeignKey("campaigns.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("items", LargeBinary, nullable=False),
    Column("questions", LargeBinary, nullable=False),
    Column("repeats", LargeBinary, nullable=False),
    # What a guess decided before the Batch was asked (askfew.plans), as JSON; NULL: no plans.
    Column("plans", LargeBinary),
    Column("why", Text, nullable=False),
    # The Snapshot of the method before this step (queries.steps.pack); NULL: none.
    Column("phase", Text),
    Column("known", LargeBinary),
    Column("opened", Double, nullable=False),
    Column("closed", Double),
    Column("counts", LargeBinary),
    Column("sums", LargeBinary),
    Column("squares", LargeBinary),
    Column("seal", String(64)),
    PrimaryKeyConstraint("campaign", "number"),
)

slots = Table(
    "slots",
    metadata,
    Column("campaign", Integer, nullable=False),
    Column("step", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("row", Integer, nullable=False),
    Column("item", Integer, nullable=False),
    Column("question", Integer, nullable=False),
    Column("reference", Boolean, nullable=False),
    Column("state", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("worker", String(200)),
    Column("lease", String(64)),
    Column("expires", Double),
    # The answer's value, also in ``answers``: closing a step reads its slots only.
    Column("value", Double),
    PrimaryKeyConstraint("campaign", "step", "number"),
    ForeignKeyConstraint(["campaign", "step"], ["steps.campaign", "steps.number"]),
    # Small indexes of waiting slots only: the open ones in the order they are handed out, the
    # leased ones in the order they expire. Any further index would be written twice per answer.
    _partial("slots_open", "campaign", "step", "number", where="state = 0"),
    _partial("slots_leased", "campaign", "expires", where="state = 1"),
    _partial(
        "slots_by_worker", "campaign", "worker", "item", "question", where="worker IS NOT NULL"
    ),
)

answers = Table(
    "answers",
    metadata,
    Column("id", String(64), nullable=False),
    Column("campaign", Integer, nullable=False),
    Column("step", Integer, nullable=False),
    Column("slot", Integer, nullable=False),
    Column("worker", String(200), nullable=False),
    Column("item", Integer, nullable=False),
    Column("question", Integer, nullable=False),
    Column("value", Double, nullable=False),
    Column("raw", Text, nullable=False),
    Column("seconds", Double),
    Column("cost", Double),
    Column("time", Double, nullable=False),
    Column("retracted", Boolean, nullable=False),
    # An id begins with these three numbers, so one index serves lookups by slot and by id.
    PrimaryKeyConstraint("campaign", "step", "slot", "id"),
    ForeignKeyConstraint(
        ["campaign", "step", "slot"], ["slots.campaign", "slots.step", "slots.number"]
    ),
    sqlite_with_rowid=False,  # the primary key is the table: one tree to write to, not two
)

refusals = Table(
    "refusals",
    metadata,
    Column("campaign", Integer, nullable=False),
    Column("step", Integer, nullable=False),
    Column("slot", Integer, nullable=False),
    Column("worker", String(200), nullable=False),
    Column("reason", Text, nullable=False),
    Column("time", Double, nullable=False),
    Index("refusals_by_slot", "campaign", "step", "slot", "worker"),
)

# Items that a worker reported as wrong in some way.
flags = Table(
    "flags",
    metadata,
    Column("campaign", Integer, ForeignKey("campaigns.id"), nullable=False),
    Column("item", Integer, nullable=False),
    Column("worker", String(200), nullable=False),
    Column("reason", Text, nullable=False),
    Column("time", Double, nullable=False),
    PrimaryKeyConstraint("campaign", "item", "worker"),
)

# Gold questions: about anchors, shown among the others. No method ever sees their answers.
gold = Table(
    "gold",
    metadata,
    Column("campaign", Integer, ForeignKey("campaigns.id"), nullable=False),
    Column("worker", String(200), nullable=False),
    Column("item", Integer, nullable=False),
    Column("question", Integer, nullable=False),
    Column("lease", String(64), nullable=False),
    Column("asked", Double, nullable=False),
    # NULL: not answered; if ``told`` is set, it was skipped.
    Column("value", Double),
    Column("seconds", Double),
    Column("cost", Double),
    Column("told", Double),
    PrimaryKeyConstraint("campaign", "worker", "item", "question"),
    UniqueConstraint("campaign", "lease"),
)

# Access to the web pages (web/access). Only the hash of a token is kept.
owner_token = Table(
    "owner_token",
    metadata,
    Column("id", Integer, primary_key=True),  # 1: there is one owner
    Column("hash", String(64), nullable=False),
    Column("created", Double, nullable=False),
)

# Which workers may answer in which campaign.
invitations = Table(
    "invitations",
    metadata,
    Column("campaign", Integer, ForeignKey("campaigns.id"), nullable=False),
    Column("worker", String(200), nullable=False),
    Column("created", Double, nullable=False),
    Column("revoked", Double),
    # Whether they signed up by the open link.
    Column("signed_up", Boolean, nullable=False),
    PrimaryKeyConstraint("campaign", "worker"),
)

# The token by which a worker logs in: one for all campaigns that they are invited to.
links = Table(
    "links",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("worker", String(200), nullable=False, index=True),
    # Set for links that an older askfew made: they open this campaign only.
    Column("campaign", Integer, ForeignKey("campaigns.id")),
    Column("created", Double, nullable=False),
    Column("expires", Double, nullable=False),
)

# A link by which anybody may sign up for a campaign, until ``most`` have.
open_links = Table(
    "open_links",
    metadata,
    Column("campaign", Integer, ForeignKey("campaigns.id"), primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("most", Integer, nullable=False),
    Column("created", Double, nullable=False),
    Column("expires", Double, nullable=False),
)

# Calls to language models in the last minute (queries/calls).
calls = Table(
    "calls",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("time", Double, nullable=False),
    Column("tokens", Integer, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("hash", String(64), primary_key=True),
    # The hash of the token it was opened with: the session is valid as long as the token is.
    Column("token", String(64), nullable=False),
    Column("expires", Double, nullable=False),
)
