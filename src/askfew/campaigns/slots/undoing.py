"""An undo: the worker who takes an answer back keeps its slot, and answers again or skips.

The slot never goes to somebody else: who undoes has seen their own answer, and handing the slot on
would let what was said decide who is asked, until somebody says something that is left alone. For
the same reason the answer *stands* if its worker comes back with nothing: when the lease runs out,
when it is handed back, when the worker is revoked. An undo alone then takes nothing away. Were the
slot closed empty instead, those who undo one answer more often than the other and leave would
shift the mean. A skip after an undo is somebody's word that they cannot tell, as any skip is: it
closes the slot empty.

Until then the slot is LEASED and still holds the value, which marks it; its answer is marked
retracted.
"""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import and_, bindparam, select, update

from askfew.campaigns.db.raw import RawTransaction
from askfew.campaigns.db.schema import SlotState, answers, slots
from askfew.campaigns.slots.states import LEASED

__all__ = ["BEING_REDONE", "let_stand", "redo"]

BEING_REDONE = and_(LEASED, slots.c.value.is_not(None))
"""The condition, for queries: its answer was taken back, and its worker has not answered again."""

_CAMPAIGN = bindparam("this_campaign", type_=slots.c.campaign.type)
_STEP = bindparam("at_step", type_=slots.c.step.type)
_NUMBER = bindparam("at_number", type_=slots.c.number.type)
_SLOT = and_(slots.c.campaign == _CAMPAIGN, slots.c.step == _STEP, slots.c.number == _NUMBER)
_ANSWERS = and_(answers.c.campaign == _CAMPAIGN, answers.c.step == _STEP, answers.c.slot == _NUMBER)
_ANSWER = and_(_ANSWERS, answers.c.id == bindparam("this_answer", type_=answers.c.id.type))

_KEEP_FOR_WORKER = (
    update(slots)
    .where(_SLOT)
    .values(state=SlotState.LEASED.value, lease=bindparam("new_lease"), expires=bindparam("until"))
)
_MARK = update(answers).where(_ANSWER).values(retracted=bindparam("is_retracted"))
_LAST_SAID = (
    select(answers.c.id, answers.c.value)
    .join(
        slots,
        and_(_SLOT, slots.c.worker == answers.c.worker),
    )
    .where(_ANSWERS, answers.c.retracted.is_(True))
    .order_by(answers.c.time.desc(), answers.c.id)
)
_STAND = (
    update(slots)
    .where(_SLOT)
    .values(
        state=SlotState.ANSWERED.value,
        lease=bindparam("new_lease"),
        value=bindparam("answer"),
        expires=None,
    )
)


def redo(raw: RawTransaction, slot: dict[str, Any], until: float) -> str:
    """Lend the slot to the same worker once more, their answer marked retracted; the new lease."""
    place = (slot["this_campaign"], slot["at_step"], slot["at_number"])
    lease = f"{'-'.join(map(str, place))}-{secrets.token_hex(8)}"
    raw.run(_MARK, {**slot, "this_answer": slot["this_lease"], "is_retracted": True})
    raw.run(_KEEP_FOR_WORKER, {**slot, "new_lease": lease, "until": until})
    return lease


def let_stand(raw: RawTransaction, slot: dict[str, Any]) -> None:
    """Count what the worker last said after all. The caller holds the slot."""
    answer, value = raw.first(_LAST_SAID, slot)
    raw.run(_MARK, {**slot, "this_answer": answer, "is_retracted": False})
    raw.run(_STAND, {**slot, "new_lease": answer, "answer": value})
