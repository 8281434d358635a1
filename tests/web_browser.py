"""Real pages in a real browser, over a real server: what the browser tests share."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page
from sqlalchemy import select

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import answers
from askfew.campaigns.store import Store
from askfew.web.access.invitations import new_link
from askfew.web.access.tokens import reset_token

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 240_000
"""Milliseconds: many tests may share a small machine."""
RECORD_TELLS = """
window.acked = [];
const send = window.fetch;
window.fetch = async (address, options) => {
  const response = await send(address, options);
  if (String(address).endsWith("/tell") && response.ok) {
    const receipt = await response.clone().json();
    if (receipt.ok) window.acked.push(JSON.parse(options.body).id);
  }
  return response;
};
"""
"""Notes which answers the server has acknowledged to this page."""


class RunningServer:
    """A server, its owner's token, and links to it."""

    def __init__(self, address: str, owner: str) -> None:
        self.address, self.owner = address, owner

    def link(self, campaign: Campaign, worker: str) -> str:
        return f"{self.address}/i/{new_link(campaign, worker)}"


class KillableServer(RunningServer):
    """``askfew serve`` in a process of its own, which can be killed and started again."""

    def __init__(self, store: Store, url: str) -> None:
        super().__init__("http://127.0.0.1:0", reset_token(store))
        self.store_url = url
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        port = self.address.rpartition(":")[2]  # the same again, once it has one
        where = ["--store", self.store_url, "--port", port]
        command = [sys.executable, "-m", "askfew", "serve", *where, "--json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        said = ""
        while not said.rstrip().endswith("}"):
            line = self.process.stdout.readline()
            assert line, "the server ended by itself"
            said += line
        self.address = json.loads(said)["address"]

    def kill(self) -> None:
        """As a power cut would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None


class Visitor:
    """One browser of its own (cookies, storage) with one page, which must not complain."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.context: BrowserContext = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._listen)

    def _listen(self, message: Any) -> None:
        # A server that is away is no complaint of the page's.
        away = ("Failed to load resource", "htmx:sendError", "htmx:afterRequest")
        if message.type == "error" and not message.text.startswith(away):
            self.complaints.append(message.text)

    @property
    def lease(self) -> str:
        return self.page.locator("#answer").get_attribute("data-lease") or ""

    def wait_for_question(self, other_than: str = "") -> str:
        """The lease of the question on the page, once there is (another) one."""
        self.page.wait_for_function(
            "other => { const now = document.getElementById('answer').dataset.lease;"
            " return now && now !== other; }",
            arg=other_than,
        )
        return self.lease

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def close(self) -> None:
        self.context.close()
        assert self.complaints == []


def until(true: Callable[[], bool], what: str) -> None:
    """Wait for it."""
    end = time.monotonic() + PATIENCE / 1000
    while not true():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.05)


def told(campaign: Campaign) -> dict[str, Any]:
    """Every answer in the store, by its id."""
    with campaign.database.read() as connection:
        rows = connection.execute(select(answers).where(answers.c.campaign == campaign.id))
        return {row.id: row for row in rows}
