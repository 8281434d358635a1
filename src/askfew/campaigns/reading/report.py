"""One self-contained HTML file that says what was found, how sure it is, and who answered."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

from jinja2 import Environment, PackageLoader, StrictUndefined

from askfew.answer_warnings import sentence
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.contents import find_picture
from askfew.campaigns.reading.findings import Report, findings_of
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
    found = findings_of(campaign)
    return environment.get_template("report.html").render(
        settings=campaign.settings,
        found=found,
        pictures=_pictures(campaign, found),
        written=datetime.fromtimestamp(campaign.clock(), UTC),
    )


def _pictures(campaign: Campaign, found: Report) -> dict[str, str]:
    """Each picture that is shown by its hash, as a data address."""
    listed = [item.image for each in (*found.groups, *found.undecided) for item in each.items]
    pictures = {}
    with campaign.database.read() as connection:
        for hash_ in {image for image in listed if image is not None}:
            picture = find_picture(connection, hash_)
            assert picture is not None
            content = base64.b64encode(picture.content).decode()
            pictures[hash_] = f"data:{picture.kind};base64,{content}"
    return pictures
