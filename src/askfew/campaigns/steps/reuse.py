"""``create --reuse OLD``: fill a step's slots with answers already paid for.

When a step opens, every slot takes the next unused answer that OLD's closed steps have to the same
(item id, question id), in the order of OLD's steps and slots. No choice looks at a value, so it is
as if the same workers were asked again and said the same. (In order of arrival, or from a step that
is still open, people who take longer to say no would come last, and the first few answers would
have too many yes.) Which answers are used up follows from the new campaign alone: the answers of a
worker to a cell are used in their order.

No claim about a rule may count the answers that taught it. A rule names them by the seals of the
steps they were given in. If the campaign that learnt the rule had reused another one, the seal of
that one's first step is named too.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque

from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.answers import Offer, offers_for_step, told_before
from askfew.campaigns.db.queries.campaigns import find_campaign, reused_by
from askfew.campaigns.db.queries.slots import cells_in_order, settle
from askfew.campaigns.db.queries.steps import seal_of, seals_of
from askfew.campaigns.records import Answer
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.lease import REUSED, LeaseId
from askfew.errors import InvalidInput
from askfew.log import Log
from askfew.rule import Rule

__all__ = ["check_fresh", "fill_step", "learning", "reused_campaign", "taught_by"]


def taught_by(connection: Connection, campaign: int, log: Log) -> list[str]:
    """Seals of the steps in which the campaign learnt its rule, and of campaigns it reused."""
    own = learning(log)
    if not own:
        return []  # the rule was given
    older = [seal_of(connection, each, 0) for each in reused_by(connection, campaign)]
    return [*own, *(seal for seal in older if seal)]


def learning(log: Log) -> list[str]:
    """Seals of the steps in which a rule was learnt."""
    return [step.seal for step in log.steps if any(plan.kind == "screen" for plan in step.plans)]


def check_fresh(connection: Connection, rule: Rule, old: int, name: str) -> None:
    """Refuse to reuse a campaign whose answers taught the rule."""
    # The answers that OLD had reused itself may have taught the rule, too.
    everyone = [old, *reused_by(connection, old)]
    if set(rule.learnt_from) & seals_of(connection, everyone):
        raise InvalidInput(
            "a rule must be certified by answers that it was not learnt from",
            f"the rule that the answers of {name!r} taught",
            "leave out --reuse, or reuse another campaign",
        )


Cell = tuple[int, int]


def reused_campaign(connection: Connection, name: str, settings: Settings) -> int:
    """The number of the campaign to be reused, which must have the same kind of answers."""
    old = find_campaign(connection, name)
    if old is None:
        raise InvalidInput(
            "a campaign to be reused must be in the same store", repr(name), "check its name"
        )
    kind = old.settings_dict["answers"]
    if kind != settings.answers.setting:
        raise InvalidInput(
            f"a campaign to be reused must have the same kind of answers: {settings.answers}",
            f"{kind} in {name!r}",
            "change 'answers' in campaign.toml, or reuse another campaign",
        )
    return old.id


def fill_step(
    connection: Connection, campaign: int, step: int, old: int, settings: Settings
) -> None:
    """Fill the step's slots with the answers of the reused campaign ``old``, as far as it has some.

    Call it in the transaction that opens the step, so that no worker is lent a slot first.
    """
    held: Counter[tuple[Cell, str]] = Counter()
    used: Counter[tuple[Cell, str]] = Counter()
    for cell, worker, counts, was_reused in told_before(connection, campaign, step):
        held[cell, worker] += counts
        used[cell, worker] += was_reused  # taken back or not: an answer is used only once
    offers = _unused(offers_for_step(connection, campaign, step, old, settings.answers), used)
    told = []
    for number, cell in enumerate(cells_in_order(connection, campaign, step)):
        offer = _next_offer(offers[cell], held, settings.answers_per_worker_and_cell)
        if offer is not None:
            told.append(_answer(LeaseId(campaign, step, number, REUSED), offer))
    settle(connection, told)


def _unused(
    offers: list[Offer], used: Counter[tuple[Cell, str]]
) -> defaultdict[Cell, deque[Offer]]:
    """The offers by cell, without those that earlier steps have used.

    Each worker's answers to a cell are used in their order, so the first ones are left out.
    """
    left: defaultdict[Cell, deque[Offer]] = defaultdict(deque)
    for offer in offers:
        cell = offer.item, offer.question
        if used[cell, offer.worker] > 0:
            used[cell, offer.worker] -= 1
        else:
            left[cell].append(offer)
    return left


def _next_offer(offers: deque[Offer], held: Counter[tuple[Cell, str]], limit: int) -> Offer | None:
    """The first answer of a worker who has not answered this cell often enough."""
    while offers:
        offer = offers.popleft()
        key = (offer.item, offer.question), offer.worker
        if held[key] < limit:
            held[key] += 1
            return offer
    return None


def _answer(lease: LeaseId, offer: Offer) -> Answer:
    return Answer(
        id=str(lease),
        campaign=lease.campaign,
        step=lease.step,
        slot=lease.slot,
        worker=offer.worker,
        item=offer.item,
        question=offer.question,
        value=offer.value,
        raw=offer.raw,
        seconds=offer.seconds,
        cost=0.0,  # it has been paid for
        time=offer.time,
    )
