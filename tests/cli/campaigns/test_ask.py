"""``askfew ask`` as a terminal shows it."""

import hashlib
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from commands import command
from pictures import PIXEL
from servers import serving


def test_ask_says_where_a_picture_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    askfew = command(tmp_path, monkeypatch, capfd, columns=80)
    settings = {"name": "my birds", "method": "spectral", "options": {"budget": 3}}
    items = [Item("duck", "A duck", PIXEL), Item("swan", "A swan", PIXEL), Item("owl", "An owl")]
    with closing(Store("sqlite:///askfew.db")) as store:
        store.create(Settings.from_dict(settings), items, [Question("q", "Does it swim?")])
        code, out, err = askfew("ask", "my birds", "--worker", "ann", "-n", 3)
        assert code == 0, err
        address = f"/api/v1/campaigns/my%20birds/images/{hashlib.sha256(PIXEL).hexdigest()}"
        told = out.splitlines()
        assert {f"duck: {address}", f"swan: {address}"} <= set(told)
        assert not any(line.startswith("owl: ") for line in told)
        with serving(store) as served:
            owner = {"Authorization": f"Bearer {served.owner}"}
            assert httpx2.get(served.url + address, headers=owner).content == PIXEL
