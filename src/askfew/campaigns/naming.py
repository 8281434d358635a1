"""The owner's names for the groups. They are only shown: no method ever sees them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.campaigns import keep_names, lock_campaign
from askfew.campaigns.records import check_group
from askfew.errors import InvalidInput, shown

__all__ = ["in_names", "name_group", "named", "read_names"]


def read_names(stored: str | None) -> dict[str, str]:
    """The names that the owner gave, by the method's own names."""
    try:
        names = {} if stored is None else json.loads(stored)
        right = isinstance(names, dict)
        for name in names.values() if right else ():
            check_group(name)
            right = right and bool(name)
    except (ValueError, RecursionError):
        right = False
    if not right or len(set(names.values())) < len(names):
        raise InvalidInput("names of groups must be a table in JSON", shown(stored), "name them")
    return names


def named(groups: tuple[str, ...], names: Mapping[str, str]) -> tuple[str, ...]:
    """The groups by the owner's names, where given."""
    return tuple(names.get(each, each) for each in groups)


def in_names(text: str | None, own: tuple[str, ...], groups: tuple[str, ...]) -> str | None:
    """A method's text, in which "group 1" and the like are replaced by the owner's names.

    >>> in_names("group 1 if it swims, else group 0", ("0", "1"), ("0", "Ducks"))
    'Ducks if it swims, else group 0'
    """
    called = {before: after for before, after in zip(own, groups, strict=True) if before != after}
    if text is None or not called:
        return text
    # In one pass: an owner may call group 0 "group 1".
    return re.sub(r"\bgroup (\d+)\b", lambda found: called.get(found[1], found[0]), text)


def name_group(campaign: Campaign, groups: tuple[str, ...], group: str, name: str) -> None:
    """Name a group, given by the method's own name; an empty name removes the owner's."""
    called = name.strip()
    check_group(called)
    with campaign.database.write() as connection:
        # Locked: of two owners at once, neither overwrites the other's name.
        names = read_names(lock_campaign(connection, campaign.id).names)
        if group not in groups:
            raise InvalidInput("the group must be one of the campaign's", shown(group), "reload")
        if called and called != group:
            names[group] = called
        else:
            names.pop(group, None)
        # Two groups of one name could not be told apart in results and exports.
        if len(set(named(groups, names))) < len(groups):
            raise InvalidInput("groups must have different names", shown(called), "choose another")
        keep_names(connection, campaign.id, names)
