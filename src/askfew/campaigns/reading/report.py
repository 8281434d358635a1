"""One self-contained HTML file that says what was found, how sure it is, and who answered."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

from jinja2 import Environment, PackageLoader, StrictUndefined

from askfew.answer_warnings import sentence
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.contents import pictures_of
from askfew.campaigns.reading.findings import findings_of
from askfew.campaigns.sentences import chance
from askfew.wording import money

__all__ = ["report_html"]


def report_html(campaign: Campaign) -> str:
    """The report, pictures included; item texts are data and always escaped."""
    environment = Environment(
        loader=PackageLoader("askfew.campaigns.reading"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"money": money, "chance": chance, "sentence": sentence}
    return environment.get_template("report.html").render(
        settings=campaign.settings,
        found=findings_of(campaign),
        pictures=_pictures(campaign),
        written=datetime.fromtimestamp(campaign.clock(), UTC),
    )


def _pictures(campaign: Campaign) -> dict[str, str]:
    """Each picture by its hash, as a data address."""
    with campaign.database.read() as connection:
        return {
            each.hash: f"data:{each.kind};base64,{base64.b64encode(each.content).decode()}"
            for each in pictures_of(connection, campaign.id)
        }
