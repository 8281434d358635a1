"""Templates into pages. Everything is escaped: a campaign's texts are data."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.responses import HTMLResponse

from askfew import __version__
from askfew.answer_warnings import sentence
from askfew.wording import chance, counted, money

if TYPE_CHECKING:
    from askfew.web.access.tokens import Caller

__all__ = ["address", "page", "render"]


def page(
    request: Request,
    template: str,
    caller: Caller | None = None,
    status: int = 200,
    **context: object,
) -> HTMLResponse:
    """The template as a response; ``caller`` is who looks, None for a stranger."""
    return HTMLResponse(render(template, caller, path=request.url.path, **context), status)


def render(template: str, caller: Caller | None = None, **context: object) -> str:
    """The template as text."""
    return _environment().get_template(template).render(caller=caller, **context)


def address(*parts: str) -> str:
    """A path of this site, whatever characters a campaign's name has.

    >>> address("campaigns", "birds 2")
    '/campaigns/birds%202'
    """
    # safe='': a name may contain a slash.
    return "".join(f"/{quote(part, safe='')}" for part in parts)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("askfew.web"),
        autoescape=True,
        # A misspelt name fails in the tests instead of showing nothing.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _FILTERS
    environment.globals |= {"address": address, "version": __version__}
    return environment


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def _width(value: float) -> str:
    """A share as an SVG length."""
    return f"{100 * min(max(value, 0.0), 1.0):.2f}%"


def _capital(text: str) -> str:
    """With a capital first letter; the rest, such as names, stays as it is."""
    return text[:1].upper() + text[1:]


_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable(["image", "entity"])
"""Without HTML and pictures: whatever is written, no page loads or runs anything for it."""


def _markdown(text: str) -> Markup:
    r"""An owner's text as safe HTML. Links of any kind but web and mail stay text.

    >>> _markdown("**Look** closely. <b>")
    Markup('<p><strong>Look</strong> closely. &lt;b&gt;</p>\n')
    """
    return Markup(_MARKDOWN.render(text))


_FILTERS: dict[str, Any] = {
    "markdown": _markdown,
    "number": _number,
    "money": money,
    "chance": chance,
    "percent": _percent,
    "width": _width,
    "plural": counted,
    "sentence": sentence,
    "capital": _capital,
}
