"""One call to an OpenAI-compatible endpoint and what its failures mean; its key stays hidden."""

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
    """A key that texts must not show, as it is or as addresses, JSON and Python write it.

    >>> Secret("sk/1").struck("Bearer sk/1, https://host/sk%2F1")
    'Bearer [key], https://host/[key]'
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self._shown = re.compile("".join(map(_ways_to_write, key)))

    def __repr__(self) -> str:
        return "Secret()"

    def struck(self, text: str) -> str:
        """The text without the key. Strike before you cut: the half of a key would stay."""
        return self._shown.sub("[key]", text) if self.key else text


def _ways_to_write(character: str) -> str:
    """A pattern for one character of the key; an escaped one has backslashes before it."""
    if character.isalnum() and character.isascii():
        return character
    encoded = quote(character, safe="", errors="replace")
    ways = {character, encoded, encoded.lower(), json.dumps(character)[1:-1], repr(character)[1:-1]}
    return rf"\\{{0,3}}(?:{'|'.join(sorted(map(re.escape, ways)))})"


_AGAIN = (408, 409, 425, 429)
"""Client errors that another attempt may mend, beside all of the server's (5xx)."""
_LONGEST = 100_000
"""Characters of a reply; a longer one is no answer."""
_LONGEST_ERROR = 500


@dataclass(frozen=True)
class Completion:
    """What came back; ``usage`` is tokens of prompt and answer, if the endpoint said so."""

    text: str
    refused: str
    """Why the model did not want to answer, if so."""
    usage: tuple[int, int] | None


class Failed(Exception):
    """The call failed, and another attempt may not. ``maybe_billed``: nobody knows its tokens."""

    def __init__(self, why: str, *, after: float | None = None, maybe_billed: bool = False) -> None:
        super().__init__(why)
        self.after, self.maybe_billed = after, maybe_billed


class Rejected(Exception):
    """The endpoint does not accept this request; the same one would fail again."""


class Endpoint:
    """An endpoint by its address; the key goes into a header, and nowhere else.

    An address may hold it, too: ``url`` is the address as it may be shown, without what lets in.
    Errors say what came back without the key. Only a Completion is as it came: whether an answer
    counts must not depend on the key's letters, so who shows it strikes the key out.
    """

    def __init__(self, base_url: str | None, secret: Secret, timeout: float) -> None:
        openai = self._openai = _package()
        self._secret, self._timeout = secret, timeout
        try:
            self._client: AsyncOpenAI = openai.AsyncOpenAI(
                api_key=secret.key,
                base_url=base_url,
                max_retries=0,  # ours are in the ledger, every one
                timeout=timeout,
            )
        except Exception:  # of its parser of addresses, whichever that is
            raise InvalidInput(
                "base_url must be an endpoint's address",
                "something else",  # not repeated, nor what the parser says: it may hold the key
                "write for example http://127.0.0.1:8000/v1",
            ) from None
        public = self._client.base_url.copy_with(username=None, password=None, query=None)
        self.url = secret.struck(str(public))

    async def complete(self, request: dict[str, Any]) -> Completion:
        """Send one chat request; Failed, Rejected or InvalidInput say what went wrong."""
        try:
            async with asyncio.timeout(self._timeout):
                # The raw document: the client's own models cost more time than all the rest.
                answer = await self._client.post("/chat/completions", cast_to=object, body=request)
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
        """Give back connections."""
        await self._client.close()

    def _lost(self, error: Exception) -> Failed:
        cause = error.__cause__
        why = self._shown(cause or error) or type(cause).__name__
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
        if status == 429 and error.code == "insufficient_quota":
            return InvalidInput("the endpoint's account must have money", said, "see to it")
        if status in _AGAIN or status >= 500:
            return Failed(said, after=_retry_after(error.response.headers))
        return Rejected(said)

    def _shown(self, what: object) -> str:
        return self._secret.struck(str(what))[:_LONGEST_ERROR]


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
    refused = refusal or ("" if reason in (None, "stop") else f"it stopped because of {reason}")
    if len(text) > _LONGEST:
        refused, text = f"it said more than {_LONGEST:,} characters", text[:_LONGEST]
    match usage:
        case {"prompt_tokens": int() as prompt, "completion_tokens": int() as completion}:
            return Completion(text, str(refused), (prompt, completion))
        case _:
            return Completion(text, str(refused), None)


def _retry_after(headers: Any) -> float | None:
    """Seconds to wait, written as milliseconds, as seconds or as a date."""
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
