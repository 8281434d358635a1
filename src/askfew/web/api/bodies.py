"""The bodies of requests. Values are not converted, and unknown keys are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from askfew.algorithms import METHODS
from askfew.answers import PLAIN_KINDS
from askfew.campaigns.records import FLAGS

__all__ = [
    "Answer",
    "AnswersKind",
    "Ask",
    "Call",
    "Campaign",
    "Flag",
    "Invite",
    "InviteMany",
    "LeaseBody",
    "Retract",
    "SettingsBody",
    "Skip",
]


class Strict(BaseModel):
    """A JSON object with these keys and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


LeaseId = Annotated[str, Field(max_length=100, description="The question's id, from ask.")]
WorkerName = Annotated[str, Field(min_length=1, max_length=200)]
Amount = Annotated[float, Field(ge=0, le=1e12)]


class Ask(Strict):
    """How many questions at most; only the owner names the worker."""

    n: Annotated[int, Field(ge=1, le=1000)] = 1
    worker: WorkerName | None = None
    per_item: Annotated[
        int,
        Field(ge=1, le=1000, description="At most this many about one item."),
    ] = 1


class Answer(Strict):
    """Yes or no, or a number, to the question of that id."""

    id: LeaseId
    answer: bool | int | float | str
    seconds: Annotated[Amount | None, Field(description="How long it took.")] = None
    cost: Annotated[Amount | None, Field(description="If not the price (owner).")] = None


class Skip(Strict):
    """No answer, and why."""

    id: LeaseId
    reason: Annotated[str, Field(max_length=1000)] = "skipped"


class LeaseBody(Strict):
    """A question that was handed out."""

    id: LeaseId


class Retract(Strict):
    """An answer to be taken back; only the owner names the worker."""

    id: LeaseId
    worker: WorkerName | None = None


class Invite(Strict):
    """A worker to invite."""

    worker: WorkerName
    anew: Annotated[
        bool, Field(description="Make a new link in any case; those they have end.")
    ] = False


class InviteMany(Strict):
    """Workers to invite: all of them or none."""

    workers: Annotated[list[WorkerName], Field(min_length=1, max_length=1000)]


class Flag(Strict):
    """Something is wrong with an item; only the owner names the worker."""

    item: Annotated[str, Field(min_length=1, max_length=200)]
    reason: Literal[*FLAGS]  # type: ignore[valid-type]
    worker: WorkerName | None = None


class Call(Strict):
    """A call to a language model, and the limits for any minute."""

    id: Annotated[str, Field(pattern=r"^[0-9a-f]{1,16}$", description="The call's own id.")]
    tokens: Annotated[int, Field(ge=0, le=2**31 - 1, description="At most, then as counted.")]
    most_requests: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    most_tokens: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class ScaleKind(Strict):
    """A point between two ends, both included."""

    scale: Annotated[list[float], Field(min_length=2, max_length=2)]


class Noise(Strict):
    """How far answers spread."""

    sigma: Annotated[float, Field(gt=0)]


class NumberKind(Strict):
    """A number with noise of known spread."""

    number: Noise


AnswersKind = Literal[*PLAIN_KINDS] | ScaleKind | NumberKind  # type: ignore[valid-type]


GroupCount = Annotated[int, Field(ge=2, le=100)]


class SettingsBody(Strict):
    """How a campaign is run; what is left out is as in a campaign's folder."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.05
    answers: AnswersKind = "yes-no"
    max_answers: Annotated[int, Field(ge=1, le=10**9)] = 10_000
    answers_per_worker_and_cell: Annotated[int, Field(ge=1, le=10**9)] = 1
    price: Annotated[float, Field(ge=0, le=10**9)] = 0.0
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    lease_seconds: Annotated[float, Field(gt=0, le=366 * 24 * 3600)] = 600.0
    step_timeout: Annotated[float, Field(ge=0, le=366 * 24 * 3600)] = 3600.0
    method: Literal[*METHODS] = "rule"  # type: ignore[valid-type]
    groups: GroupCount | list[GroupCount] | Literal["auto"] = 2
    error: Literal["any", "share"] = "any"
    per_cell: Annotated[int, Field(ge=1, le=10**9)] | None = None
    tolerance: Annotated[float, Field(ge=0, le=10**9)] = 0.0
    audit: Annotated[int, Field(ge=0, le=10**9)] = 0
    limit: Annotated[int, Field(ge=1, le=10**9)] | None = None
    margin: Annotated[float, Field(gt=0, le=0.5)] = 0.5
    repeats: Literal["fresh", "same"] = "fresh"
    rule: Annotated[dict[str, Any] | None, Field(description="What Rule.save() writes.")] = None
    people: Annotated[int, Field(ge=1, le=10**9)] | None = None
    gold: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    options: dict[str, Any] = Field(default_factory=dict)
    guidelines: Annotated[str, Field(max_length=10_000)] = ""


class ItemBody(Strict):
    """Something to be sorted: a text, a picture, both, or only its id."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    text: Annotated[str, Field(max_length=10_000)] = ""
    image: Annotated[str | None, Field(description="A picture's bytes as base64.")] = None
    group: Annotated[
        str, Field(max_length=200, description="Of an anchor: its group, if you know it.")
    ] = ""


class QuestionBody(Strict):
    """Something that may be asked of every item."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    text: Annotated[str, Field(min_length=1, max_length=10_000)]
    defines: Annotated[bool, Field(description="Whether it defines the split.")] = False


class Campaign(Strict):
    """A campaign to be created."""

    settings: SettingsBody
    items: Annotated[list[ItemBody], Field(min_length=2)]
    questions: Annotated[list[QuestionBody], Field(min_length=1)]
    reuse: Annotated[
        str | None, Field(max_length=80, description="Begin with the answers of this campaign.")
    ] = None
