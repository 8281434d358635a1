"""One call to an OpenAI-compatible endpoint, what its failures mean, and its secret key."""

from __future__ import annotations

import asyncio
import email.utils
import json
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from askfew.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

__all__ = ["Completion", "Endpoint", "Failed", "Rejected", "Secret"]


class Secret:
    """A key that no text may show, neither plain nor as URLs, JSON and Python escape it.

    >>> Secret("sk/1").redact("Bearer sk/1, https://host/sk%2F1")
    'Bearer [key], https://host/[key]'
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self._shown = re.compile("".join(map(_ways_to_write, key)))

    def __repr__(self) -> str:
        return "Secret()"

    def redact(self, text: str) -> str:
        """The text without the key. Redact before you shorten, or half a key may stay."""
        return self._shown.sub("[key]", text) if self.key else text


def _ways_to_write(character: str) -> str:
    """A pattern for one character of the key, with or without backslashes before it."""
    if character.isalnum() and character.isascii():
        return character
    encoded = quote(character, safe="", errors="replace")
    ways = {character, encoded, encoded.lower(), json.dumps(character)[1:-1], repr(character)[1:-1]}
    return rf"\\{{0,3}}(?:{'|'.join(sorted(map(re.escape, ways)))})"


_RETRIED = (408, 409, 425, 429)
"""Client errors after which a call is repeated, besides all server errors (5xx)."""
_LONGEST = 100_000
"""Characters of a reply; a longer one is no answer. A plain choice: an answer is one short JSON
object."""
_LONGEST_ERROR = 500
"""Characters of an error that are shown. A plain choice."""


@dataclass(frozen=True)
class Completion:
    """A reply; ``usage`` is the tokens of prompt and answer, if the endpoint counted them."""

    text: str
    refused: str
    """Why the model refused to answer; empty if it did not."""
    usage: tuple[int, int] | None


class Failed(Exception):
    """The call failed, but another attempt may succeed.

    ``maybe_billed`` says that the endpoint may have charged for it.
    """

    def __init__(self, why: str, *, after: float | None = None, maybe_billed: bool = False) -> None:
        super().__init__(why)
        self.after, self.maybe_billed = after, maybe_billed


class Rejected(Exception):
    """The endpoint does not accept this request; the same request would fail again."""


class Endpoint:
    """An endpoint by its address. The key is sent in a header and nowhere else.

    An address may contain the key, too: ``url`` is the address without it, for messages. Errors
    show the reply without the key. A Completion is not redacted, because whether an answer counts
    must not depend on the characters of the key; code that shows it must redact it.
    """

    def __init__(self, base_url: str | None, secret: Secret, timeout: float) -> None:
        openai = self._openai = _package()
        self._secret, self._timeout = secret, timeout
        try:
            self._client: AsyncOpenAI = openai.AsyncOpenAI(
                api_key=secret.key,
                base_url=base_url,
                max_retries=0,  # our own attempts are all in the ledger
                timeout=timeout,
            )
        except Exception:  # the URL parser of the client raises errors of its own
            raise InvalidInput(
                "base_url must be an endpoint's address",
                "something else",  # neither the URL nor the error is shown: both may hold the key
                "write for example http://127.0.0.1:8000/v1",
            ) from None
        public = self._client.base_url.copy_with(username=None, password=None, query=None)
        self.url = secret.redact(str(public))

    async def complete(self, request: dict[str, Any]) -> Completion:
        """Send one chat request; raise Failed, Rejected or InvalidInput if it does not succeed."""
        try:
            async with asyncio.timeout(self._timeout):
                # As a raw document: the client's own models take more time than all the rest.
                answer = await self._client.post("/chat/completions", cast_to=object, body=request)
        # The client's own timeout is for each read; a reply that trickles in would never end.
        except TimeoutError:
            raise Failed(f"no answer within {self._timeout:g} seconds", maybe_billed=True) from None
        except self._openai.APITimeoutError:
            raise Failed("timed out", maybe_billed=True) from None
        except self._openai.APIConnectionError as error:
            raise self._lost(error) from None
        except self._openai.APIStatusError as error:
            raise self._meaning(error) from None
        except (self._openai.OpenAIError, ValueError) as error:
            shown = self._shown(error)
            raise Failed(f"not the chat protocol ({shown})", maybe_billed=True) from None
        return _completion(answer)

    async def close(self) -> None:
        """Close connections."""
        await self._client.close()

    def _lost(self, error: Exception) -> Failed:
        cause = error.__cause__
        why = self._shown(cause or error) or type(cause).__name__
        # ConnectError and ConnectTimeout: the request never left, so nobody can bill it.
        never_sent = "Connect" in type(cause).__name__
        return Failed(f"no connection ({why})", maybe_billed=not never_sent)

    def _meaning(self, error: APIStatusError) -> Exception:
        status = error.status_code
        said = f"HTTP {status} ({self._shown(error.message)})"  # some endpoints send the key back
        if status in (401, 403):
            return InvalidInput(f"the endpoint {self.url} must accept the key", said, "check it")
        if status == 404:
            return InvalidInput(
                f"the endpoint {self.url} must know the model", said, "check --base-url and --model"
            )
        # The same status as for too many requests, but waiting does not help.
        if status == 429 and error.code == "insufficient_quota":
            return InvalidInput("the endpoint's account must have money", said, "add some")
        if status in _RETRIED or status >= 500:
            return Failed(said, after=_retry_after(error.response.headers))
        return Rejected(said)

    def _shown(self, what: object) -> str:
        return self._secret.redact(str(what))[:_LONGEST_ERROR]


def _completion(answer: Any) -> Completion:
    try:
        choice = answer["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        text, refusal = message.get("content") or "", message.get("refusal")
        usage = answer.get("usage") or {}
    except (AttributeError, KeyError, IndexError, TypeError):
        raise Failed("not the chat protocol", maybe_billed=True) from None
    if not isinstance(text, str):
        raise Failed("not the chat protocol", maybe_billed=True)
    # An answer that was cut off may mean anything, even if it can be read.
    refused = refusal or ("" if reason in (None, "stop") else f"it stopped because of {reason}")
    if len(text) > _LONGEST:
        refused, text = f"it said more than {_LONGEST:,} characters", text[:_LONGEST]
    match usage:
        case {"prompt_tokens": int() as prompt, "completion_tokens": int() as completion}:
            return Completion(text, str(refused), (prompt, completion))
        case _:
            return Completion(text, str(refused), None)


def _retry_after(headers: Any) -> float | None:
    """Seconds to wait; the headers give milliseconds, seconds or a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers.get(name)) * unit)
        except (TypeError, ValueError):
            continue
    date = email.utils.parsedate_tz(headers.get("retry-after") or "")
    return None if date is None else max(0.0, email.utils.mktime_tz(date) - time.time())


def _package() -> Any:
    try:
        import openai
    except ImportError:
        raise MissingExtra(
            "language models need the package openai", "none", "pip install 'askfew[llm]'"
        ) from None
    return openai
