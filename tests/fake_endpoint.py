"""An OpenAI-compatible endpoint on loopback that fails as real ones do, and keeps its own books."""

import asyncio
import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Judge = Callable[[dict[str, Any]], str]
"""The text of an answer to a request's body."""

GARBAGE = (
    "I am not sure, it could be yes or no.",
    '{"answer": "maybe"}',
    '{"answer": "yes", "answer": "no"}',
    "",
    "As an AI model, I'd say: yes!",
)


def prompt_of(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else str(content[0]["text"])


@dataclass
class Call:
    """A request as the endpoint saw it."""

    raw: bytes
    body: dict[str, Any]
    key: str
    began: float
    outcome: str = ""
    text: str = ""
    tokens: tuple[int, int] = (0, 0)
    ended: float = 0.0


@dataclass
class FakeEndpoint:
    """Answers by ``judge``; shares of all calls end in 500, 429, garbage, or never come back."""

    judge: Judge
    key: str = "sk-test-key-0123456789"
    errors: float = 0.0
    limited: float = 0.0
    garbage: float = 0.0
    slow: float = 0.0
    retry_after: str = "0.05"
    latency: float = 0.0
    refuse: Callable[[dict[str, Any]], tuple[int, str] | None] = lambda body: None
    calls: list[Call] = field(default_factory=list)
    rng: random.Random = field(default_factory=lambda: random.Random(5))
    url: str = ""

    def completed(self) -> list[Call]:
        return [call for call in self.calls if call.outcome in ("answer", "garbage")]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await _head(reader):
                raw = await reader.readexactly(int(head.get("content-length", "0")))
                began = asyncio.get_running_loop().time()
                call = Call(raw, json.loads(raw), head.get("authorization", ""), began)
                self.calls.append(call)
                status, text, more = await self.reply(call, reader)
                call.ended = asyncio.get_running_loop().time()
                if reader.at_eof():
                    call.outcome = "abandoned"
                    return
                data = text.encode()
                lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json", *more]
                lines += [f"Content-Length: {len(data)}", "", ""]
                writer.write("\r\n".join(lines).encode() + data)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def reply(self, call: Call, reader: asyncio.StreamReader) -> tuple[int, str, list[str]]:
        if call.key != f"Bearer {self.key}":
            call.outcome = "wrong key"
            return 401, _problem(f"Incorrect API key provided: {call.key[7:]}"), []
        refused = self.refuse(call.body)
        if refused is not None:
            call.outcome = "refused"
            return refused[0], _problem(refused[1]), []
        await asyncio.sleep(self.latency)
        draw = self.rng.random()
        for share, outcome in (
            (self.errors, "error"),
            (self.limited, "limited"),
            (self.garbage, "garbage"),
            (self.slow, "slow"),
        ):
            if draw < share:
                call.outcome = outcome
                break
            draw -= share
        else:
            call.outcome = "answer"
        if call.outcome == "error":
            return 500, _problem("the server had an error"), []
        if call.outcome == "limited":
            return 429, _problem("too many requests"), [f"Retry-After: {self.retry_after}"]
        if call.outcome == "slow":
            await reader.read(1)  # until the client gives up
            return 200, "{}", []
        good = call.outcome == "answer"
        call.text = self.judge(call.body) if good else self.rng.choice(GARBAGE)
        call.tokens = (len(prompt_of(call.body).split()), len(call.text.split()) + 1)
        return 200, json.dumps(_chat(call)), []

    @contextmanager
    def running(self) -> Iterator["FakeEndpoint"]:
        """In a thread of its own, on a free port."""
        loop = asyncio.new_event_loop()
        listening = threading.Event()
        done = asyncio.Event()

        async def listen() -> None:
            server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            listening.set()
            await done.wait()
            server.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        thread = threading.Thread(target=lambda: loop.run_until_complete(listen()))
        thread.start()
        listening.wait(10)
        try:
            yield self
        finally:
            loop.call_soon_threadsafe(done.set)
            thread.join(10)
            loop.close()


async def _head(reader: asyncio.StreamReader) -> dict[str, str]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    pairs = [line.partition(":")[::2] for line in lines[1:] if line]
    return {name.lower(): value.strip() for name, value in pairs}


def _problem(message: str) -> str:
    return json.dumps({"error": {"message": message, "type": "x", "code": None}})


def _chat(call: Call) -> dict[str, Any]:
    prompt, completion = call.tokens
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": call.body["model"],
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": call.text},
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        },
    }
