"""What the owner of a campaign does by HTTP."""

import csv
import io
import zipfile

import pytest

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.exchange.exporting import FORMATS, long_rows
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.reading.status import status_of
from small_campaigns import answer, small_campaign
from web_site import API, Site, document

HERE = f"{API}/small"


@pytest.fixture
def campaign(site: Site) -> Campaign:
    made = small_campaign(site.store)
    answer(made, 20)
    return made


def test_status_and_result_are_what_the_command_line_says(site: Site, campaign: Campaign) -> None:
    assert document(site.owner.get(f"{HERE}/status")) == listed(status_of(campaign).to_dict())
    assert document(site.owner.get(f"{HERE}/result")) == listed(result_of(campaign).to_dict())
    answer(campaign, 10_000)
    ended = document(site.owner.get(f"{HERE}/result"))
    assert ended["status"] == "done"
    assert ended == listed(result_of(campaign).to_dict())


def listed(document: object) -> object:
    """As JSON has it: tuples are lists."""
    if isinstance(document, dict):
        return {key: listed(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [listed(each) for each in document]
    return document


def test_the_result_as_a_table(site: Site, campaign: Campaign) -> None:
    came = site.owner.get(f"{HERE}/result?format=csv")
    assert came.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(came.text)))
    assert [row["item"] for row in rows] == [item.id for item in campaign.items]


@pytest.mark.parametrize("kind", [*FORMATS, "report"])
def test_everything_can_be_taken_home(site: Site, campaign: Campaign, kind: str) -> None:
    came = site.owner.get(f"{HERE}/export?format={kind}")
    if kind == "rule":  # this one has none
        assert "must have ended with a rule" in document(came, 422)["detail"]
        return
    assert came.status_code == 200
    assert came.headers["content-disposition"].startswith("attachment")
    if kind == "csv":
        whole = len(long_rows(campaign))  # closed steps: the open one's answers are nobody's to see
        assert len(list(csv.DictReader(io.StringIO(came.text)))) == whole
        assert 0 < whole < 20
    elif kind == "parquet":
        assert came.content[:4] == b"PAR1"
    elif kind == "campaign":
        assert zipfile.is_zipfile(io.BytesIO(came.content))
    elif kind == "report":
        assert "<!doctype html>" in came.text
    assert came.content


def test_unknown_formats_are_refused(site: Site, campaign: Campaign) -> None:
    document(site.owner.get(f"{HERE}/export?format=exe"), 422)
    document(site.owner.get(f"{HERE}/result?format=parquet"), 422)


def test_pause_resume_and_close(site: Site, campaign: Campaign) -> None:
    assert document(site.owner.post(f"{HERE}/pause")) == {"name": "small", "state": "paused"}
    assert document(site.owner.post(f"{HERE}/pause"))["state"] == "paused"
    assert document(site.owner.post(f"{HERE}/resume"))["state"] == "running"
    assert document(site.owner.post(f"{HERE}/close"))["state"] == "closed"
    assert "must be paused" in document(site.owner.post(f"{HERE}/resume"), 422)["detail"]


def test_all_of_it_is_for_the_owner_only(site: Site, campaign: Campaign) -> None:
    worker = site.worker(campaign)
    for path in ("status", "result", "export", "invitations"):
        document(worker.get(f"{HERE}/{path}"), 403)
        document(site.nobody.get(f"{HERE}/{path}"), 401)
    for path in ("pause", "resume", "close"):
        document(worker.post(f"{HERE}/{path}"), 403)
        document(site.nobody.post(f"{HERE}/{path}"), 401)
    document(worker.get(API), 403)
    document(worker.post(f"{HERE}/invitations", json={"worker": "eve"}), 403)
    document(worker.delete(f"{HERE}/invitations/ann"), 403)
    assert campaign.state == "running"
