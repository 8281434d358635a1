"""Label Studio: open questions are exported as tasks, annotations are imported as answers.

https://labelstud.io/guide/task_format.html
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

from askfew.answers import AnswerKind
from askfew.campaigns.db.queries.contents import Picture
from askfew.errors import InvalidInput

__all__ = ["Annotation", "interface", "read_annotations", "task"]

_CONTROL = "answer"
"""The name of the control with the answer, in the interface and in every annotation."""


@dataclass(frozen=True)
class Annotation:
    """One annotator's answer to one task; ``answer`` is what Label Studio wrote."""

    item: str
    question: str
    worker: str
    answer: object
    seconds: float | None
    key: str
    """Label Studio's number, which distinguishes equal annotations."""


def task(
    item_id: str, item_text: str, picture: Picture | None, question_id: str, asked: str
) -> dict[str, Any]:
    """An open question as a task, with the picture inside it."""
    data = {"item": item_id, "question": question_id, "text": item_text, "asked": asked}
    if picture is not None:
        encoded = base64.b64encode(picture.content).decode()
        # Label Studio need not reach our server, and no token is needed to see the picture.
        data["image"] = f"data:{picture.kind};base64,{encoded}"
    return {"data": data}


def interface(kind: AnswerKind, guidelines: str, *, pictures: bool) -> str:
    """The labelling interface for these tasks, to paste into the project's settings."""
    asked = f'name="{_CONTROL}" toName="text" required="true"'
    if kind.in_words:
        words = "".join(f"<Choice value={quoteattr(word)}/>" for word, _ in kind.choices)
        control = f"<Choices {asked}>{words}</Choices>"
    else:
        bounded = math.isfinite(kind.high - kind.low)
        bounds = f' min="{kind.low:g}" max="{kind.high:g}"' if bounded else ""
        # Without a step, browsers take whole numbers only.
        control = f'<Number {asked}{bounds} step="0.01"/>'
    lines = [
        "<View>",
        f"  <Header value={quoteattr(guidelines)}/>" if guidelines else "",
        '  <Image name="image" value="$image"/>' if pictures else "",
        '  <Text name="text" value="$text"/>',
        '  <Header value="$asked"/>',
        f"  {control}",
        "</View>",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def read_annotations(document: object) -> Iterator[tuple[int, Annotation]]:
    """Every answer in a Label Studio export (JSON), with the number of its task, from 1.

    A cancelled annotation is a skip in Label Studio, and no answer.
    """
    if not isinstance(document, list):
        raise InvalidInput(
            "a Label Studio export must be a list of tasks", type(document).__name__, "export JSON"
        )
    for number, each in enumerate(document, 1):
        try:
            data, given = each["data"], each.get("annotations", [])
            cell = str(data["item"]), str(data["question"])
            for annotation in given:
                if not annotation.get("was_cancelled"):
                    yield number, _annotation(cell, annotation)
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            raise InvalidInput(
                f"task {number}: a task must be one that askfew exported, with annotations"
                f" whose control is named '{_CONTROL}'",
                f"{type(error).__name__} {error}",
                "export with --format label-studio, and use the interface it prints",
            ) from None


def _annotation(cell: tuple[str, str], annotation: dict[str, Any]) -> Annotation:
    result = {each["from_name"]: each["value"] for each in annotation["result"]}
    by = annotation["completed_by"]
    # Exports give the whole user or only their number, depending on the version and the options.
    who = (by.get("email") or by["id"]) if isinstance(by, dict) else by
    return Annotation(
        *cell,
        # With a prefix: user 7 of Label Studio is not our worker "7".
        worker=f"label-studio:{who}",
        answer=_value(result[_CONTROL]),
        seconds=_seconds(annotation.get("lead_time")),
        key=str(annotation.get("id", "")),
    )


def _seconds(lead_time: Any) -> float | None:
    """How long it took; None if it cannot be a time: a clock set back makes it negative."""
    try:
        seconds = math.nan if lead_time is None else float(lead_time)
    except OverflowError:  # a whole number larger than any float
        return None
    return seconds if 0 <= seconds < math.inf else None


def _value(value: dict[str, Any]) -> object:
    if "choices" in value:
        return value["choices"][0]
    return value["number"] if "number" in value else value["rating"]
