"""Reading campaign.toml, and finding the line of an error in it."""

from __future__ import annotations

import json
import re
import tomllib
from bisect import bisect_left
from dataclasses import fields
from pathlib import Path
from typing import Any

from askfew.campaigns.folder.table_file import read_text
from askfew.campaigns.setting_values import read_setting
from askfew.campaigns.settings import Settings, setting_to_blame
from askfew.errors import InvalidInput, located, nearest, shown
from askfew.rule import Rule

__all__ = ["check_keys", "parse_settings", "place_of"]

_TABLE = "campaign"
_MOST_RULE = 10**7
"""The most bytes of a rule's file. A round number."""
_PARTS = 32
"""The fewest parts of a key that is refused (see ``check_keys``). A round number."""
# Possessive quantifiers: without them a long odd line would be tried in very many ways.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_DEEP_KEY = re.compile(rf"(?<![\w.-])(?:{_PART}\.[ \t]*+){{{_PARTS - 1}}}{_PART}")
_WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def parse_settings(path: Path, text: str) -> Settings:
    """The settings in the text of the file; InvalidInput begins with file and line."""
    check_keys(path, text)
    document = _parse(path, text)
    for key in document:
        if key != _TABLE:
            known = key in (each.name for each in fields(Settings))
            raise InvalidInput(
                f"{place_of(path, text, key)}: settings must stand below [{_TABLE}]",
                shown(key),
                f"move it below [{_TABLE}]"
                if known
                else f"take it out, or {nearest(key, [_TABLE])}",
            )
    table = document.get(_TABLE)
    if not isinstance(table, dict):
        raise InvalidInput(
            f"{place_of(path, text, _TABLE)}: the file must have a table [{_TABLE}]",
            "none" if table is None else shown(table),
            f"begin it with [{_TABLE}]",
        )
    for key, value in table.items():
        with located(place_of(path, text, _TABLE, key)):
            if key == "rule":
                table[key] = _read_rule(path.parent, value)
            read_setting(key, table[key])
    # A missing name has no line, so the error is reported at the table.
    if "name" not in table:
        with located(place_of(path, text, _TABLE, "name")):
            return Settings.from_dict(table)
    with located(place_of(path, text, _TABLE, setting_to_blame(table))):
        return Settings.from_dict(table)


def _read_rule(folder: Path, name: object) -> Rule:
    """The rule in a file inside the folder."""
    if (
        not isinstance(name, str)
        or not name
        or Path(name).is_absolute()
        or ".." in Path(name).parts
    ):
        raise InvalidInput(
            "rule must be the name of a file inside the folder",
            shown(name),
            "write one with 'askfew export NAME --format rule' or rule.save(path)",
        )
    try:
        return Rule.from_dict(json.loads(read_text(folder / name, most=_MOST_RULE)))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            f"{name}: a rule's file must be JSON",
            str(error),
            "write one with 'askfew export NAME --format rule' or rule.save(path)",
        ) from None


def place_of(path: Path, text: str, *keys: str) -> str:
    """File and line of a key; if it is missing, those of the table that should have it."""
    return f"{path} line {_line_of(text.split(chr(10)), keys)}"


def check_keys(path: Path, text: str) -> None:
    """Refuse keys of many parts, which take the parser very long.

    For each part it goes through all parts before it.
    """
    found = _DEEP_KEY.search(text)
    if found is not None:
        raise InvalidInput(
            f"{path} line {text.count(chr(10), 0, found.start()) + 1}: a key must have fewer than"
            f" {_PARTS} parts with dots between them",
            shown(found[0]),
            "shorten it",
        )


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = _WHERE.search(str(error))
        line, column = where.groups() if where else (None, None)
        raise InvalidInput(
            f"{path} line {line or _last_line(text)}: this must be TOML",
            f"an error ({_WHERE.sub('', str(error))}{f', column {column}' if column else ''})",
            "see what 'askfew new' writes",
        ) from None
    except (ValueError, RecursionError):
        raise InvalidInput(
            f"{path} line {_excessive_line(text)}: values must be of a sensible size",
            "digits or brackets without end",
            "shorten the value",
        ) from None


def _last_line(text: str) -> int:
    return text.rstrip("\r\n").count("\n") + 1


def _excessive_line(text: str) -> int:
    """The first line with which the parser fails for another reason than the grammar."""
    lines = text.split("\n")

    def gives_up(number: int) -> bool:
        try:
            tomllib.loads(_joined(lines[:number]))
        except tomllib.TOMLDecodeError:
            return False
        except (ValueError, RecursionError):
            return True
        return False

    # Bisection, because the parser is slow on just these texts.
    return bisect_left(range(len(lines)), True, key=gives_up)


def _line_of(lines: list[str], keys: tuple[str, ...]) -> int:
    """The line of the statement that first gives the keys a value.

    The parser does not report lines. But the text before that line is a valid document without the
    keys, and with it one that has them: so it is the last line with the key's name for which the
    text before it is such a document.
    """
    if not keys:
        return 1
    if _has(_loaded(lines), keys):
        for number in range(len(lines), 0, -1):
            if keys[-1] in lines[number - 1]:
                before = _loaded(lines[: number - 1])
                if before is not None and not _has(before, keys):
                    return number
    return _line_of(lines, keys[:-1])


def _loaded(lines: list[str]) -> dict[str, Any] | None:
    try:
        return tomllib.loads(_joined(lines))
    except (ValueError, RecursionError):
        return None


def _joined(lines: list[str]) -> str:
    """The lines with their ends. In a file with CRLF, a last line without LF is invalid TOML."""
    return "".join(f"{line}\n" for line in lines)


def _has(document: dict[str, Any] | None, keys: tuple[str, ...]) -> bool:
    node: object = document
    for key in keys:
        if not isinstance(node, dict) or key not in node:
            return False
        node = node[key]
    return True
