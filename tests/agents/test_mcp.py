"""The real command, spoken to by the official client over stdio."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from askfew.campaigns.store import Store
from askfew.web.access.invitations import invite
from server_processes import server_process

mcp = pytest.importorskip("mcp")

ITEMS = [{"id": f"bird {n}", "text": f"Bird {n}"} for n in range(6)]
QUESTIONS = [{"id": "odd", "text": "Is its number odd?"}, {"id": "nice", "text": "Is it nice?"}]
SETTINGS = {"name": "birds", "method": "frugal", "seed": 1, "answers_per_worker_and_cell": 1000}

Talk = Callable[[Any], Awaitable[None]]


def talk(talking: Talk, *arguments: str, **environment: str) -> None:
    """With ``askfew mcp`` in a process of its own."""
    command = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "askfew", "mcp", *arguments],
        env={**os.environ, **environment},
    )

    async def whole() -> None:
        async with mcp.Client(command) as client:
            await talking(client)

    asyncio.run(asyncio.wait_for(whole(), 240))


async def call(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    said = await client.call_tool(tool, arguments)
    assert not said.is_error, said.content
    document: dict[str, Any] = said.structured_content
    return document


async def refused(client: Any, tool: str, **arguments: Any) -> str:
    said = await client.call_tool(tool, arguments)
    assert said.is_error
    return str(said.content[0].text)


async def answer_to_the_end(client: Any) -> int:
    told = 0
    while (asked := await call(client, "ask", campaign="birds", n=50))["state"] == "running":
        for each in asked["questions"]:
            odd = int(each["item"]["id"].split()[1]) % 2 == 1
            answer: bool | str = odd if each["question"]["id"] == "odd" else "yes"
            assert (await call(client, "tell", campaign="birds", id=each["id"], answer=answer))[
                "ok"
            ]
            told += 1
    return told


def test_an_agent_creates_a_campaign_of_a_store_and_answers_it_to_its_certificate(
    tmp_path: Path,
) -> None:
    async def talking(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert {"create", "ask", "tell", "status", "result"} <= {each.name for each in tools}
        made = await call(client, "create", settings=SETTINGS, items=ITEMS, questions=QUESTIONS)
        assert made["state"] == "running"
        told = await answer_to_the_end(client)
        status = await call(client, "status", campaign="birds")
        assert (status["state"], status["answers"]) == ("ended", told)
        result = await call(client, "result", campaign="birds")
        assert [each["group"] for each in result["items"]] == [0, 1] * 3
        assert "6 labels are right" in result["certificate_text"]
        assert "must be one of: birds, got 'cats'" in await refused(
            client, "status", campaign="cats"
        )

    talk(talking, "--store", f"sqlite:///{tmp_path / 'store.db'}")


def test_through_a_server_an_agent_may_do_what_its_token_may(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with server_process(url) as server:

        async def as_owner(client: Any) -> None:
            await call(client, "create", settings=SETTINGS, items=ITEMS, questions=QUESTIONS)
            await call(client, "status", campaign="birds")

        owner = {"ASKFEW_TOKEN": server.owner_token or ""}
        talk(as_owner, "--server", server.address, **owner)
        store = Store(url)
        invitation = invite(store.campaign("birds"), "ann") or ""
        store.close()

        async def as_worker(client: Any) -> None:
            assert (await call(client, "about", campaign="birds"))["worker"] == "ann"
            assert await answer_to_the_end(client) > 0
            assert "HTTP 403" in await refused(client, "result", campaign="birds")

        talk(as_worker, "--server", server.address, ASKFEW_TOKEN=invitation)
