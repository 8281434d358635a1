"""Every format in which answers, open questions or a whole campaign leave the house."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.exchange.exporting import (
    LONG_COLUMNS,
    crowd_kit_rows,
    label_studio_tasks,
    long_rows,
)
from askfew.campaigns.exchange.formats import crowd_kit, csv_table, label_studio, parquet_table
from askfew.campaigns.exchange.formats.whole_file import write_whole
from askfew.campaigns.exchange.moving import export_campaign
from askfew.errors import InvalidInput

__all__ = ["FORMATS", "Format", "text_of", "write_export"]


@dataclass(frozen=True)
class Format:
    """How files of a format end, and what they are."""

    ending: str
    media_type: str
    is_text: bool = True


FORMATS = {
    "csv": Format(".csv", "text/csv"),
    "parquet": Format(".parquet", "application/vnd.apache.parquet", is_text=False),
    "crowd-kit": Format(".csv", "text/csv"),
    "label-studio": Format(".json", "application/json"),
    "label-studio-interface": Format(".xml", "application/xml"),
    "rule": Format(".json", "application/json"),
    "campaign": Format(".askfew", "application/octet-stream", is_text=False),
}


def write_export(campaign: Campaign, kind: str, out: Path) -> int | None:
    """Write one of FORMATS to a file; how many rows there were, where there are rows."""
    if kind == "campaign":
        export_campaign(campaign, out)
        return None
    if kind == "parquet":
        answers = long_rows(campaign)
        parquet_table.write(out, LONG_COLUMNS, answers)
        return len(answers)
    text, rows = text_of(campaign, kind)
    write_whole(out, text.encode())
    return rows


def text_of(campaign: Campaign, kind: str) -> tuple[str, int | None]:
    """The text, of a format that is one, and its rows."""
    if kind == "csv":
        answers = long_rows(campaign)
        return csv_table.written(LONG_COLUMNS, answers), len(answers)
    if kind == "crowd-kit":
        labels = crowd_kit_rows(campaign)
        return csv_table.written(crowd_kit.COLUMNS, labels), len(labels)
    if kind == "label-studio":
        tasks = label_studio_tasks(campaign)
        return json.dumps(tasks, indent=2) + "\n", len(tasks)
    if kind == "rule":
        return _rule(campaign), None
    settings, pictures = campaign.settings, bool(campaign.pictures)
    return label_studio.interface(settings.answers, settings.guidelines, pictures=pictures), None


def _rule(campaign: Campaign) -> str:
    """The rule of a campaign that has ended: it knows which answers taught it."""
    rule = (campaign.outcome() or {}).get("rule")
    if rule is None:
        raise InvalidInput(
            "a campaign must have ended with a rule",
            f"{campaign.settings.name!r}, {campaign.state}, which has none",
            "wait for its end, or see what 'askfew result' says",
        )
    return json.dumps(rule, indent=1) + "\n"
