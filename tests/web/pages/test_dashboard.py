"""The dashboard in every state, from the store's side; a browser looks at it elsewhere."""

import json
import re
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import campaigns
from askfew.campaigns.records import Item
from askfew.campaigns.store import Store
from askfew.web.access.invitations import new_link
from campaign_tools import (
    Clock,
    answer_by,
    answers_of,
    by_rule,
    two_kinds,
    with_a_stubborn_worker,
)
from small_campaigns import QUESTIONS, TRUTH, answer, small_campaign, small_settings
from web_site import Site

HERE = "/campaigns/small"


def end_as(campaign: Campaign, status: str) -> None:
    """As if the method had ended so."""
    outcome: dict[str, Any] = {
        "status": status,
        "reason": "because",
        "labels": [0, 1, -1, -1, -1, -1],
        "evidence": None,
        "question": None,
        "certificate": None,
        "certificate_text": None,
    }
    with campaign.database.write() as connection:
        connection.execute(
            update(campaigns)
            .where(campaigns.c.id == campaign.id)
            .values(state="ended", outcome=json.dumps(outcome))
        )


@pytest.mark.parametrize(
    ("status", "title"),
    [
        ("budget", "Stopped at its cap on answers"),
        ("stalled", "Stopped: nobody answers"),
        ("exhausted", "Stopped: no more answers can be had"),
        ("no-consensus", "Stopped: no split is carried by several questions"),
        ("undecided", "Finished: all items that can be decided are"),
    ],
)
def test_every_way_to_end_has_words(site: Site, store: Store, status: str, title: str) -> None:
    campaign = small_campaign(store)
    answer(campaign, 10)
    end_as(campaign, status)
    page = site.owner.get(HERE).text
    assert title in page
    assert "Pause" not in page
    assert "data-over" in page


def test_empty_running_paused_closed_and_done_have_words(site: Site, store: Store) -> None:
    campaign = small_campaign(store)
    assert "Everything is ready" in site.owner.get(HERE).text
    answer(campaign, 10)
    assert "Resume" in site.owner.post(f"{HERE}/pause").text
    assert "Comparing pairs of items" in site.owner.post(f"{HERE}/resume").text
    answer(campaign, 10**6)
    other = small_campaign(store, "other")
    assert "Closed before the end" in site.owner.post("/campaigns/other/close").text
    assert other.state == "closed"
    done = Site(store).owner.get(HERE).text  # another server: nothing remembered
    assert "6 labels are right, all of them with probability at least 0.9" in done


def test_a_part_that_has_not_changed_is_not_sent_again(site: Site, store: Store) -> None:
    answer(small_campaign(store), 20)
    for part in ("summary", "groups", "questions", "people"):
        text = site.owner.get(f"{HERE}/parts/{part}").text
        seen = text.partition("seen=")[2].partition('"')[0]
        assert site.owner.get(f"{HERE}/parts/{part}?seen={seen}").status_code == 204
    version = site.owner.get(f"{HERE}/charts").json()["version"]
    assert site.owner.get(f"{HERE}/charts?seen={version}").status_code == 204


def test_the_chart_counts_an_answer_from_when_it_came(
    site: Site, store: Store, clock: Clock
) -> None:
    campaign, began = small_campaign(store), clock()
    for second in (0, 1.6, 240):  # a point of the chart stands for a second, then
        clock.now = began + second
        answer(campaign, 1)
    drawn = site.owner.get(f"{HERE}/charts").json()["answers"]
    assert dict(zip(drawn["times"], drawn["counts"], strict=True)) == {
        began: 0,
        began + 1: 1,
        began + 2: 2,
        began + 240: 3,
    }


def test_groups_and_charts_show_what_was_found(site: Site, store: Store) -> None:
    campaign = small_campaign(store)
    answer(campaign, 10**6)
    for group in (0, 1):
        text = site.owner.get(f"{HERE}/parts/groups?shelf={group}").text
        for number, label in enumerate(TRUTH):
            assert (f'title="item{number}"' in text) == (label == group)
    charts = site.owner.get(f"{HERE}/charts").json()
    assert charts["answers"]["counts"][-1] == len(answers_of(campaign))
    assert charts["evidence"]["threshold"] > 0
    assert len(charts["evidence"]["values"]) == 6  # with two groups, nobody stands for one
    assert "100 %" in site.owner.get(f"{HERE}/parts/people").text


def test_the_gallery_has_pages(site: Site, store: Store) -> None:
    many = [Item(f"item{number}") for number in range(100)]
    store.create(small_settings(), many, QUESTIONS)
    assert "Show all 100" in site.owner.get(f"{HERE}/parts/groups").text
    first = site.owner.get(f"{HERE}/parts/groups?shelf=-1").text
    assert "Page 1 of 3" in first
    assert "Page 3 of 3" in site.owner.get(f"{HERE}/parts/groups?shelf=-1&page=99").text


def test_silence_is_pointed_out(site: Site, store: Store, clock: Clock) -> None:
    answer(small_campaign(store), 10)
    assert "Nobody has answered" not in site.owner.get(HERE).text
    clock.pass_seconds(600)
    assert "Nobody has answered" in Site(store).owner.get(HERE).text


