"""Commands about campaigns: one a file."""

from __future__ import annotations

from collections.abc import Callable

from askfew.cli.campaigns.ask import ask
from askfew.cli.campaigns.create import create
from askfew.cli.campaigns.doctor import doctor
from askfew.cli.campaigns.export import export
from askfew.cli.campaigns.importing import import_file
from askfew.cli.campaigns.listing import list_campaigns
from askfew.cli.campaigns.report import report
from askfew.cli.campaigns.result import result
from askfew.cli.campaigns.serve import serve
from askfew.cli.campaigns.skip import skip
from askfew.cli.campaigns.status import status
from askfew.cli.campaigns.store import store_app
from askfew.cli.campaigns.switches import close, pause, resume
from askfew.cli.campaigns.tell import tell
from askfew.cli.campaigns.token import token_app
from askfew.cli.new import new

__all__ = ["CAMPAIGN_COMMANDS", "store_app", "token_app"]

CAMPAIGN_COMMANDS: dict[str, Callable[..., None]] = {
    "new": new,
    "create": create,
    "list": list_campaigns,
    "status": status,
    "ask": ask,
    "tell": tell,
    "skip": skip,
    "result": result,
    "report": report,
    "export": export,
    "import": import_file,
    "pause": pause,
    "resume": resume,
    "close": close,
    "doctor": doctor,
    "serve": serve,
}
"""By name, in the order of the help."""
