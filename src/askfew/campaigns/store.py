"""A store: campaigns in one database."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence

from sqlalchemy import Connection, insert, select, text
from sqlalchemy.exc import IntegrityError

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db import migrations
from askfew.campaigns.db.database import Database, Joined
from askfew.campaigns.db.schema import (
    campaigns,
)
from askfew.campaigns.db.schema import (
    items as items_table,
)
from askfew.campaigns.db.schema import (
    questions as questions_table,
)
from askfew.campaigns.folder.pictures import media_type
from askfew.campaigns.forecast import CrowdForecast
from askfew.campaigns.inputs import Inputs, new_session
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.intake import nothing_unsettled
from askfew.campaigns.steps.advance import Advancer
from askfew.campaigns.steps.log import open_step
from askfew.campaigns.steps.reuse import reused_campaign
from askfew.campaigns.steps.taught import check_fresh
from askfew.errors import InvalidInput
from askfew.log import Log
from askfew.records import Problem

__all__ = ["Store", "insert_image"]


class Store:
    """Campaigns by name, on ``sqlite:///FILE`` or ``postgresql+psycopg://...``.

    An empty database gets its tables; one of another version is refused until it is upgraded. All
    times are by the store's own ``clock`` (see ``Database.now``), whoever writes them.
    """

    def __init__(self, url: str, *, clock: Callable[[], float] | None = None) -> None:
        self.database = Database(url)
        self.clock = clock or self.database.now
        try:
            self._check_version()
        except BaseException:
            self.close()
            raise

    @staticmethod
    def upgrade(url: str) -> tuple[str | None, str]:
        """Bring a store to this askfew's version; returns the version before and after."""
        database = Database(url)
        try:
            with database.write() as connection:
                before = migrations.version_of(connection)
                migrations.upgrade(connection)
        finally:
            database.close()
        return before, migrations.latest_version()

    def create(
        self,
        settings: Settings,
        items: Sequence[Item],
        questions: Sequence[Question],
        *,
        reuse: str | None = None,
        forecast: CrowdForecast | None = None,
    ) -> Campaign:
        """A new campaign with its first step open; all of it or nothing is created.

        With ``reuse``, it begins with the answers of that older campaign (see ``reuse.py``), in
        the same transaction. A ``forecast`` is kept, for its status to be held against it.
        """
        _check_ids("items", items)
        _check_ids("questions", questions)
        problem = Problem(len(items), len(questions), settings.answers)
        log, inputs = Log(problem), Inputs.of(items, questions)
        first = new_session(settings, problem, log, inputs).ask()
        now = self.clock()
        try:
            with self.database.write() as connection:
                old = None if reuse is None else reused_campaign(connection, reuse, settings)
                if old is not None and settings.rule is not None:
                    check_fresh(connection, settings.rule, old, str(reuse))
                campaign = connection.execute(
                    insert(campaigns)
                    .values(
                        name=settings.name,
                        settings=json.dumps(settings.to_dict()),
                        recipe=json.dumps({**log.recipe, "texts": inputs.texts}),
                        state="running",
                        created=now,
                        reused=old,
                        forecast=None if forecast is None else forecast.to_json(),
                    )
                    .returning(campaigns.c.id)
                ).scalar_one()
                _insert_items(connection, campaign, items)
                _insert_questions(connection, campaign, questions)
                if first is not None:
                    open_step(connection, campaign, 0, first, log.pending, now)
                # Reused answers may fill several steps in a row.
                advancer = Advancer(Joined(connection), campaign, settings, problem)
                while nothing_unsettled(connection, campaign) and advancer.advance(now):
                    pass
        except IntegrityError:
            if settings.name not in self.names():
                raise
            raise InvalidInput(
                "a campaign's name must be new in its store",
                repr(settings.name),
                "choose another name, or another store",
            ) from None
        return self.campaign(settings.name)

    def campaign(self, name: str) -> Campaign:
        """The campaign of that name."""
        with self.database.read() as connection:
            row = connection.execute(
                select(campaigns.c.id, campaigns.c.settings).where(campaigns.c.name == name)
            ).one_or_none()
        if row is None:
            raise InvalidInput(
                f"a campaign of this store must be one of: {', '.join(self.names()) or '(none)'}",
                repr(name),
                "check its name",
            )
        settings = Settings.from_dict(json.loads(row.settings))
        return Campaign(self.database, row.id, settings, self.clock)

    def names(self) -> list[str]:
        """All campaigns, oldest first."""
        with self.database.read() as connection:
            return list(
                connection.execute(select(campaigns.c.name).order_by(campaigns.c.id)).scalars()
            )

    def close(self) -> None:
        """Give back all connections."""
        self.database.close()

    def _check_version(self) -> None:
        latest = migrations.latest_version()
        with self.database.read() as connection:
            version = migrations.version_of(connection)
        if version is None:
            with self.database.write() as connection:
                migrations.upgrade(connection)
        elif version != latest:
            raise InvalidInput(
                f"the store's tables must be of version {latest}",
                version,
                "run 'askfew store upgrade', or use the askfew that wrote it",
            )


def _check_ids(what: str, named: Sequence[Item] | Sequence[Question]) -> None:
    ids = [each.id for each in named]
    if len(set(ids)) < len(ids):
        twice = next(each for number, each in enumerate(ids) if each in ids[:number])
        raise InvalidInput(f"the ids of {what} must differ", f"{twice!r} twice", "rename one")


def _insert_items(connection: Connection, campaign: int, items: Sequence[Item]) -> None:
    rows = []
    for number, item in enumerate(items):
        image = None if item.image is None else insert_image(connection, item.image)
        row = {"campaign": campaign, "number": number, "id": item.id, "text": item.text}
        rows.append({**row, "image": image, "group": item.group or None})
    connection.execute(insert(items_table), rows)


def _insert_questions(connection: Connection, campaign: int, questions: Sequence[Question]) -> None:
    connection.execute(
        insert(questions_table),
        [
            {
                "campaign": campaign,
                "number": number,
                "id": question.id,
                "text": question.text,
                "defines": question.defines,
            }
            for number, question in enumerate(questions)
        ],
    )


_KEEP_IMAGE = text(
    "INSERT INTO images (hash, kind, content) VALUES (:hash, :kind, :content)"
    " ON CONFLICT DO NOTHING"
)


def insert_image(connection: Connection, content: bytes) -> str:
    """Pictures are kept by their hash, once."""
    digest = hashlib.sha256(content).hexdigest()
    kind = media_type(content)
    connection.execute(_KEEP_IMAGE, {"hash": digest, "kind": kind, "content": content})
    return digest
