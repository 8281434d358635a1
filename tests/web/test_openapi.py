"""The OpenAPI document tells the truth: schemathesis tries to show that it does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from askfew.campaigns.records import Item
from askfew.campaigns.store import Store
from askfew.web.access.invitations import new_link
from campaign_tools import items, questions
from pictures import PIXEL
from servers import serving
from small_campaigns import small_settings

# Sound data may still be refused (a name that is taken, a resume of what runs): 422.
CONFIG = """
[parameters]
"path.name" = "small"
"path.digest" = "{digest}"

[checks]
positive_data_acceptance.expected-statuses = ["2xx", "401", "403", "404", "422", "429"]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx"]
"""


@pytest.mark.parametrize("who", ["owner", "worker"])
def test_schemathesis_finds_nothing(fresh_database: str, tmp_path: Path, who: str) -> None:
    """On PostgreSQL, which is stricter about texts."""
    store = Store(fresh_database)
    shown = [*items(5), Item("picture", "", PIXEL)]
    campaign = store.create(small_settings(), shown, questions(3))
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG.format(digest=campaign.items[5].image))
    with serving(store) as served:
        token = served.owner if who == "owner" else new_link(campaign, "ann")
        run = subprocess.run(
            [
                *(Path(sys.executable).with_name("st"), "--config-file", config, "run"),
                *(f"{served.url}/openapi.json", "--header", f"Authorization: Bearer {token}"),
                *("--checks", "all", "--max-examples", "6", "--generation-deterministic"),
            ],
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=600,
        )
    store.close()
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    assert "22 selected" in run.stdout
