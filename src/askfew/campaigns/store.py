"""A store: campaigns in one database."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db import migrations
from askfew.campaigns.db.database import Database, Joined
from askfew.campaigns.db.queries.campaigns import (
    find_campaign,
    insert_campaign,
    name_of,
    names,
)
from askfew.campaigns.db.queries.contents import insert_contents
from askfew.campaigns.db.queries.slots import is_waiting
from askfew.campaigns.db.queries.steps import NewStep
from askfew.campaigns.forecast import CrowdForecast
from askfew.campaigns.inputs import Inputs, new_session
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.lease import LeaseId
from askfew.campaigns.steps.advance import Advancer
from askfew.campaigns.steps.log import open_step
from askfew.campaigns.steps.reuse import check_fresh, fill_step, reused_campaign
from askfew.errors import InvalidInput, StoreOutdated
from askfew.log import Log
from askfew.records import Problem

__all__ = ["Store"]


class Store:
    """Campaigns by name, on ``sqlite:///FILE`` or ``postgresql+psycopg://...``.

    An empty database gets its tables; one of another version is refused until it is upgraded. All
    times are read from the store's own ``clock`` (see ``Database.now``).
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
        """Create a campaign with its first step open, in one transaction.

        With ``reuse``, it begins with the answers of that older campaign (see ``steps.reuse``). A
        ``forecast`` is stored, so that status can compare the campaign with it.
        """
        _check_ids("items", items)
        _check_ids("questions", questions)
        problem = Problem(len(items), len(questions), settings.answers)
        log, inputs = Log(problem), Inputs.of(items, questions)
        # Outside the transaction: the first Batch may take a while, and writers would wait.
        first = new_session(settings, log, inputs).ask()
        now = self.clock()
        with self.database.write() as connection:
            # Within the transaction: the older campaign must not gain answers between check and
            # use.
            old = None if reuse is None else reused_campaign(connection, reuse, settings)
            if old is not None and settings.rule is not None:
                check_fresh(connection, settings.rule, old, str(reuse))
            campaign = insert_campaign(
                connection,
                name=settings.name,
                settings=json.dumps(settings.to_dict()),
                recipe=json.dumps({**log.recipe, "texts": inputs.texts}),
                state="running",
                created=now,
                reused=old,
                forecast=None if forecast is None else forecast.to_json(),
            )
            insert_contents(connection, campaign, items, questions)
            if first is not None:
                open_step(connection, NewStep(campaign, 0, first, log.pending, now))
                if old is not None:
                    fill_step(connection, campaign, 0, old, settings)
            # Reused answers may fill several steps in a row; these too are opened and closed in
            # this transaction.
            advancer = Advancer(Joined(connection), campaign, settings, problem)
            while not is_waiting(connection, campaign) and advancer.advance(now):
                pass
        return self.campaign(settings.name)

    def campaign(self, name: str) -> Campaign:
        """The campaign with that name."""
        with self.database.read() as connection:
            row = find_campaign(connection, name)
        if row is None:
            raise InvalidInput(
                f"a campaign of this store must be one of: {', '.join(self.names()) or '(none)'}",
                repr(name),
                "check its name",
            )
        settings = Settings.from_store(row.settings_dict)
        return Campaign(self.database, row.id, settings, self.clock)

    def campaign_of(self, lease: str) -> Campaign | None:
        """The campaign that a lease belongs to; None if there is none."""
        parsed = LeaseId.parse(lease)
        if parsed is None:
            return None
        with self.database.read() as connection:
            name = name_of(connection, parsed.campaign)
        return None if name is None else self.campaign(name)

    def names(self) -> list[str]:
        """The names of all campaigns, oldest first."""
        with self.database.read() as connection:
            return names(connection)

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    def _check_version(self) -> None:
        latest = migrations.latest_version()
        # Most stores have their tables: reading the version waits for no writer.
        with self.database.read() as connection:
            version = migrations.version_of(connection)
        if version is None:
            with self.database.write() as connection:
                migrations.upgrade(connection)
        elif version != latest:
            error = StoreOutdated(
                f"the store's tables must be of version {latest}",
                version,
                "run 'askfew doctor', then 'askfew store upgrade', or use the askfew that wrote it",
            )
            error.version, error.latest = version, latest
            raise error


def _check_ids(what: str, named: Sequence[Item] | Sequence[Question]) -> None:
    ids = [each.id for each in named]
    # The loop below is quadratic, so it runs only if there is something to find.
    if len(set(ids)) < len(ids):
        twice = next(each for number, each in enumerate(ids) if each in ids[:number])
        raise InvalidInput(f"the ids of {what} must differ", f"{twice!r} twice", "rename one")
