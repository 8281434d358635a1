"""The items, questions and pictures of a campaign. They never change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, insert, select, text

from askfew.campaigns.db.schema import images, items, questions
from askfew.campaigns.records import Item, Question, media_type

__all__ = [
    "ItemRow",
    "Picture",
    "QuestionRow",
    "anchors_by_campaign",
    "find_picture",
    "insert_contents",
    "insert_picture",
    "item_count",
    "item_counts",
    "items_of",
    "pictures_of",
    "question_count",
    "questions_of",
]

_KEEP_PICTURE = text(
    "INSERT INTO images (hash, kind, content) VALUES (:hash, :kind, :content)"
    " ON CONFLICT DO NOTHING"
)


@dataclass(frozen=True)
class ItemRow:
    """An item as it is stored; ``image`` is the hash of a picture, ``group`` is set for anchors."""

    number: int
    id: str
    text: str
    image: str | None
    group: str | None


@dataclass(frozen=True)
class QuestionRow:
    """A question as it is stored."""

    number: int
    id: str
    text: str
    defines: bool | None


@dataclass(frozen=True)
class Picture:
    """A picture, by the hash of its content."""

    hash: str
    kind: str
    """Its media type."""
    content: bytes = field(repr=False)


def insert_contents(
    connection: Connection, campaign: int, given: Sequence[Item], asked: Sequence[Question]
) -> None:
    """Insert items with their pictures, and questions, numbered in their order."""
    rows = []
    for number, item in enumerate(given):
        image = None if item.image is None else insert_picture(connection, item.image)
        row = {"campaign": campaign, "number": number, "id": item.id, "text": item.text}
        rows.append({**row, "image": image, "group": item.group or None})
    connection.execute(insert(items), rows)
    connection.execute(
        insert(questions),
        [
            {
                "campaign": campaign,
                "number": number,
                "id": question.id,
                "text": question.text,
                "defines": question.defines,
            }
            for number, question in enumerate(asked)
        ],
    )


def insert_picture(connection: Connection, content: bytes) -> str:
    """Store a picture and return its hash; the same picture is stored once."""
    # By its hash a picture is stored once, even if many items or campaigns show it.
    digest = hashlib.sha256(content).hexdigest()
    kept = {"hash": digest, "kind": media_type(content), "content": content}
    connection.execute(_KEEP_PICTURE, kept)
    return digest


def items_of(connection: Connection, campaign: int) -> list[ItemRow]:
    """All items, in their order."""
    columns = (items.c.number, items.c.id, items.c.text, items.c.image, items.c.group)
    ordered = select(*columns).where(items.c.campaign == campaign).order_by(items.c.number)
    return [ItemRow(*row) for row in connection.execute(ordered)]


def questions_of(connection: Connection, campaign: int) -> list[QuestionRow]:
    """All questions, in their order."""
    columns = (questions.c.number, questions.c.id, questions.c.text, questions.c.defines)
    here = questions.c.campaign == campaign
    rows = connection.execute(select(*columns).where(here).order_by(questions.c.number))
    return [QuestionRow(*row) for row in rows]


def item_count(connection: Connection, campaign: int) -> int:
    """How many items the campaign has."""
    query = select(func.count()).select_from(items).where(items.c.campaign == campaign)
    return connection.execute(query).scalar_one()


def question_count(connection: Connection, campaign: int) -> int:
    """How many questions the campaign has."""
    query = select(func.count()).select_from(questions).where(questions.c.campaign == campaign)
    return connection.execute(query).scalar_one()


def item_counts(connection: Connection) -> dict[int, int]:
    """How many items each campaign has."""
    query = select(items.c.campaign, func.count()).group_by(items.c.campaign)
    return {row[0]: row[1] for row in connection.execute(query)}


def anchors_by_campaign(connection: Connection) -> dict[int, set[int]]:
    """The numbers of the anchors, by campaign."""
    query = select(items.c.campaign, items.c.number).where(items.c.group.is_not(None))
    anchors: dict[int, set[int]] = {}
    for campaign, number in connection.execute(query):
        anchors.setdefault(campaign, set()).add(number)
    return anchors


def find_picture(connection: Connection, digest: str) -> Picture | None:
    """The picture with that hash, if there is one."""
    columns = (images.c.hash, images.c.kind, images.c.content)
    row = connection.execute(select(*columns).where(images.c.hash == digest)).one_or_none()
    return None if row is None else Picture(*row)


def pictures_of(connection: Connection, campaign: int) -> Iterator[Picture]:
    """All pictures of a campaign's items, ordered by hash."""
    # A subquery, not a list of hashes: there may be more items than parameters in a statement.
    wanted = select(items.c.image).where(items.c.campaign == campaign)
    columns = (images.c.hash, images.c.kind, images.c.content)
    query = select(*columns).where(images.c.hash.in_(wanted)).order_by(images.c.hash)
    return (Picture(*row) for row in connection.execute(query))
