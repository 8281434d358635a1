"""What a page gets when it asks for its next questions."""

from askfew.answers import Number, Scale, YesNo
from askfew.campaigns.store import Store
from askfew.web.access.invitations import new_link
from askfew.web.pages.answering import choices_for, may_hold
from campaign_tools import answers_of, sweep
from web_site import Site

NEXT = "/answer/sweep/next"


def test_a_page_may_hold_the_next_question_too_while_there_are_plenty(
    site: Site, store: Store
) -> None:
    ann = site.worker(sweep(store, 4, 2))
    came = ann.post(NEXT, json={"holding": []}).json()
    assert came["state"] == "running"
    assert len(came["questions"]) == 2
    held = [each["id"] for each in came["questions"]]
    assert ann.post(NEXT, json={"holding": held}).json()["questions"] == []


def test_nobody_holds_a_second_question_when_few_are_open(site: Site, store: Store) -> None:
    campaign = sweep(store, 3, 1)
    ann, bob = site.worker(campaign, "ann"), site.worker(campaign, "bob")
    campaign.ask("ann")
    campaign.ask("bob")  # two active workers, one open slot
    assert ann.post(NEXT, json={"holding": ["a"]}).json()["questions"] == []
    assert len(bob.post(NEXT, json={"holding": []}).json()["questions"]) == 1


def test_somebody_slow_takes_one_at_a_time_while_others_would_wait_for_the_second(
    site: Site, store: Store
) -> None:
    campaign = sweep(store, 30, 1)
    for name in ("ann", "bob", "cid"):
        site.worker(campaign, name)
        (asked,) = campaign.ask(name)
        campaign.tell(asked.id, 1, seconds=60.0 if name == "cid" else 5.0)
    # 27 are open: enough for two people at five seconds, but cid would take two minutes for two.
    assert [may_hold(campaign, name) for name in ("ann", "bob", "cid")] == [2, 2, 1]


def test_who_waits_is_told_the_truth(site: Site, store: Store) -> None:
    campaign = sweep(store, 3, 1)
    ann, bob = site.worker(campaign, "ann"), site.worker(campaign, "bob")
    held = campaign.ask("bob", 2)
    (asked,) = ann.post(NEXT, json={"holding": []}).json()["questions"]
    campaign.skip(asked["id"])
    waiting = ann.post(NEXT, json={"holding": []}).json()["waiting"]
    assert waiting == "1 open question, none that you may answer: more people are needed."
    campaign.tell(campaign.ask("cid")[0].id, True)
    waiting = ann.post(NEXT, json={"holding": []}).json()["waiting"]
    assert waiting.startswith("Others are answering the last 2 questions of this round.")
    campaign.release(held[0].id)
    came = ann.post(NEXT, json={"holding": []}).json()
    assert (len(came["questions"]), came["waiting"]) == (1, None)
    assert bob.post(NEXT, json={"holding": [held[1].id]}).json()["waiting"] is None


def test_questions_that_got_lost_on_their_way_come_again(site: Site, store: Store) -> None:
    ann = site.worker(sweep(store, 4, 2))
    first = ann.post(NEXT, json={"holding": []}).json()["questions"]
    again = ann.post(NEXT, json={"holding": [], "lost": True}).json()["questions"]
    assert {each["id"] for each in again} == {each["id"] for each in first}
    told = [first[0]["id"]]
    rest = ann.post(NEXT, json={"holding": [], "answered": told, "lost": True}).json()["questions"]
    assert first[1]["id"] in [each["id"] for each in rest]
    assert told[0] not in [each["id"] for each in rest]


def test_a_question_that_reached_no_page_comes_again_when_nothing_else_is_left(
    site: Site, store: Store
) -> None:
    campaign = sweep(store, 3, 1)
    ann, (kept,) = site.worker(campaign), campaign.ask("ann")  # by a page that has been reloaded
    for _ in range(2):
        (other,) = ann.post(NEXT, json={"holding": []}).json()["questions"]
        assert campaign.tell(other["id"], True).ok
    (again,) = ann.post(NEXT, json={"holding": []}).json()["questions"]
    assert again["id"] == kept.id
    sent = {"holding": [], "answered": [kept.id]}  # the page holds the answer back for an undo
    assert ann.post(NEXT, json=sent).json()["questions"] == []


