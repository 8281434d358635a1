"""A number that cannot be squared: refused at the door, and harmless where it got in before."""

import pytest
from sqlalchemy import select, update

from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.db.schema import answers, slots
from askfew.campaigns.doctor.examine import examine_store, mend
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.errors import InvalidTally
from campaign_tools import answer_all, answers_of, items, questions

HUGE = 1e200


def measured(store: Store, name: str = "lab", reuse: str | None = None) -> Campaign:
    settings = {"name": name, "delta": 0.1, "answers_per_worker_and_cell": 10_000}
    return store.create(
        Settings.from_dict({**settings, "answers": {"number": {"sigma": 1.0}}, "seed": 3}),
        items(6),
        questions(3),
        reuse=reuse,
    )


def height(asked: Assignment) -> float:
    return 3.0 * (int(asked.item.id[1:]) % 2)


def plant(campaign: Campaign, lease: str, value: float = HUGE) -> None:
    """As an older askfew would have accepted it."""
    _, step, slot, _ = lease.split("-")
    where = {"campaign": campaign.id, "step": int(step)}
    with campaign.database.write() as connection:
        for table, number in ((slots, slots.c.number), (answers, answers.c.slot)):
            here = [table.c[name] == of for name, of in where.items()]
            connection.execute(update(table).where(*here, number == int(slot)).values(value=value))


def poisoned(store: Store) -> Campaign:
    """A campaign whose open step holds such an answer, with one question left to be told."""
    campaign = measured(store)
    *most, _ = campaign.ask("ann", 1000)
    for each in most:
        assert campaign.tell(each.id, height(each)).ok
    plant(campaign, most[0].id)
    return campaign


def held(campaign: Campaign) -> str:
    """The lease that has not been told."""
    with campaign.database.read() as connection:
        leased = select(slots.c.lease).where(slots.c.campaign == campaign.id, slots.c.state == 1)
        return str(connection.execute(leased).scalar_one())


def freeze(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """Close the step with it, as an older askfew would have."""
    with monkeypatch.context() as older:
        older.setattr("askfew.campaigns.steps.advance.empty_impossible", lambda *_: 0)
        with pytest.raises(InvalidTally):
            campaign.tell(held(campaign), 0.0)


@pytest.mark.parametrize("answer", [HUGE, -HUGE, "1e51", 10**60])
def test_it_is_refused_with_the_largest_magnitude_in_the_sentence(
    store: Store, answer: object
) -> None:
    campaign = measured(store)
    (asked,) = campaign.ask("ann")
    receipt = campaign.tell(asked.id, answer)
    assert receipt.status == "invalid"
    assert "an answer must be a number from -1e+50 to 1e+50, got" in receipt.message
    assert campaign.tell(asked.id, 1e50).ok


def test_the_largest_answers_of_all_do_not_end_a_campaign(store: Store) -> None:
    campaign = measured(store)
    answer_all(campaign, answer=lambda asked: 1e50 * (-1) ** int(asked.item.id[1:]))
    assert campaign.state == "ended"
    assert examine_store(store.database).sound


def test_a_step_that_holds_one_closes_without_it(store: Store) -> None:
    campaign = poisoned(store)
    assert campaign.tell(held(campaign), 0.0).ok
    answer_all(campaign, "bob", height)
    assert campaign.state == "ended"
    assert sum(row.retracted for row in answers_of(campaign)) == 1
    assert examine_store(store.database).sound


@pytest.mark.parametrize("frozen", [False, True])
def test_doctor_names_and_mends_it(
    store: Store, frozen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = poisoned(store)
    if frozen:
        freeze(campaign, monkeypatch)
    (verdict,) = examine_store(store.database).campaigns
    assert any("says 1e+200, which is not among numbers" in each for each in verdict.problems)
    assert verdict.mendable == 1
    assert mend(store.database) == {"lab": 1}
    assert mend(store.database) == {}
    found = examine_store(store.database)
    assert found.sound, found
    if not frozen:
        assert campaign.tell(held(campaign), 0.0).ok
    answer_all(store.campaign("lab"), "bob", height)
    assert campaign.state == "ended"
    assert examine_store(store.database).sound


def test_reuse_leaves_it_out_and_is_all_or_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    freeze(poisoned(store), monkeypatch)
    new = measured(store, "new", reuse="lab")
    assert max(abs(row.value) for row in answers_of(new)) <= 3
    assert examine_store(store.database).campaigns[1].sound

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    answer_all(new, "bob", height)
    monkeypatch.setattr("askfew.campaigns.steps.advance.close_step", broken)
    with pytest.raises(ZeroDivisionError):
        measured(store, "another", reuse="new")
    assert store.names() == ["lab", "new"]
