"""A store and a server are the same desk to a worker."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from askfew.answer_warnings import ALONE, REPEATS, AnswerWarning
from askfew.answers import YesNo
from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.reading.independence import warnings_about
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput, StoreUnreachable
from askfew.workers.desk import Desk, StoreDesk
from askfew.workers.server_desk import ServerDesk
from campaign_tools import answer_all, answers_of, sweep
from servers import Served, serving, store_in

PICTURE = b"GIF89a, more or less"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with store_in(tmp_path_factory.mktemp("desks")) as opened:
        yield opened


@pytest.fixture(scope="module")
def served(store: Store) -> Iterator[Served]:
    with serving(store) as server:
        yield server


@pytest.fixture
def campaign(store: Store, request: pytest.FixtureRequest) -> Campaign:
    name = request.node.name.replace("[", " ").replace("]", "")
    settings = {"name": name[:80].strip(), "method": "spectral", "options": {"budget": 12}}
    return store.create(
        Settings.from_dict({**settings, "guidelines": "Look."}),
        [Item("first", image=PICTURE), *(Item(f"i{number}") for number in range(5))],
        [Question("q0", "Is it?"), Question("q1", "Was it?")],
    )


def invited(served: Served, campaign: Campaign, worker: str) -> str:
    """The token of a new link: the store is shared, and a worker keeps one link for all of it."""
    response = httpx2.post(
        f"{served.url}/api/v1/campaigns/{campaign.settings.name}/invitations",
        json={"worker": worker, "anew": True},
        headers={"Authorization": f"Bearer {served.owner}"},
    )
    return str(response.raise_for_status().json()["token"])


@pytest.fixture(params=["store", "owner at a server", "worker at a server"])
def desk(request: pytest.FixtureRequest, campaign: Campaign, served: Served) -> Iterator[Desk]:
    name = campaign.settings.name
    made: Desk
    if request.param == "store":
        made = StoreDesk(campaign, "ann")
    elif request.param.startswith("owner"):
        made = ServerDesk(served.url, served.owner, name, "ann")
    else:
        made = ServerDesk(served.url, invited(served, campaign, "ann"), name)
    yield made
    made.close()


def test_a_desk_describes_its_campaign(desk: Desk, campaign: Campaign) -> None:
    about = desk.describe()
    assert desk.worker == "ann"
    assert (about.name, about.answers) == (campaign.settings.name, YesNo())
    assert (about.guidelines, about.lease_seconds) == ("Look.", 600.0)
    assert about.question_ids == ("q0", "q1")


def test_questions_are_asked_told_skipped_released_and_renewed(desk: Desk) -> None:
    desk.describe()
    handed = desk.ask(6)
    assert (handed.state, len(handed.questions)) == ("running", 6)
    first, second, third, *_ = handed.questions
    assert desk.tell(first.id, 1.0, seconds=0.5, cost=0.25).status == "accepted"
    assert desk.tell(first.id, 1.0, seconds=0.5, cost=0.25).status == "already"
    assert desk.skip(second.id, "no idea").ok
    assert desk.renew(third.id).ok
    assert desk.release(third.id).ok
    assert desk.tell("999999-0-0-never", 1.0, seconds=None, cost=None).status == "unknown"
    assert desk.warnings() == ()


def test_only_the_store_and_the_owner_say_what_an_answer_cost(
    desk: Desk, campaign: Campaign, request: pytest.FixtureRequest
) -> None:
    desk.describe()
    (asked,) = desk.ask(1).questions
    assert desk.tell(asked.id, 1.0, seconds=None, cost=0.25).ok
    (row,) = answers_of(campaign)
    assert row.cost == (0.0 if "worker at a server" in request.node.name else 0.25)


def test_a_worker_hears_of_its_repeats(desk: Desk, store: Store, served: Served) -> None:
    name = f"repeats {len(store.names())}"
    campaign = sweep(store, rows=20, columns=6, each=4, answers_per_worker_and_cell=4, name=name)
    if isinstance(desk, ServerDesk):
        desk = ServerDesk(served.url, invited(served, campaign, "ann"), name)
    else:
        desk = StoreDesk(campaign, "ann")
    desk.describe()

    def stubborn(asked: Assignment) -> bool:
        item, question = int(asked.item.id[1:]), int(asked.question.id[1:])
        return (item % 2 == 0) != ((item * 7 + question * 3) % 8 == 0)

    answer_all(campaign, "ann", stubborn, n=100)
    assert desk.warnings() == warnings_about(campaign, "ann")
    assert [each.kind for each in desk.warnings()] == [REPEATS]
    desk.close()


def test_a_worker_hears_that_it_decides_alone(store: Store, served: Served) -> None:
    name = "decided alone"
    alone = sweep(store, rows=8, columns=2, each=4, answers_per_worker_and_cell=4, name=name)
    answer_all(alone, "ann", lambda asked: int(asked.item.id[1:]) % 2 == 0, n=100)
    expected = (AnswerWarning(ALONE, {"worker": "ann", "repeats": 48, "differ": 0.0}),)
    for desk in (
        StoreDesk(alone, "ann"),
        ServerDesk(served.url, served.owner, name, "ann"),
        ServerDesk(served.url, invited(served, alone, "ann"), name),
    ):
        desk.describe()
        assert desk.warnings() == expected
        desk.close()
    other = ServerDesk(served.url, served.owner, name, "bob")
    other.describe()
    assert other.warnings() == ()
    other.close()


def test_answers_end_the_campaign(desk: Desk, campaign: Campaign) -> None:
    desk.describe()
    while questions := desk.ask(20).questions:
        for each in questions:
            value = float(each.item.id in ("first", "i1"))
            assert desk.tell(each.id, value, seconds=None, cost=None).ok
    assert desk.ask(1).state == "ended"


def test_pictures_come_by_their_hash(desk: Desk) -> None:
    desk.describe()
    questions = [each for each in desk.ask(12).questions if each.item.image]
    digest = questions[0].item.image
    assert digest is not None
    assert desk.image(digest) == PICTURE
    with pytest.raises(InvalidInput):
        desk.image("0" * 64)


def test_a_revoked_worker_is_told_so(desk: Desk, campaign: Campaign) -> None:
    desk.describe()
    desk.ask(2)
    campaign.revoke("ann")
    with pytest.raises(InvalidInput, match="revoked"):
        desk.ask(2)


def test_what_is_wrong_with_a_server_is_one_sentence(
    served: Served, campaign: Campaign, tmp_path: Path
) -> None:
    name = campaign.settings.name
    token = invited(served, campaign, "ann")
    for desk, sentence in (
        (ServerDesk(served.url, "wrong", name, "ann"), "HTTP 401 .* check the token"),
        (ServerDesk(served.url, served.owner, "nothing", "ann"), "HTTP 404"),
        (ServerDesk(served.url, served.owner, name), "the owner must name a worker"),
        (ServerDesk(served.url, token, name, "bob"), "the token is for worker ann"),
        (ServerDesk(served.url + "/login#", served.owner, name, "ann"), "HTTP 404|of askfew's"),
        (ServerDesk("ftp://somewhere", served.owner, name, "ann"), "must begin with http"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            desk.describe()
        desk.close()


def test_a_server_that_is_away_is_worth_another_try() -> None:
    desk = ServerDesk("http://127.0.0.1:9", "token", "birds", "ann")
    with pytest.raises(
        StoreUnreachable, match=r"the server must answer, got http://127\.0\.0\.1:9"
    ):
        desk.describe()
    desk.close()
