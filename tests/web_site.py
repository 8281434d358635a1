"""A site over a store, and clients of it: the owner's, workers', browsers'."""

from typing import Any

from fastapi import FastAPI
from starlette.testclient import TestClient

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.store import Store
from askfew.web.access.invitations import new_link
from askfew.web.access.tokens import reset_token
from askfew.web.app import create_app

API = "/api/v1/campaigns"


class Site:
    """The app, and everybody who may come."""

    def __init__(self, store: Store, *, secure: bool = False) -> None:
        self.store = store
        self.app: FastAPI = create_app(store, secure_cookies=secure)
        self.owner_token = reset_token(store)
        self.owner = self.bearer(self.owner_token)
        self.nobody = TestClient(self.app)

    def bearer(self, token: str) -> TestClient:
        """A program with a token."""
        return TestClient(self.app, headers={"Authorization": f"Bearer {token}"})

    def worker(self, campaign: Campaign, name: str = "ann") -> TestClient:
        """A program with an invitation."""
        return self.bearer(new_link(campaign, name))

    def browser(self, token: str) -> tuple[TestClient, str]:
        """A browser that has come in with a token, and what its pages send along."""
        client = TestClient(self.app)
        request: Any = type("Anybody", (), {"client": None, "headers": {}, "cookies": {}})()
        session = self.app.state.authenticator.enter(request, token)
        client.cookies.set(session.name, session.value)
        return client, session.caller.csrf


def document(response: Any, status: int = 200) -> Any:
    """What a response says, if it has this status; errors have one form."""
    assert response.status_code == status, response.text
    if status < 400:
        return response.json()
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert set(problem) == {"type", "title", "status", "detail"}
    assert problem["status"] == status
    assert problem["detail"]
    return problem
