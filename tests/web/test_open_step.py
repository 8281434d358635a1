"""Values of an open step are shown to nobody: whatever they are, every page and answer is the same.

Whoever saw them could decide what becomes of the step: whom to revoke, what to import, when to end.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from fastapi.routing import APIRoute
from sqlalchemy import text
from starlette.testclient import TestClient

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.tallies import tallies_of
from askfew.campaigns.slots.states import SlotState
from askfew.campaigns.store import Store
from askfew.web.api.answering import router as api_answering
from askfew.web.api.campaigns import router as api_campaigns
from askfew.web.api.owning import _EXPORTS
from askfew.web.api.owning import router as api_invitations
from askfew.web.api.owning import router as api_owning
from askfew.web.pages import answering, home
from askfew.web.pages.dashboard.router import router as dashboard
from campaign_tools import answers_of, frugal, states
from web_site import Site

ROUTERS = [
    *(("/api/v1", each) for each in (api_answering, api_campaigns, api_invitations, api_owning)),
    *(("", each) for each in (answering.router, dashboard, home.router)),
]
STORED = "campaign"
"""The format that is the store itself, to go on elsewhere: nothing can be left out of it."""


@pytest.fixture
def campaign(store: Store) -> Campaign:
    """Half way through a step of labels, where every worker has answered some cells before."""
    campaign = frugal(store, rows=12, columns=2)
    for number in range(10_000):
        (asked,) = campaign.ask(("ann", "bob", "cid")[number % 3])
        item, errs = int(asked.item.id[1:]), number % 11 == 0
        campaign.tell(asked.id, (item % 2 == 0) != errs)
        status = campaign_step(campaign)
        if status[0] >= 4 and status[1] >= 6 and status[2]:
            return campaign
    raise AssertionError("there is no such step")


def campaign_step(campaign: Campaign) -> tuple[int, int, bool]:
    """The newest step, its answers, and whether labels are known."""
    with campaign.database.read() as connection:
        number, phase = connection.execute(
            text("SELECT number, phase FROM steps ORDER BY number DESC LIMIT 1")
        ).one()
    here = states(campaign, number)
    waits = SlotState.OPEN in here
    decided = phase == "label"
    return number, here.count(SlotState.ANSWERED) if waits else 0, decided


def flip(campaign: Campaign) -> None:
    """Everybody says the contrary in the open step, behind everybody's back."""
    newest = "(SELECT max(number) FROM steps)"
    with campaign.database.write() as connection:
        for table, where in (("slots", "value IS NOT NULL AND "), ("answers", "")):
            changed = connection.execute(
                text(f"UPDATE {table} SET value = 1 - value WHERE {where} step = {newest}")
            )
            assert changed.rowcount >= 6


def looks(site: Site, campaign: Campaign) -> Iterator[tuple[TestClient, str]]:
    """Everything that can be fetched about the campaign, by the owner and by a worker."""
    about = [
        f"{prefix}{route.path.replace('{name}', campaign.settings.name)}"
        for prefix, router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute) and route.methods == {"GET"}
        if "{" not in route.path.replace("{name}", "")
    ]
    assert len(about) > 10
    kinds = [kind for kind in _EXPORTS if kind != STORED]
    about += [
        f"{path}?format={kind}" for path in about if path.endswith("/export") for kind in kinds
    ]
    for client in (site.owner, site.worker(campaign, "ann")):
        for path in about:
            yield client, path


def seen(store: Store, campaign: Campaign) -> dict[tuple[int, str], bytes]:
    site = Site(store)
    found = {}
    for number, (client, path) in enumerate(looks(site, campaign)):
        response = client.get(path, follow_redirects=False)
        assert response.status_code < 500, (path, response.text)
        found[number, path] = response.content
    return found


def test_whatever_is_said_in_an_open_step_everything_looks_the_same(
    store: Store, campaign: Campaign
) -> None:
    before = seen(store, campaign)
    flip(campaign)
    after = seen(store, campaign)
    assert [each for each in before if before[each] != after[each]] == []


def test_who_agrees_is_said_by_closed_steps(store: Store, campaign: Campaign) -> None:
    """The people table shows how much somebody has answered, but not yet what."""
    labels = [number % 2 for number in range(12)]
    before = tallies_of(campaign, np.array(labels))
    assert set(before.agreement) == {"ann", "bob", "cid"}
    flip(campaign)
    after = tallies_of(campaign, np.array(labels))
    assert (after.agreement, after.questions) == (before.agreement, before.questions)
    assert int(after.by_item.sum()) == len(answers_of(campaign))