def test_an_invitation_is_shown_once_and_a_bad_name_gets_a_sentence(
    site: Site, store: Store
) -> None:
    small_campaign(store)
    shown = site.owner.post(f"{HERE}/invite", data={"names": "ann"}).text
    assert "/i/" in shown
    assert "/i/" not in site.owner.get(f"{HERE}/parts/people").text
    assert "invited" in site.owner.get(f"{HERE}/parts/people").text
    assert "There must be names" in site.owner.post(f"{HERE}/invite", data={"names": " "}).text
    again = site.owner.post(f"{HERE}/invite", data={"names": "bob, ann"}).text
    assert "1 new link." in again
    assert "1 person has a link already." in again
    assert "opens on this machine only" not in again  # testserver
    anew = site.owner.post(f"{HERE}/invite/anew", data={"worker": "ann"}).text
    assert "Link for ann" in anew
    revoked = site.owner.post(f"{HERE}/revoke", data={"worker": "ann"}).text
    assert "revoked" in revoked


def test_only_the_owner_sees_it(site: Site, store: Store) -> None:
    campaign = small_campaign(store)
    worker = site.worker(campaign)
    assert worker.get(HERE).status_code == 403
    assert worker.post(f"{HERE}/close").status_code == 403
    assert site.nobody.get(HERE, follow_redirects=False).headers["location"] == "/login"
    assert campaign.state == "running"


def test_page_and_api_show_no_certificate_without_its_warning(site: Site, store: Store) -> None:
    name = with_a_stubborn_worker(store).settings.name
    warning = "WARNING: answers from worker stubborn are not independent draws"
    page = site.owner.get(f"/campaigns/{name}").text
    assert f'<p class="certificate-warning">{warning}' in page
    document = site.owner.get(f"/api/v1/campaigns/{name}/result").json()
    assert document["certificate_text"].startswith(warning)


def test_the_list_of_people_is_news_when_somebody_invited_is_revoked(
    site: Site, store: Store
) -> None:
    campaign = small_campaign(store)
    new_link(campaign, "ann")
    part = f"{HERE}/parts/people"
    (seen,) = re.findall(r"people\?seen=([^\"]+)", site.owner.get(part).text)
    assert site.owner.get(f"{part}?seen={seen}").status_code == 204
    assert "revoked" in site.owner.post(f"{HERE}/revoke", data={"worker": "ann"}).text
    assert "revoked" in site.owner.get(f"{part}?seen={seen}").text


def test_a_campaign_by_rule_from_learning_to_its_end(site: Site, store: Store) -> None:
    campaign = by_rule(store, rows=20)
    here = "/campaigns/by%20rule"
    answer_by(campaign, two_kinds(20, between=(3,)), most=20)
    page = site.owner.get(here).text
    assert "Asking some items many questions" in page
    assert "once the rule is found" in page
    assert "no guess yet" in site.owner.get(f"{here}/parts/groups").text
    answer_by(campaign, two_kinds(20, between=(3,)), seed=5)
    done = Site(store).owner
    page = done.get(here).text
    assert "Finished: all items that can be decided are" in page
    assert "19 labels are right about the rule below" in page
    assert "1 other item is undecided." in page
    assert "othing is promised" not in page
    assert "19 of 20 sorted, 1 undecided" in page
    assert page.index("Certificate") < page.index("parts/split") < page.index("parts/groups")
    split = done.get(f"{here}/parts/split").text
    assert "Carry the split" in split
    assert "Go their own way" in split
    undecided = done.get(f"{here}/parts/groups?shelf=-1").text
    assert 'title="i3"' in undecided
    assert "between the groups" in undecided
    assert "guess: group" in undecided
    assert done.get(f"{here}/parts/questions").text.count("in the rule") in (3, 4)
    found = done.get("/api/v1/campaigns/by%20rule/result").json()
    assert found["items"][3]["undecided"] == "between the groups"
    assert found["rule"]["questions"]
    saved = done.get("/api/v1/campaigns/by%20rule/export?format=rule").json()
    assert saved["learnt_from"]
    opened = done.get(f"{here}/items/3").text
    assert "Undecided" in opened
    assert "<b>yes</b> ann" in opened or "<b>no</b> ann" in opened
    assert done.get(f"{here}/items/20").status_code == 404
    renamed = done.post(f"{here}/name", data={"group": "1", "called": "Owls"}).text
    assert "Owls" in renamed
    assert "owls" in done.get(f"{here}/parts/split").text.lower()
    assert "Owls" in done.get(f"{here}/parts/summary").text  # in the certificate
    assert (
        "different names" in done.post(f"{here}/name", data={"group": "0", "called": "Owls"}).text
    )
    assert "Owls" in done.get("/api/v1/campaigns/by%20rule/result?format=csv").text


def test_an_open_steps_answers_are_not_shown_with_an_item(site: Site, store: Store) -> None:
    campaign = by_rule(store, rows=20)
    for asked in campaign.ask("ann", 50):
        campaign.tell(asked.id, True)
    here = "/campaigns/by%20rule"
    for number in range(20):
        opened = site.owner.get(f"{here}/items/{number}").text
        assert "No closed step has answers about it yet." in opened
        assert "ann" not in opened


def test_no_consensus_says_what_would_help(site: Site, store: Store) -> None:
    campaign = by_rule(store, rows=20)
    means = np.array([[0.1 if (n >> q) % 2 else 0.9 for q in range(6)] for n in range(20)])
    answer_by(campaign, means)
    page = site.owner.get("/campaigns/by%20rule").text
    assert "No consensus" in page
    assert "mark the questions that define the split" in page
    assert "What is shown are guesses, and nothing is promised about them." in page
    assert "No consensus" in site.owner.get("/").text
