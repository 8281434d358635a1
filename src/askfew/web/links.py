"""The address that invitation links begin with: one that the invited people can reach."""

from __future__ import annotations

import ipaddress
from typing import overload
from urllib.parse import urlsplit

from fastapi import Request

from askfew.errors import InvalidInput

__all__ = ["check_url", "is_loopback", "link_of", "only_here", "opens_only_here", "site_of"]


def check_url(url: str) -> str:
    """An address such as ``https://ask.example.org``, without a slash at its end.

    >>> check_url("https://ask.example.org/")
    'https://ask.example.org'
    """
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and bool(parts.hostname)
        right = right and parts.port != 0 and parts.path in ("", "/") and "@" not in parts.netloc
    except ValueError:
        right = False
    if not right or parts.query or parts.fragment or not url.isprintable():
        raise InvalidInput(
            "the address for links must be https://HOST or http://HOST:PORT, without a path",
            repr(url),
            "write for example --url https://ask.example.org",
        )
    return url.rstrip("/")


def site_of(request: Request) -> str:
    """The address that the server was given, or else the one of this request."""
    told: str | None = request.app.state.url
    return told or str(request.base_url).rstrip("/")


@overload
def link_of(request: Request, token: str) -> str: ...
@overload
def link_of(request: Request, token: str | None) -> str | None: ...
def link_of(request: Request, token: str | None) -> str | None:
    """The link with a token in it, if there is one."""
    return None if token is None else f"{site_of(request)}/i/{token}"


def only_here(request: Request) -> str | None:
    """The address that links begin with, if only this machine can reach it."""
    site = site_of(request)
    return site if opens_only_here(site) else None


def opens_only_here(site: str) -> bool:
    """Whether only this machine can reach the address.

    >>> opens_only_here("http://127.0.0.1:8080"), opens_only_here("https://ask.example.org")
    (True, False)
    """
    return is_loopback(urlsplit(site).hostname or "")


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("10.0.0.5")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
