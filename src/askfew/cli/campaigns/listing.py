"""``askfew list``: the campaigns of a store."""

from __future__ import annotations

from datetime import UTC, datetime

from rich.table import Table
from rich.text import Text

from askfew.campaigns.db.queries.campaigns import all_campaigns
from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, StoreUrl, open_store
from askfew.cli.output import print_json, report

__all__ = ["list_campaigns"]


def list_campaigns(store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """List the campaigns of a store, oldest first."""
    with open_store(store) as opened, opened.database.read() as connection:
        rows = all_campaigns(connection)
    if json:
        print_json(
            {
                "campaigns": [
                    {"name": row.name, "state": row.state, "created": row.created} for row in rows
                ]
            }
        )
        return
    table = Table("campaign", "state", "created (UTC)")
    for row in rows:
        created = datetime.fromtimestamp(row.created, UTC)
        table.add_row(Text(row.name), row.state, f"{created:%Y-%m-%d %H:%M}")
    report.print(table)