def test_two_devices_of_one_worker_get_different_questions(site: Site, store: Store) -> None:
    campaign = sweep(store, 8, 2)
    token = new_link(campaign, "ann")
    desk, phone = site.bearer(token), site.bearer(token)
    held = [
        {each["id"] for each in device.post(NEXT, json={"holding": []}).json()["questions"]}
        for device in (desk, phone)
    ]
    assert [len(each) for each in held] == [2, 2]
    assert not held[0] & held[1]
    desk.post("/api/v1/campaigns/sweep/tell", json={"id": min(held[0]), "answer": True})
    given = [each.post(NEXT, json={"holding": []}).json()["given"] for each in (desk, phone)]
    assert given == [1, 1]  # whichever device it was given on


def test_a_question_that_came_to_two_devices_is_answered_once(site: Site, store: Store) -> None:
    campaign = sweep(store, 4, 2)
    token = new_link(campaign, "ann")
    desk, phone = site.bearer(token), site.bearer(token)
    (asked, _) = desk.post(NEXT, json={"holding": []}).json()["questions"]
    again = phone.post(NEXT, json={"holding": [], "lost": True}).json()["questions"]
    assert asked["id"] in {each["id"] for each in again}
    for device, answer in ((desk, True), (phone, False)):
        body = {"id": asked["id"], "answer": answer}
        assert device.post("/api/v1/campaigns/sweep/tell", json=body).json()["ok"]
    (told,) = answers_of(campaign)
    assert told.value == 1.0


def test_the_page_says_how_far_the_campaign_is_and_when_it_rests(site: Site, store: Store) -> None:
    campaign = sweep(store, 4, 2)
    ann = site.worker(campaign)
    came = ann.post(NEXT, json={"holding": []}).json()
    assert 0 <= came["progress"]["share"] <= 1
    assert (came["progress"]["answers"], came["progress"]["sorted"]) == (0, "")
    campaign.pause()
    assert ann.post(NEXT, json={"holding": []}).json()["state"] == "paused"


def test_two_items_are_asked_about_too(site: Site, store: Store) -> None:
    """No forecast is made of so few, and none is needed."""
    campaign = sweep(store, 2, 1)
    came = site.worker(campaign).post(NEXT, json={"holding": []}).json()
    assert came["questions"]
    assert 0 <= came["progress"]["share"] <= 1
    assert site.owner.get("/campaigns/sweep").status_code == 200


def test_a_page_at_the_end_shows_the_end(site: Site, store: Store) -> None:
    """A server that read the figures in the middle must not show them beside "All done"."""
    campaign = sweep(store, 4, 2)
    ann = site.worker(campaign)
    came = ann.post(NEXT, json={"holding": []}).json()
    assert came["progress"]["answers"] == 0
    for each in [*came["questions"], *(vars(each) for each in campaign.ask("bob", 8))]:
        campaign.tell(each["id"], True)
    came = ann.post(NEXT, json={"holding": []}).json()
    assert came["state"] == "ended"
    assert came["progress"]["share"] == 1.0
    assert came["progress"]["answers"] == 8


def test_the_owner_can_answer_along(site: Site, store: Store) -> None:
    campaign = sweep(store, 4, 2)
    assert "Dashboard" in site.owner.get("/answer/sweep").text
    assert site.owner.post(NEXT, json={"holding": []}).json()["questions"]
    assert site.worker(campaign).get("/answer/sweep").status_code == 200


def test_buttons_fit_the_kind_of_answer() -> None:
    assert [each.keys for each in choices_for(YesNo())] == [
        ("y", "1", "ArrowLeft"),
        ("n", "2", "ArrowRight"),
    ]
    assert [each.value for each in choices_for(Scale(0, 10))][-1] == "10"
    assert choices_for(Scale(0, 10))[-1].keys == ()
    assert choices_for(Scale(0, 1)) == []
    assert choices_for(Scale(0, 100)) == []
    assert choices_for(Number(2.0)) == []
